# Effects that change the voice itself: gaps, clippers, codecs (coders.py), robots, echoes, stutters, filters, modulation.
# Each maps a stretch (n,) to a stretch of equal length; `past` has the second before it. Called by effects.py.
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter, stft

from .coders import CODERS, spectral
from .signals import Rng, any_filter, band, convolved, glide, level, log_uniform, noise, ramped, room, samples_of, tone

Process = Callable[[np.ndarray, np.ndarray, int, Rng], np.ndarray]


# --- gaps and what fills them ---


def mute(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    edge = int(rng.choice([0, 0.001, 0.004, 0.012]) * rate)
    return x * (1 - ramped(len(x), edge, int(rng.integers(4))))


def nearly_mute(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    rest = log_uniform(rng, 0.003, 0.15)
    return x * (1 - (1 - rest) * ramped(len(x), int(rng.uniform(0, 0.02) * rate), int(rng.integers(4))))


def noisy_mute(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return mute(x, past, rate, rng) + noise(rng, len(x), rate) * level(past) * log_uniform(rng, 0.001, 0.03)


def held_gap(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """The converter keeps the last value, which may leak away."""
    return x[0] * np.exp(-np.arange(len(x)) / rate * rng.choice([0.0, 20, 200]))


def chopped(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    frame = samples_of(rng, 0.004, 0.04, rate)
    flags = rng.random(len(x) // frame + 1) < rng.uniform(0.4, 0.8)
    flags[0] = False
    return x * np.repeat(flags, frame)[: len(x)]


def last_frame_again(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    frame = past[-samples_of(rng, 0.004, 0.03, rate) :]
    fade = np.exp(-np.arange(len(x)) / rate * rng.choice([0.0, 5, 20, 50]))
    return np.resize(frame, len(x)) * fade


def mirrored_past(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return np.resize(np.concatenate([past[::-1][: len(x)], past[-len(x) :]]), len(x)) * np.linspace(1, rng.uniform(0, 1), len(x))


def noise_like_past(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Comfort noise with the colour of what came before."""
    frame = past[-min(len(past), int(0.03 * rate)) :]
    size = max(len(x), len(frame))
    colour = np.abs(np.fft.rfft(frame, size))
    out = np.fft.irfft(colour * np.exp(1j * rng.uniform(0, 6.28, len(colour))), size)[: len(x)]
    return out / level(out) * level(frame) * log_uniform(rng, 0.1, 1) * np.linspace(1, rng.uniform(0.2, 1), len(x))


def predicted(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Continues the past by the lag that fits best."""
    frame = past[-int(0.04 * rate) :]
    lags = range(int(0.0025 * rate), int(0.016 * rate))
    tail = frame[-int(0.01 * rate) :]
    scores = [float(tail @ past[-len(tail) - lag : -lag]) / level(past[-len(tail) - lag : -lag]) for lag in lags]
    lag = lags[int(np.argmax(scores))]
    return np.resize(past[-lag:], len(x)) * np.exp(-np.arange(len(x)) / rate * rng.uniform(0, 40))


def several_losses(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Frames lost at random within the stretch, each concealed alike."""
    conceal = LOSSES[int(rng.integers(len(LOSSES) - 1))]
    frame, out = int(rng.choice([0.01, 0.02, 0.03, 0.06]) * rate), x.copy()
    whole = np.concatenate([past, out])
    for start in range(0, len(x) - frame + 1, frame):
        if start == 0 or rng.random() < 0.4:
            at = len(past) + start
            whole[at : at + frame] = conceal(whole[at : at + frame].copy(), whole[at - len(past) : at], rate, rng)
    return whole[len(past) :]


# --- overload ---


def clipped(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    rail = np.quantile(np.abs(x), rng.uniform(0.5, 0.97)) + 1e-6
    y = x / rail
    kind = int(rng.integers(7))
    if kind == 0:
        y = np.clip(y, -1, 1)
    elif kind == 1:
        y = np.tanh(y * rng.uniform(0.8, 3))
    elif kind == 2:
        y = np.clip(y, -rng.uniform(0.4, 1), rng.uniform(0.6, 5))
    elif kind == 3:  # folds back
        y = np.abs((y - 1) % 4 - 2) - 1
    elif kind == 4:
        y = np.arctan(3 * y) / 1.25 + 0.1 * y
    elif kind == 5:
        y = np.where(np.abs(y) < 1, y, np.sign(y) * (1 + np.log(np.maximum(1, np.abs(y))) * rng.uniform(0, 0.3)))
    else:
        y = np.sign(y) * np.minimum(np.abs(y), 1) ** rng.uniform(0.3, 1)
    return y * rail * (rng.uniform(1, 3) if rng.random() < 0.5 else 1)


def wrapped(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    rail = np.quantile(np.abs(x), rng.uniform(0.8, 0.99)) + 1e-6
    return (x + rail) % (2 * rail) - rail


def driven(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Overload behind a filter, as of a loudspeaker or a membrane."""
    return (
        any_filter(rng, clipped(x, past, rate, rng), rate)
        if rng.random() < 0.5
        else clipped(lfilter([1, -0.9], [1], x), past, rate, rng)
    )


def slow_slew(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    step, y, v = np.quantile(np.abs(np.diff(x)), rng.uniform(0.4, 0.8)) + 1e-9, np.empty(len(x)), x[0]
    for i, value in enumerate(x.tolist()):
        v += min(step, max(-step, value - v))
        y[i] = v
    return y


def dead_zone(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    zone = np.quantile(np.abs(x), rng.uniform(0.3, 0.8))
    return np.sign(x) * np.maximum(0, np.abs(x) - zone)


def rectified(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    y = np.abs(x) if rng.random() < 0.5 else np.maximum(x, rng.uniform(0, 0.3) * x)
    return y - y.mean()


# --- robots ---


def ring(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    carrier = tone(rng, len(x), rate, 25, 900)
    return x * carrier / (np.abs(carrier).max() + 1e-9) * 1.5


def comb(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    delay = max(2, int(rate / log_uniform(rng, 60, 500)))
    a = np.zeros(delay + 1)
    a[0], a[-1] = 1, -rng.uniform(0.7, 0.95) * rng.choice([-1, 1])
    return lfilter([1 - abs(a[-1])], a, x) * 2


def monotone(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Each frame without its phase: one pitch, that of the frame rate."""
    hop = int(rate / log_uniform(rng, 60, 220))
    out, window = np.zeros(len(x) + 4 * hop), np.hanning(2 * hop)
    for start in range(0, len(x) - 2 * hop, hop):
        bins = np.abs(np.fft.rfft(x[start : start + 2 * hop] * window))
        out[start : start + 2 * hop] += np.fft.fftshift(np.fft.irfft(bins, 2 * hop)) * window
    out = out[: len(x)]
    return out / level(out) * level(x)


def frozen(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Each stretch stands still."""
    frame = samples_of(rng, 0.02, 0.12, rate)
    part = max(8, frame // int(rng.integers(2, 8)))
    out = x.copy()
    for start in range(0, len(x), frame):
        stretch = out[start : start + frame]
        out[start : start + frame] = np.resize(stretch[:part], len(stretch))
    return out


def channel_vocoder(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    source = noise(rng, len(x), rate) if rng.random() < 0.4 else tone(rng, len(x), rate, 60, 250)
    _, _, bins = stft(source, nperseg=256)
    flat = np.exp(1j * np.angle(bins)) * (np.abs(bins) / (np.abs(bins).mean(0, keepdims=True) + 1e-9)) ** 0.5
    bands = int(rng.integers(6, 40))

    def change(voice: np.ndarray) -> np.ndarray:
        which = np.arange(voice.shape[0]) * bands // voice.shape[0]
        sizes = np.stack([np.abs(voice[which == b]).mean(0) for b in range(bands)])[which]
        return sizes * flat[:, : voice.shape[1]] if flat.shape[1] >= voice.shape[1] else voice

    return spectral(x, rate, change, 256)


def shifted_spectrum(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    by = int(rng.integers(2, 14)) * int(rng.choice([-1, 1]))
    return spectral(x, rate, lambda bins: np.roll(bins, by, 0), 512)


def flanged(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return x + rng.choice([-1, 1]) * wavering(x, past, rate, rng)


def fast_gate(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    phase = np.arange(len(x)) * log_uniform(rng, 20, 150) / rate
    return x * (phase % 1 < rng.uniform(0.3, 0.7)) * 1.5


# --- echoes ---


def echo(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    whole = np.concatenate([past, x])
    delay, gain = samples_of(rng, 0.06, 0.5, rate), rng.uniform(0.3, 0.95)
    late = np.pad(whole, (delay, 0))[: len(whole)]
    if rng.random() < 0.4:
        late = any_filter(rng, late, rate)
    return (whole + gain * late)[-len(x) :]


def repeated_echo(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    delay = samples_of(rng, 0.05, 0.4, rate)
    a = np.zeros(delay + 1)
    a[0], a[-1] = 1, -rng.uniform(0.4, 0.8)
    return lfilter([1], a, x)


def scattered_echo(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    response = np.zeros(samples_of(rng, 0.1, 0.6, rate))
    response[rng.integers(len(response) // 8, len(response), int(rng.integers(2, 7)))] = rng.uniform(-0.7, 0.7)
    response[0] = 1
    return convolved(np.concatenate([past, x]), response)[-len(x) :]


def hall(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    response = room(rng, rate, rng.uniform(0.5, 1.5))
    response[1:] *= rng.uniform(1, 3)
    return convolved(np.concatenate([past, x]), response)[-len(x) :]


# --- repeats ---


def stuck(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return np.resize(past[-samples_of(rng, 0.01, 0.3, rate) :], len(x))


def stammer(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    part = past[-samples_of(rng, 0.05, 0.25, rate) :]
    part = part * ramped(len(part), rate // 300)
    return np.resize(np.concatenate([part, np.zeros(samples_of(rng, 0.001, 0.08, rate))]), len(x))


def replayed(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return past[-len(x) :] if len(x) <= len(past) else np.resize(past, len(x))


# --- tone, level and time ---


def filtered(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    y = any_filter(rng, np.concatenate([past, x]), rate)[-len(x) :]
    return y * min(4.0, level(x) / level(y)) ** rng.uniform(0, 1)


def telephone(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return band(rng, x, rate, 200, 4000, 4) * rng.uniform(0.7, 2)


def swept(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    cut = glide(rng, 4096, int(rng.integers(2, 6)), 0.03, 0.6)

    def change(bins: np.ndarray) -> np.ndarray:
        edge = cut[np.linspace(0, 4095, bins.shape[1]).astype(int)] * bins.shape[0]
        return bins / (1 + (np.arange(bins.shape[0])[:, None] / edge) ** 6)

    return spectral(x, rate, change, 256)


def tremolo(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    phase = 2 * np.pi * log_uniform(rng, 2, 20) * np.arange(len(x)) / rate
    return x * (1 - rng.uniform(0.4, 1) * (0.5 + 0.5 * np.sin(phase + rng.uniform(0, 6))))


def unsteady(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return x * np.exp(glide(rng, len(x), 2 + int(len(x) / rate * rng.uniform(5, 30)), -2.5, 0.7))


def louder(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return x * (1 + (log_uniform(rng, 0.1, 5) - 1) * ramped(len(x), int(rng.uniform(0, 0.05) * rate)))


def wavering(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    whole, n = np.concatenate([past, x]), np.arange(len(x))
    depth, hz = log_uniform(rng, 0.0005, 0.008) * rate, log_uniform(rng, 0.5, 15)
    at = len(past) + n - depth * (1 + np.sin(2 * np.pi * hz * n / rate))
    return np.interp(at, np.arange(len(whole)), whole)


def backwards(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return x[::-1].copy()


def other_speed(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    return np.interp(np.arange(len(x)) * log_uniform(rng, 0.5, 1.0), np.arange(len(x)), x)


def shuffled(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    size = samples_of(rng, 0.02, 0.15, rate)
    parts = [x[i : i + size] for i in range(0, len(x), size)]
    return np.concatenate([parts[i] for i in rng.permutation(len(parts))])


def stretched(x: np.ndarray, past: np.ndarray, rate: int, rng: Rng) -> np.ndarray:
    """Slower by overlapping grains, without a change of pitch."""
    size, rate_of = samples_of(rng, 0.02, 0.08, rate), log_uniform(rng, 0.3, 0.8)
    out, window = np.zeros(len(x) + size), np.hanning(size)
    for at in range(0, len(x), size // 2):
        grain = x[int(at * rate_of) :][:size]
        out[at : at + len(grain)] += grain * window[: len(grain)]
    return out[: len(x)]


GAPS = (mute, nearly_mute, noisy_mute, held_gap, chopped)
LOSSES = (last_frame_again, mirrored_past, noise_like_past, predicted, mute, several_losses)
OVERLOADS = (clipped, clipped, driven, wrapped, slow_slew, dead_zone, rectified)
ROBOTS = (ring, comb, monotone, frozen, channel_vocoder, shifted_spectrum, flanged, fast_gate)
ECHOES = (echo, repeated_echo, scattered_echo, hall)
REPEATS = (stuck, stammer, replayed)
FILTERS = (filtered, telephone, swept)
LEVELS = (tremolo, unsteady, louder, wavering)
TIMES = (backwards, other_speed, shuffled, stretched)
# By family: the processes, and the shortest and longest duration in seconds.
PROCESSES: dict[str, tuple[tuple[Process, ...], float, float]] = {
    "gap": (GAPS, 0.02, 0.5),
    "loss": (LOSSES, 0.02, 0.3),
    "overload": (OVERLOADS, 0.08, 1.5),
    "coder": (CODERS, 0.05, 1.0),
    "robot": (ROBOTS, 0.25, 2.0),
    "echo": (ECHOES, 0.4, 2.5),
    "repeat": (REPEATS, 0.06, 0.6),
    "filter": (FILTERS, 0.15, 1.5),
    "level": (LEVELS, 0.25, 1.5),
    "time": (TIMES, 0.15, 1.0),
}
