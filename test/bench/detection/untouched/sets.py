# The rows of the untouched set. Every function that makes a take asks for a Play (plays.py), so nothing here is made by
# accident. The takes of the test are the same for every seed: their voices are in no training.
# Called by transfer.py.
import json
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import soundfile
from voices.recordings import Prompt
from voices.scene import Scene, audible_centres
from voices.takes import GENERATORS, Placed, mix, speech_level

from ..cache import folder_of, key_of
from ..corpus import sets as development
from ..corpus.voices import once, read
from ..types import TYPES, Event, Take
from . import fourth, plays, third
from .channels import LOSSY, through
from .conditions import CONDITIONS, Surroundings
from .plays import CODE, Play
from .talkers import TALKERS, prompts_of, some_music

GENERATORS |= {"third": third.ARTIFACTS, "fourth": fourth.ARTIFACTS}
SEED = 2026
ANY_CONDITION = ("plain", "plain", "plain", "room", "room", "room", "silence", "silence", "rumble", "onsets")
ANY_CHANNEL = ("none",) * len(LOSSY) + LOSSY


@dataclass(frozen=True)
class Row:
    """A set of takes. `side`: whose voices, those of talkers.py, or "training": the label side and the training voices of the
    development set for this seed. Without a generator the takes are clean. An empty condition or channel means another
    one in each take."""

    name: str
    title: str
    minutes: float
    generator: str = ""
    side: str = "test"
    condition: str = ""
    channel: str = ""
    per_minute: float = 2.0
    seed: int = 0


def rows_of(generator: str, letter: str) -> tuple[Row, ...]:
    return (
        Row(generator, f"{letter}: rooms and channels", 20, generator),
        Row(f"{generator}-noise", f"{letter}: noise, 15 dB", 8, generator, condition="noise", channel="none"),
        Row(f"{generator}-opus", f"{letter}: Opus, 24 kbit/s", 8, generator, condition="plain", channel="opus"),
        Row(f"{generator}-8khz", f"{letter}: 8 kHz", 8, generator, condition="plain", channel="8khz"),
    )


TEST_ROWS = {"C": rows_of("third", "C"), "D": rows_of("fourth", "D")}
LABEL_ROWS = {  # for a few labels of a make: voices that a model has not heard either
    "C": Row("third-labels", "Takes of C to label", 60, "third", "label"),
    "D": Row("fourth-labels", "Takes of D to label", 60, "fourth", "label"),
}
CLEAN_ROWS = (
    Row("clean-plain", "As recorded", 40, condition="plain", channel="none"),
    Row("clean-room", "Rooms", 25, condition="room", channel="none"),
    Row("clean-channel", "Telephone lines and codecs", 25, condition="plain"),
    Row("clean-silence", "Digital silence in the pauses", 15, condition="silence", channel="none"),
    Row("clean-rumble", "Rumble", 10, condition="rumble", channel="none"),
    Row("clean-onsets", "Loud onsets after tight cuts", 10, condition="onsets", channel="none"),
    Row("clean-breaths", "Soft breaths", 10, condition="breaths", channel="none"),
    Row("clean-noise", "People, rain and wind, 15 dB under the voice", 15, condition="noise", channel="none"),
    Row("clean-music", "Music, 10 to 20 dB under the voice", 15, condition="music", channel="none"),
)


def training_row(make: str, seed: int) -> Row:
    generator = {"C": "third", "D": "fourth"}[make]
    return Row(f"{generator}-training-{seed}", f"Training takes of {make}", 60, generator, "training", seed=seed)


def voices_of(row: Row) -> dict[str, list[Prompt]]:
    """The prompts of this row by talker. Talkers that the seed holds out stay out, since its models are tested on A and B."""
    side = "label" if row.side == "training" else row.side
    voices = {talker.name: prompts_of(talker) for talker in TALKERS if talker.side == side}
    if row.side == "training":
        for prompt in (*development.prompts_of("recorded"), *development.prompts_of("synthetic")):
            if development.same_side(prompt, row.seed, training=True):
                voices.setdefault(f"{prompt.speaker}-{prompt.language}", []).append(prompt)
    return voices


def plan(row: Row, talkers: dict[str, list[Prompt]]) -> list[list[Prompt]]:
    """The prompts of each take: the talkers take turns by the share of their recordings, until the row is long enough."""
    rng = np.random.default_rng([SEED, zlib.crc32(row.name.encode())])
    names = sorted(talkers)
    queues: dict[str, Iterator[Prompt]] = {name: development.queue_of(talkers[name], rng) for name in names}
    lengths = np.array([sum(prompt.seconds for prompt in talkers[name]) for name in names])
    used, takes, total = np.zeros(len(names)), [], 0.0
    while total < row.minutes * 60:
        turn = int(np.argmin((used + rng.uniform(0, 20, len(names))) / lengths))
        wanted, take, size = rng.uniform(20, 56), [], 0.0
        while size < 0.75 * wanted:
            take.append(next(queues[names[turn]]))
            size += take[-1].seconds
        takes.append(take)
        used[turn] += size
        total += size / 0.8
    return takes


def people(talkers: dict[str, list[Prompt]], rate: int, rng: np.random.Generator, length: int) -> np.ndarray:
    """Six people of this rate who talk at the same time."""
    voices = [prompt for name in sorted(talkers) for prompt in talkers[name] if prompt.rate == rate]
    sound = np.zeros(length)
    for _ in range(6):
        parts: list[np.ndarray] = []
        while sum(map(len, parts)) < length:
            parts.append(read(voices[int(rng.integers(len(voices)))]))
        sound += np.roll(np.concatenate(parts)[:length], int(rng.integers(length)))
    return sound


def still_audible(clean: np.ndarray, mixed: np.ndarray, events: list[Placed], rate: int, new: int) -> list[Placed]:
    """The events of a take at `rate` that one still hears after its channel, at the channel's rate `new`: a line that begins
    at 300 Hz leaves nothing of many plosives. Their spans stay in samples of `rate`."""
    level, _ = speech_level(clean, new)
    scene = Scene(new, level, 0, np.random.default_rng(0))
    spans = [(int(start * new / rate), int(np.ceil(end * new / rate))) for _, start, end, _ in events]
    return [event for event, span in zip(events, spans) if len(audible_centres(clean, mixed, span, scene))]


def compose(
    row: Row, sentences: list[np.ndarray], types: list[str], around: Surroundings
) -> tuple[np.ndarray, np.ndarray, int, list[Placed]]:
    """A take without its artifacts and with them, both (N,), their rate, and the events in samples of `around.rate`."""
    rng = around.rng
    condition = row.condition or str(rng.choice(ANY_CONDITION))
    channel = row.channel or str(rng.choice(ANY_CHANNEL if row.generator else LOSSY))
    voice, background = CONDITIONS[condition](sentences, around)
    clean = voice + background
    mixed, events = mix(clean, types, row.per_minute, rng, row.generator, around.rate, voice) if types else (clean, [])
    gain = min(1.0, 0.98 / max(np.abs(mixed).max(), np.abs(clean).max()))
    coded, rate = through(channel, clean * gain, around.rate)
    if not types:
        return coded, coded, rate, []
    damaged, _ = through(channel, mixed * gain, around.rate)
    kept = still_audible(coded, damaged, events, around.rate, rate) if channel != "none" else events
    return coded, damaged, rate, kept


def make_one(row: Row, talkers: dict[str, list[Prompt]], folder: Path, index: int, part: list[Prompt]) -> dict:
    """Writes a take, and its twin if it may have artifacts; every fifth one of these has none."""
    rng, rate = np.random.default_rng([SEED, zlib.crc32(row.name.encode()), index]), part[0].rate

    def other(kind: str, length: int) -> np.ndarray:
        return some_music(length, rate, rng) if kind == "music" else people(talkers, rate, rng, length)

    types = [] if not row.generator or index % 5 == 4 else list(TYPES)
    sentences = [read(prompt).astype(np.float64) for prompt in part]
    clean, mixed, new, events = compose(row, sentences, types, Surroundings(rate, rng, other))
    name = f"{row.name}-{index:03d}-{part[0].language}-{part[0].speaker}"
    paths = [folder / f"{name}.flac", folder / f"{name}-clean.flac"][: 2 if row.generator else 1]
    for path, samples in zip(paths, (mixed, clean)):
        soundfile.write(path, np.clip(samples, -1, 1), new, subtype="PCM_16")
    marked = tuple(Event(kind, start / rate, end / rate, severity) for kind, start, end, severity in events)
    twin = paths[1] if row.generator else None
    take = Take(name, part[0].speaker, part[0].language, new, paths[0], len(mixed) / new, marked, twin)
    return {**take.to_json(), "path": paths[0].name, "clean": twin and twin.name}


def make_row(row: Row, folder: Path) -> None:
    talkers = voices_of(row)
    parts = plan(row, talkers)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        takes = list(pool.map(partial(make_one, row, talkers, folder), range(len(parts)), parts))
    (folder / "takes.json").write_text(json.dumps(takes, indent=1))


def takes_of(row: Row, play: Play) -> list[Take]:
    """The takes of a row, made now if they are not in the cache."""
    if play not in plays.read():
        raise ValueError("the untouched set is made for a logged play only: --part transfer --play-untouched RELEASE")
    code = key_of(*CODE, extra=f"{row} {TYPES} {SEED}")
    folder = once(folder_of("untouched") / f"{row.name}-{code}", partial(make_row, row))
    takes = [Take.from_json(value) for value in json.loads((folder / "takes.json").read_text())]
    return [replace(take, path=folder / take.path, clean=take.clean and folder / take.clean) for take in takes]
