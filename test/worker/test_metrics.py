# The metrics of a training job compared with the benchmark's, an independent implementation (whose PSDS is compared
# with psds_eval): equal figures for the same random events and boxes.
import numpy as np
import pytest
from bench.detection.metrics.calibration import ece
from bench.detection.metrics.events import Counts, count, macro_f1, pairs
from bench.detection.metrics.psds import Judged as OneTake
from bench.detection.metrics.psds import psds
from bench.detection.metrics.segments import count_segments
from bench.detection.types import Detection, Event
from plosive_worker.events.boxes import Box
from plosive_worker.events.profile import Profile
from plosive_worker.training.metrics import Candidates, average_precision, confusion, overall, per_type

SECONDS, TAKES = 60.0, 6
TYPES = {"click": 5.0, "hum": 900.0}  # impulsive and sustained for both implementations; milliseconds


def drawn(rng: np.random.Generator, kind: str) -> tuple[list[tuple[float, float]], list[Box]]:
    """Events 3 s apart; most of them are found approximately, some twice, and some boxes match no event."""
    truth, boxes = [], []
    for second in range(1, 57, 3):
        if rng.random() < 0.6:
            start, length = second * 1000 + rng.uniform(0, 500), TYPES[kind] * rng.uniform(0.5, 1.5)
            truth.append((start, start + length))
            for _ in range(int(rng.integers(0, 3))):
                off = rng.normal(0, 40 if kind == "click" else 150)
                end = start + length + off + rng.normal(0, 0.15 * length)
                boxes.append(Box(max(0.0, start + off), max(start + off + 1, end), float(rng.uniform(0.2, 0.95))))
        elif rng.random() < 0.4:
            boxes.append(Box(second * 1000.0, second * 1000 + TYPES[kind], float(rng.uniform(0.05, 0.7))))
    return truth, boxes


@pytest.mark.parametrize("seed", range(8))
def test_the_metrics_equal_those_of_the_benchmark(seed: int) -> None:
    rng = np.random.default_rng(seed)
    profiles = [Profile(name, ms, ms, 1000.0, 9, threshold=0.4, slope=1.0, offset=0.0) for name, ms in TYPES.items()]
    judged = [Candidates([], []) for _ in profiles]
    takes: list[tuple[list[Event], list[Detection]]] = []
    for _ in range(TAKES):
        events, found = [], []
        for one, name in zip(judged, TYPES):
            truth, boxes = drawn(rng, name)
            one.truth.append(truth)
            one.boxes.append(boxes)
            events += [Event(name, a / 1000, b / 1000) for a, b in truth]
            found += [Detection(name, b.start_ms / 1000, b.end_ms / 1000, b.score) for b in boxes]
        takes.append((events, found))
    types, whole = per_type(judged, profiles), overall(judged, profiles, TAKES * SECONDS / 3600)

    kept = [(events, [d for d in found if d.score >= 0.4]) for events, found in takes]
    counts = {name: sum((count(e, f, name) for e, f in kept), Counts()) for name in TYPES}
    segments = {name: sum((count_segments(e, f, name, SECONDS) for e, f in kept), Counts()) for name in TYPES}
    for name in TYPES:
        assert types[name]["precision"] == pytest.approx(counts[name].precision, abs=1e-4)
        assert types[name]["recall"] == pytest.approx(counts[name].recall, abs=1e-4)
        assert types[name]["segment_f1"] == pytest.approx(segments[name].f1, abs=1e-4)
    assert whole["f1"] == pytest.approx(macro_f1(counts.values()), abs=1e-4)
    theirs = psds([OneTake(events, found, SECONDS) for events, found in takes], list(TYPES))
    assert whole["psds"] == pytest.approx(theirs, abs=0.02), "thresholds are taken among the scores of other sets of boxes"

    scores, right = [], []
    for events, found in takes:
        for name in TYPES:
            mine = [d for d in found if d.type == name and d.score >= 0.1]
            scores += [d.score for d in mine]
            right += [hit is not None for hit in pairs([e for e in events if e.type == name], mine)]
    assert whole["calibration_error"] == pytest.approx(ece(np.array(scores), np.array(right)), abs=0.02)


def test_average_precision_of_a_known_order() -> None:
    right = np.array([True, False, True, True])
    assert average_precision(right, 4) == pytest.approx((1 + 2 / 3 + 3 / 4) / 4)
    assert average_precision(np.zeros(0, bool), 4) == 0 == average_precision(right, 0)


def test_f1_is_zero_without_detections_and_none_without_events() -> None:
    profiles = [Profile("click", 5.0, 5.0, 1000.0, 0), Profile("hum", 900.0, 900.0, 1000.0, 0)]
    judged = [Candidates([[], []], [[], []]), Candidates([[(0.0, 900.0)], []], [[], []])]
    whole, types = overall(judged, profiles, 0.1), per_type(judged, profiles)
    assert whole["f1"] == 0 == whole["psds"] and whole["few_events"]
    assert types["hum"]["recall"] == 0 == types["hum"]["f1"]
    assert types["click"]["support"] == 0 and types["click"]["few_events"]
    unknown = ("precision", "recall", "f1", "ap", "segment_f1", "calibration_error")
    assert all(types["click"][name] is None for name in unknown), "0 would look like a figure"
    assert types["hum"]["precision"] is None is whole["calibration_error"]
    nothing = overall(judged[:1], profiles[:1], 0.1)
    assert nothing["f1"] is None is nothing["psds"]
    assert confusion(judged, profiles) == {"click": {}, "hum": {"none": 1}}


def test_the_confusion_names_the_detected_type() -> None:
    profiles = [Profile(name, 5.0, 5.0, 1000.0, 9, threshold=0.5) for name in ("click", "pop")]
    judged = [
        Candidates([[(1000.0, 1005.0), (2000.0, 2005.0), (3000.0, 3005.0)]], [[Box(1001.0, 1006.0, 0.9)]]),
        Candidates([[]], [[Box(2001.0, 2006.0, 0.9), Box(3001.0, 3006.0, 0.3)]]),
    ]
    assert confusion(judged, profiles) == {"click": {"click": 1, "pop": 1, "none": 1}, "pop": {}}
