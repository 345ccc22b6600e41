# Training on hours of audio with many labels: what only looks at what is near an event must equal what looks at everything, and
# the pod must go on reporting. Each plain computation here is the definition of the quick one.
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from plosive_worker.events.boxes import Box, Posteriors, boxes_of
from plosive_worker.events.profile import Profile
from plosive_worker.features.file import FrameFile
from plosive_worker.features.spec import DIMS, HOP_MS
from plosive_worker.model.head import Head
from plosive_worker.training import data, evaluation
from plosive_worker.training.data import Event, LabelledFile, Part, events_of, near_edge, targets, widened, window
from plosive_worker.training.evaluation import Validation, finish_profiles, fit_profile, labels_in
from plosive_worker.training.loss import Targets, detection_loss
from plosive_worker.training.metrics import (
    Candidates,
    by_start,
    counts_at,
    covered,
    macro_f1,
    overall,
    overlapping,
    per_type,
)  # fmt: skip
from plosive_worker.training.sampler import make_sampler
from plosive_worker.training.split import Split

LENGTH, CLASSES = 700, 3  # frames
TYPES = ["a", "b", "c"]


def random_file(seed: int, count: int = 40, length: int = LENGTH) -> LabelledFile:
    """A file with `count` events in no order: points, events of a frame, long and overlapping ones, and some at the edges."""
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, length * HOP_MS, count)
    ends = np.minimum(starts + rng.choice([0, 3, HOP_MS, 29, 30, 95, 800, 5000], count), length * HOP_MS)
    starts[:2], ends[2:4] = 0, length * HOP_MS
    events = zip(rng.integers(0, CLASSES, count).tolist(), starts.tolist(), ends.tolist())
    frames = FrameFile(np.zeros((length, DIMS), np.float16), np.zeros((3, DIMS), np.float32))
    return LabelledFile("a", frames, tuple(events), bool(seed % 2))


def plain_targets(file: LabelledFile, first: int, last: int) -> tuple[np.ndarray, ...]:
    """What `targets` returns, from all frames of each event."""
    presence, onset, offset = (np.zeros((last - first, CLASSES), np.float32) for _ in range(3))
    centre = np.arange(first, last) + 0.5
    for kind, start_ms, end_ms in file.events:
        start, end = (ms / HOP_MS for ms in widened(start_ms, end_ms))
        if end < first - 4 or start > last + 4:
            continue
        covered = np.minimum(centre + 0.5, end) - np.maximum(centre - 0.5, start)
        presence[:, kind] = np.maximum(presence[:, kind], covered >= 0.5)
        onset[:, kind] = np.maximum(onset[:, kind], near_edge(centre - start))
        offset[:, kind] = np.maximum(offset[:, kind], near_edge(centre - end))
    weight = np.ones_like(presence) if file.reviewed else (presence > 0).astype(np.float32)
    return presence, onset, offset, weight


@pytest.mark.parametrize("seed", range(6))
def test_targets_of_any_stretch_equal_those_of_whole_columns(seed: int) -> None:
    file, rng = random_file(seed), np.random.default_rng(seed)
    stretches = [(0, LENGTH), (0, 1), (LENGTH - 1, LENGTH), *np.sort(rng.integers(0, LENGTH + 1, (60, 2)), axis=1).tolist()]
    for first, last in stretches:
        for found, plain in zip(targets(file, first, last, CLASSES), plain_targets(file, first, last)):
            assert found.dtype == plain.dtype and np.array_equal(found, plain), (first, last)


@pytest.mark.parametrize("seed", range(3))
def test_parts_and_chunks_have_all_their_events(seed: int) -> None:
    file, size = random_file(seed), 50
    parts = [Part(0, first, first + size) for first in range(0, LENGTH, size)]
    for part in parts:
        inside = [event for event in file.events if part.overlaps(*event[1:])]
        clipped = [(k, max(s, part.first * HOP_MS), min(e, part.last * HOP_MS)) for k, s, e in inside]
        assert sorted(events_of(file, part)) == sorted(clipped)
        for kind in range(CLASSES):
            assert labels_in([file], [part], kind) == [sorted({(s, e) for k, s, e in inside if k == kind})]
    sampler = make_sampler([file], parts, CLASSES, 20, 7)
    for kind, chunks in enumerate(sampler.by_class):
        events = [(s / HOP_MS, e / HOP_MS) for k, s, e in file.events if k == kind]
        touched = [any(c.first < e + 1 and c.first + 20 > s for s, e in events) for c in sampler.chunks]
        assert chunks.tolist() == np.flatnonzero(touched).tolist()


def test_an_event_costs_its_own_frames_and_a_window_its_own_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of an event must not grow with the file: 1,200 labels in 12 hours would take minutes in each epoch."""
    sizes: list[int] = []
    seen: list[Event] = []
    monkeypatch.setattr(data, "near_edge", lambda distance: sizes.append(len(distance)) or near_edge(distance))
    monkeypatch.setattr(data, "widened", lambda *event: seen.append(event) or widened(*event))
    events = tuple((0, 1000 * second, 1000 * second + 200) for second in range(100))
    file = LabelledFile("a", random_file(0, length=10_000).frames, events, True)
    targets(file, 0, 10_000, 1)
    assert len(seen) == 100 and max(sizes) <= 20 + 2 * 4
    seen.clear()
    window(file, 5000, 5090, Part(0, 0, 10_000), 1)
    assert seen == [(50_000, 50_200)]


HEAD = Head(DIMS, CLASSES, torch.zeros(DIMS), torch.ones(DIMS))


def test_validation_reports_although_it_computes_no_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    file, beats = random_file(1), []
    parts = [Part(0, 0, 300), Part(0, 300, LENGTH)]
    monkeypatch.setattr(
        evaluation, "part_logits", lambda head, file, part, beat: [torch.zeros(part.last - part.first, 3, CLASSES)]
    )
    validation = Validation([file], Split(parts, [], "files", []), TYPES, lambda: beats.append(1))
    validation.measure(SimpleNamespace(head=HEAD))
    assert len(beats) >= len(parts)


# ---- metrics


def plain_covered(spans: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What `covered` returns, from all pairs of spans and pieces of the union."""
    union: list[list[float]] = []
    for start, end in others[np.argsort(others[:, 0])]:
        if union and start <= union[-1][1]:
            union[-1][1] = max(union[-1][1], end)
        else:
            union.append([start, end])
    low, high = np.array(union).T
    overlap = np.minimum(spans[:, 1:], high) - np.maximum(spans[:, :1], low)
    return np.maximum(0, overlap).sum(1) / (spans[:, 1] - spans[:, 0])


def random_spans(rng: np.random.Generator, count: int, longest: float, step: float) -> np.ndarray:
    """Spans (count, 2) in no order within 10 s, in multiples of `step`, so that some of them touch; in ms."""
    starts = rng.integers(0, int(10_000 / step), count)
    return np.stack([starts, starts + rng.integers(1, int(longest / step), count)], 1) * step


@pytest.mark.parametrize("step", [10.0, 0.7])
@pytest.mark.parametrize("longest", [100.0, 3000.0])
@pytest.mark.parametrize("count", [1, 7, 60])
def test_the_covered_share_equals_that_of_all_pairs(step: float, longest: float, count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        spans, others = random_spans(rng, 50, longest, step), random_spans(rng, count, 100.0, step)
        shares = covered(spans, others)
        assert np.abs(shares - plain_covered(spans, others)).max() < 1e-12
        met = overlapping(spans, *by_start(others))
        assert met.tolist() == [any(a < end and b > start for a, b in others) for start, end in spans]


def test_the_covered_share_needs_no_matrix_of_spans_and_others() -> None:
    spans = np.arange(4000.0)[:, None] * 300 + [0, 150]
    tracemalloc.start()
    shares = covered(spans, spans + 50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shares == pytest.approx(np.full(4000, 2 / 3)) and peak < 100 * spans.nbytes


# ---- evaluation


def noisy_logits(file: LabelledFile, part: Part) -> torch.Tensor:
    """Logits that find most events, some of them late or twice, and some events that are not there."""
    rng = np.random.default_rng(part.first)
    presence, onset, offset, _ = targets(file, part.first, part.last, CLASSES)
    shifted = np.roll(np.stack([presence, onset, offset], 1), 2, axis=0)
    return torch.from_numpy((6 * shifted - 4 + rng.normal(0, 0.8, shifted.shape)).astype(np.float32))


def plain_candidates(logits: list, file: LabelledFile, parts: list[Part], profiles: list[Profile]) -> list[Candidates]:
    """Candidates from the logits of all parts, with the shifts of these profiles."""
    out = [Candidates([], []) for _ in profiles]
    for part, values in zip(parts, logits):
        p, base = torch.sigmoid(values).numpy(), part.first * HOP_MS
        for kind, profile in enumerate(profiles):
            boxes = boxes_of(Posteriors(p[:, 0, kind], p[:, 1, kind], p[:, 2, kind]), profile)
            out[kind].boxes.append([Box(b.start_ms + base, b.end_ms + base, b.score) for b in boxes])
            out[kind].truth.append([(float(s), float(e)) for k, s, e in events_of(file, part) if k == kind])
    return out


@pytest.mark.parametrize("block", [192, 3000])  # multiples of 8: torch rounds the last values of other ones differently
def test_figures_from_one_block_at_a_time_equal_those_from_all_logits(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(evaluation, "part_logits", lambda head, file, part, beat: noisy_logits(file, part).split(block))
    file = random_file(1, 60, 12_000)
    parts = [Part(0, first, first + 3000) for first in range(0, 12_000, 3000)]
    validation = Validation([file], Split(parts, [], "files", []), TYPES, lambda: None)
    logits = [noisy_logits(file, part) for part in parts]
    first = plain_candidates(logits, file, parts, validation.profiles)
    losses = []
    for part, values in zip(parts, logits):
        wanted = Targets(*(torch.from_numpy(a)[None] for a in targets(file, part.first, part.last, CLASSES)))
        losses.append(float(detection_loss(values[None], wanted, slice(0, len(values)))[0]))
    f1 = macro_f1([counts_at(one, profile) for one, profile in zip(first, validation.profiles)])
    loss, found = validation.measure(SimpleNamespace(head=HEAD))
    assert loss == pytest.approx(np.mean(losses), rel=1e-6) and found == f1 and 0 < f1 < 1

    profiles, metrics = finish_profiles(HEAD, validation)
    hours = 12_000 * HOP_MS / 3_600_000
    assert profiles == [fit_profile(one, profile, hours) for one, profile in zip(first, validation.profiles)]
    assert any(profile.start_shift_ms for profile in profiles), "the shifts move the boxes"
    second = plain_candidates(logits, file, parts, profiles)
    assert metrics["overall"] == overall(second, profiles, hours)
    assert metrics["per_type"] == per_type(second, profiles)
