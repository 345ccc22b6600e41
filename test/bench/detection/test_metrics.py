# Tests of the metrics on small cases with known answers.
import numpy as np
import pytest
from bench.detection.goals import best_peer, goals, margins
from bench.detection.metrics.calibration import ece
from bench.detection.metrics.events import Counts, best_threshold, count, macro_f1, pairs
from bench.detection.metrics.judge import judge
from bench.detection.metrics.psds import Judged, psds
from bench.detection.metrics.segments import count_segments
from bench.detection.types import IMPULSIVE, SUSTAINED, TYPES, Detection, Event, Take


def events(kind: str, *spans: tuple[float, float]) -> list[Event]:
    return [Event(kind, a, b) for a, b in spans]


def found(kind: str, *spans: tuple[float, ...]) -> list[Detection]:
    return [Detection(kind, *span) for span in spans]


@pytest.mark.parametrize(
    ("kind", "truth", "detections", "counts"),
    [
        ("click", [(1, 1.005)], [(1.05, 2)], Counts(1, 0, 0)),
        ("click", [(1, 1.005)], [(1.051, 1.06)], Counts(0, 1, 1)),
        ("click", [(1, 1.005)], [(0.99, 1), (1.01, 1.02)], Counts(1, 1, 0)),
        ("hum", [(1, 3)], [(1.2, 3.4)], Counts(1, 0, 0)),
        ("hum", [(1, 3)], [(1.2, 3.41)], Counts(0, 1, 1)),
        ("hum", [(1, 3)], [(1.21, 3)], Counts(0, 1, 1)),
        ("hum", [(1, 1.3)], [(1, 1.5)], Counts(1, 0, 0)),
        ("hum", [], [(1, 2)], Counts(0, 1, 0)),
        ("hum", [(1, 2)], [], Counts(0, 0, 1)),
    ],
)
def test_events_count_within_their_collars(kind: str, truth: list, detections: list, counts: Counts) -> None:
    assert count(events(kind, *truth), found(kind, *detections), kind) == counts


def test_the_number_of_pairs_is_maximal() -> None:
    # Pairing the nearest first would leave the second event without the only detection that can match it.
    truth, detections = events("click", (1.00, 1.01), (1.06, 1.07)), found("click", (1.02, 1.03), (0.96, 0.97))
    assert sorted(p for p in pairs(truth, detections) if p is not None) == [0, 1]


def test_detections_of_other_types_do_not_count() -> None:
    assert count(events("click", (1, 1.1)), found("pop", (1, 1.1)), "click") == Counts(0, 0, 1)


def test_macro_f1_is_the_mean_over_the_types_that_occur() -> None:
    assert macro_f1([Counts(1, 0, 0), Counts(0, 0, 1), Counts(0, 7, 0)]) == 0.5
    assert Counts(3, 1, 1).f1 == 0.75 and Counts().f1 == 0


def test_the_best_threshold_excludes_false_detections() -> None:
    truth = [events("click", (1, 1.01)), events("click", (5, 5.01))]
    detections = [found("click", (1, 1.01, 0.8), (3, 3.1, 0.4)), found("click", (5, 5.01, 0.7), (8, 8.1, 0.5))]
    assert best_threshold(truth, detections, "click") == 0.7


def test_a_second_counts_once_for_any_number_of_detections() -> None:
    truth, detections = events("hum", (0.5, 2.5)), found("hum", (1.1, 1.2), (1.3, 1.4), (4.2, 4.3))
    assert count_segments(truth, detections, "hum", 5.0) == Counts(1, 1, 2)


def test_psds_is_one_for_the_truth_itself_and_zero_for_silence() -> None:
    truth = events("hum", (1, 3), (6, 9)) + events("click", (4, 4.005))
    perfect = [Detection(e.type, e.onset_s, e.offset_s, 0.9) for e in truth]
    assert psds([Judged(truth, perfect, 3600)], TYPES) == pytest.approx(1)
    assert psds([Judged(truth, [], 3600)], TYPES) == 0


def test_psds_decreases_with_false_alarms_of_higher_scores() -> None:
    # One event is found at a score that 50 false alarms per hour also reach: half of the 100 are used up.
    truth = events("hum", (1, 3))
    detections = found("hum", (1, 3, 0.5), *((10 + 5 * i, 11 + 5 * i, 0.8) for i in range(50)))
    assert psds([Judged(truth, detections, 3600)], ["hum"]) == pytest.approx(0.5)


def test_psds_subtracts_the_deviation_over_types() -> None:
    truth = events("hum", (1, 3)) + events("echo", (5, 8))
    assert psds([Judged(truth, found("hum", (1, 3, 0.9)), 3600)], TYPES) == pytest.approx(0)


def test_ece_is_the_distance_between_confidence_and_precision() -> None:
    right = np.arange(100) < 80
    assert ece(np.full(100, 0.8), right) == pytest.approx(0)
    assert ece(np.full(100, 0.95), right) == pytest.approx(0.15)
    assert ece(np.zeros(0), np.zeros(0, bool)) == 0


def take(name: str, *truth: Event) -> Take:
    from pathlib import Path

    return Take(name, "a", "en", 16_000, Path("x.flac"), 1800.0, truth, Path("y.flac"))


def test_a_row_is_scored_at_the_detectors_own_thresholds() -> None:
    takes = [take("one", Event("click", 1, 1.01, "faint"), Event("click", 2, 2.01, "strong")), take("two")]
    detections = {"one": found("click", (1.004, 1.01, 0.9), (2, 2.01, 0.4), (9, 9.1, 0.2)), "two": []}
    clean = {"one~clean": found("click", (7, 7.1, 0.95), (8, 8.1, 0.3)), "two~clean": []}
    score = judge(takes, detections, clean, {"click": 0.5}, ["click", "hum"])
    assert score.types["click"] == Counts(1, 0, 1)
    assert score.macro_f1 == pytest.approx(2 / 3)
    assert score.false_per_hour == 1
    assert score.false_types == {"click": 1, "hum": 0}
    assert score.onset_ms == pytest.approx((4, 4))
    assert score.recall == {"faint": 1, "medium": 0, "strong": 0}
    # All three candidates: |0.9 - 1| + |0.4 - 1| + |0.2 - 0|, each in its own bin.
    assert score.ece == pytest.approx(0.9 / 3)
    assert score.ece_reported == pytest.approx(0.1)


def test_goals_name_the_types_in_which_a_peer_is_nearly_as_good() -> None:
    takes = [take("one", Event("click", 1, 1.01), Event("hum", 3, 5))]
    right = {"one": found("click", (1, 1.01)) + found("hum", (3, 5))}
    scores = {("plosive", 60, seed, "unseen"): judge(takes, right, {}, {}, TYPES) for seed in (0, 1)}
    worse = {"one": found("click", (1, 1.01), (1.5, 1.6))}
    scores |= {("peer", 15, seed, "unseen"): judge(takes, worse, {}, {}, ["click"]) for seed in (0, 1)}
    assert best_peer(scores, "click") == ("peer", pytest.approx(2 / 3))
    assert set(margins(scores, TYPES)) == {"click"}
    spent = dict.fromkeys(("embed_rtf", "detect_rtf", "train_minutes"), np.array([300.0]))
    table = {goal.name: goal for goal in goals(scores, TYPES, spent)}
    assert table["per type against the best peer"].met is True
    assert table["macro event-F1 after 60 min of training audio"].met is True
    assert table["macro event-F1 after 5 min of training audio"].met is None
    assert next(goal for name, goal in table.items() if name.startswith("train on 1 h")).met is False


def test_every_type_is_either_a_point_or_a_stretch() -> None:
    assert not IMPULSIVE & SUSTAINED and len(TYPES) == 13
