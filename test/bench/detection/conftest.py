# Lets the tests of the benchmark find what it is made of, as the Makefile does for the benchmark itself.
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "images" / "worker", ROOT / "tools", ROOT / "test"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
