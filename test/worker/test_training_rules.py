# The rules of training as small cases with results that can be computed by hand, without audio and training.
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from plosive_worker.events.boxes import Box, FindStream
from plosive_worker.events.calibration import PRIOR, confidence
from plosive_worker.events.profile import Profile
from plosive_worker.features.file import FrameFile
from plosive_worker.features.spec import DIMS
from plosive_worker.model.head import Head
from plosive_worker.training import evaluation
from plosive_worker.training.data import LabelledFile, Part, events_of, feature_scale, near_edge, targets, widened, window
from plosive_worker.training.evaluation import (
    Validation,
    collect_candidates,
    finish_profiles,
    fit_profile,
    labels_in,
    part_logits,
)
from plosive_worker.training.loss import Targets, detection_loss, pool
from plosive_worker.training.metrics import Candidates
from plosive_worker.training.sampler import Chunk, Sampler, make_sampler
from plosive_worker.training.split import Split, choose, events_in, grouped, split_files, time_blocks

HUM = Profile("hum", 1000.0, 900.0, 2000.0, 9, threshold=0.5)
CLICK = Profile("click", 10.0, 10.0, 1000.0, 9, threshold=0.5, long_ms=12.0)


def labelled(
    length: int, events: list[tuple[int, int, int]] | tuple = (), reviewed: bool = True, name: str = "a"
) -> LabelledFile:
    frames = FrameFile(np.zeros((length, DIMS), np.float16), np.zeros((3, DIMS), np.float32))
    return LabelledFile(name, frames, tuple(events), reviewed)


# ---- data


def test_a_part_contains_events_that_overlap_it() -> None:
    part = Part(0, 100, 200)
    held = [part.overlaps(*event) for event in ((900, 1000), (900, 1001), (1000, 1000), (1999, 1999), (2000, 2100))]
    assert held == [False, True, True, True, False]
    file = labelled(300, [(0, 900, 1100), (1, 1500, 1500), (0, 1900, 2500), (0, 2500, 2600)])
    assert events_of(file, part) == [(0, 1000, 1100), (1, 1500, 1500), (0, 1900, 2000)]


def test_edges_are_triangles_of_three_frames() -> None:
    assert near_edge(np.array([-4, -2, 0, 1, 3, 5])).tolist() == [0, 0.5, 1, 0.75, 0.25, 0]


def test_short_labels_cover_thirty_milliseconds() -> None:
    assert widened(1000, 1029) == (999.5, 1029.5) and widened(1000, 1030) == (1000, 1030) and widened(0, 10) == (-10, 20)


def test_a_frame_contains_an_artifact_that_covers_half_of_it() -> None:
    presence, onset, offset, weight = targets(labelled(300, [(1, 1005, 1105), (1, 1100, 1134)]), 95, 120, 2)
    assert np.flatnonzero(presence[:, 1]).tolist() == list(range(5, 18)) and not presence[:, 0].any()
    assert weight.all() and weight.shape == (25, 2)
    assert onset[:, 1].max() == 1 and onset[5, 1] == 1 and onset[4, 1] == 0.75
    assert offset[18, 1] == pytest.approx(1 - 0.1 / 4)
    near = targets(labelled(300, [(0, 500, 930)]), 95, 120, 1)
    assert near[2][0, 0] == pytest.approx(1 - 2.5 / 4) and not near[0].any(), "its end is near enough to be seen"
    assert targets(labelled(300, [(0, 1220, 1300)]), 95, 120, 1)[1][-1, 0] == pytest.approx(1 - 2.5 / 4)
    nobody = targets(labelled(300, [(0, 1000, 1100)], reviewed=False), 95, 120, 1)
    assert nobody[3].sum() == 10


def test_a_window_beyond_its_part_has_no_weight_there() -> None:
    rows = np.repeat(np.arange(300, dtype=np.float16)[:, None], DIMS, 1)
    frames = FrameFile(rows, np.stack([np.zeros(DIMS), np.ones(DIMS), np.ones(DIMS)]).astype(np.float32))
    file = replace(labelled(300, [(0, 0, 3000)]), frames=frames)
    inside = window(file, 110, 120, Part(0, 100, 200), 1)
    assert np.array_equal(inside.frames, file.frames.normal(110, 120)) and inside.weight.all()
    low, high = window(file, 95, 105, Part(0, 100, 200), 1), window(file, 195, 208, Part(0, 100, 200), 1)
    assert low.weight[:, 0].tolist() == [0] * 5 + [1] * 5 == low.presence[:, 0].tolist()
    assert high.weight[:, 0].tolist() == [1] * 5 + [0] * 8 and len(high.frames) == 13
    assert np.array_equal(low.frames[:6], np.repeat(low.frames[5:6], 6, 0)), "the edge is held"
    assert np.array_equal(low.frames[5:], file.frames.normal(100, 105))


def test_the_scale_uses_training_parts_only() -> None:
    def normal(first: int, last: int, step: int = 1) -> np.ndarray:
        assert step == max(1, -(-900_000 // 200_000)) if last > 100 else step == 1
        return np.array([[1.0, 5.0], [3.0, 5.0]])

    file = SimpleNamespace(frames=SimpleNamespace(normal=normal))
    mean, scale = feature_scale([file], [Part(0, 10, 20), Part(0, 50, 60)])
    assert mean.tolist() == [2, 5] and scale == pytest.approx([1, 1000])
    feature_scale([file], [Part(0, 100_000, 1_000_000)])


# ---- the sampler


def test_chunks_cover_their_part_and_are_listed_by_class() -> None:
    files = [labelled(300, [(0, 1000, 1100), (1, 2999, 2999)]), labelled(300, [(0, 0, 3000)])]
    sampler = make_sampler(files, [Part(0, 0, 300), Part(1, 100, 120)], 3, 50, 40)
    assert [(c.part, c.first) for c in sampler.chunks] == [(0, f) for f in (0, 40, 80, 120, 160, 200, 240, 250)] + [(1, 100)]
    assert [c.tolist() for c in sampler.by_class] == [[2, 8], [7], []]
    assert sampler.negatives.tolist() == [0, 1, 3, 4, 5, 6]
    assert sampler.hardness.tolist() == [1] * 9


@pytest.mark.parametrize(
    ("event", "touched"), [((500, 700), [1]), ((490, 690), [0, 1]), ((400, 491), [0, 1]), ((400, 490), [0]), ((1000, 1000), [2])]
)
def test_a_chunk_contains_events_that_touch_it_or_end_a_frame_before_it(event: tuple, touched: list) -> None:
    sampler = make_sampler([labelled(150, [(0, *event)])], [Part(0, 0, 150)], 1, 50, 50)
    assert sampler.by_class[0].tolist() == touched


def test_half_of_a_batch_are_events_and_an_eighth_the_hardest_negatives() -> None:
    sampler = Sampler([Chunk(0, i) for i in range(10)], [np.array([3]), np.array([], int)], np.array([5, 6]), 50, np.zeros(10))
    sampler.record_losses(np.array([6]), np.array([1e9]))
    drawn = sampler.draw(16, np.random.default_rng(0))
    assert drawn[:8].tolist() == [3] * 8 and drawn[8:10].tolist() == [6] * 2 and len(drawn) == 16
    assert len(set(drawn[10:].tolist())) > 1
    anything = replace(sampler, by_class=[np.array([], int)], negatives=np.array([], int))
    many = anything.draw(400, np.random.default_rng(0))
    assert set(many.tolist()) == set(range(10)) and len(many) == 400
    even = replace(sampler, by_class=[np.array([1]), np.array([2, 4])], negatives=np.array([], int))
    positives = even.draw(400, np.random.default_rng(0))[:200]
    assert 70 < (positives == 1).sum() < 130, "rare classes are seen as often as common ones"


@pytest.mark.parametrize(("chunks", "steps"), [(10, 100), (800, 100), (801, 101), (1600, 200)])
def test_an_epoch_has_all_chunks_and_a_hundred_steps_at_least(chunks: int, steps: int) -> None:
    sampler = Sampler([Chunk(0, i) for i in range(chunks)], [], np.array([], int), 50, np.ones(chunks))
    assert sampler.steps(8) == steps


# ---- the loss

LN2 = float(np.log(2))


def test_the_probability_of_a_chunk_is_the_mean_weighted_by_itself() -> None:
    p = torch.tensor([[[1.0], [0.0]], [[0.5], [0.5]], [[0.8], [0.4]], [[0.0], [0.0]]])
    assert pool(p)[:, 0].tolist() == pytest.approx([1, 0.5, 0.8 / 1.2, 0], abs=1e-6)


def loss_of(presence: list[float], onset: list[float], weight: list[float], middle: slice, logit_of: float = 0.0) -> float:
    def column(values: list[float]) -> torch.Tensor:
        return torch.tensor(values)[None, :, None]

    size = len(presence)
    wanted = Targets(column(presence), column(onset), column([0.0] * size), column(weight))
    return float(detection_loss(torch.full((1, size, 3, 1), logit_of), wanted, middle)[0])


def test_the_loss_of_a_frame_is_the_weighted_sum_of_its_terms() -> None:
    one = slice(0, 1)
    # undecided about a frame with an artifact: twice ln 2, half of each edge, 0.3 of the chunk
    assert loss_of([1.0], [0.0], [1.0], one) == pytest.approx(2 * LN2 + LN2 + 0.3 * LN2, rel=1e-5)
    assert loss_of([0.0], [0.0], [1.0], one) == pytest.approx(LN2 + LN2 + 0.3 * LN2, rel=1e-5)
    # an onset there doubles the frame's weight, which the norm cancels, and is an edge to find
    assert loss_of([1.0], [1.0], [1.0], one) == pytest.approx(2 * LN2 + 0.5 * (2 * LN2 + LN2) + 0.3 * LN2, rel=1e-5)
    assert loss_of([1.0], [0.0], [0.0], one) == 0, "an unlabelled frame of an unreviewed file has no loss"


def test_the_context_counts_a_third_and_frames_share_the_loss() -> None:
    alone = loss_of([1.0], [0.0], [1.0], slice(0, 1))
    both = loss_of([1.0, 0.0], [0.0, 0.0], [1.0, 1.0], slice(0, 1))
    assert both == pytest.approx((3 * LN2 + 0.33 * 2 * LN2) / 1.33 + 0.3 * LN2, rel=1e-5) and both < alone
    assert loss_of([1.0] * 4, [0.0] * 4, [1.0] * 4, slice(0, 4)) == pytest.approx(alone, rel=1e-5)


def test_the_chunk_loss_uses_only_the_frames_of_the_chunk() -> None:
    sure = loss_of([0.0, 1.0], [0.0, 0.0], [1.0, 1.0], slice(0, 1), -9.0)
    wrong = loss_of([1.0, 0.0], [0.0, 0.0], [1.0, 1.0], slice(0, 1), -9.0)
    # the chunk's part is 0.3 * 9; the frame's part is twice 9 with a weight of 1 or a third
    assert wrong == pytest.approx(18 / 1.33 + 0.3 * 9, rel=1e-2) and sure == pytest.approx(18 * 0.33 / 1.33, rel=1e-2)
    half = loss_of([0.5], [0.0], [1.0], slice(0, 1), -9.0)
    assert half == pytest.approx(9, rel=1e-2), "a half-mixed label does not make the chunk positive"


# ---- the split


def test_time_blocks_have_a_guard_between_them() -> None:
    files = [labelled(6000), labelled(500), labelled(0)]
    blocks = time_blocks(files)
    assert blocks == [Part(0, 0, 1925), Part(0, 2075, 3925), Part(0, 4075, 6000), Part(1, 0, 500)]


def test_events_are_counted_by_class_and_copies_go_together() -> None:
    files = [replace(labelled(3000, [(0, 10, 20), (2, 50, 60), (0, 500, 500)]), content=c) for c in ("x", "x", "")]
    assert events_in(Part(0, 0, 40), files, 4).tolist() == [1, 0, 1, 0]
    parts = [Part(0, 0, 40), Part(1, 0, 40), Part(1, 40, 80), Part(2, 0, 40)]
    assert grouped(parts, files) == [[parts[0], parts[1]], [parts[2]], [parts[3]]]


@pytest.mark.parametrize("seed", range(5))
def test_both_sides_get_each_class_and_their_share_of_the_time(seed: int) -> None:
    counts = np.zeros((20, 2))
    counts[:2, 0], counts[2:, 1] = 1, 1
    flags = choose(np.ones(20), counts, 0.2, np.random.default_rng(seed))
    assert flags[:2].sum() == 1 and 3 <= flags.sum() <= 5
    length = np.r_[100.0, np.ones(9)]
    assert not choose(length, np.ones((10, 1)), 0.2, np.random.default_rng(seed))[0], "most of the audio must be in training"
    rare = np.zeros((10, 1))
    rare[4] = 1
    assert not choose(np.ones(10), rare, 0.2, np.random.default_rng(seed))[4], "a class's only event must be in training"
    assert not choose(np.ones(10), 2 * rare, 0.2, np.random.default_rng(seed))[4], "events of a single file must be in training"
    assert choose(np.ones(2), np.zeros((2, 1)), 0.1, np.random.default_rng(seed)).sum() == 1, "no side stays empty"


def test_four_reviewed_files_can_be_split_and_three_cannot() -> None:
    files = [labelled(3000, [(0, 500, 600), (0, 900, 950)], name=str(i)) for i in range(4)]
    assert split_files(files, 1, 0.25, 1).mode == "files" and split_files(files[:3], 1, 0.25, 1).mode == "time_blocks"
    unreviewed = [replace(f, reviewed=False) for f in files]
    assert split_files(unreviewed, 1, 0.25, 1).mode == "files", "without any reviewed file all files are treated alike"
    mixed = split_files([*files, *unreviewed], 1, 0.25, 1)
    assert {p.file for p in mixed.validation} <= {0, 1, 2, 3} and {4, 5, 6, 7} <= {p.file for p in mixed.train}
    assert len(mixed.train) + len(mixed.validation) == 8


def test_a_class_on_one_side_only_is_missing_or_splits_few_files_by_time() -> None:
    def of(count: int, events: list[tuple[int, int, int]]) -> Split:
        return split_files(
            [labelled(6000, [(0, 500, 600), *(events if i == 0 else [])], name=str(i)) for i in range(count)], 2, 0.2, 1
        )

    pair = [(1, 1000, 1100), (1, 50_000, 50_100)]
    assert of(11, pair).mode == "time_blocks" and of(12, pair).mode == "files"
    assert of(12, pair).missing == [1] and of(11, pair).missing == []
    assert of(11, pair[:1]).mode == "files", "one event cannot be both learned and validated"
    assert of(11, pair[:1]).missing == [1] and of(12, []).missing == [1]


def test_a_class_that_only_the_validation_files_have_splits_few_files_by_time() -> None:
    # Every other choice leaves more classes on one side: file 0 has one event of each class, the others have three classes each.
    def pair(kind: int) -> list[tuple[int, int, int]]:
        return [(kind, 1000, 1100), (kind, 50_000, 50_100)]

    first = [*pair(0), *((kind, 500, 600) for kind in range(1, 10))]
    others = [[event for kind in kinds for event in pair(kind)] for kinds in ((1, 2, 3), (4, 5, 6), (7, 8, 9))]
    files = [labelled(6000, events, name=str(i)) for i, events in enumerate([first, *others])]
    counts = np.stack([events_in(Part(i, 0, 6000), files, 10) for i in range(4)])
    assert choose(np.full(4, 6000.0), counts, 0.25, np.random.default_rng(1)).tolist() == [True, False, False, False]
    assert split_files(files, 10, 0.25, 1).mode == "time_blocks"


# ---- evaluation


def test_a_profile_learns_the_systematic_error_of_sure_boxes() -> None:
    truth = [(2000.0 * i, 2000.0 * i + 1000) for i in range(20)]
    sure = [Box(a + 20, b - 10, 0.9) for a, b in truth]
    fitted = fit_profile(Candidates([truth], [sure]), HUM, 2.0)
    assert fitted.start_shift_ms == pytest.approx(-20 * 20 / 25) and fitted.end_shift_ms == pytest.approx(10 * 20 / 25)
    assert 0.05 < fitted.threshold < 0.95 and fitted.offset > PRIOR[1]
    sureness = confidence(0.9, fitted.slope, fitted.offset)
    assert fitted.alarms[0] == pytest.approx(20 * (1 - sureness) / 2) and fitted.alarms[-1] == 0
    doubtful = fit_profile(Candidates([truth], [[replace(b, score=0.3) for b in sure]]), HUM, 2.0)
    assert (doubtful.start_shift_ms, doubtful.end_shift_ms) == (0, 0)
    nothing = fit_profile(Candidates([truth], [[]]), HUM, 2.0)
    assert (nothing.slope, nothing.offset, nothing.threshold, nothing.start_shift_ms) == (*PRIOR, 0.55, 0)
    stray = fit_profile(Candidates([truth], [[Box(60_000.0, 61_000.0, 0.9)]]), HUM, 2.0)
    assert (stray.start_shift_ms, stray.end_shift_ms) == (0, 0) and stray.threshold == 0.55


def logits_of(spans_of: list[tuple[int, int, int]], length: int, classes: int) -> torch.Tensor:
    p = np.full((length, 3, classes), 0.01, np.float32)
    for kind, first, last in spans_of:
        p[first:last, 0, kind] = 0.9
    return torch.logit(torch.from_numpy(p))


def test_candidates_and_truth_are_in_the_time_of_the_file_and_by_class() -> None:
    file = labelled(3000, [(0, 12_000, 13_000), (1, 15_000, 16_000), (0, 25_000, 26_000)])
    part = Part(0, 1000, 2000)
    profiles = [HUM, replace(HUM, name="buzz")]
    p = torch.sigmoid(logits_of([(0, 200, 300), (1, 700, 800)], 1000, 2)).numpy()
    streams = [FindStream(profile) for profile in profiles]
    for kind, stream in enumerate(streams):
        stream.add(p[:, :, kind])
    finds = [stream.end() for stream in streams]
    first, second = collect_candidates([finds], [file], [part], profiles)
    assert first.truth == [[(12_000.0, 13_000.0)]] and second.truth == [[(15_000.0, 16_000.0)]]
    assert [(b.start_ms, b.end_ms) for b in first.boxes[0]] == [(12_000, 13_000)]
    assert [(b.start_ms, b.end_ms) for b in second.boxes[0]] == [(17_000, 18_000)]


def test_a_label_in_several_parts_is_counted_once_and_whole() -> None:
    files = [labelled(3000, [(0, 500, 15_000), (0, 25_000, 26_000), (1, 0, 10)]), labelled(3000, [(0, 0, 10)])]
    parts = [Part(0, 0, 1000), Part(0, 1000, 2000), Part(1, 1000, 2000)]
    assert labels_in(files, parts, 0) == [[(500, 15_000)], []] and labels_in(files, parts, 1) == [[(0, 10)], []]


def test_logits_in_blocks_equal_those_of_the_whole() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    values = np.random.default_rng(0).standard_normal((3300, DIMS)).astype(np.float32)
    file = SimpleNamespace(frames=SimpleNamespace(normal=lambda low, high: values[low:high]))
    head = Head(DIMS, 2, torch.zeros(DIMS), torch.ones(DIMS)).eval()
    beats: list[int] = []
    blocks = list(part_logits(head, file, Part(0, 50, 3250), lambda: beats.append(1)))
    found = torch.cat(blocks)
    whole = head(torch.from_numpy(values[50:3250])[None])[0]
    assert found.shape == whole.shape and float((found - whole.detach()).abs().max()) < 1e-4 and len(beats) == 2 == len(blocks)


def test_the_metrics_name_the_files_that_they_were_measured_on(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [labelled(6000, [(0, 10_000, 11_000), (0, 30_000, 31_000)], name=f"file-{i}") for i in range(3)]

    def perfect(head: Head, file: LabelledFile, part: Part, beat: object) -> list[torch.Tensor]:
        return [logits_of([(0, 1000 - part.first, 1100 - part.first), (0, 3000 - part.first, 3100 - part.first)], 6000, 1)]

    monkeypatch.setattr(evaluation, "part_logits", perfect)
    head = Head(DIMS, 1, torch.zeros(DIMS), torch.ones(DIMS))
    split = Split([Part(0, 0, 6000), Part(1, 0, 6000)], [Part(2, 0, 6000)], "files", [])
    (profile,), metrics = finish_profiles(head, Validation(files, split, ["hum"], lambda: None))
    assert profile.support == 4 and metrics["per_type"]["hum"]["support"] == 2 and metrics["overall"]["f1"] == 1
    assert metrics["split"] == {
        "mode": "files", "optimistic": False, "train_seconds": 120, "validation_seconds": 60, "validated_on": "validation",
        "validation_files": ["file-2"], "types_without_validation": [],
    }  # fmt: skip
    alone = Validation(files, Split([Part(0, 0, 6000)], [], "files", [0]), ["hum"], lambda: None)
    told = finish_profiles(head, alone)[1]["split"]
    assert told["optimistic"] and told["validated_on"] == "training" and told["types_without_validation"] == ["hum"]
    blocks = Validation(files, replace(split, mode="time_blocks"), ["hum"], lambda: None)
    assert finish_profiles(head, blocks)[1]["split"]["optimistic"]
    trainer = SimpleNamespace(head=head)
    loss, f1 = Validation(files, split, ["hum"], lambda: None).measure(trainer)
    assert f1 == 1 and 0 < loss < 1
    nothing = Validation(files, Split([], [], "files", [0]), ["hum"], lambda: None)
    assert nothing.measure(trainer) == (0, 0)


@pytest.mark.parametrize("first", [0, 3000])
def test_false_alarms_are_counted_per_hour_of_the_part(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    files = [labelled(6000, [(0, 10 * first + 5000, 10 * first + 6000)])]
    found = logits_of([(0, 500, 600), (0, 2000, 2100)], 3000, 1)
    monkeypatch.setattr(evaluation, "part_logits", lambda *_: [found])
    split = Split([], [Part(0, first, first + 3000)], "files", [])
    head = Head(DIMS, 1, torch.zeros(DIMS), torch.ones(DIMS))
    _, metrics = finish_profiles(head, Validation(files, split, ["hum"], lambda: None))
    assert metrics["overall"]["recall"] == 1 and metrics["overall"]["precision"] == 0.5
    assert metrics["overall"]["psds"] == 0, "one false alarm in 30 s is more than PSDS admits"
    (strict,), within = finish_profiles(head, Validation(files, split, ["hum"], lambda: None), 0.5)
    assert within["overall"]["recall"] == 0, "both boxes are equally sure, and one of them in 30 s is too many"
    assert within["per_type"]["hum"]["threshold"] > strict.threshold, "the profile keeps the threshold for other budgets"
