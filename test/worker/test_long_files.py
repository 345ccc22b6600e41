# Training on hours of audio with many labels: what only looks at the frames near an event must equal, bit for bit, what looks
# at all of them, and the pod must go on reporting. Each plain computation here is the definition of the quick one.
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from plosive_worker.features.file import FrameFile
from plosive_worker.features.spec import DIMS, HOP_MS
from plosive_worker.model.head import Head
from plosive_worker.training import data, evaluation
from plosive_worker.training.data import Event, LabelledFile, Part, events_of, near_edge, targets, widened, window
from plosive_worker.training.evaluation import Validation, labels_in
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
    monkeypatch.setattr(evaluation, "part_logits", lambda head, file, part, beat: torch.zeros(part.last - part.first, 3, CLASSES))
    validation = Validation([file], Split(parts, [], "files", []), TYPES, lambda: beats.append(1))
    validation.measure(SimpleNamespace(head=HEAD))
    assert len(beats) >= len(parts)
