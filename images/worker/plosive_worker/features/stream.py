# A stream of decoded blocks -> a stream of feature blocks, in bounded memory. Called by audio/extraction.py. The result
# does not depend on the block sizes of the decoder.
from collections.abc import Iterable, Iterator

import numpy as np

from . import spec
from .block import MARGIN_SECONDS, compute_frames

BLOCK_SECONDS = 20
# Above this many samples per second, over all channels, blocks are shorter: bounds the memory for eight channels at 192
# kHz.
LARGE, LARGE_BLOCK_SECONDS = 150_000, 4
QUIET = 0.01  # audio is amplified if the RMS of its loud frames is below this: -40 dBFS; usual are -15 to -30
MAX_GAIN = 1000.0  # 60 dB
FAINTEST = 1e-5  # lower bound of the loud level, for the division


def mirrored(samples: np.ndarray, before: int, after: int) -> np.ndarray:
    """Mirrors samples (N, C) beyond their ends, because silence there would look like a fault."""
    return np.pad(samples, ((before, after), (0, 0)), mode="reflect" if len(samples) > 1 else "edge")


def whole_blocks(chunks: Iterable[np.ndarray], rate: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yields (samples (N, C) with a margin on both sides, number of frames between the margins) from chunks (n, C)."""
    margin = MARGIN_SECONDS * rate
    seconds = size = 0
    held: np.ndarray | None = None  # starts `margin` samples before the next block
    started = False
    for chunk in chunks:
        if held is None:
            seconds = LARGE_BLOCK_SECONDS if rate * chunk.shape[1] > LARGE else BLOCK_SECONDS
            size = seconds * rate
        held = chunk if held is None else np.concatenate([held, chunk])
        if not started and len(held) > margin:
            held, started = mirrored(held, margin, 0), True
        while started and len(held) >= size + 2 * margin:
            yield held[: size + 2 * margin], seconds * spec.FRAMES_PER_SECOND
            held = held[size:]
    if held is None or not len(held):
        return
    if not started:
        held = mirrored(held, margin, 0)
    frames = -(-(len(held) - margin) * spec.FRAMES_PER_SECOND // rate)
    yield mirrored(held, 0, margin + rate // 25), frames


def loud_level(samples: np.ndarray, rate: int) -> float:
    """Returns the 95th percentile of the frames' RMS in the loudest channel, without a constant offset."""
    hop = rate // spec.FRAMES_PER_SECOND
    whole = (samples - samples.mean(0))[: len(samples) // hop * hop].reshape(-1, hop, samples.shape[1])
    return float(np.sqrt(np.quantile(np.einsum("thc,thc->tc", whole, whole) / hop, 0.95, axis=0).max()))


def feature_blocks(chunks: Iterable[np.ndarray], rate: int) -> Iterator[np.ndarray]:
    """Yields float16 frames (T, F), block after block; together they have ceil(duration / 10 ms) rows. Amplifies a
    recording that has been quiet so far, so that it stays above the floors of the features."""
    loudest = 0.0
    for samples, frames in whole_blocks(chunks, rate):
        loudest = max(loudest, loud_level(samples, rate))
        gain = min(MAX_GAIN, max(1.0, QUIET / max(loudest, FAINTEST)))
        yield compute_frames(samples, rate, frames, gain)
