# The first generator, second half: damage to the speech itself. Called through the table in artifacts.py.
from collections.abc import Callable

import numpy as np
from scipy.ndimage import map_coordinates

from .scene import NOWHERE, Scene, Span, blend, loudness, where_over


def clipping(take: np.ndarray, at: int, scene: Scene) -> Span:
    """An overdriven stretch of 0.3 to 1.5 s: hard or soft limit at a local rail, then any gain."""
    rng = scene.rng
    whole = take[at : at + scene.seconds(0.3, 1.5)]
    rail = np.abs(whole).max() * 10 ** (-scene.among(((5, 8), (8, 12), (12, 18))) / 20) + 1e-6
    start, end = where_over(whole, rail, at)
    part = take[start:end]
    limited = np.clip(part, -rail, rail) if rng.random() < 0.6 else rail * np.tanh(1.5 * part / rail)
    return blend(take, start, limited * rng.uniform(0.8, 1.8), scene.rate // 200)


def dropout(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A gap of 30 to 300 ms: digital zero, or attenuated by 40 dB or more; edges of 0 to 4 ms."""
    rng = scene.rng
    end = min(len(take), at + int(scene.among(((0.03, 0.06), (0.06, 0.14), (0.14, 0.3))) * scene.rate))
    rest = 0.0 if rng.random() < 0.6 else 10 ** (rng.uniform(-60, -40) / 20)
    edge = scene.seconds(0, 0.004) + 1
    ramp = np.minimum(1, np.minimum(np.arange(1, end - at + 1), np.arange(end - at, 0, -1)) / edge)
    take[at:end] *= 1 - (1 - rest) * ramp
    return at, end


def pitch_lag(x: np.ndarray, rate: int) -> int:
    """Returns the lag (2.5 to 15 ms) at which the end of x is most similar to itself, in samples."""
    lags = np.arange(int(0.0025 * rate), int(0.015 * rate))
    size = min(len(x) - lags[-1], int(0.02 * rate))
    now = x[-size:]
    score = [float(now @ x[len(x) - size - lag : len(x) - lag]) for lag in lags]
    power = [float((x[len(x) - size - lag : len(x) - lag] ** 2).sum()) for lag in lags]
    return int(lags[np.argmax(np.array(score) / np.sqrt(np.array(power) + 1e-9))])


def packet_loss(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Lost packets of 10 to 30 ms in one or two bursts, concealed as telephones do: repeats the last pitch period and
    fades it out between 10 and 60 ms."""
    rng, rate = scene.rng, scene.rate
    packet = int(rng.choice([0.01, 0.02, 0.03]) * rate)
    begin = last = at
    for _ in range(rng.integers(1, 3)):
        count = max(1, int(scene.among(((0.02, 0.045), (0.045, 0.10), (0.10, 0.22))) * rate / packet))
        end = min(len(take) - rate // 100, begin + count * packet)
        past = take[max(0, begin - int(0.04 * rate)) : begin]
        if end - begin < packet or len(past) < 0.04 * rate:
            break
        t = np.arange(end - begin + rate // 200) / rate
        fill = np.resize(past[-pitch_lag(past, rate) :], len(t)) * np.clip(1 - (t - 0.01) / 0.05, 0, 1)
        back = np.linspace(1, 0, rate // 200)
        after = slice(end, end + len(back))
        take[begin:end] = fill[: end - begin]
        take[after] = back * fill[end - begin :] + (1 - back) * take[after]
        last, begin = end, end + scene.seconds(0.02, 0.08)
    return (at, last) if last > at else NOWHERE


def remade(x: np.ndarray, size: int, hop: int, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Splits x into windowed spectra (T, bins), applies `change` and resynthesizes."""
    window = np.sqrt(np.hanning(size + 1)[:-1])
    padded = np.pad(x, size)
    starts = np.arange(0, len(padded) - size + 1, hop)
    frames = np.fft.irfft(change(np.fft.rfft(padded[starts[:, None] + np.arange(size)] * window)), size) * window
    out, norm = np.zeros(len(padded)), np.full(len(padded), 1e-3)
    for start, frame in zip(starts, frames):
        out[start : start + size] += frame
        norm[start : start + size] += window**2
    return (out / norm)[size : size + len(x)]


def codec_glitch(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Damaged frames of a transform codec, 40 to 450 ms: bins are shuffled within their neighborhood, bands get wrong
    gains."""
    rng, rate = scene.rng, scene.rate
    end = min(len(take), at + int(scene.among(((0.04, 0.08), (0.08, 0.2), (0.2, 0.45))) * rate))
    part, size = take[at:end], int(0.02 * rate) // 2 * 2
    reach, spread = rng.integers(6, 20), rng.uniform(6, 14)

    def damage(spectra: np.ndarray) -> np.ndarray:
        bins = spectra.shape[1]
        order = np.argsort(np.arange(bins) + rng.uniform(-reach, reach, (len(spectra), bins)), axis=1)
        gains = np.repeat(rng.normal(0, spread, (len(spectra), bins // 8 + 1)), 8, 1)[:, :bins]
        turned = np.exp(2j * np.pi * rng.random((len(spectra), bins)))
        return np.abs(np.take_along_axis(spectra, order, 1)) * 10 ** (np.clip(gains, -20, 20) / 20) * turned

    broken = remade(part, size, size // 2, damage)
    broken *= loudness(part) * rng.uniform(0.7, 1.3) / (loudness(broken) + 1e-9)
    return blend(take, at, broken, rate // 500)


def robotic(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A voice without melody, 0.6 to 2.5 s: all phases are set to zero at a fixed rate of 70 to 160 Hz."""
    rng, rate = scene.rng, scene.rate
    part = take[at : at + scene.seconds(0.6, 2.5)].copy()
    size, hop = int(0.04 * rate) // 2 * 2, int(rate / rng.uniform(70, 160))
    flat = remade(part, size, hop, lambda spectra: np.abs(spectra) * (-1) ** np.arange(spectra.shape[1]))
    flat *= loudness(part) / (loudness(flat) + 1e-9)
    wet = scene.among(((0.5, 0.65), (0.65, 0.85), (0.9, 1.0)))
    return blend(take, at, wet * flat + (1 - wet) * part, rate // 100)


def echo(take: np.ndarray, at: int, scene: Scene) -> Span:
    """One to three repeats after 70 to 300 ms, over 0.8 to 3 s."""
    rng, end = scene.rng, min(len(take), at + scene.seconds(0.8, 3.0))
    delay, gain = scene.seconds(0.07, 0.3), 10 ** (scene.among(((-14, -10), (-10, -6), (-6, -2))) / 20)
    source, sound = take.copy(), take[at:end].copy()
    for repeat in range(1, rng.integers(2, 5)):
        back = np.arange(at, end) - repeat * delay
        sound += gain**repeat * np.where(back >= 0, source[np.maximum(back, 0)], 0)
    return blend(take, at, sound, scene.rate // 100)


def tts_seam(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Two units that do not match: the voice jumps by 4 to 30 ms and in level and timbre, then glides back within 0.33
    s. The joint is a point in time."""
    rng, rate = scene.rng, scene.rate
    near, length = rate // 100, scene.seconds(0.2, 0.33)
    room = int(0.04 * rate)
    if at < room or at + length + room > len(take):
        return NOWHERE
    if min(loudness(take[at - near : at]), loudness(take[at : at + near])) < 0.2 * scene.level:
        return NOWHERE
    away = 1 - np.arange(length) / length
    jump = scene.among(((0.004, 0.008), (0.008, 0.016), (0.016, 0.03))) * rate * rng.choice([-1, 1])
    part = take[at - room : at + length + room]
    moved = map_coordinates(part, [room + np.arange(length) + jump * away], order=3, mode="nearest")
    tilt = scene.among(((0.1, 0.2), (0.2, 0.35), (0.35, 0.55))) * rng.choice([-1, 1])
    moved += tilt * away * np.concatenate([moved[:1], moved[:-1]])
    moved *= 10 ** (away * scene.among(((1, 2), (2, 4), (4, 7))) * rng.choice([-1, 1]) / 20)
    take[at : at + length] = moved
    return at, at + rate // 100
