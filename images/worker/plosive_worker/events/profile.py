# The profile of an artifact type, derived from the training labels: duration, distance between two events, threshold.
# Made by the trainer (training/evaluation.py), stored in card.json, used by boxes.py.
from dataclasses import asdict, dataclass

import numpy as np

from ..features.spec import HOP_MS

IMPULSIVE_MS = 60  # a type with a median label of at most this length is scored and refined as a point in time
UNKNOWN_GAP_MS = 400.0  # upper bound of the gap where fewer than six labels of a file say how near two events come
WIDENED_MS = 30  # training widens shorter labels to this


@dataclass(frozen=True)
class Profile:
    """One artifact type as the detector treats it."""

    name: str
    median_ms: float
    short_ms: float  # 10th percentile of the durations
    gap_ms: float  # 5th percentile of the gaps between two events
    support: int  # number of training labels
    threshold: float = 0.5
    slope: float = 1.0  # confidence = sigmoid(slope * logit(score) + offset)
    offset: float = 0.0
    start_shift_ms: float = 0.0  # systematic error of the boxes' edges, measured on validation
    end_shift_ms: float = 0.0
    long_ms: float = 0.0  # 90th percentile of the durations
    alarms: tuple[float, ...] = ()  # expected false alarms an hour at the thresholds of budget.GRID

    @property
    def impulsive(self) -> bool:
        return self.median_ms <= IMPULSIVE_MS

    def is_point(self, run_ms: float) -> bool:
        """Whether a run of this length comes from a short label that training widened; the type may have long labels
        too."""
        return self.median_ms < WIDENED_MS and min(run_ms, self.long_ms) <= 2 * WIDENED_MS

    def as_json(self) -> dict:
        return asdict(self)


def profile_of(name: str, labels: list[list[tuple[int, int]]]) -> Profile:
    """Derives the profile from `labels`: (start_ms, end_ms) of this type, one list per file."""
    durations = [max(1, end - start) for file in labels for start, end in file]
    gaps = []
    for file in labels:
        ordered = sorted(file)
        gaps += [max(0, b[0] - a[1]) for a, b in zip(ordered, ordered[1:])]
    median = float(np.median(durations)) if durations else 100.0
    return Profile(
        name=name,
        median_ms=median,
        short_ms=float(np.quantile(durations, 0.1)) if durations else float(HOP_MS),
        long_ms=float(np.quantile(durations, 0.9)) if durations else 0.0,
        gap_ms=float(np.quantile(gaps, 0.05)) if len(gaps) >= 5 else min(median, UNKNOWN_GAP_MS),
        support=len(durations),
    )
