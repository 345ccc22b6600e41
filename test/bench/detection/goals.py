# The goals of detection, and whether the figures meet them. Pure. Called by report.py.
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .metrics.judge import Score

Scores = Mapping[tuple[str, int, int, str], Score]  # detector, training minutes, seed, row


@dataclass(frozen=True)
class Goal:
    """A line of the table; `met` is None if nothing was measured."""

    name: str
    goal: str
    measured: str
    met: bool | None


def over_seeds(scores: Scores, detector: str, minutes: int, row: str, figure: Callable[[Score], float]) -> np.ndarray:
    wanted = (detector, minutes, row)
    mine = {seed: figure(s) for (d, m, seed, r), s in scores.items() if (d, m, r) == wanted}
    return np.array([mine[seed] for seed in sorted(mine)])


def mean_and_sd(values: np.ndarray, digits: int = 3) -> str:
    if not len(values):
        return "not measured"
    spread = f" ± {values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


def compared(name: str, wanted: str, values: np.ndarray, meets: Callable[[float], bool], digits: int = 3) -> Goal:
    return Goal(name, wanted, mean_and_sd(values, digits), bool(meets(float(values.mean()))) if len(values) else None)


def type_f1(scores: Scores, detector: str, kind: str, row: str = "unseen") -> np.ndarray:
    """Scores by seed, for the training set that this detector is listed with (the largest for our own)."""
    most = max((m for d, m, _, _ in scores if d == detector), default=0)
    return over_seeds(scores, detector, most, row, lambda s: s.types[kind].f1 if kind in s.types else float("nan"))


def best_peer(scores: Scores, kind: str, row: str = "unseen") -> tuple[str, float]:
    """The peer with the highest mean F1 for this type; ("", nan) if none detects it."""
    peers = sorted({d for d, _, _, _ in scores if d != "plosive"})
    found = [(name, type_f1(scores, name, kind, row)) for name in peers]
    known = [(name, float(values.mean())) for name, values in found if len(values) and not np.isnan(values).any()]
    return max(known, key=lambda x: x[1]) if known else ("", float("nan"))


def margins(scores: Scores, types: Sequence[str]) -> dict[str, tuple[float, str, float]]:
    """For each type that a peer detects: our F1, the best peer and its F1."""
    out = {}
    for kind in types:
        name, theirs = best_peer(scores, kind)
        ours = type_f1(scores, "plosive", kind)
        if name and len(ours):
            out[kind] = (float(ours.mean()), name, theirs)
    return out


def goals(scores: Scores, types: Sequence[str], spent: Mapping[str, np.ndarray]) -> list[Goal]:
    """`spent` has, by seed: embed_rtf and detect_rtf (times real time on one core), train_minutes (of a processor, on 1
    h)."""

    def figure(minutes: int, row: str, of: Callable[[Score], float]) -> np.ndarray:
        return over_seeds(scores, "plosive", minutes, row, of)

    out = []
    for minutes, row, least in ((60, "unseen", 0.85), (15, "unseen", 0.75), (5, "unseen", 0.65), (60, "second", 0.7)):
        name = f"macro event-F1 after {minutes} min of training audio" + (", second generator" if row == "second" else "")
        f1 = figure(minutes, row, lambda s: s.macro_f1)
        out.append(compared(name, f">= {least:.2f}", f1, lambda v, least=least: v >= least))
    beaten = margins(scores, types)
    short = [kind for kind, (ours, _, theirs) in beaten.items() if not (ours >= theirs + 0.10 or ours >= 0.97)]
    text = f"{len(beaten) - len(short)} of {len(beaten)} types" + (f"; not {', '.join(short)}" if short else "")
    against = (text, not short) if beaten else ("not measured", None)
    out.append(Goal("per type against the best peer", "+0.10, or >= 0.97", *against))
    alarms = figure(60, "unseen", lambda s: s.false_per_hour)
    out.append(compared("false events per hour of clean audio, all types", "<= 6", alarms, lambda v: v <= 6, 1))
    for part, most, place in (("P50", 5, 0), ("P95", 20, 1)):
        errors = figure(60, "unseen", lambda s, place=place: s.onset_ms[place])
        name = f"onset error, impulsive, {part} (ms)"
        out.append(compared(name, f"<= {most}", errors, lambda v, most=most: v <= most, 1))
    out.append(compared("ECE", "<= 0.05", figure(60, "unseen", lambda s: s.ece), lambda v: v <= 0.05))
    f1 = figure(60, "unseen", lambda s: s.macro_f1)
    spread = f1[:0] if len(f1) < 2 else np.array([f1.std(ddof=1)])
    out.append(compared("deviation of the macro F1 over seeds", "<= 0.02", spread, lambda v: v <= 0.02))
    out.append(compared("embed, one core, times real time", ">= 200", spent["embed_rtf"], lambda v: v >= 200, 0))
    out.append(compared("decode to events, one core, times real time", ">= 150", spent["detect_rtf"], lambda v: v >= 150, 0))
    out.append(Goal("decode to events, a GPU and 16 cores, times real time", ">= 10,000", "1,940 (detection-gpu.md)", False))
    name = "train on 1 h, 20 epochs (processor minutes; one core works)"
    out.append(compared(name, "<= 10", spent["train_minutes"], lambda v: v <= 10, 1))
    return out
