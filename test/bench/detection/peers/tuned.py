# What all peers without training have in common: for each type they try their settings on the tuning takes and keep the
# one with the best event-F1, with the minimum strength of a detection and a constant shift of its onsets.
# Subclassed by essentia.py, ffmpeg.py, clipdetect.py and aubio.py.
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics.events import Counts, best_threshold, count
from ..types import Detection, Event, Take

NEAR_S = 0.15  # an onset this near to a candidate's belongs to it when the shift is chosen
MAX_PER_SECOND = 20  # a setting that says more than this on average is no detector


@dataclass(frozen=True)
class Candidate:
    """What a detector marks, before anything is chosen; greater strength means higher confidence."""

    onset_s: float
    offset_s: float
    strength: float = 1.0


@dataclass(frozen=True)
class Setting:
    """One of the detector's own algorithms with its parameters."""

    algorithm: str
    values: tuple[tuple[str, float | str], ...] = ()

    def __getitem__(self, name: str) -> float | str:
        return dict(self.values)[name]


def settings(algorithm: str, **grids: Iterable[float | str]) -> list[Setting]:
    """All combinations of the values."""
    out = [Setting(algorithm)]
    for name, values in grids.items():
        out = [Setting(algorithm, (*s.values, (name, value))) for s in out for value in values]
    return out


@dataclass(frozen=True)
class Choice:
    setting: Setting
    threshold: float
    shift_s: float
    f1: float


def joined(candidates: Sequence[Candidate], gap_s: float) -> list[Candidate]:
    """Candidates that follow each other within `gap_s` as one, with the greatest strength."""
    out: list[Candidate] = []
    for one in sorted(candidates, key=lambda c: c.onset_s):
        if out and one.onset_s - out[-1].offset_s <= gap_s:
            last = out[-1]
            out[-1] = Candidate(last.onset_s, max(last.offset_s, one.offset_s), max(last.strength, one.strength))
        else:
            out.append(one)
    return out


def flagged(flags: np.ndarray, step_s: float, strength: np.ndarray | None = None) -> list[Candidate]:
    """Stretches of True of a curve with a value every `step_s`, (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [
        Candidate(a * step_s, b * step_s, 1.0 if strength is None else float(strength[a:b].max()))
        for a, b in zip(edges[::2].tolist(), edges[1::2].tolist())
    ]


def shift_of(events: Sequence[Sequence[Event]], found: Sequence[Sequence[Candidate]], kind: str) -> float:
    """Median of how much later the events begin than the candidates next to them."""
    differences = []
    for take, candidates in zip(events, found):
        onsets = np.array([c.onset_s for c in candidates])
        for event in take:
            if event.type == kind and len(onsets):
                nearest = onsets[np.abs(onsets - event.onset_s).argmin()]
                if abs(nearest - event.onset_s) <= NEAR_S:
                    differences.append(event.onset_s - nearest)
    return float(np.median(differences)) if differences else 0.0


def as_detections(found: Sequence[Candidate], kind: str, shift_s: float) -> list[Detection]:
    return [Detection(kind, c.onset_s + shift_s, c.offset_s + shift_s, c.strength) for c in found]


class TunedPeer:
    """Subclasses give `name`, `grid` (type -> settings to try) and `candidates`."""

    name: str
    needs_training = False
    grid: Mapping[str, Sequence[Setting]]

    def __init__(self) -> None:
        self.choices: dict[str, Choice] = {}
        self.spent = 0.0

    @property
    def types(self) -> frozenset[str]:
        return frozenset(self.grid)

    @property
    def seconds(self) -> float:
        return self.spent

    def candidates(self, take: Take, samples: np.ndarray, setting: Setting) -> list[Candidate]:
        raise NotImplementedError

    def tune(self, takes: Sequence[Take], types: Sequence[str], seed: int) -> None:
        """The seed changes nothing: all settings are tried."""
        sound = [take.samples() for take in takes]
        events = [take.events for take in takes]
        most = MAX_PER_SECOND * sum(take.duration_s for take in takes)
        tried: dict[Setting, list[list[Candidate]]] = {}
        for kind in sorted(set(types) & self.types):
            for setting in self.grid[kind]:
                if setting not in tried:
                    tried[setting] = [self.candidates(take, samples, setting) for take, samples in zip(takes, sound)]
                if sum(map(len, tried[setting])) > most:
                    continue
                choice = self.judged(setting, events, tried[setting], kind)
                if kind not in self.choices or choice.f1 > self.choices[kind].f1:
                    self.choices[kind] = choice

    def judged(
        self, setting: Setting, events: Sequence[Sequence[Event]], found: Sequence[Sequence[Candidate]], kind: str
    ) -> Choice:
        shift = shift_of(events, found, kind)
        detections = [as_detections(one, kind, shift) for one in found]
        threshold = best_threshold(events, detections, kind)
        kept = [[d for d in one if d.score >= threshold] for one in detections]
        total = sum((count(e, k, kind) for e, k in zip(events, kept)), Counts())
        return Choice(setting, threshold, shift, total.f1)

    def detect(self, take: Take) -> list[Detection]:
        began = time.process_time() + children_seconds()
        samples = take.samples()
        found: dict[Setting, list[Candidate]] = {}
        out: list[Detection] = []
        for kind, choice in self.choices.items():
            if choice.f1 == 0:
                continue  # nothing that it says about this type is right: it is better silent
            if choice.setting not in found:
                found[choice.setting] = self.candidates(take, samples, choice.setting)
            sure = [c for c in found[choice.setting] if c.strength >= choice.threshold]
            out += [Detection(d.type, d.onset_s, d.offset_s) for d in as_detections(sure, kind, choice.shift_s)]
        self.spent += time.process_time() + children_seconds() - began
        return sorted(out, key=lambda d: d.onset_s)


def children_seconds() -> float:
    """Processor time of the programs that a peer has run and waited for."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
