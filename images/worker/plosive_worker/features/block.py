# One block of sound -> frames. Called by stream.py. The rule for several channels is here: the loudest gives the level,
# everything that grows with a defect takes the largest one, what swings both ways the one that is furthest from 0, so that a
# fault on one channel is seen. A channel on which nothing is heard while there is sound on another one (a microphone that is
# off, the other side of a call) is no fault: it does not count there.
import numpy as np
import soxr
from scipy.ndimage import binary_opening, maximum_filter1d

from . import spec
from .echo import echo_features
from .pitch import exact_repeats, low_features
from .prediction import prediction_features
from .samples import level_features
from .spectrum import in_pairs, long_bands, mel_and_shape

LEVELS = np.array(spec.IS_LEVEL)
SWINGS = np.array([name in spec.SWINGS for name in spec.NAMES])
MARGIN_SECONDS = 1
SILENT = 4.0  # log10 of the power under the loudest channel's from which on a channel does not count: 40 dB
OFFSET = 1e-3  # a mean of the samples from which on it is taken off: -60 dBFS


def channel_frames(x: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Frames of one channel, (T, F); x has MARGIN_SECONDS before the first frame and at least as many after the last."""
    y = x if rate == spec.BASE_RATE else soxr.resample(x, rate, spec.BASE_RATE)
    z = soxr.resample(y, spec.BASE_RATE, spec.REPEAT_RATE, "MQ")
    mel, shape = mel_and_shape(y, MARGIN_SECONDS * spec.BASE_RATE, frames)
    deep = soxr.resample(z, spec.REPEAT_RATE, spec.LONG_RATE, "MQ")
    long = long_bands(deep, MARGIN_SECONDS * spec.LONG_RATE, frames)
    fine, fine_rate = (x, rate) if rate <= spec.FINE_RATE else (soxr.resample(x, rate, spec.FINE_RATE), spec.FINE_RATE)
    named = level_features(x, rate, frames) | prediction_features(fine, fine_rate, frames)
    margin = MARGIN_SECONDS * spec.REPEAT_RATE
    low, lags = low_features(z, spec.REPEAT_RATE, margin, frames)
    named |= shape | low | echo_features(z, margin, frames)
    exact = exact_repeats(fine, fine_rate, MARGIN_SECONDS * fine_rate, lags)
    named["exact_pitch"], named["exact_repeat"] = (in_pairs(values, frames) for values in exact)
    columns = np.stack([named[name] for name, _ in spec.SAMPLE_FEATURES], 1)
    return np.concatenate([mel, long, columns], 1).astype(np.float32)


def centred(x: np.ndarray, rate: int) -> np.ndarray:
    """Without a constant offset, which would hide what is quiet. Digital silence stays what it is."""
    if abs(x.mean()) < OFFSET:
        return x
    silent = binary_opening(x == 0, np.ones(rate // 500))
    return np.where(silent, 0, x - x[~silent].mean()).astype(np.float32)


def heard_channels(channels: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Whether each channel counts in each frame, (C, T), from (C, N): whether it has been heard in the second before and will
    be heard in the second after. So the pauses of who speaks and the gaps of a fault count, a side that listens does not."""
    reach = MARGIN_SECONDS * spec.FRAMES_PER_SECOND
    starts = MARGIN_SECONDS * rate + np.arange(-reach, frames + reach + 1) * rate // spec.FRAMES_PER_SECOND
    power = np.stack([np.add.reduceat(x[: starts[-1]] ** 2, starts[:-1]) for x in channels]) / np.diff(starts)
    level = np.log10(power + 1e-11)
    before = maximum_filter1d(level, reach + 1, axis=1, origin=reach // 2)
    after = maximum_filter1d(level, reach + 1, axis=1, origin=-reach // 2)
    around = np.minimum(before, after)[:, reach : reach + frames]
    return around >= around.max(0) - SILENT


def merged_channels(each: np.ndarray, heard: np.ndarray) -> np.ndarray:
    """(T, F) from (C, T, F) and the channels that count, (C, T)."""
    low = each.min(0, where=heard[..., None], initial=np.inf)
    high = each.max(0, where=heard[..., None], initial=-np.inf)
    return np.where(SWINGS & (-low > high), low, high)


def block_frames(samples: np.ndarray, rate: int, frames: int, gain: float = 1.0) -> np.ndarray:
    """Frames of all channels together, float16 (T, F), from samples (N, C) with margins on both sides. They are amplified by
    `gain`, and levels are what they were before."""
    channels = np.multiply(samples.T, gain, dtype=np.float32, order="C")
    if all(np.array_equal(channels[0], other) for other in channels[1:]):
        channels = channels[:1]  # dual mono costs as much as mono
    channels = np.stack([centred(x, rate) for x in channels])
    heard = heard_channels(channels, rate, frames) if len(channels) > 1 else np.ones((1, frames), bool)
    used = heard.any(1)
    each = np.stack([channel_frames(x, rate, frames) for x in channels[used]])
    merged = each[0] if len(each) == 1 else merged_channels(each, heard[used])
    if gain != 1:
        merged -= 2 * np.log10(gain) * np.float32(LEVELS)
    return np.clip(merged, -60_000, 60_000).astype(np.float16)
