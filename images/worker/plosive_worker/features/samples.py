# Feature group C, first part: levels, and faults that only the native samples show because resampling smooths them:
# flat tops, holds, gaps. Called by block.py.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import maximum_filter1d, minimum_filter1d, uniform_filter1d

from . import spec

TINY = 1e-12
LSB = 1.01 / 32768
PAD = 50  # frames of context on both sides, removed at the end


def longest_run(flags: np.ndarray, starts: np.ndarray, hop: int) -> np.ndarray:
    """Returns the longest run of True that ends in or crosses each frame, up to the frame's end, in samples, (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags[: starts[-1] + hop], [False]])))
    begin, end = edges[::2], edges[1::2]
    first = np.maximum(np.searchsorted(starts, begin, "right") - 1, 0)
    count = np.maximum(np.searchsorted(starts, end - 1, "right") - first, 0)  # frames that the run touches
    run = np.repeat(np.arange(len(begin)), count)
    frame = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count) + first[run]
    limit = np.append(starts[1:], starts[-1] + hop)
    longest = np.zeros(len(starts), np.int64)
    np.maximum.at(longest, frame, np.minimum(end[run], limit[frame]) - begin[run])
    return longest


def frame_starts(rate: int, frames: int) -> np.ndarray:
    """Returns the first sample of each frame and of PAD frames of context on both sides. The audio has a second of
    margin before the first frame."""
    return rate + np.arange(-PAD, frames + PAD) * rate // spec.FRAMES_PER_SECOND


def smoothed(values: np.ndarray, size: int) -> np.ndarray:
    """Returns the mean over `size` frames of values that are never negative, (T,). Uses double precision: the filter
    keeps a running sum, and in single precision a loud frame would leave an error, even a negative one, on the silence
    after it."""
    return np.maximum(uniform_filter1d(values.astype(np.float64), size, mode="nearest"), 0)


def level_features(x: np.ndarray, rate: int, frames: int) -> dict[str, np.ndarray]:
    """Computes the features from the native samples `x` with a second of margin before and after; values (T,)."""
    hop = -(-rate // spec.FRAMES_PER_SECOND)
    starts = frame_starts(rate, frames)
    block = sliding_window_view(x, hop)[starts]
    size = np.abs(block)
    peak, power = size.max(1), (block**2).mean(1)
    level = np.log10(power + 1e-11)
    peak_30 = maximum_filter1d(peak, 3)
    # the peak around each sample: repeats each frame's value for the length of the frame, and the outer values up to
    # the ends
    lengths = np.diff(starts, prepend=0, append=len(x))
    local_peak = np.repeat(np.concatenate([peak_30[:1], peak_30]), lengths)
    loudness = np.abs(x)
    slope = np.diff(x, prepend=x[:1])
    near_top = size >= 0.95 * peak[:, None]
    sub = (block[:, : hop // 4 * 4] ** 2).reshape(len(block), 4, -1).mean(2)
    still = np.abs(slope) * (rate / 16_000) <= 0.003 * local_peak
    flat = (loudness >= 0.85 * local_peak) & still & (loudness > 8 * LSB)
    before, after = maximum_filter1d(level, 11, origin=5), maximum_filter1d(level, 11, origin=-5)
    least_before, least_after = minimum_filter1d(level, 7, origin=3), minimum_filter1d(level, 7, origin=-3)
    wide_peak = maximum_filter1d(peak, 41)
    out = {
        "peak": np.log10(peak + 1e-5) * 2,
        "rms": level,
        "crest": np.log10((peak**2 + TINY) / (power + TINY)),
        "flat_run": np.log1p(longest_run(flat, starts, hop) * (16_000 / rate)),
        "top_share": near_top.mean(1),
        "rail_share": np.maximum(
            (block >= 0.97 * block.max(1, keepdims=True)).mean(1), (block <= 0.97 * block.min(1, keepdims=True)).mean(1)
        ),
        "crest_30ms": np.log10((peak_30**2 + TINY) / (smoothed(power, 3) + TINY)),
        "zero_run": np.log1p(longest_run(loudness <= LSB, starts, hop) * (16_000 / rate)),
        "hold_run": np.log1p(longest_run(slope == 0, starts, hop) * (16_000 / rate)),
        "quiet_share": (size < 0.02 * wide_peak[:, None]).mean(1),
        "drop_from_before": level - before,
        "drop_from_after": level - after,
        "rise_from_before": level - least_before,
        "rise_from_after": level - least_after,
        "range_in_frame": np.log10((sub.max(1) + 1e-11) / (sub.min(1) + 1e-11)),
        "dc": np.abs(block.mean(1)) / np.sqrt(power + 1e-11),
        "zero_crossings": (block[:, 1:] * block[:, :-1] < 0).mean(1) * (rate / 16_000),
        "skew": np.clip((block * block * block).mean(1) / (power**1.5 + 1e-12), -5, 5),
        "level_in_context": level - uniform_filter1d(level.astype(np.float64), 41),
        "rail_count": np.log1p((size == peak[:, None]).sum(1) * (peak > 8 * LSB)),
    }
    return {name: values[PAD : PAD + frames] for name, values in out.items()}
