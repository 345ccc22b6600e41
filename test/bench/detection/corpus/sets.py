# Defines the takes: training sets and rows of the test. Each seed holds out another talker and language. Takes are made once
# and stay in the cache; a seed gives the same bytes. Called by runner.py and short.py.
import json
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import soundfile
from voices.recordings import Prompt
from voices.takes import make_take

from ..cache import folder_of, key_of
from ..types import TYPES, Event, Take
from . import background, voices
from .coding import CODINGS

# Held-out (talker, language) by seed: no take of either is in training. This includes the synthetic voices of the language.
HELD_OUT = (("Carlo", "it"), ("IvrvoiceRU", "ru"), ("June", "fr"))
NEVER_TRAINED = ("de", "pt", "ca")  # languages that only test voices speak
BACKGROUNDS: dict[str, Callable | None] = {"none": None, "noise": background.noise, "music": background.music}


@dataclass(frozen=True)
class Row:
    """A set of takes: of which voices, how many events of each type a minute, and what else is done."""

    name: str
    title: str
    minutes: float
    voices: str = "recorded"  # recorded, synthetic, or both (two thirds recorded)
    per_minute: float = 2.0
    generator: str = "first"
    background: str = "none"
    coding: str = "flac"


TRAINING = Row("training", "Training takes", 60, "both")
ROWS = (
    Row("unseen", "Unseen human talker and language", 18),
    Row("synthetic", "Unseen synthetic voices and languages", 12, "synthetic"),
    Row("opus", "Opus 16 to 32 kbit/s after the fact", 10, coding="opus"),
    Row("mp3", "MP3 24 to 48 kbit/s after the fact", 8, coding="mp3"),
    Row("telephone", "8 kHz, mu-law", 8, coding="telephone"),
    Row("noise", "Street, fan, babble, 8 to 22 dB under the voice", 10, background="noise"),
    Row("music", "Music, 8 to 22 dB under the voice", 10, background="music"),
    Row("gain", "12 dB up or down", 8, coding="gain"),
    Row("rare", "Rare events: one of a type in four minutes", 24, per_minute=0.25),
    Row("second", "Second generator", 16, generator="second"),
)


def same_side(prompt: Prompt, seed: int, training: bool) -> bool:
    talker, language = HELD_OUT[seed % len(HELD_OUT)]
    held = prompt.language in (language, *NEVER_TRAINED)
    assert prompt.speaker != talker or held
    return held != training


@cache
def prompts_of(kind: str) -> tuple[Prompt, ...]:
    return tuple(voices.recorded() if kind == "recorded" else voices.synthetic())


def queue_of(prompts: list[Prompt], rng: np.random.Generator) -> Iterator[Prompt]:
    """All prompts of one voice in random order, again and again."""
    while True:
        yield from (prompts[i] for i in rng.permutation(len(prompts)))


def speakers(kind: str, seed: int, training: bool, rng: np.random.Generator) -> list[Iterator[Prompt]]:
    """A queue of prompts for each voice of this side, in random order."""
    mine = [p for p in prompts_of(kind) if same_side(p, seed, training)]
    groups = sorted({(p.speaker, p.language) for p in mine})
    return [queue_of([p for p in mine if (p.speaker, p.language) == groups[i]], rng) for i in rng.permutation(len(groups))]


def plan(row: Row, seed: int, training: bool) -> list[list[Prompt]]:
    """The prompts of each take, in turns of the voices, until the row is long enough."""
    rng = np.random.default_rng([seed, zlib.crc32(row.name.encode())])
    turns = {"recorded": ["recorded"], "synthetic": ["synthetic"], "both": ["recorded", "synthetic", "recorded"]}[row.voices]
    queues = {kind: speakers(kind, seed, training, rng) for kind in sorted(set(turns))}
    takes, total = [], 0.0
    while total < row.minutes * 60:
        kind = turns[len(takes) % len(turns)]
        queues[kind].append(queues[kind].pop(0))
        wanted, size, take = rng.uniform(20, 56), 0.0, []
        while size < 0.8 * wanted:
            take.append(next(queues[kind][-1]))
            size += take[-1].seconds
        takes.append(take)
        total += size / 0.8
    return takes


def make_one(row: Row, seed: int, folder: Path, index: int, part: list[Prompt]) -> dict:
    """Writes a take and its twin; every fifth take of a common row is without artifacts."""
    rng = np.random.default_rng([seed, zlib.crc32(row.name.encode()), index])
    types = [] if index % 5 == 4 and row.per_minute >= 1 else list(TYPES)
    speech = [(prompt, voices.read(prompt)) for prompt in part]
    made = make_take(speech, types, row.per_minute, rng, row.generator, BACKGROUNDS[row.background])
    name = f"{row.name}-{index:03d}-{made.language}-{made.speaker}"
    coding, luck = CODINGS[row.coding], int(rng.integers(1 << 31))  # take and twin are coded alike
    paths = [
        coding(samples, made.rate, folder / stem, np.random.default_rng(luck))
        for samples, stem in ((made.mixed, name), (made.clean, f"{name}-clean"))
    ]
    events = tuple(Event(kind, start / made.rate, end / made.rate, severity) for kind, start, end, severity in made.events)
    rate = soundfile.info(paths[0]).samplerate
    take = Take(name, made.speaker, made.language, rate, paths[0], len(made.mixed) / made.rate, events, paths[1])
    return {**take.to_json(), "path": paths[0].name, "clean": paths[1].name}


def make_row(row: Row, seed: int, training: bool, folder: Path) -> None:
    parts = plan(row, seed, training)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        takes = list(pool.map(partial(make_one, row, seed, folder), range(len(parts)), parts))
    (folder / "takes.json").write_text(json.dumps(takes, indent=1))


def takes_of(row: Row, seed: int, training: bool = False) -> list[Take]:
    """The takes of a row, made now if they are not in the cache."""
    code = key_of("tools/voices", "test/bench/detection/corpus", extra=f"{row} {TYPES} {seed} {training}")
    folder = voices.once(folder_of("takes") / f"{row.name}-{seed}-{code}", partial(make_row, row, seed, training))
    takes = [Take.from_json(value) for value in json.loads((folder / "takes.json").read_text())]
    return [replace(take, path=folder / take.path, clean=folder / take.clean) for take in takes]


def training_takes(minutes: float, seed: int) -> list[Take]:
    """The first `minutes` of the seed's training takes: the small sets are parts of the large one."""
    out, total = [], 0.0
    for take in takes_of(TRAINING, seed, training=True):
        if total >= minutes * 60:
            break
        out.append(take)
        total += take.duration_s
    return out
