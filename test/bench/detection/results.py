# One JSON file in the cache for each finished part (detector, training minutes, seed): a finished part does not run
# again, and its figures can be computed again without detection. Written by runner.py, read by report.py.
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .cache import folder_of
from .types import Detection

Found = dict[str, list[Detection]]


@dataclass(frozen=True)
class Part:
    """The detections of one trained (or tuned) detector, by row and take; twins under `clean`."""

    detector: str
    minutes: int
    seed: int
    types: list[str]
    thresholds: dict[str, float]
    rows: dict[str, Found]
    clean: dict[str, Found]
    spent: dict[str, float] = field(default_factory=dict)
    notes: dict = field(default_factory=dict)


def packed(found: Mapping[str, Sequence[Detection]]) -> dict:
    def values(d: Detection) -> list:
        return [d.type, round(d.onset_s, 4), round(d.offset_s, 4), round(d.score, 4)]

    return {take: [values(d) for d in listed] for take, listed in found.items()}


def unpacked(stored: Mapping[str, list]) -> Found:
    return {take: [Detection(*values) for values in listed] for take, listed in stored.items()}


def path_of(detector: str, minutes: int, seed: int, key: str) -> Path:
    return folder_of("results") / f"{detector}-{minutes}-{seed}-{key}.json.gz"


def write(path: Path, part: Part) -> None:
    rows, clean = ({row: packed(found) for row, found in side.items()} for side in (part.rows, part.clean))
    partial = path.with_suffix(".partial")
    with gzip.open(partial, "wt", compresslevel=5) as file:
        json.dump({**vars(part), "rows": rows, "clean": clean}, file)
    partial.rename(path)


def read(path: Path) -> Part:
    with gzip.open(path, "rt") as file:
        value = json.load(file)
    rows, clean = ({row: unpacked(found) for row, found in value[side].items()} for side in ("rows", "clean"))
    return Part(**{**value, "rows": rows, "clean": clean})
