# Composes takes of 20 to 60 s from prompts, room tone and artifacts, and writes them with their truth.
# Called by __main__.py and by the tests.
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import lfilter

from . import artifacts, second
from .artifacts import Mixer
from .recordings import SAMPLE_RATE, Prompt, draw_speech

GENERATORS: dict[str, dict[str, tuple[Mixer, float]]] = {"first": artifacts.ARTIFACTS, "second": second.ARTIFACTS}
MIN_GAP = int(0.35 * SAMPLE_RATE)  # between two artifacts, so that the truth is unambiguous


@dataclass(frozen=True)
class Truth:
    """One artifact that was mixed in."""

    file: str
    speaker: str
    language: str
    artifact_type: str
    start_ms: int
    end_ms: int


@dataclass
class Take:
    clean: np.ndarray
    mixed: np.ndarray
    events: list[tuple[str, int, int]]
    speaker: str
    language: str


def room_tone(length: int, rng: np.random.Generator) -> np.ndarray:
    """Coloured noise between -72 and -48 dBFS: what a quiet room and a preamplifier sound like."""
    noise = lfilter([1], [1, -rng.uniform(0.2, 0.95)], rng.standard_normal(length))
    return noise / noise.std() * 10 ** (rng.uniform(-72, -48) / 20)


def compose(speech: list[tuple[Prompt, np.ndarray]], rng: np.random.Generator) -> np.ndarray:
    """Prompts with pauses of 0.15 to 1.2 s between them on room tone, at a random level."""
    parts = [np.zeros(int(rng.uniform(0.2, 0.8) * SAMPLE_RATE))]
    for _, samples in speech:
        parts += [samples * rng.uniform(0.7, 1.0), np.zeros(int(rng.uniform(0.15, 1.2) * SAMPLE_RATE))]
    take = np.concatenate(parts)
    tilt = rng.uniform(-0.3, 0.3)  # a little equaliser: every microphone differs
    take = lfilter([1, tilt], [1], take)
    take *= 10 ** (rng.uniform(-20, -3) / 20) / max(1e-6, np.abs(take).max())
    return take + room_tone(len(take), rng)


def is_speech(take: np.ndarray, speech_level: float) -> np.ndarray:
    """One flag per 10 ms: louder than 20 dB under the speech level (T,)."""
    hop = SAMPLE_RATE // 100
    frames = take[: len(take) // hop * hop].reshape(-1, hop)
    return np.sqrt((frames**2).mean(1)) > speech_level * 0.1


def mix(
    clean: np.ndarray, types: list[str], per_minute: float, rng: np.random.Generator, generator: str = "first"
) -> tuple[np.ndarray, list]:
    """Puts `per_minute` events of each type at random places, in speech or in pauses. Returns (N,), [(type, start, end)]."""
    take = clean.copy()
    hop = SAMPLE_RATE // 100
    frames = np.sqrt((clean[: len(clean) // hop * hop].reshape(-1, hop) ** 2).mean(1))
    level = float(np.percentile(frames, 80))
    speech = is_speech(clean, level)
    counts = {t: rng.poisson(per_minute * len(clean) / SAMPLE_RATE / 60) for t in types}
    queue = [t for t in types for _ in range(counts[t])]
    # longest first: they need the room
    queue.sort(key=lambda t: t not in ("hum", "clipping"))
    taken: list[tuple[str, int, int]] = []
    for name in queue:
        mixer, in_speech = GENERATORS[generator][name]
        wanted = np.flatnonzero(speech if rng.random() < in_speech else ~speech)
        wanted = wanted[(wanted > 10) & (wanted < len(speech) - 30)]
        for at in rng.choice(wanted, min(20, len(wanted)), replace=False) * hop + rng.integers(hop):
            before = take.copy()
            start, end = mixer(take, int(at), SAMPLE_RATE, level, rng)
            if end > start and all(end + MIN_GAP < s or e + MIN_GAP < start for _, s, e in taken):
                taken.append((name, start, end))
                break
            take = before
    return np.clip(take, -1, 1), sorted(taken, key=lambda e: e[1])


def make_takes(
    prompts: list[Prompt], minutes: float, types: list[str], per_minute: float, rng: np.random.Generator,
    generator: str = "first",
) -> list[Take]:  # fmt: skip
    """Takes of one talker and language each, `minutes` in all, every fifth one without an artifact."""
    groups = sorted({(p.speaker, p.language) for p in prompts})
    takes: list[Take] = []
    for index, (speaker, language) in enumerate(groups):
        seconds = minutes * 60 / len(groups)
        speech = draw_speech([p for p in prompts if (p.speaker, p.language) == (speaker, language)], seconds, rng)
        done = 0.0
        while speech and done < seconds:
            length, size = min(rng.uniform(20, 60), seconds - done + 2), 0
            part: list = []
            while speech and size < length * SAMPLE_RATE * 0.8:
                part.append(speech.pop())
                size += len(part[-1][1])
            clean = compose(part, rng)
            here = [] if (len(takes) + index) % 5 == 4 else types
            mixed, events = mix(clean, here, per_minute, rng, generator)
            takes.append(Take(np.clip(clean, -1, 1), mixed, events, speaker, language))
            done += len(clean) / SAMPLE_RATE
    return takes


def write_takes(takes: list[Take], folder: Path, name: str, twins: bool) -> list[Truth]:
    """16-bit WAV, every fourth take FLAC. Returns what is in them, file names relative to `folder`."""
    truth = []
    folder.mkdir(parents=True, exist_ok=True)
    for index, take in enumerate(takes):
        stem = f"{name}-{index:03d}-{take.language}-{take.speaker.lower()}"
        file = stem + (".flac" if index % 4 == 3 else ".wav")
        soundfile.write(folder / file, take.mixed, SAMPLE_RATE, subtype="PCM_16")
        if twins:
            soundfile.write(folder / f"{stem}-clean.flac", take.clean, SAMPLE_RATE, subtype="PCM_16")
        for kind, start, end in take.events:
            ms = 1000 / SAMPLE_RATE
            truth.append(Truth(file, take.speaker, take.language, kind, int(start * ms), int(np.ceil(end * ms))))
    return truth


def as_json(truth: list[Truth]) -> list[dict]:
    return [asdict(t) for t in truth]
