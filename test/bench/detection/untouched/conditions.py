# What surrounds the voice, and is no artifact: rooms, digital silence between sentences, rumble, hard onsets, soft breaths,
# other people, rain and wind, music. Each takes the sentences of a take and returns the voice and what is to be added to it,
# both (N,). Called by sets.py.
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import butter, sosfilt

from .rooms import in_a_room

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Surroundings:
    """What a condition may use: the rate, the random generator, and a source of other sound by name ("music" or "people")
    and length in samples, at that rate."""

    rate: int
    rng: np.random.Generator
    other: Callable[[str, int], np.ndarray]


def loud_level(x: np.ndarray, rate: int) -> float:
    hop = rate // 100
    return float(np.percentile(np.sqrt((x[: len(x) // hop * hop].reshape(-1, hop) ** 2).mean(1)), 80)) + 1e-9


def joined(sentences: Sequence[np.ndarray], around: Surroundings) -> np.ndarray:
    """The sentences with pauses of 0.1 to 1.3 s; their ends go to zero within 10 ms, so that no joint is audible."""
    rate, rng = around.rate, around.rng
    edge = np.linspace(0, 1, rate // 100)
    parts = [np.zeros(int(rng.uniform(0.15, 0.9) * rate))]
    for sentence in sentences:
        one = sentence * 10 ** (rng.uniform(-4, 0) / 20)
        if len(one) > 2 * len(edge):
            one[: len(edge)] *= edge
            one[-len(edge) :] *= edge[::-1]
        parts += [one, np.zeros(int(rng.uniform(0.1, 1.3) * rate))]
    take = np.concatenate(parts)
    return take * 10 ** (rng.uniform(-18, -2) / 20) / (np.abs(take).max() + 1e-9)


def floor(length: int, around: Surroundings) -> np.ndarray:
    """The noise of a preamplifier and a quiet room: falls towards high frequencies, -78 to -52 dBFS."""
    noise = around.rng.standard_normal(length)
    noise = noise + around.rng.uniform(0, 6) * sosfilt(butter(1, 300, fs=around.rate, output="sos"), noise)
    return noise / noise.std() * 10 ** (around.rng.uniform(-78, -52) / 20)


def plain(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    voice = joined(sentences, around)
    return voice, floor(len(voice), around)


def room(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    voice = in_a_room(joined(sentences, around), around.rate, around.rng)
    return voice, floor(len(voice), around)


def recent(flags: np.ndarray, length: int) -> np.ndarray:
    """How many of the last `length` flags are set, (N,)."""
    total = np.cumsum(flags)
    return total - np.concatenate((np.zeros(length), total))[: len(flags)]


def silence(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    """A noise gate: the pauses are exact zeros; the gate closes 30 to 200 ms after the voice, within a few milliseconds."""
    voice, rate, rng = joined(sentences, around), around.rate, around.rng
    smooth = np.sqrt(np.maximum(gaussian_filter1d(voice**2, 0.01 * rate), 0))
    speaks = smooth > 0.02 * loud_level(voice, rate)
    held = recent(speaks, int(rng.uniform(0.03, 0.2) * rate)) > 0
    ease = max(1, int(rng.uniform(0.002, 0.008) * rate))
    gate = recent(held, ease) / ease
    return gate * (voice + floor(len(voice), around)), np.zeros(len(voice))


def rumble(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    """Traffic, ventilation, steps on a hollow floor: under 100 Hz, swelling slowly, 6 to 22 dB under the voice."""
    (voice, quiet), rate, rng = plain(sentences, around), around.rate, around.rng
    band = butter(2, [rng.uniform(12, 25), rng.uniform(45, 95)], "bandpass", fs=rate, output="sos")
    deep = sosfilt(band, rng.standard_normal(len(voice)))
    knots = rng.uniform(0.2, 1, len(voice) // rate + 2)
    deep *= np.interp(np.arange(len(voice)) / rate, np.arange(len(knots)), knots)
    return voice, quiet + under(deep / (deep.std() + 1e-12), voice, rate, rng.uniform(6, 22))


def onsets(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    """Sentences that were cut tightly and begin loud: the quiet lead of each is removed up to its first strong sound, and
    the pause before is long."""
    rate, tight = around.rate, []
    for sentence in sentences:
        smooth = np.sqrt(gaussian_filter1d(sentence**2, 0.004 * rate))
        begins = int(np.argmax(smooth > 0.35 * smooth.max()))
        tight.append(np.zeros(int(around.rng.uniform(0.3, 0.8) * rate)))
        tight.append(sentence[max(0, begins - rate // 100) :])
    return plain(tight, around)


def breaths(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    """Soft breaths before sentences, 26 to 38 dB under the voice: a labeller leaves them alone."""
    rate, rng, out = around.rate, around.rng, []
    for sentence in sentences:
        length = int(rng.uniform(0.2, 0.5) * rate)
        edges = [rng.uniform(350, 800), min(rng.uniform(2500, 5000), 0.45 * rate)]
        air = sosfilt(butter(1, edges, "bandpass", fs=rate, output="sos"), rng.standard_normal(length)) * np.hanning(length)
        air *= loud_level(sentence, rate) * 10 ** (rng.uniform(-38, -26) / 20) / (air.std() + 1e-12)
        out.append(np.concatenate((air, np.zeros(rate // 50), sentence)) if rng.random() < 0.7 else sentence)
    return plain(out, around)


def under(other: np.ndarray, voice: np.ndarray, rate: int, ratio_db: float) -> np.ndarray:
    """`other`, `ratio_db` under the voice."""
    return other / loud_level(other, rate) * loud_level(voice, rate) * 10 ** (-ratio_db / 20)


def weather(length: int, around: Surroundings) -> np.ndarray:
    """Rain (many drops become noise) or wind in trees (noise whose strength wanders)."""
    rate, rng = around.rate, around.rng
    edges = [rng.uniform(150, 900), min(rng.uniform(3000, 7500), 0.45 * rate)]
    sound = sosfilt(butter(1, edges, "bandpass", fs=rate, output="sos"), rng.standard_normal(length))
    knots = rng.uniform(0.4, 1, 2 * length // rate + 3)
    return sound * np.interp(2 * np.arange(length) / rate, np.arange(len(knots)), knots)


def noise(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    """People who talk, or weather; 15 dB under the voice."""
    voice, quiet = plain(sentences, around)
    talks = around.rng.random() < 0.5
    other = around.other("people", len(voice)) if talks else weather(len(voice), around)
    return voice, quiet + under(other, voice, around.rate, 15)


def music(sentences: Sequence[np.ndarray], around: Surroundings) -> Pair:
    voice, quiet = plain(sentences, around)
    return voice, quiet + under(around.other("music", len(voice)), voice, around.rate, around.rng.uniform(10, 20))


CONDITIONS: dict[str, Callable[[Sequence[np.ndarray], Surroundings], Pair]] = {
    "plain": plain, "room": room, "silence": silence, "rumble": rumble, "onsets": onsets, "breaths": breaths, "noise": noise,
    "music": music,
}  # fmt: skip
