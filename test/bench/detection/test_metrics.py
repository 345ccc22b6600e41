# The judges are judged: small cases with answers known beforehand.
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
    ("kind", "truth", "said", "counts"),
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
def test_events_count_within_their_collars(kind: str, truth: list, said: list, counts: Counts) -> None:
    assert count(events(kind, *truth), found(kind, *said), kind) == counts


def test_as_many_pairs_as_possible_are_made() -> None:
    # the nearest pair first would leave the second event without the only detection that reaches it
    truth, said = events("click", (1.00, 1.01), (1.06, 1.07)), found("click", (1.02, 1.03), (0.96, 0.97))
    assert sorted(p for p in pairs(truth, said) if p is not None) == [0, 1]


def test_other_types_are_not_looked_at() -> None:
    assert count(events("click", (1, 1.1)), found("pop", (1, 1.1)), "click") == Counts(0, 0, 1)


def test_macro_f1_is_of_the_types_that_occur() -> None:
    assert macro_f1([Counts(1, 0, 0), Counts(0, 0, 1), Counts(0, 7, 0)]) == 0.5
    assert Counts(3, 1, 1).f1 == 0.75 and Counts().f1 == 0


def test_a_threshold_that_leaves_out_the_wrong_ones_is_found() -> None:
    truth = [events("click", (1, 1.01)), events("click", (5, 5.01))]
    said = [found("click", (1, 1.01, 0.8), (3, 3.1, 0.4)), found("click", (5, 5.01, 0.7), (8, 8.1, 0.5))]
    assert best_threshold(truth, said, "click") == 0.7


def test_seconds_count_once_however_often_they_are_hit() -> None:
    truth, said = events("hum", (0.5, 2.5)), found("hum", (1.1, 1.2), (1.3, 1.4), (4.2, 4.3))
    assert count_segments(truth, said, "hum", 5.0) == Counts(1, 1, 2)


def test_psds_is_one_for_the_truth_itself_and_zero_for_silence() -> None:
    truth = events("hum", (1, 3), (6, 9)) + events("click", (4, 4.005))
    perfect = [Detection(e.type, e.onset_s, e.offset_s, 0.9) for e in truth]
    assert psds([Judged(truth, perfect, 3600)], TYPES) == pytest.approx(1)
    assert psds([Judged(truth, [], 3600)], TYPES) == 0


def test_psds_loses_what_false_alarms_come_before() -> None:
    # one true event, found at a score that 50 false alarms in the hour reach as well: half of the 100 are used up
    truth = events("hum", (1, 3))
    said = found("hum", (1, 3, 0.5), *((10 + 5 * i, 11 + 5 * i, 0.8) for i in range(50)))
    assert psds([Judged(truth, said, 3600)], ["hum"]) == pytest.approx(0.5)


def test_psds_subtracts_the_deviation_over_types() -> None:
    truth = events("hum", (1, 3)) + events("echo", (5, 8))
    assert psds([Judged(truth, found("hum", (1, 3, 0.9)), 3600)], TYPES) == pytest.approx(0)


def test_ece_is_the_distance_from_what_was_promised() -> None:
    right = np.arange(100) < 80
    assert ece(np.full(100, 0.8), right) == pytest.approx(0)
    assert ece(np.full(100, 0.95), right) == pytest.approx(0.15)
    assert ece(np.zeros(0), np.zeros(0, bool)) == 0


def take(name: str, *truth: Event) -> Take:
    from pathlib import Path

    return Take(name, "a", "en", 16_000, Path("x.flac"), 1800.0, truth, Path("y.flac"))


def test_a_row_is_judged_at_the_detectors_own_thresholds() -> None:
    takes = [take("one", Event("click", 1, 1.01, "faint"), Event("click", 2, 2.01, "strong")), take("two")]
    said = {"one": found("click", (1.004, 1.01, 0.9), (2, 2.01, 0.4), (9, 9.1, 0.2)), "two": []}
    clean = {"one~clean": found("click", (7, 7.1, 0.95), (8, 8.1, 0.3)), "two~clean": []}
    score = judge(takes, said, clean, {"click": 0.5}, ["click", "hum"])
    assert score.types["click"] == Counts(1, 0, 1)
    assert score.macro_f1 == pytest.approx(2 / 3)
    assert score.false_per_hour == 1
    assert score.false_types == {"click": 1, "hum": 0}
    assert score.onset_ms == pytest.approx((4, 4))
    assert score.recall == {"faint": 1, "medium": 0, "strong": 0}
    # all three candidates: |0.9 - 1| + |0.4 - 1| + |0.2 - 0|, each in a bin of its own
    assert score.ece == pytest.approx(0.9 / 3)
    assert score.ece_reported == pytest.approx(0.1)


def test_goals_name_the_types_that_a_peer_does_nearly_as_well() -> None:
    takes = [take("one", Event("click", 1, 1.01), Event("hum", 3, 5))]
    right = {"one": found("click", (1, 1.01)) + found("hum", (3, 5))}
    scores = {("plosive", 60, seed, "unseen"): judge(takes, right, {}, {}, TYPES) for seed in (0, 1)}
    worse = {"one": found("click", (1, 1.01), (1.5, 1.6))}
    scores |= {("peer", 15, seed, "unseen"): judge(takes, worse, {}, {}, ["click"]) for seed in (0, 1)}
    assert best_peer(scores, "click") == ("peer", pytest.approx(2 / 3))
    assert set(margins(scores, TYPES)) == {"click"}
    spent = dict.fromkeys(("embed_rtf", "detect_rtf", "train_minutes"), np.array([300.0]))
    table = {goal.name: goal for goal in goals(scores, TYPES, spent)}
    assert table["per type against the best peer"].kept is True
    assert table["macro event-F1 after 60 min of training audio"].kept is True
    assert table["macro event-F1 after 5 min of training audio"].kept is None
    assert next(goal for name, goal in table.items() if name.startswith("train on 1 h")).kept is False


def test_every_type_is_either_a_point_or_a_stretch() -> None:
    assert not IMPULSIVE & SUSTAINED and len(TYPES) == 13
