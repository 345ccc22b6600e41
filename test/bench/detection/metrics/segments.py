# Segment-based F1: each whole second of a take is one yes or no per type. Called by judge.py.
import math
from collections.abc import Sequence

import numpy as np

from ..types import Detection, Event
from .events import Counts, of_type

SEGMENT_S = 1.0


def active(items: Sequence[Event] | Sequence[Detection], segments: int) -> np.ndarray:
    flags = np.zeros(segments, bool)
    for item in items:
        first = int(item.onset_s / SEGMENT_S)
        flags[first : max(first + 1, math.ceil(item.offset_s / SEGMENT_S))] = True
    return flags


def count_segments(events: Sequence[Event], found: Sequence[Detection], kind: str, duration_s: float) -> Counts:
    segments = math.ceil(duration_s / SEGMENT_S)
    truth, mine = active(of_type(events, kind), segments), active(of_type(found, kind), segments)
    return Counts(int((truth & mine).sum()), int((mine & ~truth).sum()), int((truth & ~mine).sum()))
