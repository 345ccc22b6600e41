# Composes the takes that the trunk learns from: voices at random speeds in random rooms, over random surroundings, with
# effects; then a random recorder. What happens to a whole take is no artifact, so that the trunk learns to ignore it.
# Called by takes.py.
from dataclasses import dataclass

import numpy as np
import soxr
from voices.takes import speech_level

from .coders import coded
from .effects import CLASSES, insert, queue_of
from .signals import Rng, convolved, glide, log_uniform, noise, ramped, resonance, room, tilt, tone

RATE = 16_000
GAP_S = 0.25
Event = tuple[int, int, int]  # class, start_ms, end_ms


@dataclass(frozen=True)
class Made:
    samples: np.ndarray  # (N,) float32
    rate: int
    events: list[Event]


def spoken(prompts: list[np.ndarray], seconds: float, rng: Rng) -> np.ndarray:
    """Sentences with pauses, each talker faster or slower (and higher or deeper) than recorded."""
    speed, silent = log_uniform(rng, 0.8, 1.25), rng.random() < 0.15
    parts: list[np.ndarray] = []
    while sum(map(len, parts)) < seconds * RATE:
        x = prompts[int(rng.integers(len(prompts)))]
        x = soxr.resample(x, RATE, RATE * speed * rng.uniform(0.97, 1.03), "MQ") * rng.uniform(0.4, 1)
        parts += [x * ramped(len(x), RATE // 100), np.zeros(int(log_uniform(rng, 0.05, 1.5) * RATE))]
    take = np.concatenate(parts)[: int(seconds * RATE)]
    quiet = 10 ** (rng.uniform(-85, -45) / 20)
    take = take / (np.abs(take).max() + 1e-9) * 10 ** (rng.uniform(-24, -3) / 20)
    return take if silent else take + quiet * noise(rng, len(take), RATE)


def surroundings(voice: np.ndarray, rng: Rng) -> np.ndarray:
    """Steady or slow sounds around a voice: air, traffic, many voices, held chords, rumble."""
    length, kind = len(voice), int(rng.integers(5))
    if kind == 0:
        sound = noise(rng, length, RATE)
    elif kind == 1:
        sound = noise(rng, length, RATE) * glide(rng, length, int(rng.integers(4, 20)), 0.2, 1)
    elif kind == 2:  # the voice itself many times, backwards
        sound = sum(np.roll(voice[::-1], int(rng.integers(length))) * rng.uniform(0.3, 1) for _ in range(6))
    elif kind == 3:
        sound = np.zeros(length)
        beat = int(log_uniform(rng, 0.2, 1.2) * RATE)
        for start in range(0, length, beat):
            size = min(length - start, int(beat * rng.uniform(0.8, 3)))
            note = tone(rng, size, RATE, 80, 1500) * np.exp(-np.arange(size) / RATE * rng.uniform(0.5, 6))
            sound[start : start + size] += note * ramped(size, RATE // 50)
    else:
        sound = resonance(noise(rng, length, RATE), log_uniform(rng, 20, 200), 0.995, RATE)
    return sound / (sound.std() + 1e-9) * voice.std() * 10 ** (-rng.uniform(8, 35) / 20)


def companded(x: np.ndarray) -> np.ndarray:
    """Eight bits on a logarithmic scale (G.711)."""
    codes = np.round(np.log1p(255 * np.minimum(1, np.abs(x))) / np.log(256) * 127) / 127
    return np.sign(x) * np.expm1(codes * np.log(256)) / 255


def recorded(take: np.ndarray, rng: Rng) -> tuple[np.ndarray, int]:
    """What a recorder, a line and an archive do to the whole take."""
    rate = RATE
    take = tilt(rng, take)
    if rng.random() < 0.25:
        container, coding = [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III")][int(rng.integers(3))]
        take = coded(take, RATE, container, coding, rng.uniform(0.2, 0.9))
    luck = rng.random()
    if luck < 0.2:
        rate = 8_000
    elif luck < 0.3:
        rate = int(rng.choice([11_025, 22_050, 24_000, 32_000]))
    if rng.random() < (0.5 if rate == 8_000 else 0.05):  # a telephone line
        take = companded(take)
    if rate != RATE:
        take = soxr.resample(take, RATE, rate)
    take = take * 10 ** (rng.uniform(-15, 3) / 20)
    take = take / max(1.0, np.abs(take).max() / 0.98)
    return (np.round(take * 32767) / 32767).astype(np.float32), rate


def make(prompts: list[np.ndarray], rng: Rng, seconds: float = 20.0, per_minute: float = 40.0) -> Made:
    """One take of one talker. Every fourth has no effects."""
    voice = spoken(prompts, seconds, rng)
    if rng.random() < 0.3:
        voice = convolved(voice, room(rng, RATE, rng.uniform(0.1, 0.6)))
    take = tilt(rng, voice)
    if rng.random() < 0.4:
        take = take + surroundings(voice, rng)
    level, speech = speech_level(voice, RATE)
    level *= take.std() / (voice.std() + 1e-9)
    events: list[tuple[int, int, list[str]]] = []
    gap, hop = int(GAP_S * RATE), RATE // 100
    queue = [] if rng.random() < 0.25 else queue_of(rng, seconds, per_minute)
    for family in queue:
        in_speech = 0.5 if family in ("impulse", "thump", "smack", "air", "tone", "foreign") else 0.95
        wanted = np.flatnonzero(speech if rng.random() < in_speech else ~speech)
        wanted = wanted[(wanted > 60) & (wanted < len(speech) - 20)]
        for at in rng.choice(wanted, min(6, len(wanted)), replace=False) * hop + rng.integers(hop):
            if any(at + gap > start and end + gap > at for start, end, _ in events):
                continue
            before = take.copy()
            (first, last), names = insert(take, int(at), family, level, RATE, rng)
            if names and all(last + gap < start or end + gap < first for start, end, _ in events):
                events.append((first, last, names))
                break
            take = before
    samples, rate = recorded(take, rng)
    ms = 1000 / RATE
    labels = [(CLASSES.index(n), int(start * ms), int(end * ms) + 1) for start, end, names in events for n in names]
    return Made(samples, rate, sorted(set(labels), key=lambda event: (event[1], event[0])))
