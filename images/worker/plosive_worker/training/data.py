# The training data as parts of files: frames from the stored embedding, targets made from the labels on the fly, so that
# memory does not grow with the hours. Called by train.py (through loop.py), sampler.py and evaluation.py.
from dataclasses import dataclass

import numpy as np

from ..events.profile import WIDENED_MS
from ..features.file import FrameFile
from ..features.spec import HOP_MS

Event = tuple[int, int, int]  # class, start_ms, end_ms


@dataclass(frozen=True)
class LabelledFile:
    """One audio file: its frames, its events of the wanted classes, and whether silence in the labels means absence."""

    id: str
    frames: FrameFile
    events: tuple[Event, ...]
    reviewed: bool
    content: str = ""  # digest: files of the same one are copies

    @property
    def length(self) -> int:
        return len(self.frames.frames)


@dataclass(frozen=True)
class Part:
    """A stretch of a file that belongs wholly to training or to validation, in frames."""

    file: int
    first: int
    last: int

    def holds(self, start_ms: int, end_ms: int) -> bool:
        """Any of an event, which may be a point."""
        return start_ms < self.last * HOP_MS and max(end_ms, start_ms + 1) > self.first * HOP_MS


def events_of(file: LabelledFile, part: Part) -> list[Event]:
    """The events of a part of the file, cut off where it begins and ends: of a long one each part holds a piece."""
    low, high = part.first * HOP_MS, part.last * HOP_MS
    return [(kind, max(start, low), min(end, high)) for kind, start, end in file.events if part.holds(start, end)]


@dataclass(frozen=True)
class Window:
    """What one training sample is made of."""

    frames: np.ndarray  # (T, F) float32
    presence: np.ndarray  # (T, K)
    onset: np.ndarray  # (T, K)
    offset: np.ndarray  # (T, K)
    weight: np.ndarray  # (T, K), 0 where the labels say nothing


def widened(start_ms: int, end_ms: int) -> tuple[float, float]:
    """Point labels and very short ones cover at least WIDENED_MS in training."""
    if end_ms - start_ms >= WIDENED_MS:
        return float(start_ms), float(end_ms)
    middle = (start_ms + end_ms) / 2
    return middle - WIDENED_MS / 2, middle + WIDENED_MS / 2


def near_edge(distance: np.ndarray) -> np.ndarray:
    """Triangle of +-3 frames around an edge."""
    return np.maximum(0, 1 - np.abs(distance) / 4)


def targets(file: LabelledFile, first: int, last: int, classes: int) -> tuple[np.ndarray, ...]:
    """presence, onset, offset, weight of frames first..last, each (T, K) float32."""
    size = last - first
    presence, onset, offset = (np.zeros((size, classes), np.float32) for _ in range(3))
    centre = np.arange(first, last) + 0.5  # in frames
    for kind, start_ms, end_ms in file.events:
        start, end = (ms / HOP_MS for ms in widened(start_ms, end_ms))
        if end < first - 4 or start > last + 4:
            continue
        covered = np.minimum(centre + 0.5, end) - np.maximum(centre - 0.5, start)
        presence[:, kind] = np.maximum(presence[:, kind], covered >= 0.5)
        onset[:, kind] = np.maximum(onset[:, kind], near_edge(centre - start))
        offset[:, kind] = np.maximum(offset[:, kind], near_edge(centre - end))
    weight = np.ones_like(presence) if file.reviewed else (presence > 0).astype(np.float32)
    return presence, onset, offset, weight


def window(file: LabelledFile, first: int, last: int, part: Part, classes: int) -> Window:
    """Frames first..last of a file, mirrored nowhere: what lies outside the part is zero and has no weight."""
    low, high = max(first, part.first), min(last, part.last)
    pad = ((low - first, last - high), (0, 0))
    frames = file.frames.normal(low, high)
    presence, onset, offset, weight = targets(file, low, high, classes)
    if pad != ((0, 0), (0, 0)):
        frames = np.pad(frames, pad, mode="edge")
        presence, onset, offset, weight = (np.pad(a, pad) for a in (presence, onset, offset, weight))
    return Window(frames, presence, onset, offset, weight)


def feature_scale(files: list[LabelledFile], parts: list[Part]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and 1/deviation of each feature over the training part, (F,): at most 200 000 rows are looked at."""
    step = max(1, -(-sum(p.last - p.first for p in parts) // 200_000))
    rows = np.concatenate([files[p.file].frames.normal(p.first, p.last, step) for p in parts])
    return rows.mean(0), 1 / np.maximum(rows.std(0), 1e-3)
