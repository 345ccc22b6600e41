# Feature group C, second part: how predictable each sample is from those before it. Clicks stand out in the residual of
# linear prediction and in the slope. Called by block.py with audio of at most spec.FINE_RATE, because the empty bands
# of upsampled audio would make everything predictable.
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import maximum_filter1d

from . import spec
from .samples import PAD, TINY, frame_starts, smoothed


@lru_cache
def autocorrelation_matrix(nfft: int, order: int) -> np.ndarray:
    """Returns the matrix from a power spectrum to its first autocorrelation lags, (nfft // 2 + 1, order + 1)."""
    bins = np.arange(nfft // 2 + 1)
    twice = np.where((bins == 0) | (2 * bins == nfft), 1, 2)  # adds the negative frequencies
    return (np.cos(2 * np.pi / nfft * np.outer(bins, np.arange(order + 1))) * twice[:, None] / nfft).astype(np.float32)


@lru_cache
def response_matrix(size: int, order: int) -> np.ndarray:
    """Returns the matrix that transforms `order` + 1 coefficients, (order + 1, 2 * (size // 2 + 1)); real and imaginary
    parts alternate."""
    turns = np.outer(np.arange(order + 1), np.arange(size // 2 + 1)) / size
    return np.exp(-2j * np.pi * turns).astype(np.complex64).view(np.float32)


def lpc_residual(x: np.ndarray, starts: np.ndarray, hop: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the residual of a linear prediction fitted on 20 ms around each frame, (T, hop), and its log10 gain,
    (T,)."""
    order = spec.LPC_ORDER
    taper = np.hanning(2 * hop + 2)[1:-1].astype(np.float32)
    frames = sliding_window_view(x, 2 * hop)[starts - hop // 2] * taper
    nfft = next_fast_len(2 * hop + order, real=True)
    bins = rfft(frames, nfft, axis=1)
    power = bins.real**2
    power += bins.imag**2
    r = (power @ autocorrelation_matrix(nfft, order)).T.astype(np.float64, order="C")
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
    response = (a.T.astype(np.float32) @ response_matrix(size, order)).view(np.complex64)
    product = rfft(longer, size, axis=1) * response
    # the circular convolution equals the filter's output from sample `order` on
    residual = irfft(product, size, axis=1)[:, order : order + hop]
    return residual, np.log10(r[0] / np.maximum(error, 1e-9))


def kurtosis(frames: np.ndarray) -> np.ndarray:
    square = frames**2
    return np.log10((square**2).mean(1) / (square.mean(1) ** 2 + TINY**2) + 1)


def milliseconds(frames: np.ndarray) -> np.ndarray:
    """Splits frames (T, hop) into ten parts each, (T, 10, width); the last one is padded with zeros."""
    width = -(-frames.shape[1] // 10)
    missing = 10 * width - frames.shape[1]
    return (np.pad(frames, ((0, 0), (0, missing))) if missing else frames).reshape(len(frames), 10, width)


def bursts(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the peak of each millisecond, (T * 10,), and the share of a frame's energy in its strongest one, (T,)."""
    part = milliseconds(frames)
    peaks = np.abs(part).reshape(-1, part.shape[2]).T.copy().max(0)  # the maximum along the long axis is six times as fast
    energy = np.einsum("tpn,tpn->tp", part, part)
    return peaks, energy.max(1) / (energy.sum(1) + TINY)


def outlier(peaks: np.ndarray, parts: int, near: int, far: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compares each frame's strongest part with the strongest one `near` to `far` parts away: on the stronger side,
    after it, before it; log10 (T,) each, from peaks (T * parts,). Pitch pulses have similar peaks on both sides."""
    size = far - near + 1
    shift = (near + far) // 2
    wide = maximum_filter1d(peaks, size, mode="nearest")
    padded = np.pad(wide, shift, mode="edge")
    before, after = padded[: len(peaks)], padded[2 * shift :]
    own = peaks + 1e-5
    sides = (own / (np.maximum(before, after) + 1e-5), own / (after + 1e-5), own / (before + 1e-5))
    return tuple(np.log10(s.reshape(-1, parts).max(1)) for s in sides)


def around(values: np.ndarray, reach: int) -> np.ndarray:
    """Returns the mean over the neighbors of each frame, excluding the frame, (T,)."""
    size = 2 * reach + 1
    return np.maximum(smoothed(values, size) * size - values, 0) / (size - 1)


def prediction_features(x: np.ndarray, rate: int, frames: int) -> dict[str, np.ndarray]:
    """Computes the features from samples `x` with a second of margin before and after; values (T,)."""
    hop = -(-rate // spec.FRAMES_PER_SECOND)
    starts = frame_starts(rate, frames)
    power = smoothed((sliding_window_view(x, hop)[starts] ** 2).mean(1), 5)
    slope = np.diff(x, prepend=x[:1])
    bend = np.diff(slope, prepend=slope[:1])
    slopes, bends = sliding_window_view(slope, hop)[starts], sliding_window_view(bend, hop)[starts]
    bend_power = (bends**2).mean(1)
    residual, gain = lpc_residual(x, starts, hop)
    residual_peak, residual_mean = np.abs(residual).max(1), np.abs(residual).mean(1)
    residual_ticks, residual_burst = bursts(residual)
    bend_ticks, bend_burst = bursts(bends)
    ticks = outlier(residual_ticks, 10, 3, 20)
    out = {
        "residual_peak": np.log10((residual_peak + 1e-5) / (around(residual_mean, 3) + 1e-5)),
        "residual_kurtosis": kurtosis(residual),
        "residual_level": np.log10((residual**2).mean(1) + 1e-11),
        "prediction_gain": gain,
        "residual_peak_to_signal": np.log10((residual_peak**2 + 1e-10) / (power + 1e-10)),
        "residual_burst": residual_burst,
        "residual_outlier": ticks[0],
        "residual_after": ticks[1],
        "residual_before": ticks[2],
        "jump": np.log10((np.abs(slopes).max(1) + 1e-5) / (np.sqrt(power) + 1e-5)),
        "slope_kurtosis": kurtosis(slopes),
        "bend": np.log10((np.abs(bends).max(1) + 1e-5) / (around(np.sqrt(bend_power), 3) + 1e-5)),
        "bend_burst": bend_burst,
        "bend_outlier": outlier(bend_ticks, 10, 3, 20)[0],
    }
    return {name: values[PAD : PAD + frames] for name, values in out.items()}
