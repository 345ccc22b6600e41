# Feature group D: what only the samples at the native rate show: clicks in the LPC residual, flat tops, holds, gaps.
# Called by block.py. Resampling would round off flat tops and smear clicks.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, rfft
from scipy.ndimage import maximum_filter1d, minimum_filter1d, uniform_filter1d
from scipy.signal import butter, sosfilt

from . import spec

TINY = 1e-12
LSB = 1.01 / 32768
CACHED_FRAMES = 64


def longest_run(flags: np.ndarray, starts: np.ndarray, hop: int) -> np.ndarray:
    """Longest run of True that ends in or crosses each frame, in samples, (T,)."""
    index = np.arange(len(flags), dtype=np.int32)
    since = index - np.maximum.accumulate(np.where(flags, np.int32(-1), index))
    return np.maximum.reduceat(since[: starts[-1] + hop], starts)


def lpc_residual(x: np.ndarray, starts: np.ndarray, hop: int) -> tuple[np.ndarray, np.ndarray]:
    """Residual of linear prediction fitted on 20 ms around each frame, (T, hop), and log10 prediction gain, (T,)."""
    order = spec.LPC_ORDER
    taper = np.hanning(2 * hop + 2)[1:-1].astype(np.float32)
    frames = sliding_window_view(x, 2 * hop)[starts - hop // 2] * taper
    nfft = 1 << int(np.ceil(np.log2(2 * hop + order)))
    bins = rfft(frames, nfft, axis=1)
    r = irfft(bins.real**2 + bins.imag**2, nfft, axis=1)[:, : order + 1].astype(np.float64)
    r[:, 0] = r[:, 0] * 1.0001 + 1e-9 * hop  # a white floor keeps silence and pure tones solvable
    a = np.zeros_like(r)
    a[:, 0] = 1
    error = r[:, 0].copy()
    for i in range(1, order + 1):  # Levinson-Durbin on all frames at once
        k = -(a[:, :i] * r[:, i:0:-1]).sum(1) / error
        a[:, 1 : i + 1] += k[:, None] * a[:, i - 1 :: -1][:, :i]
        error *= 1 - k**2
    windows, a = sliding_window_view(x, hop + order), a.astype(np.float32)
    residual = np.empty((len(starts), hop), np.float32)
    product = np.empty((CACHED_FRAMES, hop), np.float32)
    for first in range(0, len(starts), CACHED_FRAMES):  # few frames at a time: they stay in the cache for all taps
        longer = windows[starts[first : first + CACHED_FRAMES] - order]
        part, taps = residual[first : first + CACHED_FRAMES], a[first : first + CACHED_FRAMES]
        part[:] = longer[:, order:]
        for i in range(1, order + 1):
            np.multiply(taps[:, i : i + 1], longer[:, order - i : order - i + hop], out=product[: len(part)])
            part += product[: len(part)]
    return residual, np.log10(r[:, 0] / np.maximum(error, 1e-9))


def kurtosis(frames: np.ndarray) -> np.ndarray:
    square = frames**2
    return np.log10((square**2).mean(1) / (square.mean(1) ** 2 + TINY**2) + 1)


def burst(frames: np.ndarray) -> np.ndarray:
    """Share of a frame's energy in its strongest millisecond, 0..1 (T,)."""
    width = max(1, frames.shape[1] // 10)
    part = (frames[:, : width * (frames.shape[1] // width)] ** 2).reshape(len(frames), -1, width).sum(2)
    return part.max(1) / (part.sum(1) + TINY)


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
        "rail_count": np.log1p((size == peak[:, None]).sum(1) * (peak > 8 * LSB)),
    }
    return {name: values[pad : pad + frames] for name, values in out.items()}


def low_features(z: np.ndarray, rate: int, margin: int, frames: int) -> dict[str, np.ndarray]:
    """Blasts and pitch, from the 6 kHz signal: under 150 Hz, under 40 Hz, periodicity, repetition; values (T,)."""
    hop = rate // spec.FRAMES_PER_SECOND
    starts = margin + hop * np.arange(frames)
    low = sosfilt(butter(2, 150, fs=rate, output="sos"), z).astype(np.float32)
    deep = sosfilt(butter(2, 40, fs=rate, output="sos"), z).astype(np.float32)
    # normalised correlation of 20 ms with what was 2.3 to 42 ms before: pitch (short lags), repeated packets (10 ms on)
    window, reach = 2 * hop, 256
    now = sliding_window_view(z, window)[starts]
    long = sliding_window_view(z, window + reach)[starts - reach]
    nfft = 512
    product = irfft(np.conj(rfft(now, nfft, axis=1)) * rfft(long, nfft, axis=1), nfft, axis=1)[:, : reach + 1]
    sums = np.cumsum(np.pad(long.astype(np.float64) ** 2, ((0, 0), (1, 0))), 1)
    energy = sums[:, window:] - sums[:, : reach + 1]
    own = energy[:, -1:]
    ncc = product / np.sqrt(np.maximum(own * energy, 1e-12))
    lags = reach - np.arange(reach + 1)
    pitch = ncc[:, (lags >= 14) & (lags <= 100)].max(1)
    repeat = ncc[:, lags >= hop - 2].max(1)
    return {
        "low_peak": 2 * np.log10(np.abs(sliding_window_view(low, hop)[starts]).max(1) + 1e-5),
        "infrasound": np.log10((sliding_window_view(deep, hop)[starts] ** 2).mean(1) + 1e-11),
        "periodicity": np.clip(pitch, -1, 1),
        "self_repeat": -np.log10(np.clip(1 - repeat, 1e-4, 2)),
    }
