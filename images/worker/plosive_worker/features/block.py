# One block of audio -> frames. Called by stream.py. Also merges channels, so that a fault on one channel is visible:
# the result is the largest value of all channels, and for features that swing around 0 (spec.SWINGS) the value furthest
# from 0. A channel that is silent while another one has sound (a muted microphone, the other side of a call) is not a
# fault and does not count there.
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
SILENT = 4.0  # a channel does not count if its log10 power is this far below the loudest channel's: 40 dB
OFFSET = 1e-3  # a constant offset of at least this size is removed: -60 dBFS


def channel_frames(x: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Computes the frames of one channel, (T, F). `x` has MARGIN_SECONDS before the first frame and at least as many
    after the last."""
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
    """Removes a constant offset, which would mask quiet sounds. Digital silence stays unchanged."""
    if abs(x.mean()) < OFFSET:
        return x
    silent = binary_opening(x == 0, np.ones(rate // 500))
    return np.where(silent, 0, x - x[~silent].mean()).astype(np.float32)


def audible_channels(channels: np.ndarray, rate: int, frames: int) -> np.ndarray:
    """Returns whether each channel counts in each frame, (C, T), from samples (C, N): whether it is audible both within
    the second before and within the second after. Pauses of a speaker and gaps of a fault therefore count; the side of
    a call that only listens does not."""
    reach = MARGIN_SECONDS * spec.FRAMES_PER_SECOND
    starts = MARGIN_SECONDS * rate + np.arange(-reach, frames + reach + 1) * rate // spec.FRAMES_PER_SECOND
    power = np.stack([np.add.reduceat(x[: starts[-1]] ** 2, starts[:-1]) for x in channels]) / np.diff(starts)
    level = np.log10(power + 1e-11)
    before = maximum_filter1d(level, reach + 1, axis=1, origin=reach // 2)
    after = maximum_filter1d(level, reach + 1, axis=1, origin=-reach // 2)
    around = np.minimum(before, after)[:, reach : reach + frames]
    return around >= around.max(0) - SILENT


def merged_channels(each: np.ndarray, audible: np.ndarray) -> np.ndarray:
    """Merges channels: (T, F) from (C, T, F) and the channels that count, (C, T)."""
    low = each.min(0, where=audible[..., None], initial=np.inf)
    high = each.max(0, where=audible[..., None], initial=-np.inf)
    return np.where(SWINGS & (-low > high), low, high)


def compute_frames(samples: np.ndarray, rate: int, frames: int, gain: float = 1.0) -> np.ndarray:
    """Computes the merged frames of all channels, float16 (T, F), from samples (N, C) with margins on both sides.
    Amplifies the samples by `gain`; subtracts the gain from the level features again."""
    channels = np.multiply(samples.T, gain, dtype=np.float32, order="C")
    if all(np.array_equal(channels[0], other) for other in channels[1:]):
        channels = channels[:1]  # dual mono costs as much as mono
    channels = np.stack([centred(x, rate) for x in channels])
    audible = audible_channels(channels, rate, frames) if len(channels) > 1 else np.ones((1, frames), bool)
    used = audible.any(1)
    each = np.stack([channel_frames(x, rate, frames) for x in channels[used]])
    merged = each[0] if len(each) == 1 else merged_channels(each, audible[used])
    if gain != 1:
        merged -= 2 * np.log10(gain) * np.float32(LEVELS)
    return np.clip(merged, -60_000, 60_000).astype(np.float16)
