# The fourth generator: damage to the take itself. Called by fourth.py.
#   clipping      clipped before a filter and another coupling: the tops are no longer flat
#   dropout       a buffer underrun: blocks of zeros, or of the last sample that decays
#   packet_loss   concealment in a transform codec: the last good spectrum again, with random signs, fading (as in 3GPP TS
#                 26.402)
#   codec_glitch  undetected bad frames of a speech codec: filters of other frames, wrong gains
#   robotic       a channel vocoder: the voice's bands over a sawtooth of one pitch
#   echo          a wall and the talker's own loudspeaker: repetitions that get weaker and more diffuse
#   tts_seam      two units with another vocal tract and level, and a short dip where they meet
import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import butter, fftconvolve, iirpeak, lfilter, sosfilt, sosfiltfilt
from voices.scene import NOWHERE, Scene, Span, add, blend, loudness, ramps

from .transforms import recoded

FRAME_S = 0.02


def loud_enough(part: np.ndarray, scene: Scene, share: float = 0.3) -> bool:
    return loudness(part) > share * scene.level


def clipping(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    end = at + scene.seconds(0.4, 1.5)
    margin = rate // 10
    if at < margin or end + margin > len(take) or not loud_enough(take[at:end], scene, 0.4):
        return NOWHERE
    around = take[at - margin : end + margin]
    rail = np.abs(take[at:end]).max() * scene.among(((0.45, 0.6), (0.3, 0.45), (0.15, 0.3)))
    over = np.flatnonzero(np.abs(take[at:end]) > rail)
    if len(over) < 3:
        return NOWHERE
    cut = sosfilt(butter(1, rng.uniform(15, 50), "highpass", fs=rate, output="sos"), np.clip(around, -rail, rail))
    cut = sosfiltfilt(butter(3, rng.uniform(0.32, 0.45) * rate, fs=rate, output="sos"), cut)
    first, last = int(over[0]), int(over[-1]) + 1
    return blend(take, at + first, cut[margin + first : margin + last], max(1, rate // 2000))


def dropout(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    block = 1 << int(np.round(np.log2(rate * rng.uniform(0.005, 0.02))))
    count = int(rng.integers(*((2, 5), (4, 9), (6, 14))[scene.band]))
    end = at + block * count
    if end > len(take) or not loud_enough(take[at:end], scene):
        return NOWHERE
    gone = rng.random(count) < rng.choice([0.6, 1.0])
    gone[[0, -1]] = True
    holds = rng.random() < 0.4
    for start in at + block * np.flatnonzero(gone):
        held = take[start - 1] * np.exp(-np.arange(block) / (0.004 * rate)) if holds else 0.0
        take[start : start + block] = held
    return at, end


def packet_loss(take: np.ndarray, at: int, scene: Scene) -> Span:
    hop = int(FRAME_S / 2 * scene.rate) // 2 * 2
    length = hop * int(scene.rng.integers(*((2, 4), (4, 7), (6, 11))[scene.band]))
    if at < 2 * hop or not loud_enough(take[at - 2 * hop : at + length], scene):
        return NOWHERE

    def conceal(before: np.ndarray, frames: np.ndarray) -> np.ndarray:
        fading = 0.84 ** np.arange(len(frames))[:, None]
        return fading * np.abs(before) * scene.rng.choice([-1, 1], frames.shape)

    return recoded(take, at, length, hop, conceal)


def predictor(x: np.ndarray, order: int) -> np.ndarray:
    """1 and the coefficients of the prediction error filter, (order + 1,)."""
    likeness = np.correlate(x, x, "full")[len(x) - 1 : len(x) + order]
    likeness[0] = likeness[0] * 1.001 + 1e-9
    return np.concatenate(([1.0], -solve_toeplitz(likeness[:-1], likeness[1:])))


def codec_glitch(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    frame = int(FRAME_S * rate)
    count = int(rng.integers(*((3, 7), (5, 11), (8, 19))[scene.band]))
    end, far = at + (count + 1) * frame, int(0.4 * rate)
    if at < far or end + far > len(take) or not loud_enough(take[at:end], scene):
        return NOWHERE
    window, part, order = np.hanning(2 * frame + 1)[:-1], take[at:end].copy(), 2 + rate // 1600
    out = np.zeros(len(part))
    for index in range(count):
        mine = part[index * frame : (index + 2) * frame]
        filters = [predictor(mine * window, order)] * 2
        if rng.random() < 0.85:
            other = at + int(rng.integers(-far, end - at + far - 2 * frame))
            filters[1] = predictor(take[other : other + 2 * frame] * window, order)
        spoilt = lfilter([1.0], filters[1], lfilter(filters[0], [1.0], mine))
        wrong = scene.among(((1, 1.5), (1.3, 2), (1.7, 3)))
        spoilt *= min(wrong * loudness(mine), 2.5 * scene.level) / (loudness(spoilt) + 1e-9)
        out[index * frame : (index + 2) * frame] += window * spoilt
    out[:frame] += part[:frame] * window[frame:]  # windows that would lie before and after
    out[-frame:] += part[-frame:] * window[:frame]
    take[at:end] = out
    return at, end


def robotic(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    part = take[at : at + scene.seconds(0.5, 2.0)].copy()
    if len(part) < rate // 4 or not loud_enough(part, scene):
        return NOWHERE
    carrier = 2 * ((rng.uniform(65, 150) * np.arange(len(part)) / rate) % 1) - 1
    carrier += 0.1 * rng.standard_normal(len(part))  # for unvoiced sounds
    smooth, out = butter(2, rng.uniform(20, 45), fs=rate, output="sos"), np.zeros(len(part))
    edges = np.geomspace(130, 0.44 * rate, int(rng.integers(12, 21)))
    for low, high in zip(edges, edges[1:]):
        band = butter(2, [low, high], "bandpass", fs=rate, output="sos")
        filtered = sosfilt(band, carrier)
        level = np.maximum(sosfiltfilt(smooth, np.abs(sosfilt(band, part))), 0)
        out += level * filtered / (loudness(filtered) + 1e-9)
    share = scene.among(((0.6, 0.75), (0.75, 0.9), (0.9, 1.0)))
    out *= loudness(part) / (loudness(out) + 1e-9)
    return blend(take, at, share * out + (1 - share) * part, rate // 100)


def echo(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length, delay = scene.seconds(0.5, 1.5), scene.seconds(0.07, 0.18)
    part = take[at : at + length] * ramps(min(length, len(take) - at), rate // 100)
    if len(part) < length or not loud_enough(part, scene):
        return NOWHERE
    diffuse = rng.standard_normal(int(0.03 * rate)) * np.exp(-np.arange(int(0.03 * rate)) / (0.006 * rate))
    diffuse[0] += 3
    diffuse /= np.sqrt((diffuse**2).sum())
    again, share = part, scene.among(((0.2, 0.32), (0.32, 0.48), (0.48, 0.65)))
    tail = np.zeros(length + 5 * (delay + len(diffuse)))
    for turn in range(1, 5):
        again = share * fftconvolve(again, diffuse)
        tail[turn * delay : turn * delay + len(again)] += again
    heard = tail[delay:]
    heard = heard[: np.flatnonzero(np.abs(heard) > 1e-3 * np.abs(heard).max())[-1] + 1]
    return add(take, at + delay, heard)


def tts_seam(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = scene.seconds(0.12, 0.3)
    part = take[at : at + length].copy()
    if len(part) < length or at < rate // 100 or not loud_enough(part, scene):
        return NOWHERE
    unit = part
    for centre in (rng.uniform(500, 1200), rng.uniform(1400, 3200)):
        strength = rng.choice([-0.7, 1]) * scene.among(((0.3, 0.6), (0.6, 1.2), (1.2, 2.5)))
        unit = unit + np.clip(strength, -0.9, 3) * lfilter(*iirpeak(centre, rng.uniform(2, 5), fs=rate), unit)
    unit = unit * 10 ** (scene.among(((1, 2), (2, 4), (4, 7))) * rng.choice([-1, 1]) / 20)
    weight = 0.5 + 0.5 * np.cos(np.pi * np.clip((np.arange(length) / length - 0.3) / 0.7, 0, 1))  # back to the take
    dip = scene.seconds(0.003, 0.012)
    weight[:dip] = 1
    unit[:dip] *= np.linspace(scene.among(((0.3, 0.6), (0.1, 0.3), (0, 0.1))), 1, dip)
    take[at : at + length] += weight * (unit - part)
    return at, at + rate // 200
