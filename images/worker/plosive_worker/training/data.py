# The training examples as parts of files: frames from the stored embedding, targets computed from the labels on demand,
# so that memory does not grow with the hours of audio. Called by train.py (through loop.py), sampler.py and
# evaluation.py.
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from ..events.profile import WIDENED_MS
from ..features.file import FrameFile
from ..features.spec import HOP_MS

Event = tuple[int, int, int]  # class, start_ms, end_ms


@dataclass(frozen=True)
class LabelledFile:
    """One audio file: its frames, its events of the wanted classes, and whether an unlabelled frame is free of
    artifacts."""

    id: str
    frames: FrameFile
    events: tuple[Event, ...]
    reviewed: bool
    content: str = ""  # digest of the embedding; files with equal digests are copies

    @property
    def length(self) -> int:
        return len(self.frames.frames)

    @cached_property
    def by_time(self) -> tuple[list[Event], list[int], list[int]]:
        """The events in the order of their starts, their starts, and the latest end up to each of them, in ms. Starts and
        latest ends ascend, so that `between` can bisect them."""
        ordered = sorted(self.events, key=lambda event: event[1])
        return ordered, [start for _, start, _ in ordered], list(accumulate((end for _, _, end in ordered), max))

    def between(self, low_ms: int, high_ms: int) -> list[Event]:
        """Returns the events that touch low_ms..high_ms, in the order of their starts, and maybe some that end before."""
        ordered, starts, latest = self.by_time
        return ordered[bisect_left(latest, low_ms) : bisect_right(starts, high_ms)]


@dataclass(frozen=True)
class Part:
    """A stretch of a file, in frames, that belongs entirely to training or to validation."""

    file: int
    first: int
    last: int

    def overlaps(self, start_ms: int, end_ms: int) -> bool:
        """Whether the part contains any of an event. A point event counts as 1 ms."""
        return start_ms < self.last * HOP_MS and max(end_ms, start_ms + 1) > self.first * HOP_MS


def events_of(file: LabelledFile, part: Part) -> list[Event]:
    """Returns the events of a part, clipped to the part. Each part that a long event crosses gets its own piece."""
    low, high = part.first * HOP_MS, part.last * HOP_MS
    return [(kind, max(start, low), min(end, high)) for kind, start, end in file.between(low, high) if part.overlaps(start, end)]


@dataclass(frozen=True)
class Window:
    """One training example."""

    frames: np.ndarray  # (T, F) float32
    presence: np.ndarray  # (T, K)
    onset: np.ndarray  # (T, K)
    offset: np.ndarray  # (T, K)
    weight: np.ndarray  # (T, K), 0 where the labels are unknown


def widened(start_ms: int, end_ms: int) -> tuple[float, float]:
    """Widens point labels and very short labels to WIDENED_MS for training."""
    if end_ms - start_ms >= WIDENED_MS:
        return float(start_ms), float(end_ms)
    middle = (start_ms + end_ms) / 2
    return middle - WIDENED_MS / 2, middle + WIDENED_MS / 2


def near_edge(distance: np.ndarray) -> np.ndarray:
    """Returns a triangle of +-3 frames around an edge."""
    return np.maximum(0, 1 - np.abs(distance) / 4)


def targets(file: LabelledFile, first: int, last: int, classes: int) -> tuple[np.ndarray, ...]:
    """Returns presence, onset, offset and weight of frames first..last, each (T, K) float32."""
    size = last - first
    presence, onset, offset = (np.zeros((size, classes), np.float32) for _ in range(3))
    centre = np.arange(first, last) + 0.5  # in frames
    for kind, start_ms, end_ms in file.between((first - 4) * HOP_MS - WIDENED_MS, (last + 4) * HOP_MS + WIDENED_MS):
        start, end = (ms / HOP_MS for ms in widened(start_ms, end_ms))
        if end < first - 4 or start > last + 4:
            continue
        # Only these frames change: whole columns of a file of many hours would take minutes.
        low, high = max(0, math.floor(start) - 4 - first), min(size, math.ceil(end) + 4 - first)
        near, here = centre[low:high], (slice(low, high), kind)
        covered = np.minimum(near + 0.5, end) - np.maximum(near - 0.5, start)
        presence[here] = np.maximum(presence[here], covered >= 0.5)
        onset[here] = np.maximum(onset[here], near_edge(near - start))
        offset[here] = np.maximum(offset[here], near_edge(near - end))
    weight = np.ones_like(presence) if file.reviewed else (presence > 0).astype(np.float32)
    return presence, onset, offset, weight


def window(file: LabelledFile, first: int, last: int, part: Part, classes: int) -> Window:
    """Returns frames first..last of a file. Frames outside the part repeat the nearest one, with targets and weight
    0."""
    low, high = max(first, part.first), min(last, part.last)
    pad = ((low - first, last - high), (0, 0))
    frames = file.frames.normal(low, high)
    presence, onset, offset, weight = targets(file, low, high, classes)
    if pad != ((0, 0), (0, 0)):
        frames = np.pad(frames, pad, mode="edge")
        presence, onset, offset, weight = (np.pad(a, pad) for a in (presence, onset, offset, weight))
    return Window(frames, presence, onset, offset, weight)


def feature_scale(files: list[LabelledFile], parts: list[Part]) -> tuple[np.ndarray, np.ndarray]:
    """Returns mean and 1/deviation of each feature over the training parts, (F,), from at most about 200 000 rows."""
    step = max(1, -(-sum(p.last - p.first for p in parts) // 200_000))
    rows = np.concatenate([files[p.file].frames.normal(p.first, p.last, step) for p in parts])
    return rows.mean(0), 1 / np.maximum(rows.std(0), 1e-3)
