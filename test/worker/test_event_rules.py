# The rules of events as small cases with results that can be computed by hand: scoring, boxes, calibration, profiles.
from dataclasses import replace

import numpy as np
import pytest
from plosive_worker.events.boxes import Box, Posteriors, boxes_of, runs, score_of, smoothing_frames, snap, spans
from plosive_worker.events.budget import GRID, alarms_at, expected_alarms, fixed_alarms, threshold_within
from plosive_worker.events.calibration import PRIOR, best_threshold, confidence, fit_confidence, logit
from plosive_worker.events.profile import Profile, profile_of
from plosive_worker.events.scoring import Counts, agrees, match
from plosive_worker.manifest import DetectConfig
from plosive_worker.model import detector
from plosive_worker.model.card import Card
from plosive_worker.model.detector import Detector

HUM = Profile("hum", 1000.0, 900.0, 2000.0, 9, threshold=0.5)
CLICK = Profile("click", 10.0, 10.0, 1000.0, 9, threshold=0.5, long_ms=12.0)


# ---- scoring


@pytest.mark.parametrize(
    ("found", "impulsive", "hit"),
    [
        ((1050, 1060), True, True),
        ((950, 960), True, True),
        ((1051, 1060), True, False),
        ((1200, 3400), False, True),
        ((800, 2600), False, True),
        ((1201, 3000), False, False),
        ((1000, 3401), False, False),
        ((1000, 2599), False, False),
    ],
)
def test_the_collars_include_their_limits(found: tuple, impulsive: bool, hit: bool) -> None:
    assert agrees((1000, 3000), found, impulsive) == hit
    assert match([(1000, 3000)], [found], impulsive) == ([0] if hit else [None])


def test_events_match_the_nearest_onset_in_any_order() -> None:
    assert match([(1030, 1035), (1000, 1005)], [(1020, 1025)], True) == [0]
    assert match([(1000, 1005), (1030, 1035)], [(1020, 1025), (1029, 1034)], True) == [0, 1]
    assert match([(1000, 1005)], [(1040, 1045), (1010, 1015)], True) == [None, 0]
    assert match([(5000, 5005), (1000, 1005)], [(1000, 1005), (5000, 5005)], True) == [1, 0]


def test_counts_add_up_to_precision_and_recall() -> None:
    total = Counts(1, 2, 3) + Counts(2, 0, 4)
    assert total == Counts(3, 2, 7)
    assert total.precision == 3 / 5 and total.recall == 3 / 10 and total.f1 == 6 / 15
    assert Counts(0, 0, 4).precision == 0 == Counts(0, 4, 0).recall


# ---- boxes


def test_runs_are_the_stretches_of_true() -> None:
    assert runs(np.array([True, False, True, True, False, True])) == [(0, 1), (2, 4), (5, 6)]
    assert runs(np.zeros(3, bool)) == []


@pytest.mark.parametrize(("short_ms", "frames"), [(5, 1), (30, 1), (89, 1), (90, 3), (120, 3), (150, 5), (450, 15), (9000, 15)])
def test_smoothing_is_odd_and_a_third_of_a_short_event(short_ms: float, frames: int) -> None:
    assert smoothing_frames(replace(HUM, short_ms=short_ms)) == frames


def curve(*parts: tuple[int, int, float], length: int = 60) -> np.ndarray:
    p = np.zeros(length)
    for first, last, height in parts:
        p[first:last] = height
    return p


@pytest.mark.parametrize(
    ("parts", "gap", "wanted"),
    [
        ([(10, 20, 0.08)], 0, [(10, 20)]),
        ([(10, 20, 0.0799)], 0, []),
        ([(10, 20, 0.9), (20, 30, 0.406)], 0, [(10, 30)]),  # above the permitted fall from its peak
        ([(10, 20, 0.9), (20, 30, 0.404)], 0, [(10, 20)]),
        ([(10, 20, 0.9), (23, 30, 0.5)], 3, [(10, 30)]),
        ([(10, 20, 0.9), (23, 30, 0.5)], 2, [(10, 20), (23, 30)]),
        ([(10, 20, 0.5), (23, 30, 0.9)], 3, [(10, 30)]),
        ([(10, 20, 0.9), (23, 30, 0.4)], 3, [(10, 20), (23, 30)]),  # a faint one next to a strong one is a separate event
        ([(10, 20, 0.4), (23, 30, 0.9)], 3, [(10, 20), (23, 30)]),
        ([(10, 20, 0.4), (22, 25, 0.8), (27, 30, 0.9)], 2, [(10, 30)]),  # each is within the fall of the previous one
        ([(10, 12, 0.8), (14, 16, 0.8), (18, 20, 0.8), (40, 45, 0.8)], 2, [(10, 20), (40, 45)]),
    ],
)
def test_candidates_are_cut_at_their_own_peak_and_joined_over_gaps(parts: list, gap: int, wanted: list) -> None:
    assert spans(curve(*parts), gap) == wanted


def test_edges_snap_within_their_reach_only() -> None:
    onset = curve((10, 11, 0.25))
    assert [snap(onset, at, 3) for at in (6, 7, 13, 14)] == [6, 10, 10, 14]
    assert snap(curve((10, 11, 0.24)), 11, 3) == 11
    assert snap(curve((0, 1, 0.9)), 1, 3) == 0
    assert snap(curve((11, 12, 0.5), (12, 13, 0.6)), 10, 3) == 12
    assert snap(np.zeros(5), 20, 3) == 20


def test_the_score_is_the_mean_of_the_upper_half() -> None:
    assert score_of(np.array([0.1, 0.9, 0.2, 0.7])) == pytest.approx(0.8)
    assert score_of(np.array([0.1, 0.9, 0.5])) == pytest.approx(0.7)
    assert score_of(np.array([0.4])) == pytest.approx(0.4)


def boxes(p: np.ndarray, profile: Profile, onset: np.ndarray | None = None, offset: np.ndarray | None = None) -> list[Box]:
    silent = np.zeros_like(p)
    return boxes_of(Posteriors(p, silent if onset is None else onset, silent if offset is None else offset), profile)


def test_boxes_are_moved_by_the_systematic_error_of_the_profile_but_not_out_of_the_file() -> None:
    (box,) = boxes(curve((100, 200, 0.8), length=400), replace(HUM, start_shift_ms=-30.0, end_shift_ms=20.0))
    assert (box.start_ms, box.end_ms, box.score) == (970.0, 2020.0, pytest.approx(0.8))
    (first,) = boxes(curve((0, 100, 0.8), length=400), replace(HUM, start_shift_ms=-30.0, end_shift_ms=0.0))
    assert (first.start_ms, first.end_ms) == (0.0, 1000.0)
    (turned,) = boxes(curve((100, 120, 0.8), length=400), replace(HUM, short_ms=10.0, end_shift_ms=-500.0))
    assert (turned.start_ms, turned.end_ms) == (1000.0, 1001.0)
    (point,) = boxes(curve((0, 2, 0.8), length=400), replace(CLICK, median_ms=2.0))
    assert (point.start_ms, point.end_ms) == (9.0, 11.0)


@pytest.mark.parametrize(("median_ms", "reach"), [(100.0, 4), (400.0, 10), (1000.0, 15)])
def test_an_edge_moves_by_a_quarter_of_the_usual_length_at_most(median_ms: float, reach: int) -> None:
    profile = replace(HUM, median_ms=median_ms, gap_ms=median_ms)
    for distance, start in ((reach, 1000 - 10 * reach), (reach + 1, 1000)):
        onset = curve((100 - distance, 101 - distance, 0.9), length=400)
        (box,) = boxes(curve((100, 200, 0.8), length=400), profile, onset)
        assert box.start_ms == start


def test_edges_are_not_moved_past_each_other() -> None:
    onset, offset = curve((115, 116, 0.9), length=400), curve((105, 106, 0.9), length=400)
    (box,) = boxes(curve((100, 120, 0.8), length=400), replace(HUM, short_ms=10.0), onset, offset)
    assert (box.start_ms, box.end_ms) == (1000.0, 1200.0)


@pytest.mark.parametrize(
    ("usual_ms", "gap_frames", "events"), [(1000.0, 75, 1), (1000.0, 76, 2), (4000.0, 100, 1), (4000.0, 101, 2)]
)
def test_parts_of_a_long_event_are_joined_over_a_second_at_most(usual_ms: float, gap_frames: int, events: int) -> None:
    p = curve((100, 200, 0.8), (200 + gap_frames, 330, 0.8), length=500)
    assert len(boxes(p, replace(HUM, short_ms=10.0, median_ms=usual_ms, gap_ms=usual_ms))) == events


def test_the_pause_between_joined_parts_does_not_lower_the_score() -> None:
    p = curve((100, 130, 0.8), (200, 230, 0.8), length=500)
    (box,) = boxes(p, replace(HUM, short_ms=10.0))
    assert (box.start_ms, box.end_ms, box.score) == (1000.0, 2300.0, pytest.approx(0.8))


@pytest.mark.parametrize(("gap_ms", "events"), [(200.0, 1), (190.0, 2)])
def test_parts_are_joined_over_three_quarters_of_the_usual_gap(gap_ms: float, events: int) -> None:
    p = curve((100, 200, 0.8), (215, 330, 0.8), length=500)
    assert len(boxes(p, replace(HUM, short_ms=10.0, gap_ms=gap_ms))) == events


# ---- calibration


def test_confidence_of_the_neutral_calibration_is_the_score() -> None:
    assert confidence(np.array([0.1, 0.5, 0.9]), 1.0, 0.0) == pytest.approx([0.1, 0.5, 0.9])
    assert logit(0.0) == logit(1e-4) == pytest.approx(-logit(1.0)) and logit(0.75) == pytest.approx(np.log(3))


def test_calibration_is_the_prior_without_boxes_and_the_likeliest_with_them() -> None:
    assert fit_confidence(np.zeros(0), np.zeros(0)) == PRIOR
    # at a score of one half only the offset b matters: 40 (sigmoid(b) - 0.5) + 10 (b + 0.8) = 0
    slope, offset = fit_confidence(np.full(40, 0.5), np.arange(40) % 2.0)
    assert slope == pytest.approx(1, abs=1e-6) and offset == pytest.approx(-0.4026, abs=5e-4)
    # all of them are wrong: 40 sigmoid(b) + 10 (b + 0.8) = 0
    assert fit_confidence(np.full(40, 0.5), np.zeros(40))[1] == pytest.approx(-1.51864, abs=5e-4)
    # with a known slope and offset, many boxes recover both
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.02, 0.98, 20_000)
    right = (rng.random(20_000) < confidence(scores, 2.0, -1.0)).astype(float)
    assert fit_confidence(scores, right) == (pytest.approx(2.0, abs=0.1), pytest.approx(-1.0, abs=0.1))


def test_calibration_stays_within_its_bounds() -> None:
    near = np.repeat([0.45, 0.55], 5000)
    assert fit_confidence(near, (near > 0.5).astype(float))[0] == 5
    assert fit_confidence(near, (near < 0.5).astype(float))[0] == pytest.approx(0.2)
    same = np.full(5000, 0.5)
    assert fit_confidence(same, np.ones(5000))[1] == 4 and fit_confidence(same, np.zeros(5000))[1] == -4


def test_the_threshold_is_the_75th_percentile_of_good_ones_shrunk_to_neutral() -> None:
    sure = np.repeat([0.805, 0.305], 20)
    right = sure > 0.5
    # .31 to .80 are equally good: .6775 is at three quarters, and 20 events weigh half
    assert best_threshold(sure, right, 20) == pytest.approx((0.6775 + 0.55) / 2, abs=1e-9)
    assert best_threshold(sure, right, 0) == 0.55
    # .05 to .5 are equally good: a box at the threshold is reported
    half = np.linspace(0.05, 0.95, 91)[45:46]
    assert best_threshold(half, np.ones(1, bool), 1) == pytest.approx((0.3875 + 20 * 0.55) / 21, abs=1e-9)
    # a threshold that loses a hundredth of F1 is nearly as good
    most = np.concatenate([np.full(99, 0.905), np.full(1, 0.505)])
    assert best_threshold(most, np.ones(100, bool), 100) == pytest.approx((100 * (0.05 + 0.75 * 0.85) + 11) / 120, abs=1e-9)


def test_expected_false_alarms_are_the_doubts_of_the_boxes_above_a_threshold() -> None:
    per_hour = expected_alarms(np.array([0.9, 0.6, 0.04]), 0.5)
    assert len(per_hour) == len(GRID) and GRID[0] == pytest.approx(0.05, abs=0.001) and GRID[-1] == pytest.approx(0.99, abs=0.001)
    assert per_hour[0] == pytest.approx(2 * (0.1 + 0.4)) and per_hour[-1] == 0
    assert alarms_at(replace(HUM, alarms=per_hour), 0.75) == pytest.approx(2 * 0.1)
    assert expected_alarms(np.array([0.9]), 0.0) == (0.0,) * len(GRID)


def test_a_budget_raises_the_thresholds_of_all_types_to_one_that_keeps_it() -> None:
    boxes = np.linspace(0.05, 0.98, 94)
    one = replace(HUM, threshold=0.3, alarms=expected_alarms(boxes, 1.0))
    strict = replace(one, threshold=0.97)
    total = alarms_at(one, 0.3)
    assert threshold_within([one], total) == GRID[0], "it keeps the budget without a higher threshold"
    least = threshold_within([one], total / 4)
    assert 0.3 < least < 0.97 and alarms_at(one, least) <= total / 4 < alarms_at(one, GRID[GRID.index(least) - 1])
    assert threshold_within([one, strict], total / 4) >= least, "the other type's alarms count too"
    assert threshold_within([one, one], total / 4) > least
    assert threshold_within([replace(one, alarms=(1.0,) * len(GRID))], 0.5) == GRID[-1], "no threshold keeps it"


def test_thresholds_that_the_job_sets_use_up_a_part_of_the_budget() -> None:
    one = replace(HUM, threshold=0.3, alarms=expected_alarms(np.linspace(0.05, 0.98, 94), 1.0))
    other, budget = replace(one, name="other"), 2.2 * alarms_at(one, 0.3)
    fixed = {"other": 0.1}
    assert fixed_alarms([one, other], fixed) == alarms_at(one, 0.1) and fixed_alarms([one], fixed) == 0
    least = threshold_within([one, other], budget, fixed)
    assert alarms_at(one, max(0.3, least)) + alarms_at(other, 0.1) <= budget
    assert least == threshold_within([one], budget - alarms_at(other, 0.1)) > threshold_within([one, other], budget)
    assert threshold_within([one, other], budget, {"other": 0.98}) == threshold_within([one], budget - alarms_at(other, 0.98))
    assert threshold_within([one, other], alarms_at(other, 0.1) / 2, fixed) == GRID[-1], "nothing is left"


@pytest.mark.parametrize("is_for_all", [False, True])
def test_a_detector_shares_its_budget_with_thresholds_of_the_job(monkeypatch: pytest.MonkeyPatch, is_for_all: bool) -> None:
    monkeypatch.setattr(detector, "check_model", lambda model: None)
    monkeypatch.setattr(detector, "open_session", lambda model, threads: None)
    hum = replace(HUM, threshold=0.3, alarms=expected_alarms(np.linspace(0.05, 0.98, 94), 1.0))
    buzz, click = replace(hum, name="buzz"), replace(hum, name="click")

    def of(budget: float | None, threshold: float | None = None, **thresholds: float) -> Detector:
        config = DetectConfig(threshold, thresholds, ["hum", "buzz"], None, None, None, None, budget)
        return Detector(b"", Card([hum, buzz, click], "", 500, 250, 1), config, 1)

    alone = alarms_at(hum, 0.1)
    own = of(2 * alone, 0.1) if is_for_all else of(1.2 * alone, buzz=0.1, click=0.05)
    assert own.budget_notice() == "" and own.threshold_of(buzz) == 0.1
    if is_for_all:
        assert own.threshold_of(hum) == 0.1
    else:
        assert alarms_at(hum, own.threshold_of(hum)) <= 0.2 * alone, "the other types share what is left"
    tight = of(alone / 2, 0.1) if is_for_all else of(alone / 2, buzz=0.1)
    assert (
        "at the thresholds that this job sets, more than its budget" in tight.budget_notice() and tight.threshold_of(buzz) == 0.1
    )
    assert is_for_all or tight.threshold_of(hum) == GRID[-1]
    assert of(None, 0.1).budget_notice() == ""


# ---- profiles


def test_a_profile_has_the_quantiles_of_its_labels() -> None:
    profile = profile_of("x", [[(1000 * i, 1000 * i + 10 * (i + 1)) for i in range(11)]])
    assert (profile.median_ms, profile.short_ms, profile.long_ms, profile.support) == (60, 20, 100, 11)
    assert profile.impulsive and not replace(profile, median_ms=61).impulsive


def test_the_usual_gap_needs_five_pauses() -> None:
    starts = np.cumsum([0, 110, 210, 310, 410, 510]).tolist()
    labels = [(s, s + 10) for s in starts]
    assert profile_of("x", [labels[::-1]]).gap_ms == pytest.approx(120)
    assert profile_of("x", [labels[:5]]).gap_ms == 10
    assert profile_of("x", [[(0, 100), (50, 150), (100, 200), (150, 250), (200, 300), (250, 350)]]).gap_ms == 0
    assert profile_of("x", [[(0, 10)], [(5, 15)]] * 5).gap_ms == 10, "no pause lies between two files"
    assert profile_of("x", [[(0, 1500), (2400, 3900)]]).gap_ms == 400, "one pause does not say how near two events come"


def test_labels_last_at_least_1_ms_and_types_without_labels_have_defaults() -> None:
    assert profile_of("x", [[(500, 500)]]).median_ms == 1
    never = profile_of("x", [[]])
    assert (never.median_ms, never.short_ms, never.long_ms, never.gap_ms, never.support) == (100, 10, 0, 100, 0)


@pytest.mark.parametrize(
    ("median", "long", "run", "point"),
    [(29, 40, 40, True), (30, 40, 40, False), (10, 900, 60, True), (10, 900, 61, False), (10, 60, 900, True)],
)
def test_a_short_run_of_a_short_type_is_a_point(median: float, long: float, run: float, point: bool) -> None:
    assert replace(HUM, median_ms=median, long_ms=long).is_point(run) == point
