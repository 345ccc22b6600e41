# The third generator: damage to the take itself. Called by third.py.
#   clipping      an amplifier with unequal rails whose bias moves when it is overdriven (blocking distortion)
#   dropout       dirt between tape and head: spacing loss, so high frequencies lose most
#   packet_loss   waveform substitution as in ITU-T G.711 Appendix I: the last pitch periods again, faded out from 10 to 60 ms
#   codec_glitch  a starved transform codec: bands switch on and off from frame to frame ("birdies")
#   robotic       the playout buffer plays the beginning of each frame again and again: all frames get one pitch
#   echo          the far end's loudspeaker reaches its microphone: a copy in the band of a telephone
#   tts_seam      two units joined out of phase and pitch
import numpy as np
from scipy.signal import butter, lfilter, sosfilt
from voices.scene import NOWHERE, Scene, Span, add, blend, loudness, ramps

from .transforms import recoded


def loud_part(take: np.ndarray, at: int, length: int, scene: Scene, share: float = 0.3) -> np.ndarray | None:
    """A copy of the stretch, or None if it is too quiet for the damage to be heard, or not complete."""
    part = take[at : at + length].copy()
    return part if len(part) == length and loudness(part) > share * scene.level else None


def clipping(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng = scene.rng
    part = loud_part(take, at, scene.seconds(0.4, 1.5), scene, 0.4)
    if part is None:
        return NOWHERE
    upper = np.abs(part).max() * scene.among(((0.5, 0.65), (0.32, 0.5), (0.18, 0.32)))
    lower = -upper * rng.uniform(1.2, 2.0)
    over = np.flatnonzero((part > upper) | (part < lower))
    if len(over) < 3:
        return NOWHERE
    first, last = int(over[0]), int(over[-1]) + 1
    inside = part[first:last]
    pace = 1 / (rng.uniform(0.02, 0.06) * scene.rate)
    bias = lfilter([pace], [1, pace - 1], np.maximum(inside - upper, 0)) * rng.uniform(0.5, 2)
    take[at + first : at + last] = np.clip(inside - bias * ramps(len(inside), scene.rate // 200), lower, upper)
    return at + first, at + last


def dropout(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    part = loud_part(take, at, scene.seconds(0.04, 0.3), scene)
    if part is None:
        return NOWHERE
    loss_db = scene.among(((12, 18), (18, 28), (28, 45)))
    dull = sosfilt(butter(2, rng.uniform(300, 900), fs=rate, output="sos"), part)
    return blend(take, at, dull * 10 ** (-loss_db / 20), scene.seconds(0.003, 0.012))


def packet_loss(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    frame, history = rate // 100, int(0.04875 * rate)
    length = int(rng.integers(*((2, 4), (4, 7), (6, 10))[scene.band])) * frame
    merge = rate // 250
    if at < history or at + length + merge > len(take) or loudness(take[at - history : at]) < 0.3 * scene.level:
        return NOWHERE
    past, recent = take[at - history : at], take[at - rate // 50 : at]
    lags = np.arange(rate // 200, rate * 3 // 200)
    likeness = [past[-len(recent) - lag : -lag] @ recent / (loudness(past[-len(recent) - lag : -lag]) + 1e-9) for lag in lags]
    lag = int(lags[int(np.argmax(likeness))])
    quarter = lag // 4
    period = past[-lag:].copy()
    mix = np.linspace(0, 1, quarter)
    period[-quarter:] = (1 - mix) * past[-quarter:] + mix * past[-lag - quarter : -lag]  # its end meets its beginning
    filled = np.resize(period, length + merge)
    filled *= np.clip(1 - (np.arange(len(filled)) / frame - 1) * 0.2, 0, 1)
    back = np.concatenate((np.zeros(length), np.linspace(0, 1, merge)))
    take[at : at + len(filled)] = back * take[at : at + len(filled)] + (1 - back) * filled
    return at, at + len(filled)


def codec_glitch(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = scene.seconds(0.08, 0.5)
    if loud_part(take, at, length, scene) is None:
        return NOWHERE
    hop = 1 << int(np.round(np.log2(rate * rng.choice([0.008, 0.016]))))
    edges = np.unique(np.geomspace(max(2, hop * 600 / rate), hop, 14).astype(int))
    lost, step = scene.among(((0.3, 0.5), (0.5, 0.7), (0.7, 0.9))), scene.among(((0.1, 0.2), (0.2, 0.4), (0.4, 0.7)))

    def starve(before: np.ndarray, frames: np.ndarray) -> np.ndarray:
        out = frames.copy()
        for low, high in zip(edges, edges[1:]):
            out[rng.random(len(out)) < lost, low:high] = 0
        unit = step * np.abs(out).max(1, keepdims=True) + 1e-12
        return np.round(out / unit) * unit

    return recoded(take, at, length, hop, starve)


def robotic(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    part = loud_part(take, at, scene.seconds(0.5, 2.0), scene)
    if part is None:
        return NOWHERE
    grain = int(rate / rng.uniform(75, 150))
    frame = grain * scene.rng.integers(2, 4 + scene.band)
    fade = max(2, rate // 1000)
    out = part.copy()
    for start in range(0, len(part) - frame - fade, frame):
        one = part[start : start + grain].copy()
        slope = np.linspace(0, 1, fade)
        one[-fade:] = (1 - slope) * one[-fade:] + slope * one[:fade]
        out[start : start + frame] = np.resize(one, frame)
    return blend(take, at, out, rate // 100)


def echo(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    delay, length = scene.seconds(0.12, 0.4), scene.seconds(0.6, 2.0)
    part = loud_part(take, at, length, scene)
    if part is None or at + delay + length > len(take):
        return NOWHERE
    line = sosfilt(butter(2, [300, min(3400, 0.44 * rate)], "bandpass", fs=rate, output="sos"), part)
    loss_db = scene.among(((11, 16), (7, 11), (3, 7)))
    return add(take, at + delay, line * 10 ** (-loss_db / 20) * rng.choice([-1, 1]) * ramps(length, rate // 100))


def tts_seam(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = scene.seconds(0.12, 0.28)
    part = loud_part(take, at, length, scene)
    shift = scene.seconds(0.0025, 0.006)
    if part is None or at + shift + int(1.2 * length) >= len(take):
        return NOWHERE
    pitch = 1 + rng.choice([-1, 1]) * scene.among(((0.02, 0.04), (0.04, 0.07), (0.07, 0.12)))
    level = 10 ** (rng.choice([-1, 1]) * scene.among(((0, 1.5), (1.5, 3), (3, 6))) / 20)
    unit = level * np.interp(at + shift + np.arange(length) * pitch, np.arange(len(take)), take)
    weight = 0.5 + 0.5 * np.cos(np.pi * np.clip((np.arange(length) / length - 0.4) / 0.6, 0, 1))  # back to the take
    take[at : at + length] += weight * (unit - part)
    return at, at + rate // 200
