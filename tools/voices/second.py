# A second generator of the same artifact types, other physics and other ranges: what a detector learned from one set of
# labels must not depend on how artifacts.py happens to draw. Called by takes.py when asked for.
import numpy as np
from scipy.signal import butter, lfilter, sosfilt

from .artifacts import Mixer, Span, where_over


def db(rng: np.random.Generator, low: float, high: float) -> float:
    return 10 ** (rng.uniform(low, high) / 20)


def add(take: np.ndarray, at: int, sound: np.ndarray) -> Span:
    end = min(len(take), at + len(sound))
    take[at:end] += sound[: end - at]
    return at, end


def click(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A scratch: a double spike, a step that leaks away, or a burst of noise of 1 to 8 ms."""
    peak, kind = level * db(rng, 4, 22), rng.integers(3)
    if kind == 0:
        sound = np.zeros(int(rng.uniform(0.001, 0.006) * sr) + 2)
        sound[0], sound[-1] = peak, -peak * rng.uniform(0.2, 1)
    elif kind == 1:
        sound = peak * np.exp(-np.arange(int(0.006 * sr)) / (rng.uniform(0.0005, 0.002) * sr))
    else:
        sound = peak / 2 * rng.standard_normal(int(rng.uniform(0.001, 0.008) * sr))
    return add(take, at, sound * rng.choice([-1, 1]))


def mouth_click(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """One to three smacks: band-passed noise of 3 to 15 ms around 1 to 5 kHz."""
    end = at
    for _ in range(rng.integers(1, 4)):
        centre = rng.uniform(1000, 5000)
        band = butter(2, [centre * 0.7, min(centre * 1.4, sr * 0.49)], "bandpass", fs=sr, output="sos")
        length = int(rng.uniform(0.003, 0.015) * sr)
        noise = sosfilt(band, rng.standard_normal(length + 200))[200:] * np.hanning(length)
        _, end = add(take, end, level * db(rng, -6, 12) * noise / (np.abs(noise).max() + 1e-9))
        end += int(rng.uniform(0.005, 0.03) * sr)
    return at, min(end, len(take))


def plosive(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A push of air: one to three uneven half waves of 8 to 25 ms with rumble, 30 to 250 ms."""
    length = int(rng.uniform(0.03, 0.25) * sr)
    push = np.concatenate(
        [s * np.sin(np.pi * np.linspace(0, 1, int(rng.uniform(0.008, 0.025) * sr))) for s in rng.uniform(0.4, 1, 3) * [1, -1, 1]]
    )
    rumble = lfilter([0.02], [1, -0.98], rng.standard_normal(length)) * np.exp(-np.arange(length) / (0.3 * length))
    sound = rumble / (np.abs(rumble).max() + 1e-9) * rng.uniform(0.3, 1)
    sound[: min(length, len(push))] += push[:length]
    return add(take, at, level * db(rng, 2, 20) * sound)


def hum(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A buzz: rectified mains with few or many harmonics, 0.4 to 8 s, sometimes swelling."""
    t = np.arange(int(rng.uniform(0.4, 8.0) * sr)) / sr
    wave = np.sin(2 * np.pi * rng.choice([50, 60]) * t + rng.uniform(0, 6))
    wave = rng.uniform(0, 1) * wave + rng.uniform(0, 1) * (np.abs(wave) - 0.64) + rng.uniform(0, 0.3) * np.sign(wave)
    swell = 1 + rng.uniform(0, 0.5) * np.sin(2 * np.pi * rng.uniform(0.3, 3) * t)
    return add(take, at, level * db(rng, -22, 2) * wave * swell)


def dropout(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """Lost packets: one to three gaps of 10 to 60 ms in a row, or a fade to comfort noise of 80 to 500 ms."""
    end = at
    if rng.random() < 0.5:
        for _ in range(rng.integers(1, 4)):
            start, end = end, min(len(take), end + int(rng.uniform(0.010, 0.060) * sr))
            take[start:end] = 0
            last, end = end, end + int(rng.uniform(0.01, 0.03) * sr)
        return at, last
    end = min(len(take), at + int(rng.uniform(0.08, 0.5) * sr))
    fade = 1 - np.minimum(1, np.minimum(np.arange(end - at), np.arange(end - at)[::-1]) / (rng.uniform(0.001, 0.01) * sr))
    take[at:end] = take[at:end] * fade + level * db(rng, -60, -40) * rng.standard_normal(end - at)
    return at, end


def clipping(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """Too much gain before the converter: both rails or one, 0.15 to 3 s, level kept."""
    end = min(len(take), at + int(rng.uniform(0.15, 3.0) * sr))
    part = take[at:end].copy()
    rail = np.quantile(np.abs(part), rng.uniform(0.6, 0.95)) + 1e-6
    low = -rail if rng.random() < 0.7 else -np.abs(part).max()
    take[at:end] = np.clip(part, low, rail) * (np.abs(part).max() / rail) ** rng.uniform(0, 0.8)
    return where_over(part, rail, at)


ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.5), "mouth_click": (mouth_click, 0.5), "plosive": (plosive, 0.6), "hum": (hum, 0.6),
    "dropout": (dropout, 1.0), "clipping": (clipping, 1.0),
}  # fmt: skip
