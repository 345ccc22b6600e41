# The metrics of a training job as small cases with results that can be computed by hand; test_metrics.py compares them
# with the benchmark's on random cases.
from dataclasses import replace

import numpy as np
import pytest
from plosive_worker.events.boxes import Box
from plosive_worker.events.profile import Profile
from plosive_worker.events.scoring import Counts
from plosive_worker.training.metrics import (
    Candidates,
    average_precision,
    calibration_error,
    counts_at,
    covered,
    macro_f1,
    overall,
    per_type,
    psds,
    ranked,
    segment_counts,
    segments,
    widened,
)  # fmt: skip

HUM = Profile("hum", 1000.0, 900.0, 2000.0, 9, threshold=0.5)
CLICK = Profile("click", 10.0, 10.0, 1000.0, 9, threshold=0.5, long_ms=12.0)


def test_a_box_at_the_threshold_is_reported() -> None:
    candidates = Candidates([[(1000.0, 2000.0)]], [[Box(1000.0, 2000.0, 0.5), Box(5000.0, 6000.0, 0.49)]])
    assert candidates.kept(HUM) == [[(1000.0, 2000.0)]] and counts_at(candidates, HUM) == Counts(1, 0, 0)
    assert counts_at(candidates, replace(HUM, threshold=0.4)) == Counts(1, 1, 0)


def test_segments_are_the_seconds_that_are_touched() -> None:
    assert segments([(900, 1100), (3000, 4000), (6500, 6500)]) == {0, 1, 3, 6}
    assert segments([(1000, 3001)]) == {1, 2, 3}
    candidates = Candidates([[(0.0, 2500.0)], [(0.0, 500.0)]], [[Box(2000.0, 4000.0, 0.9)], []])
    assert segment_counts(candidates, HUM) == Counts(1, 1, 3)


def test_macro_f1_leaves_out_classes_that_do_not_occur() -> None:
    assert macro_f1([Counts(1, 0, 0), Counts(0, 5, 0), Counts(0, 0, 1)]) == 0.5 and macro_f1([Counts(0, 3, 0)]) == 0.0


def test_boxes_are_ranked_by_confidence() -> None:
    candidates = Candidates(
        [[(1000.0, 2000.0)], []], [[Box(5000.0, 6000.0, 0.3), Box(1000.0, 2000.0, 0.6)], [Box(0.0, 900.0, 0.9)]]
    )
    sure, right = ranked(candidates, HUM)
    assert sure == pytest.approx([0.9, 0.6, 0.3]) and right.tolist() == [False, True, False]
    assert average_precision(right, 1) == 0.5


def test_calibration_error_is_the_mean_gap_over_boxes_from_a_confidence_of_a_tenth() -> None:
    right = np.arange(10) % 2 == 0
    assert calibration_error(np.full(10, 0.95), right) == pytest.approx(0.45)
    assert calibration_error(np.r_[np.full(10, 0.95), np.full(30, 0.09)], np.r_[right, np.ones(30, bool)]) == pytest.approx(0.45)
    assert calibration_error(np.full(4, 0.1), np.zeros(4, bool)) == pytest.approx(0.1)
    assert calibration_error(np.ones(4), np.ones(4, bool)) == 0
    # one bin is too low, the other too high by the same amount: they do not cancel
    assert calibration_error(np.array([0.25, 0.75]), np.array([True, False])) == pytest.approx(0.75)
    assert calibration_error(np.zeros(0), np.zeros(0, bool)) == 0


def test_points_are_widened_before_their_overlap_is_computed() -> None:
    assert widened([(1000.0, 1010.0), (2000.0, 2100.0), (0.0, 900.0)]).tolist() == [[955, 1055], [2000, 2100], [0, 900]]
    share = covered(
        np.array([[0.0, 100.0], [200.0, 300.0], [400.0, 500.0]]), np.array([[90.0, 250.0], [0.0, 30.0], [20.0, 50.0]])
    )
    assert share.tolist() == [0.6, 0.5, 0.0]
    assert covered(np.zeros((0, 2)), np.ones((1, 2))).shape == (0,) and covered(
        np.array([[0.0, 1.0]]), np.zeros((0, 2))
    ).tolist() == [0]
    assert covered(np.array([[0.0, 100.0]]), np.array([[0.0, 80.0], [10.0, 20.0]])).tolist() == [0.8]


def psds_of(truth: list, found: list[tuple[float, float, float]], hours: float = 1.0) -> float:
    return psds([Candidates([truth], [[Box(*f) for f in found]])], [HUM], hours)


def test_psds_counts_hits_against_false_alarms_per_hour() -> None:
    truth = [(0.0, 1000.0), (5000.0, 6000.0)]
    hits = [(0.0, 1000.0, 0.9), (5000.0, 6000.0, 0.8)]
    assert psds_of(truth, hits) == 1 and psds_of(truth, hits[:1]) == 0.5 and psds_of(truth, []) == 0 == psds_of([], hits)
    assert psds_of(truth, [*hits, (8000.0, 9000.0, 0.3)]) == 1, "a threshold excludes this false alarm"
    first = [(0.0, 1000.0, 0.6), (5000.0, 6000.0, 0.6), (8000.0, 9000.0, 0.9)]
    assert psds_of(truth, first) == pytest.approx(0.99) and psds_of(truth, first, 0.1) == pytest.approx(0.9)
    assert psds_of(truth, first, 0.01) == pytest.approx(0), "beyond 100 false alarms per hour nothing counts"
    assert psds_of(truth, hits, 0.0) == 0


@pytest.mark.parametrize(
    ("found", "value"), [((0.0, 700.0), 1.0), ((0.0, 699.0), 0.0), ((0.0, 1428.0), 1.0), ((0.0, 1430.0), 0.0)]
)
def test_a_psds_hit_and_its_event_overlap_by_70_percent_of_each(found: tuple, value: float) -> None:
    assert psds_of([(0.0, 1000.0)], [(*found, 0.9)]) == value


def test_psds_is_the_mean_less_the_deviation_over_classes() -> None:
    perfect = Candidates([[(0.0, 1000.0)]], [[Box(0.0, 1000.0, 0.9)]])
    half = Candidates([[(0.0, 1000.0), (5000.0, 6000.0)]], [[Box(0.0, 1000.0, 0.9)]])
    assert psds([perfect, half], [HUM, HUM], 1.0) == pytest.approx(0.75 - 0.25)
    absent = Candidates([[]], [[Box(0.0, 1000.0, 0.9)]])
    assert psds([perfect, absent], [HUM, HUM], 1.0) == 1, "a class without events does not count"


def test_metrics_report_their_support() -> None:
    def at(count: int) -> Candidates:
        return Candidates(
            [[(3000.0 * i, 3000.0 * i + 1000) for i in range(count)]], [[Box(0.0, 1000.0, 0.9), Box(1500.0, 2500.0, 0.05)]]
        )

    profiles = [replace(HUM, threshold=0.123456), replace(CLICK, support=3)]
    types = per_type([at(5), at(4)], profiles)
    assert [types[n]["few_events"] for n in ("hum", "click")] == [False, True]
    assert [types[n]["collar_ms"] for n in ("hum", "click")] == [200, 50]
    assert [types[n]["support"] for n in ("hum", "click")] == [5, 4] and types["click"]["train_support"] == 3
    assert types["hum"]["threshold"] == 0.1235 and types["hum"]["recall"] == 0.2 and types["hum"]["precision"] == 1
    assert types["hum"]["f1"] == 0.3333 and types["hum"]["ap"] == 0.2 and types["hum"]["calibration_error"] == 0.1
    assert types["hum"]["segment_f1"] == pytest.approx(2 / 6, abs=1e-4)
    assert per_type([at(1)], profiles[:1])["hum"]["segment_f1"] == 1
    assert per_type([at(0)], profiles[:1])["hum"]["segment_f1"] is None
    whole = overall([at(5), at(4)], profiles, 1.0)
    assert whole["few_events"] and not overall([at(5)], profiles[:1], 1.0)["few_events"]
    assert whole["recall"] == round(2 / 9, 4) and whole["precision"] == 1 and whole["micro_f1"] == round(4 / 11, 4)
    assert whole["f1"] == round((1 / 3 + 2 / 5) / 2, 4) and whole["calibration_error"] == 0.1
