# The artifacts: each one changes a stretch of a take in place and returns where it is. Called by takes.py.
# Levels are relative to the speech level of the take, in severity bands from faint to strong.
from collections.abc import Callable

import numpy as np
from scipy.signal import butter, sosfilt

Span = tuple[int, int]  # first sample, one past the last
Mixer = Callable[[np.ndarray, int, int, float, np.random.Generator], Span]

# dB against the speech level (RMS of the loud part); one band is drawn per event
BANDS_DB = ((-8.0, 0.0), (0.0, 8.0), (8.0, 16.0))


def gain_of(rng: np.random.Generator, level: float, offset_db: float = 0.0) -> float:
    low, high = BANDS_DB[rng.integers(len(BANDS_DB))]
    return level * 10 ** ((rng.uniform(low, high) + offset_db) / 20)


def add(take: np.ndarray, at: int, sound: np.ndarray) -> Span:
    end = min(len(take), at + len(sound))
    take[at:end] += sound[: end - at]
    return at, end


def click(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A digital tick of a few samples or a short damped ring: 0.1 to 4 ms."""
    peak = gain_of(rng, level, 6)
    if rng.random() < 0.5:
        sound = np.zeros(rng.integers(1, 6))
        sound[0] = peak * rng.choice([-1, 1])
        sound[1:] = -sound[0] * rng.uniform(0, 0.8, len(sound) - 1)
    else:
        t = np.arange(int(rng.uniform(0.001, 0.004) * sr)) / sr
        sound = peak * np.exp(-t * rng.uniform(1000, 3000)) * np.cos(2 * np.pi * rng.uniform(1500, sr * 0.45) * t)
    start, end = add(take, at, sound)
    return start, max(end, start + sr // 200)


def mouth_click(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """Two to four small wet ticks within 60 ms, each a damped resonance between 1.2 and 4 kHz."""
    end = at
    for _ in range(rng.integers(2, 5)):
        t = np.arange(int(rng.uniform(0.004, 0.010) * sr)) / sr
        tone = np.exp(-t * rng.uniform(400, 900)) * np.sin(2 * np.pi * rng.uniform(1200, 4000) * t)
        start = end
        _, end = add(take, start, gain_of(rng, level, -2) * tone)
        end += int(rng.uniform(0.002, 0.012) * sr)
    return at, min(end, len(take))


def plosive(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A breath blast on the microphone: a falling low tone and low-passed turbulence, 60 to 160 ms."""
    t = np.arange(int(rng.uniform(0.06, 0.16) * sr)) / sr
    envelope = np.minimum(t / rng.uniform(0.004, 0.012), 1) * np.exp(-t * rng.uniform(18, 35))
    start_hz = rng.uniform(60, 140)
    phase = 2 * np.pi * (start_hz * t - start_hz * t**2 * rng.uniform(1, 3)) + rng.uniform(0, 6.28)
    wind = sosfilt(butter(2, rng.uniform(120, 300), fs=sr, output="sos"), rng.standard_normal(len(t)))
    sound = np.sin(phase) + rng.uniform(0.3, 1.0) * wind / (np.abs(wind).max() + 1e-9)
    return add(take, at, gain_of(rng, level, 6) * envelope * sound)


def hum(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """Mains hum of 50 or 60 Hz with falling harmonics, 0.8 to 4 s, faded in and out."""
    t = np.arange(int(rng.uniform(0.8, 4.0) * sr)) / sr
    mains = rng.choice([50.0, 60.0]) + rng.uniform(-0.3, 0.3)
    tilt = rng.uniform(0.4, 1.4)
    sound = sum(rng.uniform(0.4, 1) * k**-tilt * np.sin(2 * np.pi * mains * k * t + rng.uniform(0, 6.28)) for k in range(1, 9))
    fade = np.minimum(1, np.minimum(t, t[::-1]) / rng.uniform(0.01, 0.08))
    return add(take, at, gain_of(rng, level, -12) * fade * sound)


def dropout(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """Sound that is missing for 30 to 300 ms: digital zero, or turned down by 40 dB and more; edges of 0 to 4 ms."""
    length = int(rng.uniform(0.03, 0.3) * sr)
    end = min(len(take), at + length)
    rest = 0.0 if rng.random() < 0.6 else 10 ** (rng.uniform(-60, -40) / 20)
    edge = int(rng.uniform(0, 0.004) * sr) + 1
    ramp = np.minimum(1, np.minimum(np.arange(1, end - at + 1), np.arange(end - at, 0, -1)) / edge)
    take[at:end] *= 1 - (1 - rest) * ramp
    return at, end


def where_over(part: np.ndarray, rail: float, at: int) -> Span:
    """From the first to the last sample over the rail: nobody can label clipping in the pause after it."""
    over = np.flatnonzero(np.abs(part) > rail)
    return (at + int(over[0]), at + int(over[-1]) + 1) if over.size else (at, at)


def clipping(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """An overdriven stretch of 0.3 to 1.5 s: hard or soft limit at a local rail, then scaled back."""
    end = min(len(take), at + int(rng.uniform(0.3, 1.5) * sr))
    part = take[at:end].copy()
    rail = np.abs(part).max() * 10 ** (-rng.uniform(6, 16) / 20) + 1e-6
    limited = np.clip(part, -rail, rail) if rng.random() < 0.6 else rail * np.tanh(1.5 * part / rail)
    take[at:end] = limited * rng.uniform(1.0, 1.8)
    return where_over(part, rail, at)


def stutter(take: np.ndarray, at: int, sr: int, level: float, rng: np.random.Generator) -> Span:
    """A lost packet concealed by repeating the one before it: 10 to 40 ms, two to six times."""
    packet, times = int(rng.uniform(0.010, 0.040) * sr), rng.integers(2, 7)
    at = max(at, packet)
    end = min(len(take), at + packet * times)
    take[at:end] = np.resize(take[at - packet : at].copy(), end - at)
    return at, end


# name -> (mixer, where it may stand: speech, or anywhere, share of events in speech)
ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.6),
    "mouth_click": (mouth_click, 0.4),
    "plosive": (plosive, 0.7),
    "hum": (hum, 0.5),
    "dropout": (dropout, 1.0),
    "clipping": (clipping, 1.0),
    "stutter": (stutter, 1.0),
}
