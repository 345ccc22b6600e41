# The second generator, second half: damage to the speech itself, by other methods than damage.py. Called through the
# table in second.py.
import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import butter, hilbert, lfilter, sosfilt

from .scene import NOWHERE, Scene, Span, blend, loudness, where_over


def clipping(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Too much gain before the converter: both rails or one, 0.15 to 3 s, level kept."""
    rng, whole = scene.rng, take[at : at + scene.seconds(0.15, 3.0)]
    rail = np.quantile(np.abs(whole), 1.55 - scene.third(0.6, 0.95)) + 1e-6
    start, end = where_over(whole, rail, at)
    part = take[start:end]
    peak = np.abs(part).max(initial=rail)
    low = -rail if rng.random() < 0.7 else -peak
    take[start:end] = np.clip(part, low, rail) * (peak / rail) ** rng.uniform(0, 0.8)
    return start, end


def dropout(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A broken connection: one to three gaps of 15 to 60 ms in a row, or a fade to faint noise of 80 to 500 ms."""
    rng, sr, end = scene.rng, scene.rate, at
    if rng.random() < 0.5:
        for _ in range(rng.integers(1, 4)):
            start, end = end, min(len(take), end + int(scene.third(0.015, 0.060) * sr))
            take[start:end] = 0
            last, end = end, end + scene.seconds(0.01, 0.03)
        return at, last
    end = min(len(take), at + int(scene.third(0.08, 0.5) * sr))
    fade = 1 - np.minimum(1, np.minimum(np.arange(end - at), np.arange(end - at)[::-1]) / (rng.uniform(0.001, 0.01) * sr))
    faint = scene.level * 10 ** (rng.uniform(-60, -40) / 20)
    take[at:end] = take[at:end] * fade + faint * rng.standard_normal(end - at)
    return at, end


def packet_loss(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Lost packets of 10 to 40 ms: the packet before them is repeated, softer each time, or noise replaces them."""
    rng = scene.rng
    packet = scene.seconds(0.010, 0.040)
    end = min(len(take), at + max(packet, int(scene.third(0.02, 0.24) * scene.rate)))
    if at < packet or end - at < packet // 2:
        return NOWHERE
    past = take[at - packet : at].copy()
    if rng.random() < 0.6:
        fill = np.resize(past, end - at) * rng.uniform(0.7, 1) ** (np.arange(end - at) // packet)
    else:
        fill = lfilter([1], lpc(past, 10), rng.standard_normal(end - at))
        fill *= rng.uniform(0.4, 0.9) * loudness(past) / (loudness(fill) + 1e-9)
    take[at:end] = fill
    return at, end


def lpc(x: np.ndarray, order: int) -> np.ndarray:
    """Returns the linear prediction polynomial of x, (order + 1,)."""
    r = np.correlate(x, x, "full")[len(x) - 1 : len(x) + order]
    r[0] = r[0] * 1.001 + 1e-9
    return np.concatenate([[1], -solve_toeplitz(r[:-1], r[1:])])


def codec_glitch(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Bit errors in an adaptive delta codec, or a decoder with only a few bits and a low sample rate, 40 to 600 ms."""
    rng, rate = scene.rng, scene.rate
    end = min(len(take), at + int(scene.third(0.04, 0.6) * rate))
    part = take[at:end]
    if rng.random() < 0.5:
        hold, peak = rng.integers(3, 9), np.abs(part).max() + 1e-9
        steps = 2.0 ** rng.integers(1, 4)
        broken = np.repeat(np.round(part[::hold] / peak * steps) / steps * peak, hold)[: len(part)]
    else:
        broken = delta_coded(part, rng.uniform(0.01, 0.06), rng)
        broken *= loudness(part) * rng.uniform(0.8, 1.6) / (loudness(broken) + 1e-9)
    return blend(take, at, broken, rate // 1000)


def delta_coded(x: np.ndarray, error_rate: float, rng: np.random.Generator) -> np.ndarray:
    """Passes x through a 3-bit adaptive delta codec whose code words are sometimes inverted in transmission."""
    scale = np.abs(x).max() + 1e-9
    wrong = rng.random(len(x)) < error_rate
    out = np.zeros(len(x))
    guess = decoded = 0.0
    step = decoder_step = 0.02
    for i, value in enumerate(x / scale):
        word = max(-3, min(3, round((value - guess) / step)))
        guess = 0.98 * guess + word * step
        step = min(0.5, max(0.002, step * (1.6 if abs(word) > 1 else 0.88)))
        sent = -(word or 3) if wrong[i] else word
        decoded = 0.98 * decoded + sent * decoder_step
        decoder_step = min(0.5, max(0.002, decoder_step * (1.6 if abs(sent) > 1 else 0.88)))
        out[i] = decoded
    return out * scale


def robotic(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A robot voice, 0.4 to 3 s: the voice's filter applied to a pulse train of constant pitch, or the voice multiplied
    by a low tone."""
    rng, rate = scene.rng, scene.rate
    part = take[at : at + scene.seconds(0.4, 3.0)].copy()
    hz = rng.uniform(75, 210)
    if rng.random() < 0.6:
        pulses = np.zeros(len(part))
        pulses[:: int(rate / hz)] = 1
        sound = spoken_by(part, pulses + 0.02 * rng.standard_normal(len(part)), rate)
    else:
        sound = part * np.sin(2 * np.pi * hz / 2.5 * np.arange(len(part)) / rate)
    sound *= loudness(part) / (loudness(sound) + 1e-9)
    wet = scene.third(0.5, 1.0)
    return blend(take, at, wet * sound + (1 - wet) * part, rate // 50)


def spoken_by(voice: np.ndarray, source: np.ndarray, rate: int) -> np.ndarray:
    """Passes `source` through the voice's prediction filter in frames of 20 ms."""
    hop = int(0.01 * rate)
    window = np.hanning(2 * hop + 1)[:-1]
    out = np.zeros(len(voice) + 2 * hop)
    for start in range(0, len(voice) - 2 * hop, hop):
        frame = voice[start : start + 2 * hop] * window
        made = lfilter([1], lpc(frame, 14), source[start : start + 2 * hop])
        out[start : start + 2 * hop] += window * made * loudness(frame) / (loudness(made) + 1e-9)
    return out[: len(voice)]


def echo(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A feedback loop that gets duller with each round trip of 90 to 400 ms, over 0.6 to 4 s."""
    rng, rate, end = scene.rng, scene.rate, min(len(take), at + scene.seconds(0.6, 4.0))
    delay, gain = scene.seconds(0.09, 0.4), 10 ** (scene.third(-13, -3) / 20)
    first = max(0, at - 3 * delay)
    dull = butter(1, rng.uniform(1200, min(5000, 0.4 * rate)), fs=rate, output="sos")
    source = take[first:end]
    round_trip, sound = source, source.copy()
    for _ in range(4):
        round_trip = gain * sosfilt(dull, np.pad(round_trip, (delay, 0))[: len(source)])
        sound += round_trip
    return blend(take, at, sound[at - first :], rate // 50)


def tts_seam(take: np.ndarray, at: int, scene: Scene) -> Span:
    """The next unit comes from another session: phases, high frequencies, level and room noise change from one sample
    to the next, and glide back over 0.15 to 0.33 s. The joint is a point in time."""
    rng, rate = scene.rng, scene.rate
    near, length = rate // 100, scene.seconds(0.15, 0.33)
    if at < 2 * near or at + length + near > len(take):
        return NOWHERE
    if min(loudness(take[at - near : at]), loudness(take[at : at + near])) < 0.2 * scene.level:
        return NOWHERE
    back = np.linspace(1, 0, length)
    turned = hilbert(take[at - 2 * near : at + length + near])[2 * near : 2 * near + length]
    angle = back * scene.third(0.8, 2.6) * rng.choice([-1, 1])
    sound = turned.real * np.cos(angle) - turned.imag * np.sin(angle)
    dull = sosfilt(butter(1, rng.uniform(1500, min(4000, 0.4 * rate)), fs=rate, output="sos"), sound)
    sound += back * scene.third(0.2, 0.9) * (dull - sound)
    sound *= 10 ** (back * scene.third(1, 7) * rng.choice([-1, 1]) / 20)
    noise = rng.standard_normal(length) * scene.level * 10 ** (scene.third(-45, -28) / 20)
    take[at : at + length] = sound + back * noise
    return at, at + rate // 100
