# Effects that add a sound to the voice: clicks, thumps, mouth noises, air, tones, foreign sounds. Each returns the sound,
# about 1 loud, (n,). Called by effects.py.
import numpy as np
from scipy.signal import butter, sosfilt

from .signals import Rng, any_filter, band, envelope, glide, log_uniform, noise, pulse, resonance, samples_of, tone, unit


def spread(rng: Rng, rate: int, low_s: float, high_s: float, count: int) -> np.ndarray:
    """Several pulses within a stretch."""
    size = samples_of(rng, low_s, high_s, rate)
    out = np.zeros(size + rate // 20)
    for _ in range(count):
        p, at = pulse(rng, rate), int(rng.integers(size))
        out[at : at + len(p)] += p[: len(out) - at] * rng.uniform(0.3, 1)
    return np.trim_zeros(out)


def click(rng: Rng, rate: int) -> np.ndarray:
    return pulse(rng, rate)


def coloured_click(rng: Rng, rate: int) -> np.ndarray:
    return any_filter(rng, np.pad(pulse(rng, rate), (0, rate // 100)), rate)


def double_click(rng: Rng, rate: int) -> np.ndarray:
    gap = np.zeros(samples_of(rng, 0.0005, 0.02, rate))
    return np.concatenate([pulse(rng, rate), gap, pulse(rng, rate) * rng.uniform(-1, 1)])


def crackle(rng: Rng, rate: int) -> np.ndarray:
    return spread(rng, rate, 0.01, 0.06, int(rng.integers(3, 12)))


def thump(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.02, 0.2, rate)
    return sosfilt(butter(2, log_uniform(rng, 40, 300), fs=rate, output="sos"), rng.standard_normal(size)) * envelope(rng, size)


def swinging_thump(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.015, 0.2, rate)
    t = np.arange(size)
    hz = log_uniform(rng, 20, 250) * np.exp(-t / size * rng.uniform(0, 1.5))
    return np.sin(2 * np.pi * np.cumsum(hz) / rate + rng.choice([0, 1.57])) * np.exp(-t / size * rng.uniform(1, 6))


def offset_step(rng: Rng, rate: int) -> np.ndarray:
    """A sudden offset that the coupling removes."""
    size = samples_of(rng, 0.01, 0.15, rate)
    step = np.exp(-np.arange(size) / size * rng.uniform(2, 8))
    return sosfilt(butter(1, log_uniform(rng, 300, 0.4 * rate), fs=rate, output="sos"), step)


def air_blast(rng: Rng, rate: int) -> np.ndarray:
    """Low turbulence on the membrane with some noise above it."""
    size = samples_of(rng, 0.03, 0.25, rate)
    low = sosfilt(butter(1, log_uniform(rng, 30, 150), fs=rate, output="sos"), rng.standard_normal(size))
    high = rng.standard_normal(size) * log_uniform(rng, 0.005, 0.2)
    return (unit(low) + high) * envelope(rng, size)


def bump_with_click(rng: Rng, rate: int) -> np.ndarray:
    low, p = swinging_thump(rng, rate), pulse(rng, rate)
    low[: len(p)] += rng.uniform(0.2, 1) * p[: len(low)]
    return low


def smack(rng: Rng, rate: int) -> np.ndarray:
    """A wet sound: a few resonant bursts in quick succession."""
    out = np.zeros(samples_of(rng, 0.005, 0.05, rate) + rate // 40)
    for _ in range(int(rng.integers(1, 5))):
        burst = resonance(
            np.pad(pulse(rng, rate), (0, rate // 60)), log_uniform(rng, 600, 0.4 * rate), rng.uniform(0.8, 0.985), rate
        )
        at = int(rng.integers(max(1, len(out) - rate // 40)))
        out[at : at + len(burst)] += burst[: len(out) - at] / (np.abs(burst).max() + 1e-9) * rng.uniform(0.2, 1)
    return out


def tick_noise(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.003, 0.03, rate)
    return band(rng, rng.standard_normal(size), rate, 800, 7500) * envelope(rng, size)


def suction(rng: Rng, rate: int) -> np.ndarray:
    """Noise that rises and ends in a small pop."""
    size = samples_of(rng, 0.01, 0.06, rate)
    rise = band(rng, rng.standard_normal(size), rate, 500, 6000) * np.linspace(0, 1, size) ** rng.uniform(1, 4)
    return np.concatenate([unit(rise) * 0.5, smack(rng, rate)])


def air(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.12, 1.0, rate)
    return noise(rng, size, rate) * envelope(rng, size)


def tract_air(rng: Rng, rate: int) -> np.ndarray:
    """Noise through moving resonances, as of an open mouth."""
    size = samples_of(rng, 0.15, 1.0, rate)
    x = rng.standard_normal(size)
    out = sum(
        resonance(x, log_uniform(rng, 300, 0.42 * rate), rng.uniform(0.9, 0.985), rate) * rng.uniform(0.3, 1) for _ in range(4)
    )
    return (out + rng.uniform(0, 0.1) * x) * envelope(rng, size) * glide(rng, size, 6, 0.5, 1)


def two_part_air(rng: Rng, rate: int) -> np.ndarray:
    return np.concatenate([air(rng, rate), np.zeros(samples_of(rng, 0.01, 0.1, rate)), air(rng, rate) * rng.uniform(0.3, 1)])


def hiss(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.1, 1.5, rate)
    return band(rng, rng.standard_normal(size), rate, 1000, 7500, 1) * envelope(rng, size)


def hum(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.4, 3.0, rate)
    return tone(rng, size, rate, 45, 130) * np.minimum(1, np.minimum(np.arange(size), np.arange(size)[::-1]) / (0.02 * rate))


def buzz(rng: Rng, rate: int) -> np.ndarray:
    """A mains buzz: pulses at a low rate through a filter."""
    size = samples_of(rng, 0.3, 2.5, rate)
    hz = log_uniform(rng, 45, 125)
    train = (np.diff(np.floor(np.arange(size + 1) * hz / rate)) > 0).astype(float)
    return any_filter(rng, train - train.mean(), rate)


def whistle(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.1, 1.5, rate)
    return tone(rng, size, rate, 400, 0.35 * rate) * envelope(rng, size)


def hum_in_noise(rng: Rng, rate: int) -> np.ndarray:
    x = hum(rng, rate)
    return unit(x) + log_uniform(rng, 0.01, 0.3) * noise(rng, len(x), rate)


def beep(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.05, 0.5, rate)
    return sum(tone(rng, size, rate, 300, 3000) for _ in range(int(rng.integers(1, 4)))) * np.hanning(size) ** 0.2


def chime(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.2, 1.0, rate)
    t = np.arange(size) / rate
    parts = [np.sin(2 * np.pi * log_uniform(rng, 300, 0.4 * rate) * t) * np.exp(-t * rng.uniform(3, 20)) for _ in range(5)]
    return np.sum(parts, 0)


def rattle(rng: Rng, rate: int) -> np.ndarray:
    return any_filter(rng, spread(rng, rate, 0.1, 0.8, int(rng.integers(6, 40))), rate)


def chirp(rng: Rng, rate: int) -> np.ndarray:
    size = samples_of(rng, 0.05, 0.8, rate)
    hz = np.geomspace(log_uniform(rng, 200, 0.4 * rate), log_uniform(rng, 200, 0.4 * rate), size)
    return np.sin(2 * np.pi * np.cumsum(hz) / rate) * envelope(rng, size)


def knock(rng: Rng, rate: int) -> np.ndarray:
    x = np.pad(pulse(rng, rate), (0, samples_of(rng, 0.03, 0.15, rate)))
    return np.sum([resonance(x, log_uniform(rng, 80, 1500), rng.uniform(0.97, 0.998), rate) for _ in range(3)], 0)


def warble(rng: Rng, rate: int) -> np.ndarray:
    """Data interference: a fast sequence of tones or noise bursts."""
    parts = [tone(rng, samples_of(rng, 0.004, 0.05, rate), rate, 300, 4000) for _ in range(int(rng.integers(4, 25)))]
    return np.concatenate([p * rng.choice([0, 0.5, 1], p=[0.2, 0.3, 0.5]) for p in parts])


SOUNDS = {
    "impulse": (click, coloured_click, double_click, crackle),
    "thump": (thump, swinging_thump, offset_step, air_blast, bump_with_click),
    "smack": (smack, tick_noise, suction),
    "air": (air, tract_air, two_part_air, hiss),
    "tone": (hum, buzz, whistle, hum_in_noise),
    "foreign": (beep, chime, rattle, chirp, knock, warble),
}
