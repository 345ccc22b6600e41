# One block of sound -> frames. Called by stream.py. The rule for several channels is here: levels are averaged (in
# log), everything that grows with a defect takes the largest channel, so that a fault on one channel is seen.
import numpy as np
import soxr

from . import spec
from .echo import echo_features
from .pitch import exact_repeats, low_features
from .samples import sample_features
from .spectrum import long_bands, mel_and_shape, short_bands

IS_LEVEL = np.array(spec.IS_LEVEL)
MARGIN_SECONDS = 1


def channel_frames(x: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Frames of one channel, (T, F); x has MARGIN_SECONDS before the first frame and at least as many after the last."""
    y = x if rate == spec.BASE_RATE else soxr.resample(x, rate, spec.BASE_RATE)
    z = soxr.resample(y, spec.BASE_RATE, spec.REPEAT_RATE, "MQ")
    mel, shape = mel_and_shape(y, MARGIN_SECONDS * spec.BASE_RATE, frames)
    short = short_bands(y, MARGIN_SECONDS * spec.BASE_RATE, frames)
    deep = soxr.resample(z, spec.REPEAT_RATE, spec.LONG_RATE, "MQ")
    long = long_bands(deep, MARGIN_SECONDS * spec.LONG_RATE, frames)
    named = sample_features(x, rate, MARGIN_SECONDS * rate, frames)
    margin = MARGIN_SECONDS * spec.REPEAT_RATE
    low, lags = low_features(z, spec.REPEAT_RATE, margin, frames)
    named |= shape | low | echo_features(z, margin, frames)
    fine, fine_rate = (x, rate) if rate <= spec.BASE_RATE else (y, spec.BASE_RATE)
    named["exact_pitch"], named["exact_repeat"] = exact_repeats(fine, fine_rate, MARGIN_SECONDS * fine_rate, lags)
    columns = np.stack([named[name] for name, _ in spec.SAMPLE_FEATURES], 1)
    return np.concatenate([mel, short, long, columns], 1).astype(np.float32)


def block_frames(samples: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Frames of all channels together, float16 (T, F), from samples (N, C) with margins on both sides."""
    channels = samples.T
    if all(np.array_equal(channels[0], other) for other in channels[1:]):
        channels = channels[:1]  # dual mono costs as much as mono
    each = np.stack([channel_frames(np.ascontiguousarray(x, np.float32), rate, frames) for x in channels])
    merged = each[0] if len(each) == 1 else np.where(IS_LEVEL, each.mean(0), each.max(0))
    return np.clip(merged, -60_000, 60_000).astype(np.float16)
