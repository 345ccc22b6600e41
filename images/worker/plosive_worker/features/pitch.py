# Feature group D, second half: what the low end shows: blasts, pitch, and stretches that repeat what was just before them.
# Called by block.py.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import butter, sosfilt

from . import spec
from .samples import outlier


def window_norm(x: np.ndarray, window: int) -> np.ndarray:
    """Root of the energy of the `window` samples from each sample on, (N - window + 1,), never 0."""
    sums = np.cumsum(np.pad(x.astype(np.float64) ** 2, (1, 0)))
    return np.sqrt(np.maximum(sums[window:] - sums[:-window], 1e-6)).astype(np.float32)


def exact_repeats(x: np.ndarray, rate: int, margin: int, lags_s: np.ndarray) -> np.ndarray:
    """How well 20 ms of the pre-emphasised samples repeat what was about `lags_s` (L, T) before, to the sample: natural
    voices are never periodic up there. -log10(1 - correlation), (L, T)."""
    window, reach = 2 * rate // 100, -(-rate // spec.REPEAT_RATE)
    slope = np.diff(x, prepend=x[:1])
    views, root = sliding_window_view(slope, window), window_norm(slope, window)
    starts = margin + np.arange(lags_s.shape[1]) * rate // spec.FRAMES_PER_SECOND
    now, best = views[starts], np.zeros(lags_s.shape, np.float32)
    for kind, first in enumerate(starts - np.rint(lags_s * rate).astype(np.int64) - reach):
        past = sliding_window_view(slope, window + 2 * reach)[first]
        for shift in range(2 * reach + 1):
            product = np.einsum("tn,tn->t", now, past[:, shift : shift + window])
            best[kind] = np.maximum(best[kind], product / (root[starts] * root[first + shift]))
    return -np.log10(np.clip(1 - best, 1e-4, 2))


def low_features(z: np.ndarray, rate: int, margin: int, frames: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Blasts and pitch, from the 6 kHz signal: under 150 Hz, under 40 Hz, periodicity, repetition; values (T,). Then the lags
    of the last two in seconds, (2, T)."""
    hop = rate // spec.FRAMES_PER_SECOND
    starts = margin + hop * np.arange(frames)
    low = sosfilt(butter(2, 150, fs=rate, output="sos"), z).astype(np.float32)
    deep = sosfilt(butter(2, 40, fs=rate, output="sos"), z).astype(np.float32)
    # normalised correlation of 20 ms with what was 2.3 to 42 ms before: pitch (short lags), repeated packets (10 ms on)
    window, reach = 2 * hop, 256
    now = sliding_window_view(z, window)[starts]
    long = sliding_window_view(z, window + reach)[starts - reach]
    nfft = next_fast_len(window + reach, real=True)
    product = irfft(np.conj(rfft(now, nfft, axis=1)) * rfft(long, nfft, axis=1), nfft, axis=1)[:, : reach + 1]
    root = window_norm(z, window)
    ncc = product / sliding_window_view(root, reach + 1)[starts - reach]

    def best(shortest: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
        """Highest correlation and its lag in samples, both (T,)."""
        at = reach - longest + ncc[:, reach - longest : reach - shortest + 1].argmax(1)
        return ncc[np.arange(frames), at] / root[starts], reach - at

    (pitch, pitch_lag), (repeat, repeat_lag) = best(14, 100), best(hop - 2, reach)
    soft = sosfilt(butter(2, 500, fs=rate, output="sos"), z).astype(np.float32)
    pad = 5 * hop
    quarter = np.abs(soft[margin - pad : margin + frames * hop + pad]).reshape(-1, hop // 4).max(1)
    named = {
        "low_peak": 2 * np.log10(np.abs(sliding_window_view(low, hop)[starts]).max(1) + 1e-5),
        "infrasound": np.log10((sliding_window_view(deep, hop)[starts] ** 2).mean(1) + 1e-11),
        "periodicity": np.clip(pitch, -1, 1),
        "self_repeat": -np.log10(np.clip(1 - repeat, 1e-4, 2)),
        "low_outlier": outlier(quarter, 4, 2, 10)[0][5:-5],
    }
    return named, np.stack([pitch_lag, repeat_lag]) / rate
