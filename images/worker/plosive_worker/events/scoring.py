# Event-based precision, recall and F1 with collars. An impulsive event matches if its onset is within 50 ms; a
# sustained one if its onset is within 200 ms and its offset within max(200 ms, 20 % of its length). Pure. Called by
# training.
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

IMPULSIVE_COLLAR_MS = 50
SUSTAINED_COLLAR_MS = 200
LENGTH_SHARE = 0.2

Span = tuple[float, float]  # start_ms, end_ms


@dataclass(frozen=True)
class Counts:
    """True positives, false positives, false negatives."""

    hits: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.hits + other.hits, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        return self.hits / (self.hits + self.false) if self.hits + self.false else 0.0

    @property
    def recall(self) -> float:
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 0.0

    @property
    def f1(self) -> float:
        total = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / total if total else 0.0


def agrees(truth: Span, found: Span, impulsive: bool) -> bool:
    if impulsive:
        return abs(found[0] - truth[0]) <= IMPULSIVE_COLLAR_MS
    offset_collar = max(SUSTAINED_COLLAR_MS, LENGTH_SHARE * (truth[1] - truth[0]))
    return abs(found[0] - truth[0]) <= SUSTAINED_COLLAR_MS and abs(found[1] - truth[1]) <= offset_collar


def match(truth: list[Span], found: list[Span], impulsive: bool) -> list[int | None]:
    """Returns for each found event the index of the true event that it matches, or None. Matches one to one, nearest
    onsets first."""
    order = sorted(range(len(truth)), key=lambda j: truth[j][0])
    starts = [truth[j][0] for j in order]
    pairs = []
    for i, f in enumerate(found):  # compares only events that begin nearby: ten hours of audio have ten thousand of each
        near = order[bisect_left(starts, f[0] - SUSTAINED_COLLAR_MS) : bisect_right(starts, f[0] + SUSTAINED_COLLAR_MS)]
        pairs += [(abs(f[0] - truth[j][0]), i, j) for j in near if agrees(truth[j], f, impulsive)]
    of_found: list[int | None] = [None] * len(found)
    used: set[int] = set()
    for _, i, j in sorted(pairs):
        if of_found[i] is None and j not in used:
            of_found[i] = j
            used.add(j)
    return of_found


def count(truth: list[Span], found: list[Span], impulsive: bool) -> Counts:
    hits = sum(m is not None for m in match(truth, found, impulsive))
    return Counts(hits, len(found) - hits, len(truth) - hits)
