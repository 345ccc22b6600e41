# Quantisers and codecs, real ones and what they do at few bits. Called by processes.py, which says what the arguments are, and by
# scenes.py.
import io
from collections.abc import Callable

import numpy as np
import soundfile
from scipy.signal import istft, stft

from .signals import Rng, level, log_uniform, noise


def few_bits(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    step = np.abs(x).max() / rng.integers(1, 9) + 1e-9
    if rng.random() < 0.5:
        return np.round(x / step) * step
    return (np.floor(x / step) + 0.5) * step


def log_bits(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    peak, mu, levels = np.abs(x).max() + 1e-9, log_uniform(rng, 10, 500), rng.integers(2, 9)
    y = np.round(np.log1p(mu * np.abs(x) / peak) / np.log1p(mu) * levels) / levels
    return np.sign(x) * np.expm1(y * np.log1p(mu)) / mu * peak


def coarse_steps(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """A coder of differences with an adaptive step."""
    step, y, v, grow = level(x) * 0.3, np.empty(len(x)), 0.0, rng.uniform(1.05, 1.6)
    levels, last = int(rng.integers(1, 4)), 0
    for i, value in enumerate(x.tolist()):
        code = max(-levels, min(levels, round((value - v) / step))) or (1 if value > v else -1)
        v = 0.99 * v + code * step
        step = min(1.0, max(1e-5, step * (grow if abs(code) == levels and code * last >= 0 else 1 / grow)))
        y[i], last = v, code
    return y


def slow_samples(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    every = int(rng.integers(2, max(3, int(rate / 1000))))
    held = x[::every]
    if rng.random() < 0.6:
        return np.repeat(held, every)[: len(x)]
    return np.interp(np.arange(len(x)), np.arange(len(held)) * every, held)


def spectral(x: np.ndarray, rate: int, change: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    size = min(size, max(16, len(x)))
    _, _, bins = stft(x, nperseg=size, boundary="even", padded=True)
    _, y = istft(change(bins), nperseg=size, boundary=True)
    return np.resize(y, len(x)) if len(y) < len(x) else y[: len(x)]


def spectral_holes(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    share, quiet = rng.uniform(0.5, 0.97), rng.random() < 0.5

    def change(bins: np.ndarray) -> np.ndarray:
        if quiet:  # drops the weak bins, as a coder short of bits
            return bins * (np.abs(bins) >= np.quantile(np.abs(bins), share, axis=0, keepdims=True))
        return bins * (rng.random(bins.shape) > share * 0.8)

    return spectral(x, rate, change, int(rng.choice([128, 256, 512, 1024])))


def coarse_spectrum(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    base = log_uniform(rng, 2, 16)
    phases = int(rng.integers(2, 9))

    def change(bins: np.ndarray) -> np.ndarray:
        size = base ** np.round(np.log(np.abs(bins) + 1e-9) / np.log(base))
        return size * np.exp(1j * np.round(np.angle(bins) * phases / 6.28) * 6.28 / phases)

    return spectral(x, rate, change, int(rng.choice([64, 128, 256, 512])))


def band_flicker(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Bands come and go from frame to frame."""
    bands, every = int(rng.integers(3, 20)), int(rng.integers(1, 8))

    def change(bins: np.ndarray) -> np.ndarray:
        flags = rng.random((bands, bins.shape[1] // every + 1)) < rng.uniform(0.2, 0.7)
        which = np.minimum(bands - 1, np.arange(bins.shape[0]) * bands // bins.shape[0])
        return bins * flags[which][:, np.arange(bins.shape[1]) // every]

    return spectral(x, rate, change, int(rng.choice([128, 256, 512])))


def noise_for_phase(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return spectral(
        x, rate, lambda bins: np.abs(bins) * np.exp(1j * rng.uniform(0, 6.28, bins.shape)), int(rng.choice([128, 256, 512]))
    )


def wrong_frames(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """A coder's frames with wrong gains, signs and order."""
    frame = max(8, int(rng.choice([0.005, 0.01, 0.02]) * rate))
    whole = x[: len(x) // frame * frame].reshape(-1, frame)
    if not len(whole):
        return noise(rng, len(x), rate) * level(x)
    wrong = whole[rng.permutation(len(whole))] * rng.choice([-1, 1, 2, 4, 0.2], (len(whole), 1))
    return np.concatenate([wrong.ravel(), x[len(whole) * frame :]])


def bit_errors(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    codes = np.round(np.clip(x, -1, 1) * 32767).astype(np.int16)
    hit = rng.random(len(x)) < log_uniform(rng, 0.003, 0.2)
    return np.where(hit, codes ^ (1 << rng.integers(6, 15, len(x))).astype(np.int16), codes) / 32767.0


def real_codec(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """A real coder at its lowest quality, and again."""
    kind = [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III"), ("WAV", "GSM610"), ("WAV", "IMA_ADPCM")][
        int(rng.integers(5))
    ]
    return coded(np.concatenate([past, x]), rate, *kind, quality=0.95)[-len(x) :]


def coded(x: np.ndarray, rate: int, container: str, coding: str, quality: float) -> np.ndarray:
    buffer, peak = io.BytesIO(), max(1.0, float(np.abs(x).max()))
    level = {} if container == "WAV" else {"compression_level": quality}
    soundfile.write(buffer, x / peak, rate, format=container, subtype=coding, **level)
    buffer.seek(0)
    y = soundfile.read(buffer)[0]
    if len(y) < len(x):
        y = np.pad(y, (0, len(x) - len(y)))
    return y[: len(x)] * peak


CODERS = (
    few_bits, log_bits, coarse_steps, slow_samples, spectral_holes, coarse_spectrum, band_flicker, noise_for_phase,
    wrong_frames, bit_errors, real_codec,
)  # fmt: skip
