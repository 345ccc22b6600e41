# Puts the benchmark's packages on the import path of its tests, as the Makefile does for the benchmark itself.
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "images" / "worker", ROOT / "tools", ROOT / "test"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
