# Splits, checkpoints, export and the check of models, without the verbs: small trainings on stored embeddings of real
# voices.
import json
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
import soundfile
import torch
from plosive_worker.events.calibration import confidence
from plosive_worker.events.profile import profile_of
from plosive_worker.failure import WorkerFailure
from plosive_worker.features import spec
from plosive_worker.features.file import FrameWriter, read_frames
from plosive_worker.features.stream import feature_blocks
from plosive_worker.manifest import Label
from plosive_worker.model.guard import check_model
from plosive_worker.model.head import Head
from plosive_worker.model.onnx_graph import difference, export
from plosive_worker.train import Checkpoints, TrainingPasses, quality_of, settings_of, snapshot_of, train_model
from plosive_worker.training import evaluation
from plosive_worker.training.data import LabelledFile, Part, targets, widened
from plosive_worker.training.evaluation import Validation, finish_profiles
from plosive_worker.training.inputs import events_from
from plosive_worker.training.loop import Settings, Trainer
from plosive_worker.training.sampler import MIN_STEPS
from plosive_worker.training.split import GUARD_FRAMES, Split, files_of, split_files, time_blocks

TYPES = ["click", "dropout", "hum", "plosive"]
SETTINGS = Settings(epochs=1, batch_size=8, learning_rate=1e-3, chunk_frames=50, stride_frames=25, seed=4)


@pytest.fixture(scope="module")
def files(voices: Path, truth: dict, tmp_path_factory: pytest.TempPathFactory) -> list[LabelledFile]:
    folder, out = tmp_path_factory.mktemp("frames"), []
    for path in sorted([*(voices / "test").glob("*.wav"), *(voices / "test").glob("*.flac")]):
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
        writer = FrameWriter(folder / path.name)
        for block in feature_blocks([samples], rate):
            writer.write(block)
        writer.close()
        events = tuple(
            (TYPES.index(t["artifact_type"]), t["start_ms"], t["end_ms"]) for t in truth["test"] if t["file"] == path.name
        )
        out.append(LabelledFile(path.name, read_frames(folder / path.name), events, True))
    return out


def labelled(length: int, events: list[tuple[int, int, int]], reviewed: bool = True) -> LabelledFile:
    from plosive_worker.features.file import FrameFile
    from plosive_worker.features.spec import DIMS

    frames = FrameFile(np.zeros((length, DIMS), np.float16), np.zeros((3, DIMS), np.float32))
    return LabelledFile(f"file-{length}", frames, tuple(events), reviewed)


def test_the_split_is_by_file_and_gives_both_sides_every_class() -> None:
    many = [labelled(3000, [(i % 3, 1000, 1200), ((i + 1) % 3, 9000, 9100)]) for i in range(20)]
    split = split_files(many, 3, 0.2, 7)
    assert split.mode == "files" and split.missing == []
    train, held = {p.file for p in split.train}, {p.file for p in split.validation}
    assert not train & held and len(train | held) == 20
    assert 3 <= len(held) <= 5
    assert split_files(many, 3, 0.2, 7) == split
    assert split_files(many, 3, 0.2, 8) != split


def test_copies_of_a_recording_are_on_one_side() -> None:
    many = [replace(labelled(3000, [(0, 1000, 1200)]), content=f"{i // 2}") for i in range(24)]
    split = split_files(many, 1, 0.2, 7)
    assert split.mode == "files" and len(split.validation) % 2 == 0 and len(split.train) + len(split.validation) == 24
    assert not {p.file // 2 for p in split.train} & {p.file // 2 for p in split.validation}
    few = split_files(many[:6], 1, 0.2, 7)
    assert few.mode == "time_blocks", "three recordings are too few, however often each is there"


def test_chunks_are_shortened_until_the_batch_fits_into_memory(capsys: pytest.CaptureFixture) -> None:
    def settings(batch: int, chunk_ms: int) -> Settings:
        config = SimpleNamespace(epochs=1, batch_size=batch, learning_rate=1e-3, chunk_size_ms=chunk_ms, stride_ms=250)
        return settings_of(SimpleNamespace(config=config, seed=1))

    assert settings(32, 500).chunk_frames == 50 and settings(32, 20_000).chunk_frames == 2000
    assert settings(256, 20_000).chunk_frames == 390
    assert "chunks of 3900 ms" in capsys.readouterr().out


def test_labels_and_review_marks_change_the_snapshot() -> None:
    label = SimpleNamespace(start_ms=10, end_ms=20, artifact_type="click")
    embedding = SimpleNamespace(sha256="a")
    files = [
        SimpleNamespace(id=name, embedding=embedding, reviewed=True, annotations=labels)
        for name, labels in (("a", [label]), ("b", []))
    ]
    whole = snapshot_of(SimpleNamespace(files=files))
    assert whole == snapshot_of(SimpleNamespace(files=files[::-1]))
    files[1].reviewed = False
    assert whole != snapshot_of(SimpleNamespace(files=files))
    files[1].reviewed, label.end_ms = True, 21
    assert whole != snapshot_of(SimpleNamespace(files=files))


def test_too_few_files_are_split_in_time_blocks_with_guards() -> None:
    split = split_files([labelled(30_000, [(0, t, t + 50) for t in range(0, 300_000, 5_000)])], 1, 0.2, 1)
    assert split.mode == "time_blocks" and split.validation and split.train
    edges = sorted((p.first, p.last, p in split.validation) for p in split.train + split.validation)
    for (_, end, _), (start, _, _) in zip(edges, edges[1:]):
        assert start - end >= GUARD_FRAMES - 1


def test_only_the_two_sides_have_a_guard_between_them() -> None:
    files = [labelled(30_000 + i, [(0, t, t + 50) for t in range(0, 300_000, 5_000)]) for i in range(2)]
    split = split_files(files, 1, 0.2, 1)
    assert split.mode == "time_blocks" and set(split.validation) <= set(time_blocks(files)), "the figures count the same frames"
    between = [b.first - a.last for a, b in zip(split.train, split.train[1:]) if a.file == b.file]
    assert min(between) > 2 * GUARD_FRAMES, "neighbors are one part"
    used = sum(p.last - p.first for p in split.train + split.validation)
    assert used >= 60_001 - 2 * len(split.validation) * GUARD_FRAMES


def test_the_second_training_learns_from_the_guards() -> None:
    regular = [(0, t, t + 50) for t in range(2_000, 300_000, 5_000)]
    file = labelled(30_000, [*regular, (1, 20_000, 20_100)])  # the only label of its type lies between two blocks
    split = split_files([file], 2, 0.2, 1)
    assert split.mode == "time_blocks" and 1 in split.missing
    kept = SimpleNamespace(first_pass_result=json.dumps({"profiles": [], "metrics": {}, "steps": 7}), steps_before=0)
    trained: list[list[Part]] = []
    settings = SimpleNamespace(epochs=1)

    def train(number: int, parts: list[Part], after_epoch: object) -> tuple[None, None]:
        trained.append(parts)
        return None, None

    train_model(SimpleNamespace(checkpoints=kept, count=2, settings=settings, files=[file], train=train), split, None)
    assert trained == [[Part(0, 0, 30_000)]]
    many = [labelled(3000, [(0, 1000, 1200)]) for _ in range(12)]
    by_file = split_files(many, 1, 0.2, 1)
    assert files_of(by_file, many) == by_file.train + by_file.validation, "in this order, on which the model depends"


def test_the_last_message_names_types_that_no_training_has_seen() -> None:
    profiles = [profile_of("click", [[(0, 4)]]), profile_of("hum", [[]])]
    assert quality_of(0.5, profiles, 1) == "macro F1 0.50; no label of hum was in training"
    assert quality_of(None, profiles, 2) == "no events for validation", "the second training has all files"
    assert quality_of(0.5, profiles[:1], 1) == "macro F1 0.50"


@pytest.mark.parametrize("seconds", [1, 10, 20, 90, 600])
def test_a_perfect_model_has_perfect_metrics_for_events_of_any_length(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    def perfect(head: Head, file: LabelledFile, part: Part, beat: object) -> list[torch.Tensor]:
        presence, onset, offset, _ = targets(file, part.first, part.last, 1)
        return [torch.logit(torch.from_numpy(0.02 + 0.95 * np.stack([presence, onset, offset], 1)))]

    monkeypatch.setattr(evaluation, "part_logits", perfect)
    starts = range(5, 600 - seconds, 2 * seconds + 10) or [0]
    three = [labelled(60_000 + i, [(0, 1000 * t, 1000 * (t + seconds)) for t in starts]) for i in range(3)]
    split = split_files(three, 1, 0.2, 7)
    assert split.mode == "time_blocks"
    zeros = torch.zeros(spec.DIMS)
    (profile,), metrics = finish_profiles(Head(spec.DIMS, 1, zeros, zeros + 1), Validation(three, split, ["hum"], lambda: None))
    assert metrics["per_type"]["hum"]["f1"] > 0.98 and metrics["per_type"]["hum"]["support"] > 1
    assert confidence(0.97, profile.slope, profile.offset) > profile.threshold
    assert profile.median_ms == 1000 * seconds, "an event that a block cuts keeps the length of its label"


def test_labels_are_clipped_and_near_duplicates_become_one() -> None:
    marks = [(500, 520), (503, 517), (900, 1400), (900, 1700), (60_000, 60_000), (59_000, 70_000)]
    labels = [Label(artifact_type="click", start_ms=start, end_ms=end) for start, end in marks]
    inside = ((0, 500, 520), (0, 900, 1400), (0, 900, 1700), (0, 59_000, 60_000), (0, 59_999, 60_000))
    assert events_from(labels, {"click": 0}, 60_000) == inside
    assert events_from(labels[::-1], {"click": 0}, 60_000) == inside
    assert events_from(labels, {"hum": 0}, 60_000) == ()


def test_a_stride_is_at_most_one_chunk() -> None:
    config = SimpleNamespace(epochs=1, batch_size=8, learning_rate=1e-3, chunk_size_ms=500, stride_ms=5000)
    settings = settings_of(SimpleNamespace(config=config, seed=1))
    assert settings.stride_frames == settings.chunk_frames == 50


def test_a_class_with_one_event_is_reported_as_not_validated() -> None:
    many = [labelled(3000, [(0, 500, 600)] + ([(1, 5000, 5100)] if i == 3 else [])) for i in range(15)]
    split = split_files(many, 2, 0.2, 1)
    assert 1 in split.missing
    assert 3 in {p.file for p in split.train}, "a class's only event must be in training"


def test_unreviewed_files_are_neither_negatives_nor_validation() -> None:
    many = [labelled(3000, [(0, 500, 600)], reviewed=i % 2 == 0) for i in range(12)]
    split = split_files(many, 1, 0.2, 1)
    assert all(many[p.file].reviewed for p in split.validation)
    presence, _, _, weight = targets(many[1], 0, 3000, 1)
    assert weight.sum() == presence.sum() > 0


def test_short_labels_are_widened_and_edges_are_marked() -> None:
    assert widened(1000, 1000) == (985, 1015)
    assert widened(1000, 1030) == (1000, 1030)
    presence, onset, offset, _ = targets(labelled(300, [(0, 1000, 1500)]), 0, 300, 1)
    assert np.flatnonzero(presence[:, 0]).tolist() == list(range(100, 150))
    assert onset[:, 0].argmax() in (99, 100) and offset[:, 0].argmax() in (149, 150)
    part = targets(labelled(300, [(0, 1000, 1500)]), 90, 120, 1)[0]
    assert np.array_equal(part, presence[90:120])


def small_trainer(files: list[LabelledFile]) -> Trainer:
    torch.set_num_threads(1)
    return Trainer(files, [Part(i, 0, f.length) for i, f in enumerate(files)], len(TYPES), SETTINGS)


def test_a_training_interrupted_at_any_epoch_ends_with_the_same_weights(files: list[LabelledFile]) -> None:
    def trainer_of(epochs: int) -> Trainer:
        torch.set_num_threads(1)
        settings = Settings(**{**vars(SETTINGS), "epochs": epochs})
        return Trainer(files, [Part(i, 0, f.length) for i, f in enumerate(files)], len(TYPES), settings)

    def after_epoch(trainer: Trainer, loss: float) -> None:
        trainer.history.append({"step": trainer.step, "loss": loss})

    whole, checkpoints = trainer_of(2), {}
    epoch = whole.steps_per_epoch
    assert epoch >= MIN_STEPS
    # at the first step of an epoch, at its last step, and in the middle of one
    wanted = {1, epoch, epoch + epoch // 2}

    def after_step(trainer: Trainer) -> None:
        if trainer.step in wanted:
            checkpoints[trainer.step] = trainer.state_bytes()

    whole.run(after_step, after_epoch)
    assert set(checkpoints) == wanted
    for step, checkpoint in checkpoints.items():
        resumed = trainer_of(2)
        assert resumed.restore(checkpoint) and resumed.step == step
        resumed.run(lambda _: None, after_epoch)
        assert resumed.step == whole.step and resumed.history == whole.history
        for (name, a), b in zip(whole.head.state_dict().items(), resumed.head.state_dict().values()):
            assert torch.equal(a, b), f"{name}, resumed at step {step}"


def test_a_checkpoint_of_other_settings_is_ignored(files: list[LabelledFile]) -> None:
    trainer = small_trainer(files)
    other = Trainer(files, trainer.parts, len(TYPES), Settings(**{**vars(SETTINGS), "seed": 5}))
    assert not other.restore(trainer.state_bytes())
    assert other.step == 0


@pytest.mark.parametrize(("count", "other"), [(1, {}), (2, {"trunk_key": lambda: "another trunk"}), (2, {"WIDTH": 64})])
def test_a_checkpoint_of_a_second_pass_of_another_release_is_ignored(
    count: int, other: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release of the worker may need one pass where the release that wrote the checkpoint needed two, or may have another
    head: the thresholds of the first pass would not be those of this one."""
    torch.set_num_threads(1)
    monkeypatch.setattr("plosive_worker.train.signal.signal", lambda *_: None)
    many = [labelled(400 + i, [(0, 1000, 1200)]) for i in range(3)]
    parts = [Part(i, 0, file.length) for i, file in enumerate(many)]
    split = Split(parts, [], "files", [])
    with monkeypatch.context() as patched:
        for name, value in other.items():
            patched.setattr(f"plosive_worker.training.loop.{name}", value)
        earlier = Trainer(many, parts, 1, SETTINGS)
        earlier.train_step()
        kept = earlier.state_bytes(json.dumps({"profiles": [], "metrics": {"overall": None}, "steps": 7}))

    def trained(checkpoint: bytes | None) -> tuple[Head, dict]:
        work = SimpleNamespace(
            checkpoint=checkpoint, config=SimpleNamespace(artifact_types=["click"], max_false_alarms_per_hour=None)
        )
        report = {"fraction": 0.0, "message": None}
        quiet = dict.fromkeys(("progress", "heartbeat", "checkpointed"), lambda *_, **__: None)
        session = SimpleNamespace(work=work, report=report, **quiet)
        store = SimpleNamespace(
            session=session, download=lambda what, source, path: path.write_bytes(checkpoint or b""), upload=lambda *_: None
        )
        passes = TrainingPasses(session, Checkpoints(store, tmp_path, earlier.checkpoint_key()), many, SETTINGS, count)
        head, profiles, metrics = train_model(passes, split, Validation(many, split, ["click"], lambda: None))
        assert [profile.name for profile in profiles] == ["click"]
        assert (passes.checkpoints.first_pass_result == "") == (count == 1), "a note belongs to the second of two passes"
        return head, metrics

    (head, metrics), (fresh, wanted) = trained(kept), trained(None)
    assert metrics == wanted
    for (name, a), b in zip(head.state_dict().items(), fresh.state_dict().values()):
        assert torch.equal(a, b), name


@pytest.fixture(scope="module")
def exported(files: list[LabelledFile]) -> tuple[Trainer, bytes]:
    trainer = small_trainer(files)
    trainer.run(lambda _: None, lambda *_: None)
    return trainer, export(trainer.head)


def test_the_exported_model_agrees_with_torch_for_any_length(exported, files: list[LabelledFile]) -> None:
    trainer, model = exported
    shortest = min(len(f.frames.frames) for f in files[:2])
    assert shortest > 500
    for length in (1, 7, 500, shortest):
        frames = np.stack([f.frames.normal(0, length) for f in files[:2]])
        assert difference(trainer.head, model, frames) < 1e-4


def test_a_block_with_full_context_gives_the_posteriors_of_the_whole(exported, files: list[LabelledFile]) -> None:
    session = onnxruntime.InferenceSession(exported[1], providers=["CPUExecutionProvider"])
    frames = files[0].frames.normal(0, 1500)[None]
    whole = session.run(None, {"frames": frames})[0][0]
    part = session.run(None, {"frames": frames[:, 500 - 62 : 800 + 62]})[0][0, 62:-62]
    assert np.abs(whole[500:800] - part).max() < 1e-5


def test_our_own_export_passes_the_guard(exported) -> None:
    check_model(exported[1])


def changed(model: bytes, change) -> bytes:
    proto = onnx.load_from_string(model)
    change(proto)
    return proto.SerializeToString()


def external(proto: onnx.ModelProto) -> None:
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")


def other_operator(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].op_type = "Loop"


def other_domain(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].domain = "com.example"


def with_subgraph(proto: onnx.ModelProto) -> None:
    proto.graph.node[0].attribute.add(name="body", type=onnx.AttributeProto.GRAPH).g.name = "inner"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (external, "it has external data"),
        (other_operator, "operator 'Loop' is not allowed"),
        (other_domain, "an operator of another domain"),
        (with_subgraph, "an operator carries a tensor or a graph"),
    ],
)
def test_the_guard_refuses_models_that_the_export_never_writes(exported, change, reason: str) -> None:
    with pytest.raises(WorkerFailure, match=reason) as failure:
        check_model(changed(exported[1], change))
    assert failure.value.exit_code == 64


@pytest.mark.parametrize("data", [b"", b"\x80" * 40, b"GIF89a", struct.pack("<Q", 1 << 60), b"\x3a\xff\xff\xff\x7f"])
def test_the_guard_refuses_bytes_that_are_no_model(data: bytes) -> None:
    with pytest.raises(WorkerFailure, match="it is not an ONNX file"):
        check_model(data)


def test_profiles_come_from_the_labels() -> None:
    profile = profile_of("pop", [[(0, 4), (500, 506), (900, 905)], [(100, 104)]])
    assert profile.impulsive and profile.support == 4 and 4 <= profile.median_ms <= 5
    assert not profile_of("hum", [[(0, 900)]]).impulsive
    assert profile_of("never", [[]]).support == 0
