# Event-based F1 with collars: an impulsive event is found when a detection of its type begins within 50 ms, a sustained
# one when it begins within 200 ms and ends within 200 ms or 20 % of the event's length. Deliberately independent of the
# product's own scoring. Called by judge.py, and by peers that choose thresholds.
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..types import IMPULSIVE, Detection, Event

IMPULSIVE_COLLAR_S = 0.05
SUSTAINED_COLLAR_S = 0.2
LENGTH_SHARE = 0.2
SLACK = 1e-6  # times are rounded to milliseconds


@dataclass(frozen=True)
class Counts:
    """Of one type: events found, false detections, events missed."""

    hits: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.hits + other.hits, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        return self.hits / max(1, self.hits + self.false)

    @property
    def recall(self) -> float:
        return self.hits / max(1, self.hits + self.missed)

    @property
    def f1(self) -> float:
        """F1; 0 if there are events or detections and none match, and 0 also if there are neither."""
        return 2 * self.hits / max(1, 2 * self.hits + self.false + self.missed)


def agrees(event: Event, found: Detection) -> bool:
    onset = abs(found.onset_s - event.onset_s)
    if event.type in IMPULSIVE:
        return onset <= IMPULSIVE_COLLAR_S + SLACK
    collar = max(SUSTAINED_COLLAR_S, LENGTH_SHARE * (event.offset_s - event.onset_s))
    return onset <= SUSTAINED_COLLAR_S + SLACK and abs(found.offset_s - event.offset_s) <= collar + SLACK


def pairs(events: Sequence[Event], found: Sequence[Detection]) -> list[int | None]:
    """For each detection (of one type, one take) the index of the event that it matches, or None: the maximum number of
    pairs, one to one (augmenting paths), the nearest onsets first."""
    choices = [
        sorted((j for j, e in enumerate(events) if agrees(e, d)), key=lambda j: abs(events[j].onset_s - d.onset_s)) for d in found
    ]
    order = sorted(range(len(found)), key=lambda i: abs(events[choices[i][0]].onset_s - found[i].onset_s) if choices[i] else 9e9)
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in choices[i]:
            if j not in seen:
                seen.add(j)
                if j not in owner or place(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    for i in order:
        place(i, set())
    of_found: list[int | None] = [None] * len(found)
    for j, i in owner.items():
        of_found[i] = j
    return of_found


def of_type(items: Iterable, kind: str) -> list:
    return [item for item in items if item.type == kind]


def count(events: Sequence[Event], found: Sequence[Detection], kind: str) -> Counts:
    """Counts of one type in one take."""
    truth, mine = of_type(events, kind), of_type(found, kind)
    hits = sum(match is not None for match in pairs(truth, mine))
    return Counts(hits, len(mine) - hits, len(truth) - hits)


def macro_f1(counts: Iterable[Counts]) -> float:
    """Mean F1 of the types with events."""
    present = [c.f1 for c in counts if c.hits + c.missed]
    return float(np.mean(present)) if present else 0.0


def best_threshold(events: Sequence[Sequence[Event]], found: Sequence[Sequence[Detection]], kind: str) -> float:
    """The score threshold at which detections of `kind` have the best F1 on these takes. For peers."""
    scores = np.unique([d.score for take in found for d in of_type(take, kind)])
    if not len(scores):
        return 0.0
    grid = scores if len(scores) <= 40 else np.quantile(scores, np.linspace(0, 1, 40))

    def f1(threshold: float) -> float:
        kept = [[d for d in take if d.score >= threshold] for take in found]
        return sum((count(e, k, kind) for e, k in zip(events, kept)), Counts()).f1

    return float(max(grid, key=f1))
