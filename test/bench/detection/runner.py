# Runs the parts of the benchmark that are not in the cache yet: for each seed and training set our own detector, then
# the peers. Called by __main__.py.
import time
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from . import invented, others, results
from .cache import key_of
from .corpus.sets import HELD_OUT, ROWS, Row, takes_of, training_takes
from .product import CODE, CONFIG, Product, say
from .results import Found, Part
from .types import TYPES, Take

MINUTES = (60, 15, 5)
FEW_ROWS = ("unseen", "synthetic", "second")  # for models that were trained on less than an hour
PEER_ROWS = ("unseen", "synthetic", "opus", "telephone", "noise", "second")
TWINS = ("unseen", "synthetic", "noise", "music")  # rows whose clean twins are processed too
TUNE_MINUTES = 15  # training audio on which a peer without training chooses its thresholds

CORPUS = key_of("tools/voices", "test/bench/detection/corpus")


def rows_named(names: Sequence[str]) -> list[Row]:
    return [row for row in ROWS if row.name in names]


def rows_for(minutes: int) -> list[Row]:
    return list(ROWS) if minutes == max(MINUTES) else rows_named(FEW_ROWS)


def split(found: Found, rows: dict[str, list[Take]]) -> tuple[dict[str, Found], dict[str, Found]]:
    """Detections of many takes by row, and those of their twins."""
    of_row, of_twins = {}, {}
    for row, takes in rows.items():
        of_row[row] = {take.id: found[take.id] for take in takes}
        twins = {f"{take.id}~clean": found[f"{take.id}~clean"] for take in takes if f"{take.id}~clean" in found}
        if twins:
            of_twins[row] = twins
    return of_row, of_twins


def with_twins(rows: dict[str, list[Take]], wanted: Sequence[str] = TWINS) -> list[Take]:
    takes = [take for row in rows.values() for take in row]
    return takes + [take.twin() for name, row in rows.items() if name in wanted for take in row]


def run_product(product: Product, minutes: int, seed: int, path: Path) -> None:
    train = training_takes(minutes, seed)
    rows = {row.name: takes_of(row, seed) for row in rows_for(minutes)}
    _, embedded = product.embed(train)
    model = product.train(train, seed)
    own = model.result["metrics"]["overall"]["f1"]
    say(f"trained on {minutes} min in {model.spent.wall:.0f} s, macro F1 on its own validation {own:.2f}")
    found, detecting = product.detect(model, with_twins(rows))
    of_row, of_twins = split(found, rows)
    spent = {"train_wall": model.spent.wall, "train_cpu": model.spent.cpu, "train_sound": model.spent.sound}
    spent |= {"detect_wall": detecting.wall, "detect_cpu": detecting.cpu, "detect_sound": detecting.sound}
    if embedded.sound:
        spent |= {"embed_wall": embedded.wall, "embed_cpu": embedded.cpu, "embed_sound": embedded.sound}
    notes = {"metrics": model.result["metrics"]["overall"], "held_out": HELD_OUT[seed % len(HELD_OUT)]}
    results.write(path, Part("plosive", minutes, seed, list(TYPES), model.thresholds, of_row, of_twins, spent, notes))


def run_peer(peer: str, types: Sequence[str], minutes: int, seed: int, path: Path) -> None:
    train = training_takes(minutes, seed)
    rows = {row.name: takes_of(row, seed) for row in rows_named(PEER_ROWS)}
    test = with_twins(rows, ("unseen",))
    found, spent = others.detect_with(peer, seed, types, train, test)
    of_row, of_twins = split(found, rows)
    spent |= {"detect_sound": sum(take.duration_s for take in test)}
    results.write(path, Part(peer, minutes, seed, list(types), {}, of_row, of_twins, spent))


def parts(seeds: Sequence[int], peers: bool) -> list[tuple[str, list[str], int, int, Path]]:
    """(detector, types, minutes, seed, path of its result), in the order in which they run."""
    key = key_of(extra=f"{CODE} {CORPUS} {CONFIG} {ROWS}")
    out = [
        ("plosive", list(TYPES), minutes, seed, results.path_of("plosive", minutes, seed, key))
        for minutes in MINUTES
        for seed in seeds
    ]
    invented_key = key_of("test/bench/detection/invented.py", extra=f"{CODE} {CORPUS} {CONFIG}")
    length = round(invented.TRAINING.minutes)
    out += [
        ("invented", list(invented.TYPES), length, seed, results.path_of("invented", length, seed, invented_key))
        for seed in seeds
    ]
    if peers and others.PYTHON.exists():
        peer_key = key_of("test/bench/detection/peers", extra=f"{CORPUS} {ROWS}")
        for name, trained, types in others.names():
            mine = [kind for kind in TYPES if kind in types]
            minutes = max(MINUTES) if trained else TUNE_MINUTES
            out += [(name, mine, minutes, seed, results.path_of(name, minutes, seed, peer_key)) for seed in seeds]
    return out


def run_parts(seeds: Sequence[int], wanted: Sequence[str], peers: bool) -> None:
    """Parts are named DETECTOR-MINUTES-SEED; `wanted` has patterns of such names and is empty for all."""
    todo = [
        part for part in parts(seeds, peers) if not wanted or any(fnmatch(f"{part[0]}-{part[2]}-{part[3]}", w) for w in wanted)
    ]
    product: Product | None = None
    try:
        for number, (detector, types, minutes, seed, path) in enumerate(todo):
            name = f"{detector}-{minutes}-{seed} ({number + 1} of {len(todo)})"
            if path.exists():
                say(f"{name}: done before")
                continue
            began = time.monotonic()
            say(f"{name}: begins")
            if detector in ("plosive", "invented"):
                product = product or Product()
            if detector == "plosive":
                run_product(product, minutes, seed, path)
            elif detector == "invented":
                results.write(path, invented.run(product, seed))
            else:
                run_peer(detector, types, minutes, seed, path)
            say(f"{name}: took {time.monotonic() - began:.0f} s")
    finally:
        if product:
            product.close()
