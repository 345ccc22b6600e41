# The metrics of a training job, which are the model's eval_metrics: everything from the same boxes on the validation part.
# Called by evaluation.py.
from dataclasses import dataclass

import numpy as np

from ..events.boxes import Box
from ..events.calibration import confidence
from ..events.profile import Profile
from ..events.scoring import IMPULSIVE_COLLAR_MS, SUSTAINED_COLLAR_MS, Counts, Span, count, match

FEW_EVENTS = 5  # under this, a class's figures are flagged
SEGMENT_MS = 1000
CALIBRATION_BINS, LEAST_CONFIDENCE = 10, 0.1  # under it a box is noise that nobody asks for
# PSDS (arXiv 1910.08440) as in scenario 1 of DCASE task 4, without cross triggers: how much of a detection must lie on
# events and of an event under right detections; points in time are widened first, since overlap means nothing to them
TOLERANCE, MOST_PER_HOUR, WIDENED_MS, POINTS = 0.7, 100.0, 100.0, 50


@dataclass(frozen=True)
class Judged:
    """Candidates of one class with the truth, one list per validation part, times relative to the file."""

    truth: list[list[Span]]
    boxes: list[list[Box]]

    def sure(self, profile: Profile) -> list[np.ndarray]:
        """Confidence of the boxes of each part."""
        return [confidence(np.array([b.score for b in boxes]), profile.slope, profile.offset) for boxes in self.boxes]

    def kept(self, profile: Profile) -> list[list[Span]]:
        """What the finished model reports."""
        return [
            [(b.start_ms, b.end_ms) for b, c in zip(boxes, sure) if c >= profile.threshold]
            for boxes, sure in zip(self.boxes, self.sure(profile))
        ]


def counts_at(judged: Judged, profile: Profile) -> Counts:
    """Event counts when only boxes of enough confidence are kept."""
    return sum((count(t, f, profile.impulsive) for t, f in zip(judged.truth, judged.kept(profile))), Counts())


def macro_f1(counts: list[Counts]) -> float:
    """Mean F1 over the classes that occur in validation."""
    present = [c.f1 for c in counts if c.hits + c.missed]
    return float(np.mean(present)) if present else 0.0


def segments(spans: list[Span]) -> set[int]:
    """Whole seconds that the spans touch."""
    return {s for start, end in spans for s in range(int(start // SEGMENT_MS), int(max(start, end - 1) // SEGMENT_MS) + 1)}


def segment_counts(judged: Judged, profile: Profile) -> Counts:
    total = Counts()
    for truth, found in zip(judged.truth, judged.kept(profile)):
        wanted, said = segments(truth), segments(found)
        total += Counts(len(wanted & said), len(said - wanted), len(wanted - said))
    return total


def ranked(judged: Judged, profile: Profile) -> tuple[np.ndarray, np.ndarray]:
    """Confidence of all boxes, the highest first, and whether each is right."""
    right = [
        hit is not None
        for truth, boxes in zip(judged.truth, judged.boxes)
        for hit in match(truth, [(b.start_ms, b.end_ms) for b in boxes], profile.impulsive)
    ]
    sure = np.concatenate([*judged.sure(profile), np.zeros(0)])
    order = np.argsort(-sure, kind="stable")
    return sure[order], np.array(right, bool)[order]


def average_precision(right: np.ndarray, events: int) -> float:
    """Area under precision over recall, of boxes in order of their confidence."""
    if not events or not len(right):
        return 0.0
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return float(precision[right].sum() / events)


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error of what is sure enough to be asked for, in ten bins."""
    sure, right = sure[sure >= LEAST_CONFIDENCE], right[sure >= LEAST_CONFIDENCE]
    bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(CALIBRATION_BINS)]
    return float(sum(gaps) / max(1, len(sure)))


def widened(spans: list[Span]) -> np.ndarray:
    """(n, 2); shorter ones than WIDENED_MS get that length around their middle."""
    spans = np.array(spans, float).reshape(-1, 2)
    short = np.maximum(0, WIDENED_MS - (spans[:, 1] - spans[:, 0]))
    return spans + np.stack([-short / 2, short / 2], 1)


def covered(spans: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Share of each span that the others cover together, (n,)."""
    if not len(spans) or not len(others):
        return np.zeros(len(spans))
    union: list[list[float]] = []
    for start, end in others[np.argsort(others[:, 0])]:
        if union and start <= union[-1][1]:
            union[-1][1] = max(union[-1][1], end)
        else:
            union.append([start, end])
    low, high = np.array(union).T
    overlap = np.minimum(spans[:, 1:], high) - np.maximum(spans[:, :1], low)
    return np.maximum(0, overlap).sum(1) / (spans[:, 1] - spans[:, 0])


def psds(judged: list[Judged], profiles: list[Profile], hours: float) -> float:
    """0..1: true positive rate (mean minus deviation over classes) over false positives per hour, up to MOST_PER_HOUR."""
    present = [(j, p) for j, p in zip(judged, profiles) if any(j.truth)]
    if not present or not hours:
        return 0.0
    sure = [j.sure(p) for j, p in present]
    all_sure = np.concatenate([s for of_class in sure for s in of_class] + [np.zeros(0)])
    if not len(all_sure):
        return 0.0
    curves = []
    for (one, _), confidences in zip(present, sure):
        truths = [widened(t) for t in one.truth]
        boxes = [widened([(b.start_ms, b.end_ms) for b in part]) for part in one.boxes]
        on_events = [covered(b, t) >= TOLERANCE for b, t in zip(boxes, truths)]
        events, points = sum(map(len, truths)), []
        for least in np.unique(np.quantile(all_sure, np.linspace(0, 1, POINTS))):
            found = false = 0
            for truth, part, right, sureness in zip(truths, boxes, on_events, confidences):
                said = sureness >= least
                found += int((covered(truth, part[said & right]) >= TOLERANCE).sum())
                false += int((said & ~right).sum())
            points.append((found / events, false / hours))
        curves.append(points)
    grid = np.array(sorted({fpr for points in curves for _, fpr in points if fpr <= MOST_PER_HOUR} | {0.0}))
    stairs = np.array([[max((t for t, f in points if f <= at), default=0.0) for at in grid] for points in curves])
    effective = np.maximum(0, stairs.mean(0) - stairs.std(0))
    return float((effective * np.diff(np.append(grid, MOST_PER_HOUR))).sum() / MOST_PER_HOUR)


def confusion(judged: list[Judged], profiles: list[Profile]) -> dict[str, dict[str, int]]:
    """For each true type how many of its events overlap a detection of each type, or of none."""
    kept = [one.kept(profile) for one, profile in zip(judged, profiles)]
    out: dict[str, dict[str, int]] = {}
    for one, profile in zip(judged, profiles):
        row = out.setdefault(profile.name, {})
        for part, truth in enumerate(one.truth):
            for start, end in widened(truth):
                heard = [p.name for p, found in zip(profiles, kept) if any(a < end and b > start for a, b in found[part])]
                for name in heard or ["none"]:
                    row[name] = row.get(name, 0) + 1
    return out


def known(value: float, is_known: bool = True) -> float | None:
    """Rounded; None where there is nothing to tell it from: 0 would look like a bad figure, or like a perfect one."""
    return round(value, 4) if is_known else None


def per_type(judged: list[Judged], profiles: list[Profile]) -> dict[str, dict]:
    out = {}
    for one, profile in zip(judged, profiles):
        counts, support = counts_at(one, profile), sum(map(len, one.truth))
        sure, right = ranked(one, profile)
        out[profile.name] = {
            "precision": known(counts.precision, counts.hits + counts.false > 0),
            "recall": known(counts.recall, support > 0),
            "f1": known(counts.f1, support > 0),
            "ap": known(average_precision(right, support), support > 0),
            "segment_f1": known(segment_counts(one, profile).f1, support > 0),
            "threshold": round(profile.threshold, 4),
            "calibration_error": known(calibration_error(sure, right), (sure >= LEAST_CONFIDENCE).any()),
            "support": support,
            "train_support": profile.support,
            "collar_ms": IMPULSIVE_COLLAR_MS if profile.impulsive else SUSTAINED_COLLAR_MS,
            "few_events": support < FEW_EVENTS,
        }
    return out


def overall(judged: list[Judged], profiles: list[Profile], hours: float) -> dict[str, float | bool | None]:
    """F1 is the mean over the types that occur in validation; precision, recall and micro F1 are those of all events together."""
    counts = [counts_at(one, profile) for one, profile in zip(judged, profiles)]
    total = sum(counts, Counts())
    pairs = [ranked(one, profile) for one, profile in zip(judged, profiles)]
    sure, right = (np.concatenate([pair[i] for pair in pairs] + [np.zeros(0)]) for i in range(2))
    supports = [sum(map(len, one.truth)) for one in judged]
    any_events = sum(supports) > 0
    return {
        "precision": known(total.precision, total.hits + total.false > 0),
        "recall": known(total.recall, any_events),
        "f1": known(macro_f1(counts), any_events),
        "micro_f1": known(total.f1, any_events),
        "segment_f1": known(macro_f1([segment_counts(one, profile) for one, profile in zip(judged, profiles)]), any_events),
        "psds": known(psds(judged, profiles, hours), any_events),
        "calibration_error": known(calibration_error(sure, right), (sure >= LEAST_CONFIDENCE).any()),
        "few_events": any(support < FEW_EVENTS for support in supports),
    }
