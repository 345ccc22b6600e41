# Composes takes of 20 to 60 s from prompts, room tone and artifacts, and writes them with their truth.
# Called by __main__.py, by the tests and by the detection benchmark's corpus.
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import lfilter

from . import artifacts, second
from .recordings import SAMPLE_RATE, Prompt, draw_speech
from .scene import SEVERITIES, Mixer, Scene, Span, audible_centres

GENERATORS: dict[str, dict[str, tuple[Mixer, float]]] = {"first": artifacts.ARTIFACTS, "second": second.ARTIFACTS}
MIN_GAP_S = 0.35  # between two artifacts, so that the truth is unambiguous
TRIES = 20
# Insertion order: first the type that shifts the audio after its joint, then the types that need the most room.
ORDER = ("tts_seam", "hum", "echo", "robotic", "clipping", "breath", "codec_glitch", "packet_loss")
# Minimum audible length of types whose label covers only the audible part: the echo of a pause cannot be labelled.
AUDIBLE_PART_S = {"echo": 0.3, "robotic": 0.3, "codec_glitch": 0.03, "packet_loss": 0.01}

Placed = tuple[str, int, int, str]  # type, first sample, one past the last, severity


@dataclass(frozen=True)
class Truth:
    """One inserted artifact."""

    file: str
    speaker: str
    language: str
    artifact_type: str
    start_ms: int
    end_ms: int


@dataclass
class Take:
    """A take with artifacts (`mixed`) and without them (`clean`), both (N,)."""

    clean: np.ndarray
    mixed: np.ndarray
    events: list[Placed]
    speaker: str
    language: str
    rate: int = SAMPLE_RATE


def room_tone(length: int, rng: np.random.Generator) -> np.ndarray:
    """Returns colored noise between -72 and -48 dBFS, like a quiet room with a preamplifier."""
    noise = lfilter([1], [1, -rng.uniform(0.2, 0.95)], rng.standard_normal(length))
    return noise / noise.std() * 10 ** (rng.uniform(-72, -48) / 20)


def compose(speech: list[tuple[Prompt, np.ndarray]], rng: np.random.Generator) -> np.ndarray:
    """Concatenates prompts with pauses of 0.15 to 1.2 s on room tone, at a random level."""
    rate = speech[0][0].rate
    parts = [np.zeros(int(rng.uniform(0.2, 0.8) * rate))]
    for _, samples in speech:
        parts += [samples * rng.uniform(0.7, 1.0), np.zeros(int(rng.uniform(0.15, 1.2) * rate))]
    take = np.concatenate(parts)
    tilt = rng.uniform(-0.3, 0.3)  # a slight equalizer, because microphones differ
    take = lfilter([1, tilt], [1], take)
    take *= 10 ** (rng.uniform(-20, -3) / 20) / max(1e-6, np.abs(take).max())
    return take + room_tone(len(take), rng)


def speech_level(take: np.ndarray, rate: int) -> tuple[float, np.ndarray]:
    """Returns the RMS of the loud part, and a flag per 10 ms (T,): whether the level is above 20 dB below that."""
    hop = rate // 100
    frames = np.sqrt((take[: len(take) // hop * hop].reshape(-1, hop) ** 2).mean(1))
    level = float(np.percentile(frames, 80))
    return level, frames > 0.1 * level


def placed(name: str, before: np.ndarray, take: np.ndarray, span: Span, scene: Scene) -> Span | None:
    """Returns the span that a careful listener would label, or None if the artifact is not audible."""
    if span[1] <= span[0]:
        return None
    where = audible_centres(before, take, span, scene)
    if not len(where):
        return None
    if name not in AUDIBLE_PART_S:
        return span
    half = int(0.008 * scene.rate)
    start, end = max(span[0], int(where[0]) - half), min(span[1], int(where[-1]) + half)
    return (start, end) if end - start >= AUDIBLE_PART_S[name] * scene.rate else None


def mix(
    clean: np.ndarray, types: list[str], per_minute: float, rng: np.random.Generator, generator: str = "first",
    rate: int = SAMPLE_RATE, voice: np.ndarray | None = None,
) -> tuple[np.ndarray, list[Placed]]:  # fmt: skip
    """Inserts `per_minute` events of each type at random places, in speech or in pauses. `voice` is the take without
    its background, if it has one. Returns the take (N,) and the inserted events."""
    take, hop = clean.copy(), rate // 100
    level, speech = speech_level(clean if voice is None else voice, rate)
    counts = {name: rng.poisson(per_minute * len(clean) / rate / 60) for name in types}
    queue = [name for name in types for _ in range(counts[name])]
    queue.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    taken: list[Placed] = []
    gap = int(MIN_GAP_S * rate)
    for name in queue:
        mixer, in_speech = GENERATORS[generator][name]
        band = int(rng.integers(len(SEVERITIES)))
        scene = Scene(rate, level, band, rng)
        wanted = np.flatnonzero(speech if rng.random() < in_speech else ~speech)
        wanted = wanted[(wanted > 10) & (wanted < len(speech) - 30)]
        for at in rng.choice(wanted, min(TRIES, len(wanted)), replace=False) * hop + rng.integers(hop):
            if any(at + gap > start and end + gap > at for _, start, end, _ in taken):
                continue
            before = take.copy()
            span = placed(name, before, take, mixer(take, int(at), scene), scene)
            if span and all(span[1] + gap < start or end + gap < span[0] for _, start, end, _ in taken):
                taken.append((name, *span, SEVERITIES[band]))
                break
            take = before
    return take, sorted(taken, key=lambda event: event[1])


def make_take(
    speech: list[tuple[Prompt, np.ndarray]], types: list[str], per_minute: float, rng: np.random.Generator,
    generator: str = "first", background: Callable[[np.ndarray, int, np.random.Generator], np.ndarray] | None = None,
) -> Take:  # fmt: skip
    """Makes one take. Adds `background` to the voice before the artifacts. Attenuates both versions so that nothing
    clips."""
    prompt = speech[0][0]
    voice = compose(speech, rng)
    clean = voice if background is None else voice + background(voice, prompt.rate, rng)
    mixed, events = mix(clean, types, per_minute, rng, generator, prompt.rate, voice)
    gain = min(1.0, 0.98 / max(np.abs(mixed).max(), np.abs(clean).max()))
    return Take(clean * gain, mixed * gain, events, prompt.speaker, prompt.language, prompt.rate)


def pop_speech(speech: list[tuple[Prompt, np.ndarray]], seconds: float) -> list[tuple[Prompt, np.ndarray]]:
    """Removes sentences from the end of `speech` until they last about 80 % of `seconds`; pauses fill the rest."""
    part, size = [], 0.0
    while speech and size < 0.8 * seconds:
        part.append(speech.pop())
        size += len(part[-1][1]) / part[-1][0].rate
    return part


def make_takes(
    prompts: list[Prompt], minutes: float, types: list[str], per_minute: float, rng: np.random.Generator,
    generator: str = "first",
) -> list[Take]:  # fmt: skip
    """Makes takes of one speaker and language each, `minutes` in total; every fifth one has no artifacts."""
    groups = sorted({(p.speaker, p.language) for p in prompts})
    takes: list[Take] = []
    for index, (speaker, language) in enumerate(groups):
        seconds = minutes * 60 / len(groups)
        speech = draw_speech([p for p in prompts if (p.speaker, p.language) == (speaker, language)], seconds, rng)
        done = 0.0
        while speech and done < seconds:
            part = pop_speech(speech, min(rng.uniform(20, 60), seconds - done + 2))
            here = [] if (len(takes) + index) % 5 == 4 else types
            takes.append(make_take(part, here, per_minute, rng, generator))
            done += len(takes[-1].clean) / SAMPLE_RATE
    return takes


def write_takes(takes: list[Take], folder: Path, name: str, twins: bool) -> list[Truth]:
    """Writes the takes as 16-bit WAV, every fourth as FLAC. Returns their truth; file names are relative to
    `folder`."""
    truth = []
    folder.mkdir(parents=True, exist_ok=True)
    for index, take in enumerate(takes):
        stem = f"{name}-{index:03d}-{take.language}-{take.speaker.lower()}"
        file = stem + (".flac" if index % 4 == 3 else ".wav")
        soundfile.write(folder / file, take.mixed, take.rate, subtype="PCM_16")
        if twins:
            soundfile.write(folder / f"{stem}-clean.flac", take.clean, take.rate, subtype="PCM_16")
        for kind, start, end, _ in take.events:
            ms = 1000 / take.rate
            truth.append(Truth(file, take.speaker, take.language, kind, int(start * ms), int(np.ceil(end * ms))))
    return truth


def as_json(truth: list[Truth]) -> list[dict]:
    return [asdict(t) for t in truth]
