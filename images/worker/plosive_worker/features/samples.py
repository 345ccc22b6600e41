# Feature group D: what only the samples at the native rate show: clicks in the LPC residual, flat tops, holds, gaps.
# Called by block.py. Resampling would round off flat tops and smear clicks.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import maximum_filter1d, minimum_filter1d, uniform_filter1d

from . import spec

TINY = 1e-12
LSB = 1.01 / 32768


def longest_run(flags: np.ndarray, starts: np.ndarray, hop: int) -> np.ndarray:
    """Longest run of True that ends in or crosses each frame, as far as the frame's end, in samples, (T,)."""
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


def lpc_residual(x: np.ndarray, starts: np.ndarray, hop: int) -> tuple[np.ndarray, np.ndarray]:
    """Residual of linear prediction fitted on 20 ms around each frame, (T, hop), and log10 prediction gain, (T,)."""
    order = spec.LPC_ORDER
    taper = np.hanning(2 * hop + 2)[1:-1].astype(np.float32)
    frames = sliding_window_view(x, 2 * hop)[starts - hop // 2] * taper
    nfft = next_fast_len(2 * hop + order, real=True)
    bins = rfft(frames, nfft, axis=1)
    r = irfft(bins.real**2 + bins.imag**2, nfft, axis=1)[:, : order + 1].T.astype(np.float64, order="C")
    r[0] = r[0] * 1.0001 + 1e-9 * hop  # a white floor keeps silence and pure tones solvable
    a = np.zeros_like(r)
    a[0] = 1
    error = r[0].copy()
    for i in range(1, order + 1):  # Levinson-Durbin on all frames at once, (order + 1, T)
        k = -np.einsum("it,it->t", a[:i], r[i:0:-1]) / error
        a[1 : i + 1] += k * a[i - 1 :: -1][:i]
        error *= 1 - k**2
    size = next_fast_len(hop + order, real=True)
    longer = sliding_window_view(x, hop + order)[starts - order]
    product = rfft(longer, size, axis=1) * rfft(a.T.astype(np.float32), size, axis=1)
    # a circular product is the filter's output from its `order`th sample on
    residual = irfft(product, size, axis=1)[:, order : order + hop]
    return residual, np.log10(r[0] / np.maximum(error, 1e-9))


def kurtosis(frames: np.ndarray) -> np.ndarray:
    square = frames**2
    return np.log10((square**2).mean(1) / (square.mean(1) ** 2 + TINY**2) + 1)


def milliseconds(frames: np.ndarray) -> np.ndarray:
    """Frames (T, hop) in ten parts each, the last one filled up with zeros, (T, 10, width)."""
    width = -(-frames.shape[1] // 10)
    return np.pad(frames, ((0, 0), (0, 10 * width - frames.shape[1]))).reshape(len(frames), 10, width)


def burst(frames: np.ndarray) -> np.ndarray:
    """Share of a frame's energy in its strongest millisecond, 0..1 (T,)."""
    part = (milliseconds(frames) ** 2).sum(2)
    return part.max(1) / (part.sum(1) + TINY)


def outlier(peaks: np.ndarray, parts: int, near: int, far: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each frame's strongest part against the strongest ones `near` to `far` parts away from it: on the side where they are
    stronger, after it, before it; log10 (T,) from peaks (T * parts,). Pitch pulses have their like on both sides."""
    size = far - near + 1
    shift = (near + far) // 2
    wide = maximum_filter1d(peaks, size, mode="nearest")
    padded = np.pad(wide, shift, mode="edge")
    before, after = padded[: len(peaks)], padded[2 * shift :]
    own = peaks + 1e-5
    sides = (own / (np.maximum(before, after) + 1e-5), own / (after + 1e-5), own / (before + 1e-5))
    return tuple(np.log10(s.reshape(-1, parts).max(1)) for s in sides)


def smoothed(values: np.ndarray, size: int) -> np.ndarray:
    """Mean over `size` frames of something that is never negative, (T,). The filter keeps a running sum: in single
    precision a loud frame would leave an error, even a negative one, on the silence after it."""
    return np.maximum(uniform_filter1d(values.astype(np.float64), size, mode="nearest"), 0)


def around(values: np.ndarray, reach: int) -> np.ndarray:
    """Mean over the neighbours of each frame without itself, (T,)."""
    size = 2 * reach + 1
    return np.maximum(smoothed(values, size) * size - values, 0) / (size - 1)


def sample_features(x: np.ndarray, rate: int, margin: int, frames: int) -> dict[str, np.ndarray]:
    """The features that need the native samples; `margin` samples before and after, values (T,)."""
    pad = 50  # frames of context on both sides, cut off at the end
    hop = -(-rate // spec.FRAMES_PER_SECOND)
    starts = margin + np.arange(-pad, frames + pad) * rate // spec.FRAMES_PER_SECOND
    block = sliding_window_view(x, hop)[starts]
    size = np.abs(block)
    peak, power = size.max(1), (block**2).mean(1)
    level = np.log10(power + 1e-11)
    peak_30 = maximum_filter1d(peak, 3)
    # the peak around each sample: every frame's value, as long as the frame, and the ends as far as x reaches
    lengths = np.diff(starts, prepend=0, append=len(x))
    local_peak = np.repeat(np.concatenate([peak_30[:1], peak_30]), lengths)
    loudness = np.abs(x)
    slope = np.diff(x, prepend=x[:1])
    bend = np.diff(slope, prepend=slope[:1])
    slopes, bends = sliding_window_view(slope, hop)[starts], sliding_window_view(bend, hop)[starts]
    residual, gain = lpc_residual(x, starts, hop)
    residual_power = (residual**2).mean(1)
    residual_peak, residual_mean = np.abs(residual).max(1), np.abs(residual).mean(1)
    near_top = size >= 0.95 * peak[:, None]
    sub = (block[:, : hop // 4 * 4] ** 2).reshape(len(block), 4, -1).mean(2)
    bend_power = (bends**2).mean(1)
    flat = (loudness >= 0.85 * local_peak) & (np.abs(slope) <= 0.003 * local_peak) & (loudness > 8 * LSB)
    before, after = maximum_filter1d(level, 11, origin=5), maximum_filter1d(level, 11, origin=-5)
    least_before, least_after = minimum_filter1d(level, 7, origin=3), minimum_filter1d(level, 7, origin=-3)
    wide_peak = maximum_filter1d(peak, 41)
    ticks = outlier(np.abs(milliseconds(residual)).max(2).ravel(), 10, 3, 20)
    out = {
        "peak": np.log10(peak + 1e-5) * 2,
        "rms": level,
        "crest": np.log10((peak**2 + TINY) / (power + TINY)),
        "residual_peak": np.log10((residual_peak + 1e-5) / (around(residual_mean, 3) + 1e-5)),
        "residual_kurtosis": kurtosis(residual),
        "residual_level": np.log10(residual_power + 1e-11),
        "prediction_gain": gain,
        "residual_peak_to_signal": np.log10((residual_peak**2 + 1e-10) / (smoothed(power, 5) + 1e-10)),
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
        "jump": np.log10((np.abs(slopes).max(1) + 1e-5) / (np.sqrt(smoothed(power, 5)) + 1e-5)),
        "bend": np.log10((np.abs(bends).max(1) + 1e-5) / (around(np.sqrt(bend_power), 3) + 1e-5)),
        "slope_kurtosis": kurtosis(slopes),
        "skew": np.clip((block * block * block).mean(1) / (power**1.5 + 1e-12), -5, 5),
        "level_in_context": level - uniform_filter1d(level.astype(np.float64), 41),
        "residual_burst": burst(residual),
        "bend_burst": burst(bends),
        "residual_outlier": ticks[0],
        "residual_after": ticks[1],
        "residual_before": ticks[2],
        "bend_outlier": outlier(np.abs(milliseconds(bends)).max(2).ravel(), 10, 3, 20)[0],
        "rail_count": np.log1p((size == peak[:, None]).sum(1) * (peak > 8 * LSB)),
    }
    return {name: values[pad : pad + frames] for name, values in out.items()}
