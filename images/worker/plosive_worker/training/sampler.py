# Draws the chunks of a batch. Half of them contain an event of a uniformly drawn class, so that rare classes appear as
# often as common ones. An eighth are hard negatives, the rest are arbitrary chunks. Called by loop.py.
from dataclasses import dataclass

import numpy as np

from ..features.spec import HOP_MS
from .data import LabelledFile, Part

MIN_STEPS = 100  # an epoch of 5 minutes would have 30
TRAINING_CONTEXT_FRAMES = 20  # context on each side of a chunk in training; inference uses the model's full 62 frames
POSITIVE_SHARE, HARD_SHARE = 0.5, 0.125


@dataclass(frozen=True)
class Chunk:
    part: int
    first: int  # frame


@dataclass
class Sampler:
    """All chunks of the training parts. `hardness` (N,) is the last loss of each chunk; the checkpoint stores it."""

    chunks: list[Chunk]
    by_class: list[np.ndarray]
    negatives: np.ndarray
    chunk_frames: int
    hardness: np.ndarray

    def steps(self, batch_size: int) -> int:
        return max(MIN_STEPS, -(-len(self.chunks) // batch_size))

    def draw(self, batch_size: int, rng: np.random.Generator) -> np.ndarray:
        """Returns the chunk indices of one batch, (B,)."""
        present = [c for c in self.by_class if len(c)]
        positives = int(batch_size * POSITIVE_SHARE) if present else 0
        hard = int(batch_size * HARD_SHARE) if len(self.negatives) else 0
        picked = [rng.choice(present[rng.integers(len(present))]) for _ in range(positives)]
        if hard:
            weight = self.hardness[self.negatives] + 1e-3
            picked += rng.choice(self.negatives, hard, p=weight / weight.sum()).tolist()
        picked += rng.integers(len(self.chunks), size=batch_size - len(picked)).tolist()
        return np.array(picked)

    def record_losses(self, drawn: np.ndarray, loss: np.ndarray) -> None:
        self.hardness[drawn] = loss


def make_sampler(files: list[LabelledFile], parts: list[Part], classes: int, chunk_frames: int, stride_frames: int) -> Sampler:
    """Builds the chunks: `chunk_frames` long, every `stride_frames`; the last one of a part ends with the part."""
    chunks: list[Chunk] = []
    by_class: list[set[int]] = [set() for _ in range(classes)]
    for number, part in enumerate(parts):
        last_start = max(part.first, part.last - chunk_frames)
        starts = sorted({*range(part.first, last_start + 1, stride_frames), last_start})
        base = len(chunks)
        chunks += [Chunk(number, first) for first in starts]
        begins = np.array(starts)
        for kind, start_ms, end_ms in files[part.file].between((part.first - 1) * HOP_MS, (last_start + chunk_frames) * HOP_MS):
            start, end = start_ms / HOP_MS, end_ms / HOP_MS
            touched = np.flatnonzero((begins < end + 1) & (begins + chunk_frames > start))
            by_class[kind].update((base + touched).tolist())
    positive = set().union(*by_class)
    negatives = np.array([i for i in range(len(chunks)) if i not in positive], int)
    return Sampler(chunks, [np.array(sorted(c), int) for c in by_class], negatives, chunk_frames, np.ones(len(chunks)))
