# The training loop: draw, augment, forward, step. Trainer holds all state, so that a checkpoint restores it completely
# and a resumed run ends with the same weights. Called by train.py.
import io
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from ..features import spec
from ..model.head import WIDTH, Head, standardised
from .augmentation import augment
from .data import LabelledFile, Part, feature_scale, window
from .loss import Targets, detection_loss
from .sampler import TRAINING_CONTEXT_FRAMES, Sampler, make_sampler
from .trunk import begin_with_trunk, blend_with_trunk, load_trunk, parameter_groups, steps_at_rest, trunk_key

WARM_UP = 0.08
WEIGHT_DECAY = 0.01
CLIP = 1.0


@dataclass(frozen=True)
class Settings:
    """The TrainingConfig with times in frames."""

    epochs: int
    batch_size: int
    learning_rate: float
    chunk_frames: int
    stride_frames: int
    seed: int


def ms_to_frames(ms: int, most: int) -> int:
    return max(5, min(most, round(ms / spec.HOP_MS)))


CheckpointKey = list[tuple[str, float | str]]


def checkpoint_key(settings: Settings, dims: int, from_trunk: bool = True) -> CheckpointKey:
    """Returns what a checkpoint must share with a training: the settings, and the shape and the trunk of the head, which a
    release may change."""
    trunk: CheckpointKey = [("trunk", trunk_key())] if from_trunk else []
    return [*vars(settings).items(), ("dims", dims), ("width", WIDTH), *trunk]


class Trainer:
    """One training pass; `step` runs from 0 to `total_steps`. It begins with the layers of the trunk, or with random weights
    if not `from_trunk`: when the trunk itself is trained, and in benchmarks."""

    def __init__(self, files: list[LabelledFile], parts: list[Part], classes: int, settings: Settings, from_trunk: bool = True):
        torch.manual_seed(settings.seed)
        self.files, self.parts, self.classes, self.settings = files, parts, classes, settings
        mean, scale = (torch.from_numpy(a.astype(np.float32)) for a in feature_scale(files, parts))
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.head = Head(len(mean), classes, mean, scale)
        self.trunk = load_trunk() if from_trunk else {}
        if self.trunk:
            begin_with_trunk(self.head, self.trunk)
        self.mean, self.scale = self.head.mean.clone(), self.head.scale.clone()  # on the CPU
        self.head.to(self.device)
        groups = parameter_groups(self.head, self.trunk)
        self.optimizer = torch.optim.AdamW(groups, settings.learning_rate, weight_decay=WEIGHT_DECAY)
        self.rng = np.random.default_rng([settings.seed, 2])
        self.sampler: Sampler = make_sampler(files, parts, classes, settings.chunk_frames, settings.stride_frames)
        self.steps_per_epoch = self.sampler.steps(settings.batch_size)
        self.total_steps = self.steps_per_epoch * settings.epochs
        self.step, self.loss_sum = 0, 0.0
        self.history: list[dict] = []

    def learning_rate(self) -> float:
        """Linear warm-up, then half a cosine down to 1 % of the peak."""
        done = self.step / self.total_steps
        if done < WARM_UP:
            return self.settings.learning_rate * (done + 1 / self.total_steps) / WARM_UP
        return self.settings.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))))

    def examples(self, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
        """Draws a batch. Returns chunk indices (B,), and standardized and augmented frames (B, T, F) followed by presence, onset,
        offset and weight (B, T, K)."""
        drawn = self.sampler.draw(self.settings.batch_size, rng)
        jitter = rng.integers(-5, 6, len(drawn))
        windows = []
        for index, shift in zip(drawn, jitter):
            chunk = self.sampler.chunks[index]
            part = self.parts[chunk.part]
            first = chunk.first + int(shift) - TRAINING_CONTEXT_FRAMES
            last = first + self.sampler.chunk_frames + 2 * TRAINING_CONTEXT_FRAMES
            windows.append(window(self.files[part.file], first, last, part, self.classes))
        frames = np.stack([w.frames for w in windows])
        frames = standardised(torch.from_numpy(frames), self.mean, self.scale).numpy()
        labels = [np.stack([getattr(w, n) for w in windows]) for n in ("presence", "onset", "offset", "weight")]
        frames, labels = augment(frames, labels, rng)
        return drawn, [frames, *labels]

    def batch(self) -> tuple[np.ndarray, torch.Tensor, Targets]:
        """Returns the next batch's chunk indices, frames and targets."""
        drawn, arrays = self.examples(self.rng)
        # Copies into torch's aligned memory: with numpy's, the last bits of a product would depend on the array's
        # address.
        frames, *labels = (torch.tensor(np.asarray(a, np.float32)).to(self.device) for a in arrays)
        return drawn, frames, Targets(*labels)

    def train_step(self) -> None:
        rate, is_at_rest = self.learning_rate(), self.step < steps_at_rest(self.total_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = 0.0 if is_at_rest and group["rests"] else rate * group["share"]
        drawn, frames, wanted = self.batch()
        self.head.train()
        middle = slice(TRAINING_CONTEXT_FRAMES, TRAINING_CONTEXT_FRAMES + self.sampler.chunk_frames)
        losses = detection_loss(self.head.body(frames), wanted, middle)
        self.optimizer.zero_grad()
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(self.head.parameters(), CLIP)
        self.optimizer.step()
        self.sampler.record_losses(drawn, losses.detach().cpu().numpy())
        self.loss_sum += float(losses.detach().mean())
        self.step += 1

    def run(self, after_step: Callable[["Trainer"], None], after_epoch: Callable[["Trainer", float], None]) -> Head:
        """Trains from the current state to the end. Returns the head, on the CPU."""
        while self.step < self.total_steps:
            self.train_step()
            if self.step % self.steps_per_epoch == 0:
                train_loss, self.loss_sum = self.loss_sum / self.steps_per_epoch, 0.0
                after_epoch(self, train_loss)
            after_step(self)
        head = self.head.eval().requires_grad_(False).cpu()
        blend_with_trunk(head, self.trunk, self.total_steps)
        return head

    def checkpoint_key(self) -> CheckpointKey:
        return checkpoint_key(self.settings, len(self.mean), bool(self.trunk))

    def state_bytes(self, first_pass: str = "") -> bytes:
        """Returns the whole state and the caller's note on a `first_pass` as one torch file of tensors and plain values, which
        can be read with weights_only."""
        buffer = io.BytesIO()
        state = {
            "settings": self.checkpoint_key(),
            "head": self.head.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "numpy_rng": self.rng.bit_generator.state,
            "torch_rng": torch.get_rng_state(),
            "hardness": torch.from_numpy(self.sampler.hardness),
            "step": self.step,
            "loss_sum": self.loss_sum,
            "history": self.history,
            "first_pass": first_pass,
        }
        torch.save(state, buffer)
        return buffer.getvalue()

    def restore(self, data: bytes) -> bool:
        """Restores a checkpoint. Returns False and changes nothing if it was written with other settings."""
        state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        if state["settings"] != self.checkpoint_key() or len(state["hardness"]) != len(self.sampler.chunks):
            return False
        self.head.load_state_dict(state["head"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.rng.bit_generator.state = state["numpy_rng"]
        torch.set_rng_state(state["torch_rng"])
        self.sampler.hardness[:] = state["hardness"].numpy()
        self.step, self.loss_sum, self.history = state["step"], state["loss_sum"], state["history"]
        return True


def first_pass_of(data: bytes, key: CheckpointKey) -> str:
    """Returns the note on the first pass that was passed to state_bytes, and "" if the checkpoint has another key: the note
    has the thresholds of a head that this training cannot have."""
    state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return state.get("first_pass", "") if state["settings"] == key else ""
