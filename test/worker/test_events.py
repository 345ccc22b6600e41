# Events from posteriors, scoring and calibration, as tables of small cases.
import numpy as np
import pytest
from plosive_worker.events.boxes import Posteriors, boxes_of
from plosive_worker.events.calibration import NEUTRAL, best_threshold, confidence, fit_confidence
from plosive_worker.events.profile import profile_of
from plosive_worker.events.scoring import Counts, count
from plosive_worker.manifest import DetectConfig
from plosive_worker.model.detector import Detection, Detector, merged

CLICK = profile_of("click", [[(1000, 1004), (3000, 3006)]])
HUM = profile_of("hum", [[(1000, 3000), (9000, 10500)]])


def curve(*spans: tuple[int, int, float], length: int = 400) -> np.ndarray:
    p = np.full(length, 0.01, np.float32)
    for first, last, height in spans:
        p[first:last] = height
    return p


def boxes(p: np.ndarray, profile):
    silent = np.zeros_like(p)
    return boxes_of(Posteriors(p, silent, silent), profile)


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        ([], []),
        ([(100, 103, 0.9)], [(1010, 1020)]),  # widened labels return to their real length, around the middle
        ([(100, 103, 0.9), (110, 113, 0.9)], [(1010, 1020), (1110, 1120)]),  # two clicks that are 70 ms apart
        ([(100, 103, 0.3), (103, 106, 0.95), (106, 110, 0.3)], [(1040, 1050)]),  # the skirt does not widen the peak
    ],
)
def test_clicks_are_points_in_time(spans: list, wanted: list) -> None:
    found = boxes(curve(*spans), CLICK)
    assert len(found) == len(wanted)
    for box, (low, high) in zip(found, wanted):
        assert low <= (box.start_ms + box.end_ms) / 2 <= high
        assert box.end_ms - box.start_ms < 10


def test_a_short_gap_does_not_split_a_hum_and_a_spike_is_not_part_of_it() -> None:
    found = boxes(curve((50, 150, 0.9), (155, 250, 0.8), (350, 352, 0.9)), HUM)
    assert [(b.start_ms, b.end_ms) for b in found] == [(500, 2500)]


@pytest.mark.parametrize(("duration_ms", "wanted"), [(1010, (1004, 1006)), (1003, (1002, 1003)), (3, (2, 3)), (0, None)])
def test_an_event_in_the_last_partial_frame_ends_with_the_file(duration_ms: int, wanted: tuple[int, int] | None) -> None:
    detector = object.__new__(Detector)  # without a model: its posteriors are given
    detector.config, detector.fixed = DetectConfig(0.5, {}, None, None, None, None, None), {"click": 0.5}
    frames = max(1, -(-duration_ms // 10))
    p, silent = curve((frames - 1, frames, 0.9), length=frames), np.zeros(frames)
    found = detector.events(Posteriors(p, silent, silent), profile_of("click", [[(1000, 1002)]]), duration_ms)
    assert [(e.start_ms, e.end_ms) for e in found] == ([] if wanted is None else [wanted])


def test_merging_joins_detections_up_to_the_gap_and_keeps_the_others() -> None:
    clicks = [Detection("click", 400 * i, 400 * i + 10, 0.9 + i / 1000) for i in range(10)]
    assert merged(clicks, 389) == clicks
    assert merged(clicks, 390) == [Detection("click", 0, 3610, 0.909)]
    inside = [Detection("hum", 0, 5000, 0.7), Detection("hum", 1000, 2000, 0.6), Detection("hum", 9000, 9500, 0.8)]
    assert merged(inside, 0) == [inside[0], inside[2]]


def test_points_and_spans_of_one_type_keep_their_lengths() -> None:
    mixed = profile_of("mixed", [[(1000, 1010), (3000, 3010), (5000, 5600)]])
    point, span = boxes(curve((50, 53, 0.9), (200, 260, 0.9)), mixed)
    assert (point.end_ms - point.start_ms, span.start_ms, span.end_ms) == (10, 2000, 2600)


def test_a_type_that_was_never_found_keeps_the_neutral_threshold() -> None:
    wrong = np.zeros(50, bool)
    assert best_threshold(np.linspace(0.1, 0.9, 50), wrong, 200) == NEUTRAL


def test_edges_snap_to_onset_and_offset_peaks() -> None:
    p, onset, offset = curve((50, 150, 0.9)), np.zeros(400, np.float32), np.zeros(400, np.float32)
    onset[46], offset[156] = 0.8, 0.7
    (box,) = boxes_of(Posteriors(p, onset, offset), HUM)
    assert (box.start_ms, box.end_ms) == (460, 1560)


@pytest.mark.parametrize(
    ("truth", "found", "impulsive", "counts"),
    [
        ([(1000, 1005)], [(1049, 1060)], True, Counts(1, 0, 0)),
        ([(1000, 1005)], [(1051, 1060)], True, Counts(0, 1, 1)),
        ([(1000, 1005)], [(990, 999), (1010, 1020)], True, Counts(1, 1, 0)),  # one event, one hit
        ([(1000, 3000)], [(1190, 3390)], False, Counts(1, 0, 0)),  # 20 % of two seconds
        ([(1000, 3000)], [(1190, 3410)], False, Counts(0, 1, 1)),
        ([(1000, 1300)], [(1000, 1490)], False, Counts(1, 0, 0)),  # at least 200 ms
        ([], [(5, 9)], False, Counts(0, 1, 0)),
        ([(5, 9)], [], True, Counts(0, 0, 1)),
    ],
)
def test_events_count_within_their_collars(truth: list, found: list, impulsive: bool, counts: Counts) -> None:
    assert count(truth, found, impulsive) == counts


def test_f1_is_zero_without_counts_and_one_without_errors() -> None:
    assert Counts().f1 == 0
    assert Counts(3, 0, 0).f1 == 1
    assert Counts(2, 1, 1).f1 == pytest.approx(2 / 3)


def test_confidence_grows_with_the_score_and_few_boxes_change_little() -> None:
    slope, offset = fit_confidence(np.array([0.9, 0.2]), np.array([1.0, 0.0]))
    values = confidence(np.linspace(0.01, 0.99, 20), slope, offset)
    assert (np.diff(values) > 0).all()
    assert 0.5 < slope < 2 and abs(offset) < 1


def test_calibration_learns_that_a_class_is_overconfident() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.5, 0.99, 400)
    right = (rng.random(400) < scores - 0.4).astype(float)
    slope, offset = fit_confidence(scores, right)
    assert confidence(scores, slope, offset).mean() == pytest.approx(right.mean(), abs=0.05)


def test_the_threshold_separates_and_is_shrunk_when_events_are_few() -> None:
    many = np.concatenate([np.full(60, 0.8), np.full(200, 0.3)])
    right = np.arange(260) < 60
    assert 0.3 < best_threshold(many, right, 60) <= 0.8
    one = best_threshold(np.array([0.95, 0.9]), np.array([True, False]), 1)
    assert abs(one - best_threshold(np.zeros(0), np.zeros(0, bool), 0)) < 0.1
