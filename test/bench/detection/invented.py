# Types that no feature was made for, as a tenant might invent them: learned from labels alone, tested on a talker and a
# language that are not in training. Their takes are made as those of corpus/sets.py. Called by runner.py and report.py.
import json
import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfilt
from voices.recordings import Prompt
from voices.scene import NOWHERE, Mixer, Scene, Span, add, blend, loudness, ramps
from voices.takes import GENERATORS, make_take, write_takes

from .cache import folder_of, key_of
from .corpus import voices
from .corpus.sets import Row, plan
from .product import Product
from .results import Part
from .types import Event, Take

TRAINING = Row("invented-training", "", 20, "both", 3.0, "invented")
TEST = Row("invented", "Types that no feature was made for", 15, "recorded", 2.5, "invented")


def alert(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A notification of another program: two or three short tones."""
    rng, rate, end = scene.rng, scene.rate, at
    for hz in rng.choice([523, 659, 784, 988, 1175, 1568], rng.integers(2, 4)):
        t = np.arange(scene.seconds(0.06, 0.14)) / rate
        tone = ramps(len(t), rate // 200) * (np.sin(2 * np.pi * hz * t) + 0.3 * np.sin(4 * np.pi * hz * t))
        _, end = add(take, end, scene.gain(-8) * tone)
    return at, end


def backwards(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A stretch of speech that is played backwards, 0.3 to 0.9 s."""
    part = take[at : at + scene.seconds(0.3, 0.9)].copy()
    return blend(take, at, part[::-1], scene.rate // 100) if loudness(part) > 0.3 * scene.level else NOWHERE


def muffled(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A hand over the microphone, 0.5 to 2 s: little is left over 500 to 900 Hz."""
    part = take[at : at + scene.seconds(0.5, 2.0)].copy()
    low = butter(4, scene.among(((1000, 1200), (700, 1000), (450, 700))), fs=scene.rate, output="sos")
    return blend(take, at, sosfilt(low, part), scene.rate // 20)


def stutter(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A buffer that is played two to four times, 60 to 180 ms each."""
    size = scene.seconds(0.06, 0.18)
    part = take[at : at + size].copy()
    if len(part) < size or loudness(part) < 0.4 * scene.level:
        return NOWHERE
    return blend(take, at, np.tile(part, scene.rng.integers(3, 6)), scene.rate // 400)


def tremolo(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A level that flutters 6 to 14 times a second, 0.8 to 2.5 s: a broken automatic gain control."""
    part = take[at : at + scene.seconds(0.8, 2.5)].copy()
    phase = 2 * np.pi * scene.rng.uniform(6, 14) * np.arange(len(part)) / scene.rate
    depth = scene.among(((0.5, 0.65), (0.65, 0.8), (0.8, 0.95)))
    return blend(take, at, part * (1 - depth * (0.5 + 0.5 * np.sin(phase))), scene.rate // 50)


ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "alert": (alert, 0.5), "backwards": (backwards, 1.0), "muffled": (muffled, 1.0), "stutter": (stutter, 1.0),
    "tremolo": (tremolo, 1.0),
}  # fmt: skip
GENERATORS["invented"] = ARTIFACTS
TYPES = tuple(sorted(ARTIFACTS))


def make_one(row: Row, seed: int, folder: Path, index: int, part: list[Prompt]) -> dict:
    """Writes a take and its twin; every fifth one is without artifacts."""
    rng = np.random.default_rng([seed, zlib.crc32(row.name.encode()), index])
    types = [] if index % 5 == 4 else list(TYPES)
    made = make_take([(prompt, voices.read(prompt)) for prompt in part], types, row.per_minute, rng, row.generator)
    name = f"{row.name}-{index:03d}"
    write_takes([made], folder / name, name, twins=True)
    take, clean = sorted((folder / name).glob("*"), key=lambda path: path.stem.endswith("-clean"))
    events = tuple(Event(kind, start / made.rate, end / made.rate, severity) for kind, start, end, severity in made.events)
    whole = Take(name, made.speaker, made.language, made.rate, take, len(made.mixed) / made.rate, events, clean)
    return {**whole.to_json(), "path": f"{name}/{take.name}", "clean": f"{name}/{clean.name}"}


def make_row(row: Row, seed: int, training: bool, folder: Path) -> None:
    parts = plan(row, seed, training)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        takes = list(pool.map(partial(make_one, row, seed, folder), range(len(parts)), parts))
    (folder / "takes.json").write_text(json.dumps(takes, indent=1))


def takes_of(row: Row, seed: int, training: bool = False) -> list[Take]:
    """The takes of a row, made now if they are not in the cache."""
    code = key_of("tools/voices", "test/bench/detection/corpus", "test/bench/detection/invented.py", extra=f"{row} {seed}")
    folder = voices.once(folder_of("takes") / f"{row.name}-{seed}-{code}", partial(make_row, row, seed, training))
    takes = [Take.from_json(value) for value in json.loads((folder / "takes.json").read_text())]
    return [replace(take, path=folder / take.path, clean=folder / take.clean) for take in takes]


def run(product: Product, seed: int) -> Part:
    """A model of the invented types, and what it finds."""
    model = product.train(takes_of(TRAINING, seed, training=True), seed)
    takes: Sequence[Take] = takes_of(TEST, seed)
    found, _ = product.detect(model, [*takes, *(take.twin() for take in takes)])
    rows = {TEST.name: {take.id: found[take.id] for take in takes}}
    clean = {TEST.name: {f"{take.id}~clean": found[f"{take.id}~clean"] for take in takes}}
    return Part("invented", round(TRAINING.minutes), seed, list(TYPES), model.thresholds, rows, clean)
