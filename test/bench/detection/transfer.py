# Transfer, the first metric of the detector: trained on the artifacts of one generator, tested on those of another.
# `python3 -m bench.detection --part transfer` trains and tests the pairs of the development set, A and B, and writes
# docs/benchmarks/transfer.md. With --play-untouched RELEASE it plays the untouched set as well (C, D and the clean voice),
# logs the play, and writes docs/benchmarks/untouched.md. Finished parts stay in the cache. Called by __main__.py.
import fnmatch
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import results
from .cache import folder_of, key_of
from .corpus import sets, voices
from .few_labels import few
from .product import CODE, CONFIG, Product, say
from .results import Part
from .runner import CORPUS
from .types import TYPES, Take
from .untouched import plays
from .untouched import sets as untouched
from .untouched.plays import Play

DEVELOPMENT = ("A", "B")
UNTOUCHED = ("C", "D")
FEW = (5, 20)
PLAYED_SEEDS, PLAYED_MINUTES = (0, 1, 2), (60, 15, 5)  # a play is always whole
SECOND_TRAINING = replace(sets.TRAINING, name="second-training", title="Training takes of B", generator="second")
DEVELOPMENT_TEST = {"A": "unseen", "B": "second"}  # rows of corpus/sets.py


@dataclass(frozen=True)
class Training:
    """What a model is trained on: takes of one make, and a few labels per type of another one if `few` is not 0."""

    make: str
    few: int = 0
    of: str = ""

    @property
    def name(self) -> str:
        return f"{self.make}+{self.few}{self.of}" if self.few else self.make


def trainings(play: Play | None) -> list[Training]:
    """All makes alone; then A, and in development B, with a few labels of each other make."""
    makes = DEVELOPMENT + (UNTOUCHED if play else ())
    pairs = [("B", "A"), *(("A", other) for other in makes[1:])]
    return [Training(make) for make in makes] + [Training(make, count, of) for make, of in pairs for count in FEW]


def permitted(play: Play | None, make: str) -> Play:
    if play is None:
        raise ValueError(f"the takes of {make} are untouched: pass --play-untouched RELEASE to play them")
    return play


def first_minutes(takes: Sequence[Take], minutes: float) -> list[Take]:
    out, total = [], 0.0
    for take in takes:
        if total >= minutes * 60:
            break
        out.append(take)
        total += take.duration_s
    return out


def made_for_training(make: str, seed: int, play: Play | None) -> list[Take]:
    if make in UNTOUCHED:
        return untouched.takes_of(untouched.training_row(make, seed), permitted(play, make))
    return sets.takes_of(sets.TRAINING if make == "A" else SECOND_TRAINING, seed, training=True)


def few_of(make: str, count: int, seed: int, play: Play | None) -> list[Take]:
    if make in UNTOUCHED:
        takes = untouched.takes_of(untouched.LABEL_ROWS[make], permitted(play, make))
    else:
        takes = made_for_training(make, seed, play)

    def fill(folder: Path) -> None:
        made = few(takes, count, TYPES, folder)
        stored = [{**take.to_json(), "path": take.path.name} for take in made]
        (folder / "takes.json").write_text(json.dumps(stored, indent=1))

    # The folder of the takes has their key in its name.
    key = key_of("test/bench/detection/few_labels.py", extra=takes[0].path.parent.name)
    folder = voices.once(folder_of("takes") / f"few-{make}-{count}-{key}", fill)
    stored = [Take.from_json(value) for value in json.loads((folder / "takes.json").read_text())]
    return [replace(take, path=folder / take.path) for take in stored]


def takes_for(training: Training, minutes: int, seed: int, play: Play | None) -> list[Take]:
    takes = first_minutes(made_for_training(training.make, seed, play), minutes)
    return takes + (few_of(training.of, training.few, seed, play) if training.few else [])


def test_rows(seed: int, play: Play | None) -> dict[str, list[Take]]:
    """The takes by row: "A" and "B" in development; in a play also those of the untouched set, by the names of its rows."""
    named = {row.name: row for row in sets.ROWS}
    rows = {make: sets.takes_of(named[name], seed) for make, name in DEVELOPMENT_TEST.items()}
    if play:
        for row in (*untouched.TEST_ROWS["C"], *untouched.TEST_ROWS["D"], *untouched.CLEAN_ROWS):
            rows[row.name] = untouched.takes_of(row, play)
    return rows


def path_of(training: Training, minutes: int, seed: int, play: Play | None) -> Path:
    rows = f"{untouched.TEST_ROWS} {untouched.CLEAN_ROWS} {play.digest}" if play else ""
    sources = ("test/bench/detection/transfer.py", "test/bench/detection/few_labels.py")
    return results.path_of(f"transfer-{training.name}", minutes, seed, key_of(*sources, extra=f"{CODE} {CORPUS} {CONFIG} {rows}"))


def run_part(product: Product, training: Training, minutes: int, seed: int, play: Play | None) -> Part:
    takes = takes_for(training, minutes, seed, play)
    model = product.train(takes, seed)
    rows = test_rows(seed, play)
    twins = {row: [take.twin() for take in takes if take.clean] for row, takes in rows.items()}
    wanted = [take for side in (rows, twins) for row in side.values() for take in row]
    found, spent = product.detect(model, wanted)
    of_rows, of_twins = (
        {row: {take.id: found[take.id] for take in takes} for row, takes in side.items() if takes} for side in (rows, twins)
    )
    seconds = {"train_cpu": model.spent.cpu, "detect_cpu": spent.cpu, "detect_sound": spent.sound}
    return Part(training.name, minutes, seed, list(TYPES), model.thresholds, of_rows, of_twins, seconds)


def planned(seeds: Sequence[int], minutes: Sequence[int], play: Play | None) -> list[tuple[Training, int, int]]:
    """(training, minutes, seed) of all parts; few labels are added to the longest training alone."""
    return [(t, m, seed) for seed in seeds for m in minutes for t in trainings(play) if not t.few or m == max(minutes)]


def run(seeds: Sequence[int], minutes: Sequence[int], wanted: Sequence[str], play: Play | None, report_only: bool) -> list[Part]:
    """The parts, run now if they are not in the cache. They are named MAKE[+FEW OTHER]-MINUTES-SEED; `wanted` has patterns
    of names, or is empty for all."""
    product: Product | None = None
    parts: list[Part] = []
    try:
        for training, m, seed in planned(seeds, minutes, play):
            name = f"{training.name}-{m}-{seed}"
            path = path_of(training, m, seed, play)
            if path.exists():
                parts.append(results.read(path))
            elif not report_only and (not wanted or any(fnmatch.fnmatch(name, pattern) for pattern in wanted)):
                say(f"transfer {name}: begins")
                product = product or Product()
                parts.append(run_part(product, training, m, seed, play))
                results.write(path, parts[-1])
    finally:
        if product:
            product.close()
    return parts


def main(seeds: Sequence[int], minutes: Sequence[int], wanted: Sequence[str], release: str, report_only: bool) -> None:
    from .transfer_report import figures, write_development, write_untouched

    play = plays.here(release) if release else None
    if play:
        seeds, minutes = PLAYED_SEEDS, PLAYED_MINUTES
    parts = run(seeds, minutes, wanted, play, report_only)
    if not parts:
        raise SystemExit("no part of transfer has been run yet")
    rows = {seed: test_rows(seed, play) for seed in sorted({part.seed for part in parts})}
    write_development(parts, rows)
    if play:
        write_untouched(parts, rows, play)
        plays.finish(play, figures(parts, rows))
