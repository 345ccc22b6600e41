# Which windows make a batch. Half of them hold an event of a class drawn evenly (rare classes are seen as often as common
# ones), an eighth are the hardest negatives so far, the rest are any chunk. Called by loop.py.
from dataclasses import dataclass, field

import numpy as np

from ..features.spec import HOP_MS
from .data import LabelledFile, Part

MIN_STEPS = 100  # an epoch of 5 minutes would have 30
CONTEXT_FRAMES = 20  # read on each side of a chunk in training; inference reads the full 62
POSITIVE_SHARE, HARD_SHARE = 0.5, 0.125


@dataclass(frozen=True)
class Chunk:
    part: int
    first: int  # frame


@dataclass
class Sampler:
    """All chunks of the training parts. `hardness` (N,) is the last loss seen on each chunk, part of the checkpoint."""

    chunks: list[Chunk]
    by_class: list[np.ndarray]
    negatives: np.ndarray
    chunk_frames: int
    hardness: np.ndarray = field(repr=False)

    def steps(self, batch_size: int) -> int:
        return max(MIN_STEPS, -(-len(self.chunks) // batch_size))

    def draw(self, batch_size: int, rng: np.random.Generator) -> np.ndarray:
        """Indices of the chunks of one batch, (B,)."""
        present = [c for c in self.by_class if len(c)]
        positives = int(batch_size * POSITIVE_SHARE) if present else 0
        hard = int(batch_size * HARD_SHARE) if len(self.negatives) else 0
        picked = [rng.choice(present[rng.integers(len(present))]) for _ in range(positives)]
        if hard:
            weight = self.hardness[self.negatives] + 1e-3
            picked += rng.choice(self.negatives, hard, p=weight / weight.sum()).tolist()
        picked += rng.integers(len(self.chunks), size=batch_size - len(picked)).tolist()
        return np.array(picked)

    def learn(self, drawn: np.ndarray, loss: np.ndarray) -> None:
        self.hardness[drawn] = loss


def make_sampler(files: list[LabelledFile], parts: list[Part], classes: int, chunk_frames: int, stride_frames: int) -> Sampler:
    """Chunks of `chunk_frames` every `stride_frames`; the last one of a part ends with it."""
    chunks: list[Chunk] = []
    by_class: list[set[int]] = [set() for _ in range(classes)]
    for number, part in enumerate(parts):
        last_start = max(part.first, part.last - chunk_frames)
        starts = sorted({*range(part.first, last_start + 1, stride_frames), last_start})
        base = len(chunks)
        chunks += [Chunk(number, first) for first in starts]
        begins = np.array(starts)
        for kind, start_ms, end_ms in files[part.file].events:
            start, end = start_ms / HOP_MS, end_ms / HOP_MS
            touched = np.flatnonzero((begins < end + 1) & (begins + chunk_frames > start))
            by_class[kind].update((base + touched).tolist())
    positive = set().union(*by_class)
    negatives = np.array([i for i in range(len(chunks)) if i not in positive], int)
    return Sampler(chunks, [np.array(sorted(c), int) for c in by_class], negatives, chunk_frames, np.ones(len(chunks)))
