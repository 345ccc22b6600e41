# Chooses the validation files. Splits by file and never by chunk, because neighboring chunks overlap and would leak;
# copies of a file stay together. Stratified by class: takes the best of many seeded random splits. Called by train.py.
from dataclasses import dataclass

import numpy as np

from ..features.spec import FRAMES_PER_SECOND
from .data import LabelledFile, Part, events_of

TRIALS = 400
MIN_FILES = 4
BLOCK_SECONDS = 20  # length of the guarded time blocks that replace files if there are too few files
GUARD_FRAMES = 150


@dataclass(frozen=True)
class Split:
    """The two sides of the split, and how reliable the validation is."""

    train: list[Part]
    validation: list[Part]
    mode: str  # "files", or "time_blocks": same files on both sides, so the metrics are optimistic
    missing: list[int]  # classes that lack events on one of the sides


def whole_files(files: list[LabelledFile]) -> list[Part]:
    return [Part(i, 0, f.length) for i, f in enumerate(files)]


def time_blocks(files: list[LabelledFile]) -> list[Part]:
    """Returns blocks of about 20 s with a guard of 1.5 s between them (half of it on each side)."""
    size, half = BLOCK_SECONDS * FRAMES_PER_SECOND, GUARD_FRAMES // 2
    parts = []
    for index, file in enumerate(files):
        count = max(1, round(file.length / size))
        edges = np.linspace(0, file.length, count + 1).astype(int).tolist()
        for low, high in zip(edges, edges[1:]):
            first, last = low + (half if low else 0), high - (half if high < file.length else 0)
            if last > first:
                parts.append(Part(index, first, last))
    return parts


def joined(parts: list[Part]) -> list[Part]:
    """Joins neighboring blocks, in the order of time_blocks. Within one side nothing leaks from block to block, and a guard
    would only withhold its audio and labels."""
    out: list[Part] = []
    for part in parts:
        if out and out[-1].file == part.file and part.first - out[-1].last <= GUARD_FRAMES:
            out[-1] = Part(part.file, out[-1].first, part.last)
        else:
            out.append(part)
    return out


def files_of(split: Split, files: list[LabelledFile]) -> list[Part]:
    """Returns the files of both sides as a whole, with the guards of their blocks."""
    return [Part(i, 0, files[i].length) for i in dict.fromkeys(part.file for part in split.train + split.validation)]


def events_in(part: Part, files: list[LabelledFile], classes: int) -> np.ndarray:
    """Returns the number of events of each class that overlap the part, (K,)."""
    kinds = [kind for kind, _, _ in events_of(files[part.file], part)]
    return np.bincount(kinds, minlength=classes).astype(float)


def grouped(parts: list[Part], files: list[LabelledFile]) -> list[list[Part]]:
    """Groups the same stretch of all copies of a file."""
    groups: dict[tuple[str, int], list[Part]] = {}
    for part in parts:
        groups.setdefault((files[part.file].content or str(part.file), part.first), []).append(part)
    return list(groups.values())


def choose(length: np.ndarray, counts: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Returns flags of the validation groups, (G,), from the frames (G,) and events (G, K) of each group. Minimizes how
    far each class and the duration are from the wanted share."""
    total = np.maximum(counts.sum(0), 1)
    wanted = max(1, round(share * len(length)))
    best, best_cost = np.zeros(len(length), bool), np.inf
    for _ in range(TRIALS):
        flags = np.zeros(len(length), bool)
        flags[rng.permutation(len(length))[: wanted + int(rng.integers(-1, 2))]] = True
        if flags.all() or not flags.any():
            continue
        inside = counts[flags].sum(0)
        cost = np.abs(inside / total - share).sum() + 2 * abs(length[flags].sum() / length.sum() - share)
        cost += 3 * ((inside == 0) & (counts.sum(0) > 1)).sum() + 10 * (inside == total).sum()
        if cost < best_cost:
            best, best_cost = flags, cost
    return best


def split_files(files: list[LabelledFile], classes: int, share: float, seed: int) -> Split:
    """Splits by file, or into time blocks if there are too few files. Validates only on reviewed files, if there are
    any: in other files an unlabelled detection may be correct."""
    rng = np.random.default_rng([seed, 1])
    any_reviewed = any(f.reviewed for f in files)
    for mode, parts in (("files", whole_files(files)), ("time_blocks", time_blocks(files))):
        usable = grouped([p for p in parts if files[p.file].reviewed or not any_reviewed], files)
        if mode == "files" and len(usable) < MIN_FILES:
            continue
        counts = np.stack([sum(events_in(p, files, classes) for p in group) for group in usable])
        length = np.array([sum(p.last - p.first for p in group) for group in usable], float)
        flags = choose(length, counts, share, rng)
        inside, outside = counts[flags].sum(0), counts[~flags].sum(0)
        learnable = counts.sum(0) > 1
        if mode == "files" and (learnable & ((inside == 0) | (outside == 0))).any() and len(usable) < 3 * MIN_FILES:
            continue
        held = [p for group, flag in zip(usable, flags) if flag for p in group]
        away = set(held)  # a list would be searched for each of 100,000 files
        train = joined([p for p in parts if p not in away])
        missing = np.flatnonzero((inside == 0) | (outside == 0)).tolist()
        return Split(train, held, mode, missing)
    raise AssertionError("splitting into time blocks always succeeds")
