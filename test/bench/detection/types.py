# Types that all parts of the benchmark share: takes with their truth, detections, and the interface of a detector. The
# corpus makes takes, the product and the peers detect in them, metrics/ compares. Standard library and numpy only:
# peers run in their own environment (peer_child.py) and import this file there.
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

# Scored by their onset alone (50 ms); all others by onset and offset (200 ms, or 20 % of the length for the offset).
IMPULSIVE = frozenset({"click", "mouth_click", "pop", "plosive", "tts_seam"})
SUSTAINED = frozenset({"breath", "hum", "clipping", "dropout", "packet_loss", "codec_glitch", "robotic", "echo"})
TYPES: tuple[str, ...] = tuple(sorted(IMPULSIVE | SUSTAINED))
SEVERITIES = ("faint", "medium", "strong")


@dataclass(frozen=True)
class Event:
    """One artifact in a take, as a careful listener would mark it."""

    type: str
    onset_s: float
    offset_s: float
    severity: str = "medium"


@dataclass(frozen=True)
class Detection:
    """A detection. `score` is in 0..1, and calibrated if the detector claims so; a peer without scores uses 1."""

    type: str
    onset_s: float
    offset_s: float
    score: float = 1.0


@dataclass(frozen=True)
class Take:
    """20 to 60 s of one talker in one language. Read-only: peers never write beside `path`."""

    id: str
    speaker: str
    language: str
    sample_rate: int  # of the decoded `path`
    path: Path  # mono; wav, flac, mp3 or opus: any format that soundfile opens
    duration_s: float
    events: tuple[Event, ...]
    clean: Path | None = None  # the take without artifacts, equal length and rate; in held-out rows equal coding

    def samples(self) -> np.ndarray:
        """The decoded take, (N,) float32 in about -1..1. The time of sample i is i / sample_rate."""
        return read_mono(self.path)

    def twin(self) -> "Take":
        """The clean twin as a take without events."""
        assert self.clean is not None, f"{self.id} has no clean twin"
        return Take(f"{self.id}~clean", self.speaker, self.language, self.sample_rate, self.clean, self.duration_s, ())

    def to_json(self) -> dict:
        return {**asdict(self), "path": str(self.path), "clean": self.clean and str(self.clean)}

    @staticmethod
    def from_json(value: dict) -> "Take":
        events = tuple(Event(**event) for event in value["events"])
        clean = Path(value["clean"]) if value["clean"] else None
        return Take(**{**value, "path": Path(value["path"]), "events": events, "clean": clean})


def read_mono(path: Path) -> np.ndarray:
    import soundfile  # imported here, because a peer that only compares events does not need it

    return soundfile.read(path, dtype="float32", always_2d=True)[0][:, 0]


class Peer(Protocol):
    """A detector that the product is compared with; registered by name in peers/__init__.py (`PEERS: dict[str, factory]`).

    One object is made for each part of the benchmark (a training set and a seed): `tune` once, then `detect` for many takes,
    clean twins among them. Deterministic for a seed. A peer may use all takes of `tune` with their clean twins as it likes
    (to choose thresholds: the ones with the best event-F1 by metrics/events.py), nothing else.
    """

    name: str
    types: frozenset[str]  # types that it can find and is scored on; for a trained peer those of its training
    needs_training: bool  # False: `tune` only chooses thresholds, so one training set is enough for all its rows

    def tune(self, takes: Sequence[Take], types: Sequence[str], seed: int) -> None:
        """Chooses thresholds or trains on `takes`, for the types of `types` that it can find."""
        ...

    def detect(self, take: Take) -> list[Detection]:
        """Events of `take`, by onset. Must not read `take.events` and `take.clean`."""
        ...

    @property
    def seconds(self) -> float:
        """Processor seconds (time.process_time and children) of `detect` so far, including decoding."""
        ...
