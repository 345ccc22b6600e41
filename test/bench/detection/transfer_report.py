# Results of transfer -> docs/benchmarks/transfer.md (development pairs) and docs/benchmarks/untouched.md (a play). Called by
# transfer.py.
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .cache import REPO
from .goals import mean_and_sd
from .metrics.agnostic import MISSED, NOTHING, compare
from .metrics.events import Counts
from .metrics.judge import Score, judge, kept
from .report import table
from .results import Part
from .transfer import DEVELOPMENT, FEW, UNTOUCHED
from .types import TYPES, Take
from .untouched.plays import Play
from .untouched.sets import CLEAN_ROWS, TEST_ROWS

FOLDER = REPO / "docs" / "benchmarks"
MAIN_ROW = {"A": "A", "B": "B", "C": "third", "D": "fourth"}
HARD_CLEAN = ("clean-noise", "clean-music")
Rows = Mapping[int, Mapping[str, Sequence[Take]]]  # takes by seed and row


@dataclass(frozen=True)
class Tested:
    """One model on one row; `score` is None for a row of clean voice."""

    score: Score | None
    agnostic: Counts
    confusion: Counter[tuple[str, str]]
    alarms: Mapping[str, float]  # false events per clean hour by type: of the twins, or of the row itself if it is clean

    @property
    def alarms_per_hour(self) -> float:
        return sum(self.alarms.values())


Results = Mapping[tuple[str, int, int, str], Tested]  # training, minutes, seed, row
Figure = Callable[[Tested], float]


def tested(part: Part, row: str, takes: Sequence[Take]) -> Tested:
    found, clean = part.rows[row], part.clean.get(row, {})
    reported = {take.id: kept(found[take.id], part.thresholds) for take in takes}
    agnostic, confusion = compare(takes, reported)
    if clean:
        score = judge(takes, found, clean, part.thresholds, part.types)
        return Tested(score, agnostic, confusion, score.false_types)
    hours = sum(take.duration_s for take in takes) / 3600
    counts = Counter(d.type for listed in reported.values() for d in listed)
    return Tested(None, agnostic, confusion, {kind: counts[kind] / hours for kind in part.types})


def results_of(parts: Sequence[Part], rows: Rows) -> Results:
    return {(p.detector, p.minutes, p.seed, row): tested(p, row, rows[p.seed][row]) for p in parts for row in rows[p.seed]}


def over_seeds(results: Results, training: str, minutes: int, row: str, of: Figure) -> np.ndarray:
    mine = {seed: of(t) for (name, m, seed, r), t in results.items() if (name, m, r) == (training, minutes, row)}
    return np.array([mine[seed] for seed in sorted(mine)])


def macro(t: Tested) -> float:
    return t.score.macro_f1 if t.score else float("nan")


def agnostic_f1(t: Tested) -> float:
    return t.agnostic.f1


def alarms(t: Tested) -> float:
    return t.alarms_per_hour


def pair_table(results: Results, minutes: int, makes: Sequence[str], of: Figure, digits: int = 3) -> str:
    rows = [
        (make, *(mean_and_sd(over_seeds(results, make, minutes, MAIN_ROW[other], of), digits) for other in makes))
        for make in makes
    ]
    return table(("trained on", *(f"tested on {make}" for make in makes)), rows)


def few_table(results: Results, minutes: int, makes: Sequence[str]) -> str:
    rows = []
    for make in DEVELOPMENT:
        for other in makes:
            names = [make, *(f"{make}+{count}{other}" for count in FEW)]
            values = [over_seeds(results, name, minutes, MAIN_ROW[other], macro) for name in names]
            if other != make and any(len(v) for v in values[1:]):
                rows.append((make, other, *map(mean_and_sd, values)))
    return table(("trained on", "tested on", "no labels", *(f"+ {count} labels a type" for count in FEW)), rows)


def confusion_table(results: Results, training: str, minutes: int, row: str) -> str:
    """For each type what became of its events, over all seeds."""
    total = Counter[tuple[str, str]]()
    for (name, m, _, r), t in results.items():
        if (name, m, r) == (training, minutes, row):
            total += t.confusion
    rows = []
    for kind in (*TYPES, NOTHING):
        named = {other: count for (truth, other), count in total.items() if truth == kind}
        events = sum(named.values())
        wrong = sorted(((c, n) for n, c in named.items() if n not in (kind, MISSED)), reverse=True)[:3]
        share = [f"{named.get(n, 0) / events:.2f}" if events and kind != NOTHING else "" for n in (kind, MISSED)]
        rows.append((kind, str(events), *share, ", ".join(f"{other} {count}" for count, other in wrong)))
    return table(("event", "number", "right name", "missed", "most frequent other names"), rows)


def sections(results: Results, minutes: int, makes: Sequence[str]) -> str:
    out = [f"## Trained on {minutes} minutes\n"]
    for title, of, digits in (
        ("Macro event-F1", macro, 3),
        ("Class-agnostic event-F1: found at all, whatever the name", agnostic_f1, 3),
        ("False events per hour on the clean twins", alarms, 1),
    ):
        out += [f"{title}:\n", pair_table(results, minutes, makes, of, digits)]
    out += ["Macro event-F1 with a few labels of the new make:\n", few_table(results, minutes, makes)]
    for make in makes:
        for other in makes:
            if make != other and len(over_seeds(results, make, minutes, MAIN_ROW[other], macro)):
                out += [
                    f"Trained on {make}, tested on {other}, names:\n",
                    confusion_table(results, make, minutes, MAIN_ROW[other]),
                ]
    return "\n".join(out)


def minutes_of(parts: Sequence[Part]) -> list[int]:
    return sorted({part.minutes for part in parts}, reverse=True)


def write_development(parts: Sequence[Part], rows: Rows) -> None:
    own = {seed: {make: takes[make] for make in DEVELOPMENT} for seed, takes in rows.items()}
    results = results_of(parts, own)
    seeds = ", ".join(map(str, sorted({part.seed for part in parts})))
    text = f"""# Transfer between the generators of the development set

Written by `make bench-detection BENCH='--part transfer'`, seeds {seeds}. A and B are the first and the second generator of
artifacts (tools/voices). [benchmarks.md](../benchmarks.md#transfer) describes the method.

"""
    (FOLDER / "transfer.md").write_text(
        text + "\n".join(sections(results, minutes, DEVELOPMENT) for minutes in minutes_of(parts))
    )


def clean_table(results: Results, minutes: int, makes: Sequence[str]) -> str:
    rows = []
    for row in CLEAN_ROWS:
        worst = Counter[str]()
        for (name, m, _, r), t in results.items():
            if (m, r) == (minutes, row.name) and name in makes:
                worst.update(t.alarms)
        types = ", ".join(kind for kind, rate in worst.most_common(3) if rate > 0)
        cells = (mean_and_sd(over_seeds(results, make, minutes, row.name, alarms), 1) for make in makes)
        rows.append((row.title, f"{row.minutes:.0f}", *cells, types))
    return table(("clean voice", "minutes", *(f"trained on {make}" for make in makes), "most frequent types"), rows)


def row_table(results: Results, minutes: int, makes: Sequence[str]) -> str:
    rows = []
    for make in UNTOUCHED:
        for row in TEST_ROWS[make]:
            cells = (mean_and_sd(over_seeds(results, trained, minutes, row.name, macro)) for trained in makes)
            rows.append((row.title, *cells))
    return table(("row", *(f"trained on {make}" for make in makes)), rows)


def per_hour(results: Results, minutes: int, names: Sequence[str]) -> float:
    """False events per hour over these rows of clean voice, trained on A, mean over seeds; rows count by their length."""
    length = {row.name: row.minutes for row in CLEAN_ROWS}
    means = {name: over_seeds(results, "A", minutes, name, alarms).mean() for name in names}
    return float(sum(means[name] * length[name] for name in names) / sum(length[name] for name in names))


def figures(parts: Sequence[Part], rows: Rows) -> dict[str, float]:
    """The figures of the acceptance table that a play measures, for the log."""
    results, out = results_of(parts, rows), {}
    quiet = [row.name for row in CLEAN_ROWS if row.name not in HARD_CLEAN]
    for minutes in minutes_of(parts):
        at = partial(over_seeds, results)
        mean = {
            "same make": [at(make, minutes, MAIN_ROW[make], macro) for make in UNTOUCHED],
            "A on B, C, D": [at("A", minutes, MAIN_ROW[make], macro) for make in ("B", *UNTOUCHED)],
            **{
                f"A + {count} labels on B, C, D": [
                    at(f"A+{count}{make}", minutes, MAIN_ROW[make], macro) for make in ("B", *UNTOUCHED)
                ]
                for count in FEW
            },
            **{
                kind: [at(make, minutes, f"{MAIN_ROW[make]}-{kind}", macro) for make in UNTOUCHED]
                for kind in ("noise", "opus", "8khz")
            },
            "false alarms an hour, same make": [at(make, minutes, MAIN_ROW[make], alarms) for make in UNTOUCHED],
        }
        measured = {name: np.concatenate(listed) for name, listed in mean.items()}
        values = {name: float(listed.mean()) for name, listed in measured.items() if len(listed)}
        values["false alarms an hour, other make"] = per_hour(results, minutes, quiet)
        values["false alarms an hour, noise and music"] = per_hour(results, minutes, HARD_CLEAN)
        out |= {f"{minutes} min: {name}": round(value, 3) for name, value in values.items()}
    return out


def write_untouched(parts: Sequence[Part], rows: Rows, play: Play) -> None:
    results, makes = results_of(parts, rows), (*DEVELOPMENT, *UNTOUCHED)
    out = [
        f"""# The play of release {play.release} on the untouched set

Written by `make bench-detection BENCH='--part transfer --play-untouched {play.release}'` at commit {play.commit[:12]}, begun on
{play.date}. [untouched-plays.json](untouched-plays.json) logs every play. [benchmarks.md](../benchmarks.md#the-untouched-set)
describes the set.
"""
    ]
    for minutes in minutes_of(parts):
        out += [
            sections(results, minutes, makes),
            "Macro event-F1 by row of the untouched set:\n",
            row_table(results, minutes, makes),
        ]
        out += ["False events per hour of clean voice:\n", clean_table(results, minutes, makes)]
    (FOLDER / "untouched.md").write_text("\n".join(out))
