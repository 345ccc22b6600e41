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


def gap_frames(profile: Profile) -> int:
    """Returns the longest pause across which parts of one event are joined."""
    return int(min(MERGE_SHARE * min(profile.gap_ms, profile.median_ms), MERGE_MS) / HOP_MS)


def reach_frames(profile: Profile) -> int:
    """Returns how far an edge may snap."""
    return 3 if profile.impulsive else int(min(15, max(4, profile.median_ms / HOP_MS / 4)))


def finds_of(posteriors: Posteriors, profile: Profile) -> list[Find]:
    """Returns all candidates of one class, ordered by time. They depend on what the profile has from the labels, but not on
    what is fitted to the validation part, so that they stay valid for the fitted profile."""
    p = median_filter(posteriors.presence, smoothing_frames(profile))
    reach = reach_frames(profile)
    finds: list[Find] = []
    for first, last in spans(p, gap_frames(profile)):
        score = score_of(p[first:last])
        start, end = snap(posteriors.onset, first, reach), snap(posteriors.offset, last, reach)
        if end <= start:
            start, end = first, last
        finds.append(Find(first, last, start, end, score))
    return finds


class FindStream:
    """The candidates of one class from consecutive blocks of posteriors: those of `finds_of` for all blocks together. Holds
    only what follows the last pause that no candidate and no filter reaches across; of a type without pauses, everything."""

    def __init__(self, profile: Profile):
        self.profile, self.finds = profile, list[Find]()
        # of the pause, on each side of a cut
        self.margin = smoothing_frames(profile) + gap_frames(profile) + reach_frames(profile) + 1
        self.held: list[np.ndarray] = []  # (n, 3), frames first..last
        self.first = self.last = 0
        self.loud = -1  # the last frame from which a candidate may come

    def add(self, block: np.ndarray) -> None:
        """Takes presence, onset and offset of the next frames, (n, 3)."""
        self.held.append(block.copy())  # a view would hold the posteriors of all classes
        loud = self.last + np.flatnonzero(block[:, 0] >= LOWEST)
        self.last += len(block)
        edges = np.concatenate([[self.loud], loud, [self.last]])
        pauses = np.flatnonzero(np.diff(edges) > 2 * self.margin)
        self.loud = int(edges[-2])
        if len(pauses):
            self.cut(int(edges[pauses[-1] + 1]) - self.margin)

    def cut(self, at: int) -> None:
        """Finds the candidates before the frame `at`, and lets its posteriors go."""
        if at <= self.first:
            return
        whole = np.concatenate(self.held)
        p, self.held = whole[: at - self.first], [whole[at - self.first :].copy()]
        if (p[:, 0] >= LOWEST).any():
            for find in finds_of(Posteriors(*np.ascontiguousarray(p.T)), self.profile):
                by = self.first
                self.finds.append(Find(find.first + by, find.last + by, find.start + by, find.end + by, find.score))
        self.first = at

    def end(self) -> list[Find]:
        """Returns all candidates, ordered by time."""
        self.cut(self.last)
        self.held = []
        return self.finds


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
