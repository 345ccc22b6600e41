# What is found at all, whatever it is called: class-agnostic event-F1, and which types are confused. It tells a detector
# that does not see an artifact from one that names it wrongly. Called by transfer.py.
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..types import Detection, Event, Take
from .events import IMPULSIVE_COLLAR_S, Counts, pairs

MISSED, NOTHING = "missed", "nothing"  # the column of events that nobody found, the row of detections without an event


def same_place(a: Detection, b: Detection) -> bool:
    """Whether two detections are of one sound: they begin together, or share more than half of the longer one."""
    if abs(a.onset_s - b.onset_s) <= IMPULSIVE_COLLAR_S:
        return True
    shared = min(a.offset_s, b.offset_s) - max(a.onset_s, b.onset_s)
    return shared > 0.5 * max(a.offset_s - a.onset_s, b.offset_s - b.onset_s)


def one_per_place(found: Sequence[Detection]) -> list[Detection]:
    """The detections without those that only give a less likely name to a sound that another one names."""
    kept: list[Detection] = []
    for detection in sorted(found, key=lambda d: -d.score):
        if not any(other.type != detection.type and same_place(other, detection) for other in kept):
            kept.append(detection)
    return sorted(kept, key=lambda d: d.onset_s)


def matches(events: Sequence[Event], found: Sequence[Detection]) -> list[int | None]:
    """For each detection the index of its event. Detections with the right name choose first."""
    of_found: list[int | None] = [None] * len(found)
    taken: set[int] = set()
    for named in (True, False):
        kinds: Iterable[str | None] = sorted({d.type for d in found}) if named else (None,)
        for kind in kinds:
            free = [j for j, event in enumerate(events) if j not in taken and kind in (None, event.type)]
            mine = [i for i, d in enumerate(found) if of_found[i] is None and kind in (None, d.type)]
            for i, match in zip(mine, pairs([events[j] for j in free], [found[i] for i in mine])):
                if match is not None:
                    of_found[i] = free[match]
                    taken.add(free[match])
    return of_found


def compare(takes: Sequence[Take], reported: Mapping[str, Sequence[Detection]]) -> tuple[Counts, Counter[tuple[str, str]]]:
    """Class-agnostic counts, and the confusion: how often an event of one type (or NOTHING) was reported as another (or
    MISSED). `reported` has the detections over their thresholds by take."""
    counts, confusion = Counts(), Counter[tuple[str, str]]()
    for take in takes:
        found = one_per_place(reported[take.id])
        of_found = matches(take.events, found)
        hits = sum(match is not None for match in of_found)
        counts += Counts(hits, len(found) - hits, len(take.events) - hits)
        for detection, match in zip(found, of_found):
            confusion[NOTHING if match is None else take.events[match].type, detection.type] += 1
        for j, event in enumerate(take.events):
            if j not in of_found:
                confusion[event.type, MISSED] += 1
    return counts, confusion
