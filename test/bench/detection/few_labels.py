# A few labels of another make: takes with exactly so many artifacts of each type, as a customer would label a handful. The
# artifacts that are too many are replaced by the sound of the clean twin. Called by transfer.py.
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import soundfile

from .types import Event, Take, read_mono

FADE_S = 0.005


def chosen(takes: Sequence[Take], per_type: int, types: Sequence[str]) -> list[tuple[Take, tuple[Event, ...]]]:
    """The first `per_type` events of each type, with their takes; takes without any of these are left out."""
    left, out = Counter(dict.fromkeys(types, per_type)), []
    for take in takes:
        kept = []
        for event in take.events:
            if left[event.type] > 0:
                left[event.type] -= 1
                kept.append(event)
        if kept:
            out.append((take, tuple(kept)))
    if short := {kind: per_type - count for kind, count in left.items() if count > 0}:
        raise ValueError(f"the takes have fewer than {per_type} events of {', '.join(sorted(short))}: make more minutes of them")
    return out


def without(mixed: np.ndarray, clean: np.ndarray, rate: int, events: Sequence[Event], kept: Sequence[Event]) -> np.ndarray:
    """The take (N,) with the events of `kept` alone. Between two events it changes sides in the middle of their gap."""
    weight = np.zeros(len(mixed))
    for index, event in enumerate(events):
        if event in kept:
            low = (events[index - 1].offset_s + event.onset_s) / 2 if index else 0.0
            last = index + 1 == len(events)
            high = len(mixed) / rate if last else (event.offset_s + events[index + 1].onset_s) / 2
            weight[int(low * rate) : int(np.ceil(high * rate))] = 1
    fade = max(1, int(FADE_S * rate))
    padded = np.pad(weight, (fade // 2, fade - 1 - fade // 2), mode="edge")
    weight = np.convolve(padded, np.ones(fade) / fade, "valid")
    return clean + weight * (mixed - clean)


def few(takes: Sequence[Take], per_type: int, types: Sequence[str], folder: Path) -> list[Take]:
    """Takes with exactly `per_type` events of each type, written to `folder`."""
    out = []
    for take, kept in chosen(takes, per_type, types):
        assert take.clean is not None, f"{take.id} has no clean twin"
        samples = without(read_mono(take.path), read_mono(take.clean), take.sample_rate, take.events, kept)
        path = folder / f"{take.id}.flac"
        soundfile.write(path, np.clip(samples, -1, 1), take.sample_rate, subtype="PCM_16")
        out.append(replace(take, id=f"{take.id}~{per_type}", path=path, events=kept, clean=None))
    return out
