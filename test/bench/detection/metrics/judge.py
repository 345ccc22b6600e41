# Scores one row of the test: all figures that report.py writes. Pure. Called by report.py and short.py.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..types import IMPULSIVE, SEVERITIES, Detection, Take
from .calibration import bins, ece
from .events import Counts, count, macro_f1, of_type, pairs
from .psds import Judged, psds
from .segments import count_segments

CANDIDATE = 0.1  # calibration counts detections from this score on: those below are noise that no client requests


@dataclass(frozen=True)
class Score:
    """The score of a row. Figures of types cover those that the detector can find."""

    types: Mapping[str, Counts]
    macro_f1: float
    segment_f1: float
    psds: float
    false_per_hour: float  # on the clean twins; nan if there are none
    onset_ms: tuple[float, float]  # error of the impulsive onsets that were found, P50 and P95; nan without any
    ece: float  # over all candidates
    ece_reported: float  # over the detections at the detector's own thresholds
    recall: Mapping[str, float]  # by severity
    false_types: Mapping[str, float] = field(default_factory=dict)  # false events per hour on the clean twins, by type
    reliability: Sequence[tuple[float, float, int]] = ()


def kept(found: Sequence[Detection], thresholds: Mapping[str, float]) -> list[Detection]:
    return [d for d in found if d.score >= thresholds.get(d.type, 0.0)]


def calibration(takes: Sequence[Take], found: Mapping[str, Sequence[Detection]], types: Sequence[str]) -> tuple[np.ndarray, ...]:
    """Score and correctness of each detection."""
    scores, right = [], []
    for take in takes:
        for kind in types:
            mine = of_type(found[take.id], kind)
            matches = pairs(of_type(take.events, kind), mine)
            scores += [d.score for d in mine]
            right += [match is not None for match in matches]
    return np.array(scores), np.array(right, bool)


def judge(
    takes: Sequence[Take], found: Mapping[str, Sequence[Detection]], clean: Mapping[str, Sequence[Detection]],
    thresholds: Mapping[str, float], types: Sequence[str],
) -> Score:  # fmt: skip
    """`found` has all candidates of each take by its id, `clean` those of its twin by the twin's id; `thresholds` are
    the detector's own."""
    reported = {take.id: kept(found[take.id], thresholds) for take in takes}
    counts, segments = dict.fromkeys(types, Counts()), dict.fromkeys(types, Counts())
    errors: list[float] = []
    by_severity = {severity: [0, 0] for severity in SEVERITIES}
    for take in takes:
        for kind in types:
            truth, mine = of_type(take.events, kind), of_type(reported[take.id], kind)
            counts[kind] += count(truth, mine, kind)
            segments[kind] += count_segments(truth, mine, kind, take.duration_s)
            matches = pairs(truth, mine)
            if kind in IMPULSIVE:
                errors += [abs(d.onset_s - truth[j].onset_s) * 1000 for d, j in zip(mine, matches) if j is not None]
            for j, event in enumerate(truth):
                by_severity[event.severity][0] += j in matches
                by_severity[event.severity][1] += 1
    twins = [take.twin() for take in takes if take.clean and f"{take.id}~clean" in clean]
    hours = sum(twin.duration_s for twin in twins) / 3600
    alarms = [d for twin in twins for d in kept(clean[twin.id], thresholds)]
    candidates = {take.id: [d for d in found[take.id] if d.score >= CANDIDATE] for take in takes}
    scores, right = calibration(takes, candidates, types)
    return Score(
        types=counts,
        macro_f1=macro_f1(counts.values()),
        segment_f1=macro_f1(segments.values()),
        psds=psds([Judged(take.events, found[take.id], take.duration_s) for take in takes], types),
        false_per_hour=len(alarms) / hours if hours else float("nan"),
        onset_ms=(float(np.quantile(errors, 0.5)), float(np.quantile(errors, 0.95))) if errors else (float("nan"),) * 2,
        ece=ece(scores, right),
        ece_reported=ece(*calibration(takes, reported, types)),
        recall={severity: hits / max(1, total) for severity, (hits, total) in by_severity.items()},
        false_types={kind: len(of_type(alarms, kind)) / hours for kind in types} if hours else {},
        reliability=bins(scores, right),
    )
