# The takes that the trunk learns from, as frames and labels in a folder; a take that is there is not made again. Called by
# __main__.py.
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from plosive_worker.features.file import FrameWriter, read_frames
from plosive_worker.features.stream import feature_blocks
from plosive_worker.training.data import LabelledFile
from voices.recordings import decode, list_prompts

from .scenes import Made, make

TAKE_SECONDS = 20.0


def talkers_of(without: set[str], folder: Path) -> list[Path]:
    """The prompts of each talker and language, decoded once, as one file each."""
    groups: dict[str, list] = {}
    for prompt in list_prompts():
        if prompt.speaker not in without:
            groups.setdefault(f"{prompt.language}-{prompt.speaker}", []).append(prompt)
    out = []
    for name in sorted(groups):
        path = folder / f"{name}.npz"
        if not path.exists():
            decoded = [samples for prompt in groups[name] if len(samples := decode(prompt)) > 6400]
            np.savez(folder / f".{name}.npz", *decoded)
            (folder / f".{name}.npz").rename(path)
        out.append(path)
    return out


def store(made: Made, stem: Path) -> None:
    writer = FrameWriter(stem.with_suffix(".partial"))
    for frames in feature_blocks([made.samples[:, None]], made.rate):
        writer.write(frames)
    writer.close()
    stem.with_suffix(".partial").rename(stem.with_suffix(".frames"))
    stem.with_suffix(".json").write_text(json.dumps(made.events))


def make_some(talkers: list[Path], folder: Path, seed: int, first: int, last: int) -> None:
    voices = [list(np.load(path).values()) for path in talkers]
    for index in range(first, last):
        stem = folder / f"{index:05d}"
        if not stem.with_suffix(".json").exists():
            rng = np.random.default_rng([seed, index])
            store(make(voices[int(rng.integers(len(voices)))], rng, TAKE_SECONDS), stem)


def takes_in(folder: Path, hours: float, seed: int, without: set[str], processes: int) -> list[LabelledFile]:
    folder.mkdir(parents=True, exist_ok=True)
    talkers, count = talkers_of(without, folder), round(hours * 3600 / TAKE_SECONDS)
    edges = np.linspace(0, count, 8 * processes + 1).astype(int).tolist()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        list(pool.map(partial(make_some, talkers, folder, seed), edges, edges[1:]))
    return [stored(folder / f"{index:05d}") for index in range(count)]


def stored(stem: Path) -> LabelledFile:
    events = tuple((kind, start, end) for kind, start, end in json.loads(stem.with_suffix(".json").read_text()))
    return LabelledFile(stem.name, read_frames(stem.with_suffix(".frames")), events, True)
