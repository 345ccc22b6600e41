# The false alarms to expect at each threshold, and the threshold that stays within a budget of them. Detections of all types
# compete by confidence: one threshold for all of them finds most events within a budget. Pure, numpy only. Called by
# training/evaluation.py and model/detector.py.
from collections.abc import Mapping, Sequence

import numpy as np

from .profile import Profile

# Thresholds, from 0.05 to 0.99: even steps of the logit, because high confidences decide small budgets.
GRID = tuple(round(float(v), 4) for v in 1 / (1 + np.exp(-np.linspace(-2.94, 4.6, 40))))


def expected_alarms(confidences: np.ndarray, hours: float) -> tuple[float, ...]:
    """Returns the false alarms an hour at each threshold of GRID: the doubts (1 - confidence) of the boxes (N,) that reach
    it. A count of the wrong boxes would be 0 for high thresholds, however few boxes there are."""
    if not hours:
        return (0.0,) * len(GRID)
    return tuple(float((1 - confidences[confidences >= threshold]).sum() / hours) for threshold in GRID)


def alarms_at(profile: Profile, threshold: float) -> float:
    """Returns the false alarms an hour of one type at this threshold, interpolated."""
    return float(np.interp(threshold, GRID, profile.alarms))


def fixed_alarms(profiles: Sequence[Profile], fixed: Mapping[str, float]) -> float:
    """Returns the false alarms an hour of the types whose thresholds (by name) the job sets itself."""
    return sum(alarms_at(p, fixed[p.name]) for p in profiles if p.name in fixed)


def threshold_within(profiles: Sequence[Profile], budget: float, fixed: Mapping[str, float] | None = None) -> float:
    """Returns the lowest threshold for all types at which they have at most `budget` false alarms an hour together. A type keeps
    its own threshold if that is higher. A type in `fixed` has that threshold, and the others share what it leaves. Without
    such a threshold, returns the highest."""
    fixed = fixed or {}
    left, free = budget - fixed_alarms(profiles, fixed), [p for p in profiles if p.name not in fixed]
    for threshold in GRID:
        if sum(alarms_at(p, max(threshold, p.threshold)) for p in free) <= left:
            return threshold
    return GRID[-1]
