# Feature group C, third part: features of low frequencies: plosive blasts, pitch, and stretches that repeat the audio
# just before them. Called by block.py.
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, next_fast_len, rfft

from . import spec
from .prediction import outlier
from .spectrum import in_pairs


@lru_cache
def butterworth(size: int, rate: int, edge_hz: float) -> np.ndarray:
    """Returns the response of a second-order low-pass filter at the bins of a transform, (size // 2 + 1,)."""
    ratio = np.arange(size // 2 + 1) * (rate / size / edge_hz)
    return (1 / (1 - ratio**2 + 1j * np.sqrt(2) * ratio)).astype(np.complex64)


def lowpassed(z: np.ndarray, rate: int, *edges_hz: float) -> list[np.ndarray]:
    """Filters with a second-order Butterworth low-pass for each edge, (N,). The filter wraps around: the first tenths
    of a second contain a part of the last ones."""
    size = next_fast_len(len(z), real=True)
    bins = rfft(z, size)
    return [irfft(bins * butterworth(size, rate, edge), size)[: len(z)] for edge in edges_hz]


def window_norm(x: np.ndarray, window: int) -> np.ndarray:
    """Returns the root of the energy of `window` samples from each sample on, (N - window + 1,), never 0."""
    sums = np.zeros(len(x) + 1)
    np.cumsum(np.square(x, dtype=np.float64), out=sums[1:])
    return np.sqrt(np.maximum(sums[window:] - sums[:-window], 1e-6)).astype(np.float32)


def exact_repeats(x: np.ndarray, rate: int, margin: int, lags_s: np.ndarray) -> np.ndarray:
    """Returns how exactly the 20 ms of two frames repeat the audio about `lags_s` (L, P) seconds earlier, as -log10(1 -
    correlation), (L, P). Compares single samples after pre-emphasis: natural voices are never periodic at high
    frequencies."""
    window, reach = 2 * rate // 100, -(-rate // spec.REPEAT_RATE)
    slope = np.diff(x, prepend=x[:1])
    starts = margin + spec.PAIR * np.arange(lags_s.shape[1]) * rate // spec.FRAMES_PER_SECOND
    now, best = sliding_window_view(slope, window)[starts], np.zeros(lags_s.shape, np.float32)
    own = np.maximum(np.einsum("tn,tn->t", now, now), 1e-6)
    longer = sliding_window_view(slope, window + 2 * reach)
    for kind, first in enumerate(starts - np.rint(lags_s * rate).astype(np.int64) - reach):
        past = longer[first]
        for shift in range(2 * reach + 1):
            then = past[:, shift : shift + window]
            energy = np.maximum(np.einsum("tn,tn->t", then, then), 1e-6)
            best[kind] = np.maximum(best[kind], np.einsum("tn,tn->t", now, then) / np.sqrt(own * energy))
    return -np.log10(np.clip(1 - best, 1e-4, 2))


def low_features(z: np.ndarray, rate: int, margin: int, frames: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Computes blasts and pitch from the 6 kHz signal: below 150 Hz, below 40 Hz, periodicity, repetition; values (T,).
    Also returns the lags of the last two in seconds, (2, P), one per pair of frames."""
    hop = rate // spec.FRAMES_PER_SECOND
    low, deep, soft = lowpassed(z, rate, 150, 40, 500)
    own = slice(margin, margin + frames * hop)
    # normalized correlation of 20 ms with the audio 2.3 to 42 ms earlier: pitch (short lags), repeated packets (from 10
    # ms)
    window, reach = spec.PAIR * hop, 256
    starts = margin + window * np.arange(-(-frames // spec.PAIR))
    now = sliding_window_view(z, window)[starts]
    long = sliding_window_view(z, window + reach)[starts - reach]
    nfft = next_fast_len(window + reach, real=True)
    product = irfft(np.conj(rfft(now, nfft, axis=1)) * rfft(long, nfft, axis=1), nfft, axis=1)[:, : reach + 1]
    root = window_norm(z, window)
    ncc = product / sliding_window_view(root, reach + 1)[starts - reach]

    def best(shortest: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the highest correlation and its lag in samples, both (P,)."""
        at = reach - longest + ncc[:, reach - longest : reach - shortest + 1].argmax(1)
        return ncc[np.arange(len(at)), at] / root[starts], reach - at

    (pitch, pitch_lag), (repeat, repeat_lag) = best(14, 100), best(hop - 2, reach)
    pad = 5 * hop
    quarter = np.abs(soft[margin - pad : margin + frames * hop + pad]).reshape(-1, hop // 4).max(1)
    named = {
        "low_peak": 2 * np.log10(np.abs(low[own]).reshape(frames, hop).max(1) + 1e-5),
        "infrasound": np.log10((deep[own] ** 2).reshape(frames, hop).mean(1) + 1e-11),
        "periodicity": in_pairs(np.clip(pitch, -1, 1), frames),
        "self_repeat": in_pairs(-np.log10(np.clip(1 - repeat, 1e-4, 2)), frames),
        "low_outlier": outlier(quarter, 4, 2, 10)[0][5:-5],
    }
    return named, np.stack([pitch_lag, repeat_lag]) / rate
