# The Polyphonic Sound Detection Score (arXiv 1910.08440) with the settings of DCASE task 4, scenario 1, which does not
# count cross triggers. A detection is correct if at least 70 % of it lies on events of its type (detection tolerance).
# An event is found if correct detections cover at least 70 % of it (ground truth tolerance). The score is the integral
# of the effective true positive rate (mean minus deviation over types) over false positives per hour, up to 100. An
# intersection has no meaning for points in time, so every shorter event and detection is first widened to 100 ms around
# its middle. Cross-checked with the reference implementation in check_psds.py. Called by judge.py.
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Detection, Event

TOLERANCE = 0.7
MOST_PER_HOUR = 100.0
INSTABILITY = 1.0  # weight of the deviation over types that is subtracted
POINTS = 50
LEAST_S = 0.1

Interval = tuple[float, float]
OfType = tuple[list[Interval], list[tuple[Interval, float]]]  # events and scored detections of one type in one take


@dataclass(frozen=True)
class Judged:
    """One take: its events, its detections, its length."""

    events: Sequence[Event]
    found: Sequence[Detection]
    duration_s: float


def interval(item: Event | Detection) -> Interval:
    short = LEAST_S - (item.offset_s - item.onset_s)
    return (item.onset_s - short / 2, item.offset_s + short / 2) if short > 0 else (item.onset_s, item.offset_s)


def overlap(a: Interval, others: Sequence[Interval]) -> float:
    """The part of `a` that the others cover together; detections may overlap each other only by a mistake of the
    detector."""
    total, reached = 0.0, a[0]
    for low, high in sorted(others):
        low, high = max(low, reached), min(high, a[1])
        if high > low:
            total, reached = total + high - low, high
    return total


def of_kind(takes: Sequence[Judged], kind: str) -> list[OfType]:
    """The events of one type in each take, and its detections with their scores."""
    return [
        ([interval(e) for e in take.events if e.type == kind], [(interval(d), d.score) for d in take.found if d.type == kind])
        for take in takes
    ]


def rates(takes: list[OfType], threshold: float, hours: float) -> tuple[float, float]:
    """True positive rate and false positives per hour of one type at one threshold."""
    found = events = false = 0
    for truth, scored in takes:
        reported = [d for d, score in scored if score >= threshold]
        right = [d for d in reported if overlap(d, truth) >= TOLERANCE * (d[1] - d[0])]
        found += sum(overlap(t, right) >= TOLERANCE * (t[1] - t[0]) for t in truth)
        events += len(truth)
        false += len(reported) - len(right)
    return found / max(1, events), false / hours


def thresholds(takes: Sequence[Judged]) -> list[float]:
    """POINTS thresholds, evenly spread over the scores that occur."""
    scores = np.unique([d.score for take in takes for d in take.found])
    return [] if not len(scores) else np.unique(np.quantile(scores, np.linspace(0, 1, POINTS))).tolist()


def staircase(points: Sequence[tuple[float, float]], grid: np.ndarray) -> np.ndarray:
    """The best true positive rate with at most so many false positives, on the grid (G,)."""
    out = np.zeros(len(grid))
    for tpr, fpr in points:
        out = np.maximum(out, np.where(grid >= fpr, tpr, 0))
    return out


def psds(takes: Sequence[Judged], types: Sequence[str], most: float = MOST_PER_HOUR) -> float:
    """0..1, the area under the curve up to `most` false positives per hour; `types` that do not occur do not count."""
    present = [kind for kind in types if any(e.type == kind for take in takes for e in take.events)]
    if not present:
        return 0.0
    at, hours = thresholds(takes), sum(take.duration_s for take in takes) / 3600
    curves = {}
    for kind in present:
        mine = of_kind(takes, kind)
        curves[kind] = [rates(mine, threshold, hours) for threshold in at]
    grid = np.array(sorted({fpr for points in curves.values() for _, fpr in points if fpr <= most} | {0.0}))
    stairs = np.stack([staircase(curves[kind], grid) for kind in present])
    effective = np.maximum(0, stairs.mean(0) - INSTABILITY * stairs.std(0))
    widths = np.diff(np.append(grid, most))
    return float((effective * widths).sum() / most)
