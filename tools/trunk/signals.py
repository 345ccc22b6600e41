# The building blocks of the effects: envelopes, noises, tones, pulses and filters. Pure; every number is drawn from the
# given generator. Called by sounds.py, coders.py, processes.py and scenes.py.
import numpy as np
from scipy.signal import butter, fftconvolve, lfilter, sosfilt

Rng = np.random.Generator


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def level(x: np.ndarray) -> float:
    return float(np.sqrt((x**2).mean())) + 1e-9


def samples_of(rng: Rng, low_s: float, high_s: float, rate: int) -> int:
    """A length between two durations, short ones as often as long ones."""
    return max(2, int(log_uniform(rng, low_s, high_s) * rate))


def ramped(length: int, edge: int, shape: int = 0) -> np.ndarray:
    """Weights that rise to 1 within `edge` samples and fall again: linear, cosine, exponential or stepped."""
    up = np.minimum(1, np.arange(1, length + 1) / max(1, edge))
    up = (up, 0.5 - 0.5 * np.cos(np.pi * up), up**3, np.ceil(up * 4) / 4)[shape % 4]
    return np.minimum(up, up[::-1])


def glide(rng: Rng, length: int, points: int, low: float, high: float) -> np.ndarray:
    """A random smooth curve between two values."""
    return np.interp(np.linspace(0, points - 1, length), np.arange(points), rng.uniform(low, high, points))


def envelope(rng: Rng, length: int) -> np.ndarray:
    t = np.linspace(0, 1, length)
    attack = log_uniform(rng, 0.005, 0.5)
    kind = int(rng.integers(6))
    if kind == 0:
        return np.minimum(1, t / attack) * np.exp(-t * rng.uniform(2, 9))
    if kind == 1:
        return np.hanning(length + 2)[1:-1] ** rng.uniform(0.3, 3)
    if kind == 2:
        return ramped(length, int(length * attack / 2) + 1, int(rng.integers(4)))
    if kind == 3:
        return glide(rng, length, int(rng.integers(3, 9)), 0, 1) * ramped(length, length // 20 + 1)
    if kind == 4:
        return np.minimum(1, (t / attack) ** 2) * np.minimum(1, ((1 - t) / rng.uniform(0.05, 0.6)) ** 2)
    return np.exp(-((t - rng.uniform(0.2, 0.8)) ** 2) / rng.uniform(0.01, 0.1))


def unit(x: np.ndarray) -> np.ndarray:
    """Scales to the level 1 where the sound is loud."""
    if len(x) > 320:
        frames = x[: len(x) // 160 * 160].reshape(-1, 160)
        return x / (np.sqrt((frames**2).mean(1)).max() + 1e-9)
    return x / (np.abs(x).max() * 0.5 + 1e-9)


def band(rng: Rng, x: np.ndarray, rate: int, low: float, high: float, order: int = 2) -> np.ndarray:
    """A band-pass with random corners within low..high Hz."""
    high = min(high, 0.47 * rate)
    a = log_uniform(rng, low, max(low * 1.1, 0.7 * high))
    b = min(0.48 * rate, max(a * 1.3, log_uniform(rng, a, high)))
    return sosfilt(butter(order, [a, b], "bandpass", fs=rate, output="sos"), x)


def any_filter(rng: Rng, x: np.ndarray, rate: int) -> np.ndarray:
    kind, order = int(rng.integers(5)), int(rng.integers(1, 6))
    if kind == 0:
        return sosfilt(butter(order, min(0.45 * rate, log_uniform(rng, 200, 5000)), fs=rate, output="sos"), x)
    if kind == 1:
        return sosfilt(butter(order, min(0.4 * rate, log_uniform(rng, 200, 3000)), "highpass", fs=rate, output="sos"), x)
    if kind == 2:
        return band(rng, x, rate, 150, 5000, min(order, 4))
    if kind == 3:
        return resonance(x, log_uniform(rng, 150, 0.4 * rate), rng.uniform(0.9, 0.995), rate)
    delay = max(1, int(log_uniform(rng, 0.0004, 0.015) * rate))
    taps = np.zeros(delay + 1)
    taps[[0, -1]] = 1, rng.choice([-1, 1]) * rng.uniform(0.6, 1)
    return lfilter(taps, [1], x)


def resonance(x: np.ndarray, hz: float, radius: float, rate: int) -> np.ndarray:
    w = 2 * np.pi * hz / rate
    return lfilter([1 - radius], [1, -2 * radius * np.cos(w), radius**2], x)


def tilt(rng: Rng, x: np.ndarray) -> np.ndarray:
    """A gentle tone control, as microphones differ."""
    x = lfilter([1, rng.uniform(-0.7, 0.7)], [1], x)
    return lfilter([1], [1, rng.uniform(-0.4, 0.4)], x)


def noise(rng: Rng, length: int, rate: int) -> np.ndarray:
    x = rng.standard_normal(length)
    kind = int(rng.integers(6))
    if kind == 0:
        return x
    if kind == 1:
        return lfilter([1], [1, -rng.uniform(0.3, 0.99)], x)
    if kind == 2:
        return lfilter([1, -rng.uniform(0.3, 1)], [1], x)
    if kind == 3:
        return band(rng, x, rate, 100, 7000)
    if kind == 4:  # resonances, as of a vocal tract or a pipe
        return sum(resonance(x, log_uniform(rng, 200, 0.42 * rate), rng.uniform(0.9, 0.99), rate) for _ in range(3))
    return x * (rng.random(length) < log_uniform(rng, 0.01, 0.5))  # sparse


def tone(rng: Rng, length: int, rate: int, low: float, high: float) -> np.ndarray:
    """A periodic sound: few or many overtones, steady or wavering."""
    hz = log_uniform(rng, low, high)
    pitch = hz * np.ones(length)
    if rng.random() < 0.3:
        pitch = hz * glide(rng, length, int(rng.integers(2, 6)), 0.8, 1.25)
    phase = 2 * np.pi * np.cumsum(pitch) / rate + rng.uniform(0, 6.28)
    kind, top = int(rng.integers(5)), int(0.45 * rate / hz)
    if kind == 0:
        x = np.sin(phase)
    elif kind == 1:
        count = max(1, min(top, int(rng.integers(2, 16))))
        x = sum(
            rng.uniform(0, 1) / k ** rng.uniform(0, 2) * np.sin(k * phase + rng.uniform(0, 6.28)) for k in range(1, count + 1)
        )
    elif kind == 2:
        x = np.sign(np.sin(phase) - rng.uniform(-0.8, 0.8))
    elif kind == 3:
        x = np.abs(np.sin(phase / 2)) ** rng.uniform(0.3, 6)
    else:
        x = np.sin(phase + rng.uniform(0.5, 5) * np.sin(phase * rng.choice([0.5, 1.41, 2, 3])))
    x = x - x.mean()
    return (
        x * (1 + rng.uniform(0, 1) * np.sin(2 * np.pi * log_uniform(rng, 0.5, 30) * np.arange(length) / rate))
        if rng.random() < 0.3
        else x
    )


def pulse(rng: Rng, rate: int) -> np.ndarray:
    """One very short event: a spike, a pair, a ringing, a step, a burst."""
    length = samples_of(rng, 0.0002, 0.006, rate)
    t = np.arange(length)
    kind = int(rng.integers(8))
    if kind == 0:
        return rng.choice([-1.0, 1.0], 1) * np.ones(int(rng.integers(1, 4)))
    if kind == 1:
        return np.concatenate([np.ones(length), -rng.uniform(0.2, 1.2) * np.ones(length)])
    if kind == 2:
        return rng.standard_normal(length) * np.exp(-t / length * rng.uniform(1, 6))
    if kind == 3:
        hz, size = log_uniform(rng, 300, 0.45 * rate), samples_of(rng, 0.001, 0.02, rate)
        n = np.arange(size)
        return np.sin(2 * np.pi * hz * n / rate + rng.uniform(0, 6)) * np.exp(-n / size * rng.uniform(3, 8))
    if kind == 4:  # a step that leaks away
        size = samples_of(rng, 0.001, 0.02, rate)
        return np.exp(-np.arange(size) / size * rng.uniform(3, 7))
    if kind == 5:
        return np.cumsum(rng.standard_normal(length)) * np.hanning(length + 2)[1:-1]
    if kind == 6:
        return np.hanning(length + 2)[1:-1] * rng.choice([-1, 1])
    return rng.standard_normal(length)


def room(rng: Rng, rate: int, seconds: float) -> np.ndarray:
    """A room's response: some early reflections and a decaying tail, (n,); the direct sound is 1."""
    length = max(2, int(seconds * rate))
    tail = rng.standard_normal(length) * np.exp(-np.arange(length) / length * 6.9)
    tail = lfilter([1], [1, -rng.uniform(0, 0.8)], tail)
    response = tail / (np.sqrt((tail**2).sum()) + 1e-9) * log_uniform(rng, 0.1, 1.0)
    for _ in range(int(rng.integers(0, 6))):
        response[int(rng.integers(length // 4 + 1))] += rng.uniform(-0.4, 0.4)
    response[0] = 1
    return response


def convolved(x: np.ndarray, response: np.ndarray) -> np.ndarray:
    return fftconvolve(x, response)[: len(x)]
