# What the two learning peers share: log-mel frames, frame targets, and events from posteriors with thresholds that are
# chosen on takes that were held back from learning. Used by logmel.py and crnn.py.
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from scipy.ndimage import median_filter
from scipy.signal import resample_poly

from ..metrics.events import Counts, count
from ..types import Detection, Take

RATE, HOP = 16_000, 160
FRAMES_PER_SECOND = RATE // HOP
HELD_BACK = 0.2  # of the takes, for thresholds
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SMOOTHING = (1, 5, 15, 45)  # frames of the median filter
LEAST_S = 0.03  # a shorter event is learned as if it had this length


@cache
def mel_matrix(bands: int, size: int) -> np.ndarray:
    """Triangles, evenly spread on the mel scale from 20 Hz to half the rate, (size / 2 + 1, bands)."""

    def mel(hertz):
        return 2595 * np.log10(1 + np.asarray(hertz) / 700)

    edges = 700 * (10 ** (np.linspace(mel(20), mel(RATE / 2), bands + 2) / 2595) - 1)
    hertz = np.arange(size // 2 + 1)[:, None] * RATE / size
    up = (hertz - edges[:-2]) / np.diff(edges)[:-1]
    down = (edges[2:] - hertz) / np.diff(edges)[1:]
    return np.maximum(0, np.minimum(up, down)).astype(np.float32)


def log_mel(take: Take, bands: int, size: int) -> np.ndarray:
    """(T, bands) float32, a frame each 10 ms, centered in it."""
    samples = take.samples()
    if take.sample_rate != RATE:
        shared = int(np.gcd(RATE, take.sample_rate))
        samples = resample_poly(samples, RATE // shared, take.sample_rate // shared).astype(np.float32)
    frames = -(-len(samples) // HOP)
    padded = np.pad(samples, (size // 2, size + HOP))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[HOP // 2 :: HOP][:frames]
    out = np.empty((frames, bands), np.float32)
    for first in range(0, frames, 1000):
        power = np.abs(np.fft.rfft(windows[first : first + 1000] * np.hanning(size).astype(np.float32), axis=1)) ** 2
        out[first : first + 1000] = np.log(power @ mel_matrix(bands, size) + 1e-6)
    return out


def targets(take: Take, types: Sequence[str], frames: int) -> np.ndarray:
    """Presence of each type in each frame, (T, K) float32."""
    out = np.zeros((frames, len(types)), np.float32)
    for event in take.events:
        if event.type in types:
            middle, half = (event.onset_s + event.offset_s) / 2, max(LEAST_S, event.offset_s - event.onset_s) / 2
            first, last = ((middle + side * half) * FRAMES_PER_SECOND for side in (-1, 1))
            out[max(0, round(first)) : max(0, round(first)) + max(1, round(last - first)), types.index(event.type)] = 1
    return out


@dataclass(frozen=True)
class Rule:
    """How the posteriors of one type become events."""

    threshold: float
    smoothing: int
    least_s: float
    shrink_s: float  # events shorter than LEAST_S were learned wider


def events_of(curve: np.ndarray, kind: str, rule: Rule) -> list[Detection]:
    p = median_filter(curve, rule.smoothing) if rule.smoothing > 1 else curve
    edges = np.flatnonzero(np.diff(np.concatenate([[False], p >= rule.threshold, [False]]).astype(np.int8)))
    out = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist()):
        onset, offset = a / FRAMES_PER_SECOND + rule.shrink_s, b / FRAMES_PER_SECOND - rule.shrink_s
        if b - a >= rule.least_s * FRAMES_PER_SECOND:
            out.append(Detection(kind, onset, max(onset, offset), float(p[a:b].max())))
    return out


def best_rule(kind: str, index: int, takes: Sequence[Take], curves: Sequence[np.ndarray]) -> Rule:
    """The rule with the best event-F1 on these takes."""
    lengths = [e.offset_s - e.onset_s for take in takes for e in take.events if e.type == kind] or [0.1]
    shrink = max(0.0, (LEAST_S - float(np.median(lengths))) / 2)
    rules = [
        Rule(threshold, smoothing, least * float(np.quantile(lengths, 0.1)), shrink)
        for smoothing in SMOOTHING
        if smoothing == 1 or smoothing <= np.median(lengths) * FRAMES_PER_SECOND
        for threshold in THRESHOLDS
        for least in (0, 0.5)
    ]

    def f1(rule: Rule) -> float:
        found = [events_of(curve[:, index], kind, rule) for curve in curves]
        return sum((count(take.events, f, kind) for take, f in zip(takes, found)), Counts()).f1

    return max(rules, key=f1)


class FramePeer:
    """Subclasses give `name`, `bands`, `size`, and learn(inputs, wanted, seed) -> a function from frames (T, bands) to
    posteriors (T, K)."""

    name: str
    needs_training = True
    bands: int
    size: int

    def __init__(self) -> None:
        from ..types import TYPES

        self.types = frozenset(TYPES)
        self.wanted: list[str] = []
        self.rules: list[Rule] = []
        self.model = None
        self.spent = 0.0

    @property
    def seconds(self) -> float:
        return self.spent

    def learn(self, inputs: list[np.ndarray], wanted: list[np.ndarray], seed: int):
        raise NotImplementedError

    def tune(self, takes: Sequence[Take], types: Sequence[str], seed: int) -> None:
        self.wanted = list(types)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(takes))
        held = set(order[: max(1, round(HELD_BACK * len(takes)))].tolist()) if len(takes) > 1 else set()
        inputs = [log_mel(take, self.bands, self.size) for take in takes]
        wanted = [targets(take, self.wanted, len(x)) for take, x in zip(takes, inputs)]
        learned = [i for i in range(len(takes)) if i not in held]
        self.model = self.learn([inputs[i] for i in learned], [wanted[i] for i in learned], seed)
        judged = sorted(held) or learned
        curves = [self.model(inputs[i]) for i in judged]
        self.rules = [best_rule(kind, k, [takes[i] for i in judged], curves) for k, kind in enumerate(self.wanted)]

    def detect(self, take: Take) -> list[Detection]:
        began = time.process_time()
        curves = self.model(log_mel(take, self.bands, self.size))
        out = [d for k, kind in enumerate(self.wanted) for d in events_of(curves[:, k], kind, self.rules[k])]
        self.spent += time.process_time() - began
        return sorted(out, key=lambda d: d.onset_s)


def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def scale_of(inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of each band, (bands,)."""
    rows = np.concatenate([x[::7] for x in inputs])
    return rows.mean(0), rows.std(0) + 1e-3
