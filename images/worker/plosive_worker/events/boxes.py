# Posteriors of one class -> boxes (start, end, score). A box ends where the posterior falls below a share (FALL) of the
# box's own peak, so that faint and strong events get the same edges without a global frame threshold. The edges then
# snap to the onset and offset outputs. Called by model/detector.py and training/evaluation.py.
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter

from ..features.spec import HOP_MS
from .profile import Profile

LOWEST = 0.08  # candidates need at least this posterior
FALL = 0.45  # an edge lies where the posterior falls below this share of the peak
# Parts merge if their distance is at most this share of the type's gap and median length, and at most MERGE_MS. An echo or a
# robotic voice is not heard in a pause, but its label goes on.
MERGE_SHARE, MERGE_MS = 0.75, 1000


@dataclass(frozen=True)
class Box:
    """An event candidate; score is uncalibrated, 0..1."""

    start_ms: float
    end_ms: float
    score: float


@dataclass(frozen=True)
class Find:
    """A candidate in frames: its run, and its edges where the onset and offset outputs put them; each end is one past the
    last."""

    first: int
    last: int
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Posteriors:
    """The posteriors of one class, each (T,)."""

    presence: np.ndarray
    onset: np.ndarray
    offset: np.ndarray


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Returns (first, one past last) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def smoothing_frames(profile: Profile) -> int:
    """Returns the odd length of the median filter: a third of a short event, at most 150 ms."""
    frames = int(min(15, profile.short_ms / HOP_MS / 3))
    return frames if frames % 2 else max(1, frames - 1)


def spans(p: np.ndarray, gap: int) -> list[tuple[int, int]]:
    """Returns (first, one past last) of the candidates: runs above LOWEST, cut at FALL of their own peak, joined across
    at most `gap` frames."""
    out: list[tuple[int, int]] = []
    for first, last in runs(p >= LOWEST):
        peak = p[first:last].max()
        for a, b in runs(p[first:last] >= FALL * peak):
            out.append((first + a, first + b))
    joined: list[tuple[int, int]] = []
    for first, last in out:
        if joined and first - joined[-1][1] <= gap:
            here, before = p[first:last].max(), p[joined[-1][0] : joined[-1][1]].max()
            if min(here, before) >= FALL * max(here, before):
                joined[-1] = (joined[-1][0], last)
                continue
        joined.append((first, last))
    return joined


def snap(curve: np.ndarray, at: int, reach: int) -> int:
    """Returns the strongest frame of an onset or offset curve within `reach` of `at`, or `at` if the curve is low
    there."""
    low = max(0, at - reach)
    part = curve[low : at + reach + 1]
    best = int(part.argmax()) if len(part) else 0
    return low + best if len(part) and part[best] >= 0.25 else at


def score_of(p: np.ndarray) -> float:
    """Returns the mean of the upper half of the frames, without those of the pauses between joined parts."""
    heard = np.sort(p[p >= LOWEST])
    return float(heard[len(heard) // 2 :].mean())


def finds_of(posteriors: Posteriors, profile: Profile) -> list[Find]:
    """Returns all candidates of one class, ordered by time. They depend on what the profile has from the labels, but not on
    what is fitted to the validation part, so that they stay valid for the fitted profile."""
    size = smoothing_frames(profile)
    p = median_filter(posteriors.presence, size)
    gap_ms = min(MERGE_SHARE * min(profile.gap_ms, profile.median_ms), MERGE_MS)
    reach = 3 if profile.impulsive else int(min(15, max(4, profile.median_ms / HOP_MS / 4)))
    finds: list[Find] = []
    for first, last in spans(p, int(gap_ms / HOP_MS)):
        score = score_of(p[first:last])
        start, end = snap(posteriors.onset, first, reach), snap(posteriors.offset, last, reach)
        if end <= start:
            start, end = first, last
        finds.append(Find(first, last, start, end, score))
    return finds


def box_of(find: Find, profile: Profile) -> Box:
    """Returns a candidate in ms, with the profile's shifts of the edges."""
    a, b = find.start * HOP_MS + profile.start_shift_ms, find.end * HOP_MS + profile.end_shift_ms
    if profile.is_point((find.last - find.first) * HOP_MS):  # undo the widening of short labels
        middle, half = (find.first + find.last) / 2 * HOP_MS, profile.median_ms / 2
        a, b = middle - half, middle + half
    return Box(max(0.0, a), max(a + 1, b, 1.0), find.score)


def boxes_of(posteriors: Posteriors, profile: Profile) -> list[Box]:
    """Returns all candidates of one class, ordered by time; the caller applies the threshold."""
    return [box_of(find, profile) for find in finds_of(posteriors, profile)]
