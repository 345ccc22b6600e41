# Shared by both generators: the place of an artifact, its strength, and whether it is audible. Contains no synthesis,
# so that the generators (artifacts.py and damage.py, second.py and second_damage.py) stay independent of each other.
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Span = tuple[int, int]  # first sample, one past the last
NOWHERE: Span = (0, 0)  # returned by a mixer that cannot place its artifact
SEVERITIES = ("faint", "medium", "strong")
# dB relative to the speech level (RMS of the loud part)
BANDS_DB = ((-8.0, 0.0), (0.0, 8.0), (8.0, 16.0))
EDGES_HZ = (40, 120, 250, 500, 1000, 1600, 2500, 4000, 6000, 9000, 14000)


@dataclass(frozen=True)
class Scene:
    """Parameters of one event: the take's rate and speech level, the severity band (0 faint, 1 medium, 2 strong), and
    the random generator."""

    rate: int
    level: float
    band: int
    rng: np.random.Generator

    def seconds(self, low: float, high: float) -> int:
        """Draws a length in samples."""
        return int(self.rng.uniform(low, high) * self.rate)

    def among(self, bands: tuple[tuple[float, float], ...]) -> float:
        """Draws a number from this event's band; `bands` are ordered from faint to strong."""
        return float(self.rng.uniform(*bands[self.band]))

    def gain(self, offset_db: float = 0.0, bands: tuple[tuple[float, float], ...] = BANDS_DB) -> float:
        """Draws an amplitude relative to the speech level."""
        return self.level * 10 ** ((self.among(bands) + offset_db) / 20)

    def third(self, low: float, high: float) -> float:
        """Draws a number from the lower, middle or upper third of a range, by the band."""
        return low + (high - low) * (self.band + float(self.rng.random())) / 3


Mixer = Callable[[np.ndarray, int, Scene], Span]


def add(take: np.ndarray, at: int, sound: np.ndarray) -> Span:
    end = min(len(take), at + len(sound))
    take[at:end] += sound[: end - at]
    return at, end


def ramps(length: int, edge: int) -> np.ndarray:
    """Returns weights of 1 with a linear ramp of `edge` samples on both sides, (length,)."""
    up = np.arange(1, length + 1)
    return np.minimum(1, np.minimum(up, up[::-1]) / max(1, edge))


def blend(take: np.ndarray, at: int, other: np.ndarray, edge: int) -> Span:
    """Replaces a stretch of the take by `other` with soft edges, so that the joints are not audible."""
    end = min(len(take), at + len(other))
    weight = ramps(end - at, edge)
    take[at:end] += weight * (other[: end - at] - take[at:end])
    return at, end


def loudness(x: np.ndarray) -> float:
    return float(np.sqrt((x**2).mean())) if len(x) else 0.0


def quiet_run(take: np.ndarray, at: int, scene: Scene, most: int) -> int:
    """Returns how many samples from `at` on are a pause (20 dB below the speech level), at most `most`."""
    hop = scene.rate // 100
    part = take[at : at + most]
    frames = part[: len(part) // hop * hop].reshape(-1, hop)
    loud = np.flatnonzero(np.sqrt((frames**2).mean(1)) > 0.1 * scene.level)
    return int(loud[0]) * hop if loud.size else len(frames) * hop


def where_over(part: np.ndarray, rail: float, at: int) -> Span:
    """Returns the span from the first to the last sample above the rail: clipping cannot be labelled in the pause after
    it."""
    over = np.flatnonzero(np.abs(part) > rail)
    return (at + int(over[0]), at + int(over[-1]) + 1) if over.size else NOWHERE


def audible_centres(before: np.ndarray, after: np.ndarray, span: Span, scene: Scene) -> np.ndarray:
    """Returns the centers (samples) of the 16 ms frames of `span` in which the change is audible: at least as loud as
    the original in at least one hearing band, and at most 40 dB below the speech level."""
    size, hop = int(0.016 * scene.rate) // 2 * 2, int(0.008 * scene.rate)
    first, last = max(0, span[0] - hop), min(len(before), max(span[1] + hop, span[0] + 2 * size))
    starts = np.arange(first, last - size + 1, hop)
    if not len(starts):
        return starts
    window = np.hanning(size)
    index = starts[:, None] + np.arange(size)
    old = np.abs(np.fft.rfft(before[index] * window)) ** 2
    new = np.abs(np.fft.rfft((after[index] - before[index]) * window)) ** 2
    hz = np.fft.rfftfreq(size, 1 / scene.rate)
    edges = np.unique(np.searchsorted(hz, [e for e in EDGES_HZ if e < scene.rate / 2]))
    edges = edges[edges < len(hz)]
    masked, added = np.add.reduceat(old, edges, 1), np.add.reduceat(new, edges, 1)
    floor = (window**2).sum() * size / 2 * (0.01 * scene.level) ** 2
    return starts[((added >= masked) & (added >= floor)).any(1)] + size // 2
