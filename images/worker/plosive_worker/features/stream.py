# Any stream of decoded blocks -> stream of feature blocks, in bounded memory. Called by audio/extraction.py.
# The result does not depend on how the decoder cut the stream.
from collections.abc import Iterable, Iterator

import numpy as np

from . import spec
from .block import MARGIN_SECONDS, block_frames

BLOCK_SECONDS = 20
# Samples a second, of all channels, from which on blocks are shorter: memory is bounded for eight channels at 192 kHz too.
LARGE, LARGE_BLOCK_SECONDS = 150_000, 4
QUIET = 0.01  # RMS of the loud frames under which sound is amplified: -40 dBFS; usual are -15 to -30
MOST_GAIN = 1000.0  # 60 dB
FAINTEST = 1e-5  # under that


def mirrored(samples: np.ndarray, before: int, after: int) -> np.ndarray:
    """Samples (N, C) mirrored beyond their ends: silence there would look like a fault."""
    return np.pad(samples, ((before, after), (0, 0)), mode="reflect" if len(samples) > 1 else "edge")


def whole_blocks(chunks: Iterable[np.ndarray], rate: int) -> Iterator[tuple[np.ndarray, int]]:
    """(samples (N, C) with a margin on both sides, frames in between) from chunks (n, C)."""
    margin = MARGIN_SECONDS * rate
    seconds = size = 0
    held: np.ndarray | None = None  # from `margin` samples before the next block on
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
    """What the loudest twentieth of the frames reaches, RMS of the loudest channel; a constant offset is no loudness."""
    hop = rate // spec.FRAMES_PER_SECOND
    whole = (samples - samples.mean(0))[: len(samples) // hop * hop].reshape(-1, hop, samples.shape[1])
    return float(np.sqrt(np.quantile(np.einsum("thc,thc->tc", whole, whole) / hop, 0.95, axis=0).max()))


def feature_blocks(chunks: Iterable[np.ndarray], rate: int) -> Iterator[np.ndarray]:
    """float16 frames (T, F), block after block; the whole has ceil(duration / 10 ms) rows. A recording that has been quiet so
    far is amplified, so that nothing of it falls under the floors of the features."""
    loudest = 0.0
    for samples, frames in whole_blocks(chunks, rate):
        loudest = max(loudest, loud_level(samples, rate))
        gain = min(MOST_GAIN, max(1.0, QUIET / max(loudest, FAINTEST)))
        yield block_frames(samples, rate, frames, gain)
