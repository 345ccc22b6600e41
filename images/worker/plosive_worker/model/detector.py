# Inference: a stored embedding -> posteriors -> events, in bounded memory. Called by detect.py.
#
# chunk_size_ms and stride_ms: every chunk is read with the model's whole context on both sides. A frame therefore has
# the same posterior in every chunk that covers it, and averaging over overlapping chunks would change nothing.
# Consecutive chunks are computed together in blocks whose length is a whole number of strides.
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

from ..events.boxes import Posteriors, boxes_of
from ..events.budget import fixed_alarms, threshold_within
from ..events.calibration import confidence
from ..events.profile import Profile
from ..features.file import FrameFile
from ..features.spec import HOP_MS
from ..manifest import DetectConfig
from ..runtime import cpu_session
from .card import Card
from .guard import check_model
from .torch_session import GPU_DEVICE, TorchSession

CONTEXT_FRAMES = 62  # same value as in head.py, which this module cannot import: the worker image has no torch
BLOCK_FRAMES = 2000
MAX_DETECTIONS = 100_000  # of one file, by the contract (src/schemas/worker.ts)


@dataclass(frozen=True)
class Detection:
    artifact_type: str
    start_ms: int
    end_ms: int
    confidence: float


def inference_block_length(chunk_ms: int, stride_ms: int) -> int:
    """Returns the frames of one block: a whole number of strides, at least one chunk, about 20 s."""
    stride = max(1, min(BLOCK_FRAMES, stride_ms // HOP_MS))
    least = max(BLOCK_FRAMES, min(chunk_ms // HOP_MS, 4 * BLOCK_FRAMES))
    return -(-least // stride) * stride


def merged(events: list[Detection], gap_ms: int) -> list[Detection]:
    """Merges detections of one type that are at most `gap_ms` apart. The result has the highest confidence of its
    parts."""
    out: list[Detection] = []
    for event in sorted(events, key=lambda e: e.start_ms):
        if out and event.start_ms - out[-1].end_ms <= gap_ms:
            end, sure = max(event.end_ms, out[-1].end_ms), max(event.confidence, out[-1].confidence)
            out[-1] = replace(out[-1], end_ms=end, confidence=sure)
        else:
            out.append(event)
    return out


def open_session(model: bytes, threads: int) -> InferenceSession | TorchSession:
    """Opens the model on the GPU if the pod has one and the image has torch, otherwise on the CPU. The posteriors are
    equal up to rounding."""
    if GPU_DEVICE.exists() and find_spec("torch"):
        return TorchSession(model, "cuda")
    return cpu_session(model, threads)


class Detector:
    """A loaded model. Used for many files, from several threads."""

    def __init__(self, model: bytes, card: Card, config: DetectConfig, threads: int):
        check_model(model)
        self.session = open_session(model, threads)
        self.card, self.config = card, config
        self.fixed = self.fixed_thresholds()
        self.least = self.threshold_of_budget()
        self.block = inference_block_length(config.chunk_size_ms or card.chunk_size_ms, config.stride_ms or card.stride_ms)

    def posteriors(self, file: FrameFile, scratch: Path, on_progress: Callable[[float], None]) -> np.memmap:
        """Returns presence, onset and offset of each class, (3, K, T) float16, mapped from the file `scratch`: the
        posteriors of ten hours do not fit into memory."""
        length, classes = len(file.frames), len(self.card.profiles)
        out = np.memmap(scratch, np.float16, "w+", shape=(3, classes, max(1, length)))
        for first in range(0, length, self.block):
            last = min(length, first + self.block)
            low, high = max(0, first - CONTEXT_FRAMES), min(length, last + CONTEXT_FRAMES)
            values = self.session.run(None, {"frames": file.normal(low, high)[None]})[0][0]
            values = values[first - low : last - low].reshape(last - first, 3, classes)
            out[:, :, first:last] = values.transpose(1, 2, 0)
            on_progress(last / length)
        return out

    def wanted(self) -> list[Profile]:
        types = self.config.artifact_types
        return [p for p in self.card.profiles if types is None or p.name in types]

    def fixed_thresholds(self) -> dict[str, float]:
        """Returns the thresholds that the job sets itself, by type."""
        own, for_all = self.config.thresholds, self.config.threshold
        rest = {} if for_all is None else {p.name: for_all for p in self.wanted()}
        return rest | {p.name: own[p.name] for p in self.wanted() if p.name in own}

    def threshold_of_budget(self) -> float:
        """Returns the threshold that the job's budget of false alarms, or else the model's, sets for the types without one of
        the job; 0 without a budget, and for models of releases that knew none."""
        budget = self.budget()
        return 0.0 if budget is None or self.ignores_budget() else threshold_within(self.wanted(), budget, self.fixed)

    def budget(self) -> float | None:
        budget = self.config.max_false_alarms_per_hour
        return self.card.max_false_alarms_per_hour if budget is None else budget

    def ignores_budget(self) -> bool:
        """Whether there is a budget that this model cannot follow, because its card has no expected false alarms."""
        return self.budget() is not None and not all(p.alarms for p in self.wanted())

    def budget_notice(self) -> str:
        """Returns why the thresholds that the job sets itself do not keep its budget, or "" if they do."""
        budget = self.budget()
        if budget is None:
            return ""
        if self.ignores_budget():
            return "max_false_alarms_per_hour has no effect: an older release trained this model; train it again"
        alone = fixed_alarms(self.wanted(), self.fixed)
        if alone <= budget:
            return ""
        expected = f"{alone:.3g} false alarms an hour are expected at the thresholds that this job sets"
        return f"{expected}, more than its budget of {budget:g}"

    def threshold_of(self, profile: Profile) -> float:
        return self.fixed[profile.name] if profile.name in self.fixed else max(profile.threshold, self.least)

    def detect(
        self, file: FrameFile, duration_ms: int, scratch: Path, on_progress: Callable[[float], None] = lambda share: None
    ) -> list[Detection]:
        """Returns the events of the wanted types above their thresholds, ordered by time. `on_progress` receives the
        finished share, 0..1."""
        if file.frames.shape[1] != self.card.dims:
            raise ValueError(f"frames have {file.frames.shape[1]} features, the model needs {self.card.dims}")
        values = self.posteriors(file, scratch, on_progress)
        wanted = self.wanted()
        found: list[Detection] = []
        for kind, profile in enumerate(self.card.profiles):
            if profile in wanted:
                columns = (np.asarray(values[part, kind], np.float32) for part in range(3))
                found += self.events(Posteriors(*columns), profile, duration_ms)
                on_progress(1.0)
        del values
        scratch.unlink()
        found.sort(key=lambda d: (d.start_ms, d.end_ms, d.artifact_type))
        if len(found) > MAX_DETECTIONS:
            found = sorted(sorted(found, key=lambda d: -d.confidence)[:MAX_DETECTIONS], key=lambda d: (d.start_ms, d.end_ms))
        return found

    def events(self, posteriors: Posteriors, profile: Profile, duration_ms: int) -> list[Detection]:
        threshold = self.threshold_of(profile)
        events: list[Detection] = []
        for box in boxes_of(posteriors, profile):
            sure = round(float(confidence(box.score, profile.slope, profile.offset)), 4)
            # The last frame may reach beyond the end of the file, and an event in it too.
            start = max(0, min(duration_ms - 1, round(box.start_ms)))
            end = min(duration_ms, max(start + 1, round(box.end_ms)))
            if sure >= threshold and end > start:
                events.append(Detection(profile.name, start, end, sure))
        if self.config.merge_gap_ms is not None:
            events = merged(events, self.config.merge_gap_ms)
        return [event for event in events if event.end_ms - event.start_ms >= (self.config.min_duration_ms or 0)]


def load_detector(onnx_path: Path, card: Card, config: DetectConfig, threads: int) -> Detector:
    return Detector(onnx_path.read_bytes(), card, config, threads)
