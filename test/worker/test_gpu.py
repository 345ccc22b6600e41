# The model on a GPU compared with the model on the CPU. Without a GPU these tests are skipped by name. The comparison
# of the torch head with the exported model needs no GPU.
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from plosive_worker.events.profile import Profile
from plosive_worker.features import spec
from plosive_worker.features.file import FrameFile
from plosive_worker.manifest import DetectConfig
from plosive_worker.model.card import Card
from plosive_worker.model.detector import Detection, Detector, open_session
from plosive_worker.model.head import Head
from plosive_worker.model.onnx_graph import export
from plosive_worker.model.torch_session import TorchSession
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.loop import Settings, Trainer

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
TOLERANCE = 1e-3


def random_head(dims: int = spec.DIMS, classes: int = 3) -> Head:
    torch.manual_seed(7)
    head = Head(dims, classes, torch.randn(dims), torch.rand(dims) + 0.5)
    for parameter in head.parameters():  # also those whose initial value is zero
        parameter.data += 0.1 * torch.randn_like(parameter)
    return head.eval()


def posteriors(session: onnxruntime.InferenceSession | TorchSession, dims: int = spec.DIMS) -> np.ndarray:
    frames = np.random.default_rng(1).standard_normal((1, 900, dims)).astype(np.float32)
    return session.run(None, {"frames": frames})[0]


def events(model: bytes, session: onnxruntime.InferenceSession | TorchSession, scratch: Path) -> list[Detection]:
    """The events of a minute, with the posteriors that ONNX Runtime or torch computes."""
    profiles = [Profile(f"type {i}", 100, 50, 300, 9) for i in range(3)]
    config = DetectConfig(0.05, {}, None, None, None, None, None)
    detector = Detector(model, Card(profiles, "", 500, 250, spec.DIMS), config, 1)
    detector.session = session
    moves = np.random.default_rng(5).standard_normal((6000, spec.DIMS)).cumsum(0)
    frames = (moves - np.linspace(moves[0], moves[-1], 6000)) / moves.std(0)
    file = FrameFile(frames.astype(np.float16), np.zeros((3, spec.DIMS), np.float32))
    return detector.detect(file, 60_000, scratch / "posteriors")


def assert_same(one: list[Detection], other: list[Detection]) -> None:
    """Expects the same events at the same times, with confidences within the tolerance."""
    assert len(one) > 20
    assert [replace(e, confidence=0) for e in one] == [replace(e, confidence=0) for e in other]
    assert max(abs(a.confidence - b.confidence) for a, b in zip(one, other)) < TOLERANCE


def on_cpu(model: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def small_files() -> list[LabelledFile]:
    rng = np.random.default_rng(3)
    out = []
    for index in range(4):
        frames = rng.standard_normal((2000, spec.DIMS)).astype(np.float16)
        frames[500:540] += 2
        out.append(LabelledFile(str(index), FrameFile(frames, np.zeros((3, spec.DIMS), np.float32)), ((0, 5000, 5400),), True))
    return out


@pytest.mark.parametrize("dims", [spec.DIMS, spec.DIMS + 40])
def test_the_torch_session_computes_the_posteriors_of_the_exported_model(dims: int) -> None:
    model = export(random_head(dims))
    assert np.abs(posteriors(TorchSession(model, "cpu"), dims) - posteriors(on_cpu(model), dims)).max() < 1e-4


def test_the_torch_session_gives_the_events_of_the_exported_model(tmp_path: Path) -> None:
    model = export(random_head())
    assert_same(events(model, on_cpu(model), tmp_path), events(model, TorchSession(model, "cpu"), tmp_path))


@on_a_gpu
def test_a_gpu_gives_the_events_of_the_cpu(tmp_path: Path) -> None:
    model = export(random_head())
    assert isinstance(open_session(model, 1), TorchSession), "a pod with a GPU uses it"
    assert_same(events(model, on_cpu(model), tmp_path), events(model, TorchSession(model, "cuda"), tmp_path))


@on_a_gpu
def test_a_gpu_gives_the_posteriors_of_the_cpu() -> None:
    model = export(random_head())
    assert np.abs(posteriors(TorchSession(model, "cuda")) - posteriors(on_cpu(model))).max() < TOLERANCE


@on_a_gpu
def test_a_training_on_a_gpu_gives_the_posteriors_of_one_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    files = small_files()
    settings = Settings(epochs=1, batch_size=8, learning_rate=1e-3, chunk_frames=50, stride_frames=25, seed=4)

    def trained() -> bytes:
        trainer = Trainer(files, [Part(i, 0, f.length) for i, f in enumerate(files)], 1, settings)
        return export(trainer.run(lambda _: None, lambda *_: None))

    on_gpu = trained()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    frames = files[0].frames.normal(0, 2000)[None]
    a, b = (on_cpu(model).run(None, {"frames": frames})[0] for model in (on_gpu, trained()))
    assert np.abs(a - b).max() < 0.02, "the same events, but for rounding over a hundred steps"
