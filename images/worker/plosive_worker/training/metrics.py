# Computes the metrics of a training job, which are also the model's eval_metrics. All use the same boxes on the
# validation part. Called by evaluation.py.
from dataclasses import dataclass

import numpy as np

from ..events.boxes import Box
from ..events.calibration import confidence
from ..events.profile import Profile
from ..events.scoring import IMPULSIVE_COLLAR_MS, SUSTAINED_COLLAR_MS, Counts, Span, count, match

FEW_EVENTS = 5  # the metrics of a class with fewer events are flagged
SEGMENT_MS = 1000
CALIBRATION_BINS, LEAST_CONFIDENCE = 10, 0.1  # boxes with less confidence are noise and do not count
# PSDS (arXiv 1910.08440) as in scenario 1 of DCASE task 4, without cross triggers. TOLERANCE is the share of a
# detection that must lie on events, and of an event that correct detections must cover. Points in time are widened
# first, because they cannot overlap.
TOLERANCE, MAX_PER_HOUR, WIDENED_MS, POINTS = 0.7, 100.0, 100.0, 50


@dataclass(frozen=True)
class Candidates:
    """Candidates and labelled events (truth) of one class, one list per validation part, times relative to the file."""

    truth: list[list[Span]]
    boxes: list[list[Box]]

    def confidences(self, profile: Profile) -> list[np.ndarray]:
        """Returns the confidences of the boxes of each part."""
        return [confidence(np.array([b.score for b in boxes]), profile.slope, profile.offset) for boxes in self.boxes]

    def kept(self, profile: Profile) -> list[list[Span]]:
        """Returns the detections of the finished model: boxes above the threshold."""
        return [
            [(b.start_ms, b.end_ms) for b, c in zip(boxes, part) if c >= profile.threshold]
            for boxes, part in zip(self.boxes, self.confidences(profile))
        ]


def counts_at(candidates: Candidates, profile: Profile) -> Counts:
    """Returns the event counts of the boxes above the threshold."""
    return sum((count(t, f, profile.impulsive) for t, f in zip(candidates.truth, candidates.kept(profile))), Counts())


def macro_f1(counts: list[Counts]) -> float:
    """Returns the mean F1 over the classes that occur in validation."""
    present = [c.f1 for c in counts if c.hits + c.missed]
    return float(np.mean(present)) if present else 0.0


def segments(spans: list[Span]) -> set[int]:
    """Returns the one-second segments that the spans touch."""
    return {s for start, end in spans for s in range(int(start // SEGMENT_MS), int(max(start, end - 1) // SEGMENT_MS) + 1)}


def segment_counts(candidates: Candidates, profile: Profile) -> Counts:
    total = Counts()
    for truth, found in zip(candidates.truth, candidates.kept(profile)):
        labelled, detected = segments(truth), segments(found)
        total += Counts(len(labelled & detected), len(detected - labelled), len(labelled - detected))
    return total


def ranked(candidates: Candidates, profile: Profile) -> tuple[np.ndarray, np.ndarray]:
    """Returns the confidence of all boxes, highest first, and whether each is correct."""
    right = [
        hit is not None
        for truth, boxes in zip(candidates.truth, candidates.boxes)
        for hit in match(truth, [(b.start_ms, b.end_ms) for b in boxes], profile.impulsive)
    ]
    confidences = np.concatenate([*candidates.confidences(profile), np.zeros(0)])
    order = np.argsort(-confidences, kind="stable")
    return confidences[order], np.array(right, bool)[order]


def average_precision(right: np.ndarray, events: int) -> float:
    """Returns the area under the precision-recall curve of boxes in order of their confidence."""
    if not events or not len(right):
        return 0.0
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return float(precision[right].sum() / events)


def calibration_error(confidences: np.ndarray, right: np.ndarray) -> float:
    """Returns the expected calibration error of boxes with at least LEAST_CONFIDENCE, in ten bins."""
    counted = confidences >= LEAST_CONFIDENCE
    confidences, right = confidences[counted], right[counted]
    bins = np.minimum((confidences * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = [abs(confidences[bins == b].sum() - right[bins == b].sum()) for b in range(CALIBRATION_BINS)]
    return float(sum(gaps) / max(1, len(confidences)))


def table(spans: list[Span]) -> np.ndarray:
    """Returns the spans as an array (n, 2), also if there are none."""
    return np.array(spans, float).reshape(-1, 2)


def widened(spans: list[Span]) -> np.ndarray:
    """Returns the spans (n, 2); those shorter than WIDENED_MS are widened to it around their middle."""
    edges = table(spans)
    short = np.maximum(0, WIDENED_MS - (edges[:, 1] - edges[:, 0]))
    return edges + np.stack([-short / 2, short / 2], 1)


def by_start(spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the starts of the spans (n, 2) in ascending order, and the latest end up to each, (n,)."""
    ordered = spans[np.argsort(spans[:, 0])]
    return ordered[:, 0], np.maximum.accumulate(ordered[:, 1])


def covered(spans: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Returns the share of each span that the union of the others covers, (n,). A matrix of spans and others would take
    gigabytes for ten hours of audio."""
    if not len(spans) or not len(others):
        return np.zeros(len(spans))
    starts, latest = by_start(others)
    apart = starts[1:] > latest[:-1]
    low, high = starts[np.append(True, apart)], latest[np.append(apart, True)]  # the union, in disjoint pieces
    before = np.append(0, np.cumsum(high - low))  # length of all pieces before each
    first = np.minimum(np.searchsorted(high, spans[:, 0], "right"), len(low) - 1)
    last = np.maximum(np.searchsorted(low, spans[:, 1]) - 1, 0)

    def overlap(piece: np.ndarray) -> np.ndarray:
        return np.maximum(0, np.minimum(spans[:, 1], high[piece]) - np.maximum(spans[:, 0], low[piece]))

    # the pieces between the first and the last lie entirely within the span
    more = np.where(last > first, overlap(last) + before[last] - before[first + 1], 0)
    return (overlap(first) + more) / (spans[:, 1] - spans[:, 0])


def overlapping(spans: np.ndarray, starts: np.ndarray, latest: np.ndarray) -> np.ndarray:
    """Returns whether each span overlaps any of the others, (n,), which are given as `by_start` returns them."""
    return np.append(-np.inf, latest)[np.searchsorted(starts, spans[:, 1])] > spans[:, 0]


def psds(candidates: list[Candidates], profiles: list[Profile], hours: float) -> float:
    """Returns the PSDS, 0..1: the area under the true positive rate (mean minus deviation over classes) against false
    positives per hour, up to MAX_PER_HOUR."""
    present = [(j, p) for j, p in zip(candidates, profiles) if any(j.truth)]
    if not present or not hours:
        return 0.0
    by_class = [j.confidences(p) for j, p in present]
    everything = np.concatenate([s for of_class in by_class for s in of_class] + [np.zeros(0)])
    if not len(everything):
        return 0.0
    curves = []
    for (one, _), confidences in zip(present, by_class):
        truths = [widened(t) for t in one.truth]
        boxes = [widened([(b.start_ms, b.end_ms) for b in part]) for part in one.boxes]
        on_events = [covered(b, t) >= TOLERANCE for b, t in zip(boxes, truths)]
        events, points = sum(map(len, truths)), []
        for threshold in np.unique(np.quantile(everything, np.linspace(0, 1, POINTS))):
            found = false = 0
            for truth, part, right, part_confidences in zip(truths, boxes, on_events, confidences):
                detected = part_confidences >= threshold
                found += int((covered(truth, part[detected & right]) >= TOLERANCE).sum())
                false += int((detected & ~right).sum())
            points.append((found / events, false / hours))
        curves.append(points)
    grid = np.array(sorted({fpr for points in curves for _, fpr in points if fpr <= MAX_PER_HOUR} | {0.0}))
    stairs = np.array([[max((t for t, f in points if f <= at), default=0.0) for at in grid] for points in curves])
    effective = np.maximum(0, stairs.mean(0) - stairs.std(0))
    return float((effective * np.diff(np.append(grid, MAX_PER_HOUR))).sum() / MAX_PER_HOUR)


def confusion(candidates: list[Candidates], profiles: list[Profile]) -> dict[str, dict[str, int]]:
    """Returns for each labelled type how many of its events overlap a detection of each type, or of none."""
    kept = [[by_start(table(found)) for found in one.kept(profile)] for one, profile in zip(candidates, profiles)]
    out: dict[str, dict[str, int]] = {}
    for one, profile in zip(candidates, profiles):
        row = out.setdefault(profile.name, {})
        for part, truth in enumerate(one.truth):
            events = widened(truth)
            met = [overlapping(events, *found[part]) for found in kept if truth]
            for event in range(len(truth)):
                detected = [p.name for p, of_type in zip(profiles, met) if of_type[event]]
                for name in detected or ["none"]:
                    row[name] = row.get(name, 0) + 1
    return out


def rounded(value: float, is_known: bool = True) -> float | None:
    """Rounds a metric to four digits. Returns None if it is undefined: 0 would look like a bad or a perfect value."""
    return round(value, 4) if is_known else None


def per_type(candidates: list[Candidates], profiles: list[Profile]) -> dict[str, dict]:
    out = {}
    for one, profile in zip(candidates, profiles):
        counts, support = counts_at(one, profile), sum(map(len, one.truth))
        confidences, right = ranked(one, profile)
        out[profile.name] = {
            "precision": rounded(counts.precision, counts.hits + counts.false > 0),
            "recall": rounded(counts.recall, support > 0),
            "f1": rounded(counts.f1, support > 0),
            "ap": rounded(average_precision(right, support), support > 0),
            "segment_f1": rounded(segment_counts(one, profile).f1, support > 0),
            "threshold": round(profile.threshold, 4),
            "calibration_error": rounded(calibration_error(confidences, right), bool((confidences >= LEAST_CONFIDENCE).any())),
            "support": support,
            "train_support": profile.support,
            "collar_ms": IMPULSIVE_COLLAR_MS if profile.impulsive else SUSTAINED_COLLAR_MS,
            "few_events": support < FEW_EVENTS,
        }
    return out


def overall(candidates: list[Candidates], profiles: list[Profile], hours: float) -> dict[str, float | bool | None]:
    """Returns the metrics over all types. F1 is the mean over the types that occur in validation; precision, recall and
    micro F1 are those of all events together."""
    counts = [counts_at(one, profile) for one, profile in zip(candidates, profiles)]
    total = sum(counts, Counts())
    pairs = [ranked(one, profile) for one, profile in zip(candidates, profiles)]
    confidences, right = (np.concatenate([pair[i] for pair in pairs] + [np.zeros(0)]) for i in range(2))
    supports = [sum(map(len, one.truth)) for one in candidates]
    any_events = sum(supports) > 0
    return {
        "precision": rounded(total.precision, total.hits + total.false > 0),
        "recall": rounded(total.recall, any_events),
        "f1": rounded(macro_f1(counts), any_events),
        "micro_f1": rounded(total.f1, any_events),
        "segment_f1": rounded(macro_f1([segment_counts(one, profile) for one, profile in zip(candidates, profiles)]), any_events),
        "psds": rounded(psds(candidates, profiles, hours), any_events),
        "calibration_error": rounded(calibration_error(confidences, right), bool((confidences >= LEAST_CONFIDENCE).any())),
        "few_events": any(support < FEW_EVENTS for support in supports),
    }
