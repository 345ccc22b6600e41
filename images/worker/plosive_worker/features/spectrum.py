# Feature groups A and B: log-mel bands; low and tonal bands of a long window. Called by block.py with one channel at 24
# kHz (y) or 3 kHz (z) that has `margin` samples before the first frame and at least as many after the last.
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import rfft

from . import spec

ROLLOFF_BINS = 4
FLOOR = 1e-11  # power of -110 dBFS: below 16-bit quantization noise, so that digital silence is distinguishable


def log_power(x: np.ndarray) -> np.ndarray:
    return np.log10(x + FLOOR)


def power_spectra(x: np.ndarray, first: int, hop: int, count: int, window: int, nfft: int) -> np.ndarray:
    """Returns Hann power spectra of `count` windows, `hop` samples apart, (count, nfft // 2 + 1). A full-scale sine
    sums to about 0.5."""
    taper = np.hanning(window + 2)[1:-1]
    taper = (taper * np.sqrt(2 / (nfft * (taper**2).sum()))).astype(np.float32)
    bins = rfft(sliding_window_view(x, window)[first::hop][:count] * taper, nfft, axis=1)
    power = bins.real**2
    power += bins.imag**2
    return power


def in_pairs(values: np.ndarray, frames: int) -> np.ndarray:
    """Repeats the value of each pair for both frames, (T, ...) from (ceil(T / 2), ...)."""
    return np.repeat(values, spec.PAIR, 0)[:frames]


@lru_cache
def mel_matrix(bands: int, nfft: int, rate: int) -> np.ndarray:
    """Returns triangles on the mel scale up to half the rate, (nfft // 2 + 1, bands). Each covers at least its nearest
    bin."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1)
    hertz = np.arange(nfft // 2 + 1) * rate / nfft
    low, mid, high = edges[:-2], edges[1:-1], edges[2:]
    up = (hertz[:, None] - low) / (mid - low)
    down = (high - hertz[:, None]) / (high - mid)
    weights = np.maximum(0, np.minimum(up, down))
    nearest = np.abs(hertz[:, None] - mid).argmin(0)
    weights[nearest, np.arange(bands)] = np.maximum(weights[nearest, np.arange(bands)], 0.5)
    return weights.astype(np.float32)


@lru_cache
def edge_matrix(edges: tuple[int, ...], nfft: int, rate: int) -> np.ndarray:
    """Returns one column per band between neighboring edges, (nfft // 2 + 1, bands)."""
    hertz = np.arange(nfft // 2 + 1) * rate / nfft
    low, high = np.array(edges[:-1]), np.array(edges[1:])
    return ((hertz[:, None] >= low) & (hertz[:, None] < high)).astype(np.float32)


@lru_cache
def sum_matrix(bins: int, step: int) -> np.ndarray:
    """Returns the matrix of running sums up to and including every `step`th bin, (bins, ceil(bins / step))."""
    return (np.arange(bins)[:, None] <= np.arange(0, bins, step)).astype(np.float32)


def mel_and_shape(y: np.ndarray, margin: int, frames: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Computes group A (T, 64), and the shape features of the same spectra for group C."""
    hop = spec.BASE_RATE // spec.FRAMES_PER_SECOND
    window = spec.MEL_WINDOW
    power = power_spectra(y, margin - hop // 2 - window // 2, hop, frames + 1, window, window)  # one earlier for the flux
    hertz = np.arange(power.shape[1], dtype=np.float32) * spec.BASE_RATE / window
    total = power.sum(1) + FLOOR
    bands = power @ mel_matrix(spec.MEL_BANDS, window, spec.BASE_RATE) + FLOOR
    mel = np.log10(bands)
    rolled = power @ sum_matrix(power.shape[1], ROLLOFF_BINS) >= 0.85 * total[:, None]
    low, high = np.searchsorted(hertz, 150), np.searchsorted(hertz, 4000, "right")
    shape = {
        "low_ratio": np.log10((power[:, :low].sum(1) + FLOOR) / total),
        "high_ratio": np.log10((power[:, high:].sum(1) + FLOOR) / total),
        "centroid": np.log10((power @ hertz + 50 * FLOOR) / total + 50),
        "rolloff": np.log10(hertz[rolled.argmax(1) * ROLLOFF_BINS] + 50),
        "flatness": mel.mean(1) - np.log10(bands.mean(1)),
    }
    shape = {name: values[1:] for name, values in shape.items()}
    shape["flux"] = np.maximum(0, np.diff(mel, axis=0)).mean(1)
    return mel[1:], shape


def long_bands(z: np.ndarray, margin: int, frames: int) -> np.ndarray:
    """Computes group B: 12 low bands, then tonality and steadiness of six of them, (T, 24); one value per pair of
    frames."""
    hop, window = spec.PAIR * spec.LONG_RATE // spec.FRAMES_PER_SECOND, spec.LONG_WINDOW
    back, pairs = 4, -(-frames // spec.PAIR)  # steadiness compares with the spectrum 80 ms earlier
    first = margin + hop // 2 - window // 2 - back * hop
    power = power_spectra(z, first, hop, pairs + back, window, 2 * window)
    bands = log_power(power @ edge_matrix(spec.LONG_EDGES_HZ, 2 * window, spec.LONG_RATE))
    tone, steady = [], []
    step = spec.LONG_RATE / (2 * window)
    root = np.sqrt(power[:, : int(np.ceil(spec.TONE_EDGES_HZ[-1] / step))])
    for low, high in zip(spec.TONE_EDGES_HZ, spec.TONE_EDGES_HZ[1:]):
        part = power[:, int(np.ceil(low / step)) : int(np.ceil(high / step))]
        tone.append(log_power(part.max(1)) - log_power(part.mean(1)))
        part = root[:, int(np.ceil(low / step)) : int(np.ceil(high / step))]
        energy = np.einsum("tn,tn->t", part, part)
        now, before = energy[back:], energy[:-back]
        balance = np.minimum(now, before) / (np.maximum(now, before) + FLOOR)
        same = np.einsum("tn,tn->t", part[back:], part[:-back]) / (np.sqrt(now * before) + 1e-9)
        steady.append(same * np.sqrt(balance))
    each = np.concatenate([bands[back:], np.stack(tone, 1)[back:], np.stack(steady, 1)], 1)
    return in_pairs(each, frames)
