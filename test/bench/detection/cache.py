# The benchmark's cache of reproducible data (tools/cache.ts names the folder for the other tools), and its keys, which
# are digests of source code. Called by every part that keeps files.
import hashlib
import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
CACHE = Path(os.environ.get("PLOSIVE_CACHE") or Path.home() / ".cache" / "plosive") / "detection"


def folder_of(name: str) -> Path:
    path = CACHE / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def sources(*paths: str) -> list[Path]:
    """The Python files under these paths of the repository, without tests."""
    found: list[Path] = []
    for path in paths:
        whole = REPO / path
        found += sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
    return [file for file in found if not file.name.startswith("test_")]


def key_of(*paths: str, extra: str = "") -> str:
    """A short digest of this source code: any change of a line gives another key."""
    digest = hashlib.sha256(extra.encode())
    for file in sources(*paths):
        digest.update(file.relative_to(REPO).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
