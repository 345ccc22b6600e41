# Results -> docs/benchmarks/detection.md and its plots. Called by __main__.py.
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from . import invented, plots, results
from .cache import REPO, folder_of
from .corpus.sets import HELD_OUT, ROWS, takes_of
from .goals import Scores, best_peer, goals, margins, mean_and_sd, over_seeds, type_f1
from .metrics.judge import Score, judge
from .product import CODE, say
from .results import Part
from .types import IMPULSIVE, SEVERITIES, TYPES

FOLDER = REPO / "docs" / "benchmarks"
Speeds = Mapping[str, Sequence[float]]
SPEEDS = folder_of("results") / f"speed-{CODE}.json"  # times of the verbs by round, written by speed.py
METHOD = """\
`make bench-detection` runs the benchmark ({seeds} seeds). Results of finished parts stay in the cache.

- **Voices.** Recorded: Debian's asterisk prompts in English, Spanish, French, Italian and Russian, four talkers. Synthetic:
  espeak-ng, flite and festival, {languages} languages. Takes have 20 to 60 s with room tone. Each seed holds out another
  talker and all other takes in the same language ({held}). German, Portuguese and Catalan are never trained on.
- **Artifacts.** {types} types; each event is faint, medium or strong. An event counts only if it is audible: at some point
  the change is as loud as the original sound, in at least one band of hearing. Every take has a clean twin without
  artifacts. The second generator makes the same types by other means; none of its takes are in the training data.
- **Plosive** ("ours" in the plots). The verbs embed, train and detect run as in pods, with the service's default training
  settings. The thresholds are those that the model chose in training.
- **Goals that are not reached**, what was tried and what limits it: see
  [ADR 16](../adr/0016-detector-design-by-measurement.md).
- **Event-F1.** An impulsive event ({impulsive}) counts as found when a detection of its type begins within 50 ms. Any other
  event counts as found when a detection of its type begins within 200 ms and ends within 200 ms or 20 % of the event's
  length. Macro is the mean over types.
- **Other figures.** Segment-F1 compares whole seconds. PSDS has tolerances of 0.7 and a limit of 100 false alarms per hour;
  the deviation over types is subtracted, and events under 100 ms are widened to 100 ms. ECE is the expected calibration
  error over all candidates with a confidence of at least 0.1. False events are false alarms on the clean twins. ± is the
  standard deviation over seeds.
"""


def scores_of(parts: Sequence[Part]) -> dict[tuple[str, int, int, str], Score]:
    rows = {row.name: row for row in ROWS}
    out = {}
    for part in parts:
        for name, found in part.rows.items():
            takes = takes_of(rows[name], part.seed)
            clean = part.clean.get(name, {})
            out[part.detector, part.minutes, part.seed, name] = judge(takes, found, clean, part.thresholds, part.types)
        say(f"judged {part.detector}-{part.minutes}-{part.seed}")
    return out


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def cell(scores: Scores, detector: str, minutes: int, row: str, of: Callable[[Score], float], digits: int = 3) -> str:
    values = over_seeds(scores, detector, minutes, row, of)
    return mean_and_sd(values, digits) if len(values) and not np.isnan(values).all() else ""


def goal_table(scores: Scores, parts: Sequence[Part], timed: Speeds) -> str:
    mark = {True: "met", False: "**missed**", None: "not measured"}
    rows = [(g.name, g.goal, g.measured, mark[g.met]) for g in goals(scores, TYPES, spent(parts, timed))]
    return table(("goal", "wanted", "measured", ""), rows)


def speeds() -> Speeds:
    """Times real time by round, of the verbs and the others, if speed.py was run on this code."""
    return json.loads(SPEEDS.read_text()) if SPEEDS.exists() else {}


def spent(parts: Sequence[Part], timed: Speeds) -> dict[str, np.ndarray]:
    """Minutes of a training on an hour, and times real time of the verbs: from speed.py if it was run, otherwise from
    these parts, which may have shared the machine."""
    hour = [part.spent for part in parts if part.detector == "plosive" and part.minutes == 60]
    return {
        "embed_rtf": np.array(timed.get("embed") or [s["embed_sound"] / s["embed_cpu"] for s in hour if "embed_cpu" in s]),
        "detect_rtf": np.array(timed.get("detect") or [s["detect_sound"] / s["detect_cpu"] for s in hour]),
        "train_minutes": np.array([s["train_cpu"] / 60 for s in hour]),
    }


def row_table(scores: Scores) -> str:
    out = []
    figures: tuple[Callable[[Score], float], ...] = (
        lambda s: s.macro_f1, lambda s: s.segment_f1, lambda s: s.psds, lambda s: s.ece, lambda s: s.ece_reported
    )  # fmt: skip
    for row in ROWS:
        alarms = cell(scores, "plosive", 60, row.name, lambda s: s.false_per_hour, 1)
        out.append((row.title, *(cell(scores, "plosive", 60, row.name, of) for of in figures), alarms))
    head = (
        "held-out row",
        "macro event-F1",
        "segment-F1",
        "PSDS",
        "ECE",
        "ECE of what is reported",
        "false events per clean hour",
    )
    return table(head, out)


def minutes_table(scores: Scores) -> str:
    rows = [
        (f"{m} min", *(cell(scores, "plosive", m, name, lambda s: s.macro_f1) for name in ("unseen", "synthetic", "second")),
         cell(scores, "plosive", m, "unseen", lambda s: s.false_per_hour, 1))
        for m in (5, 15, 60)
    ]  # fmt: skip
    return table(("training audio", "unseen talker", "synthetic voices", "second generator", "false events per clean hour"), rows)


def type_table(scores: Scores) -> str:
    against = margins(scores, TYPES)
    rows = []
    for kind in TYPES:
        peer, theirs = best_peer(scores, kind)
        margin = f"{against[kind][0] - theirs:+.2f}" if kind in against else ""
        second = mean_and_sd(type_f1(scores, "plosive", kind, "second"), 2)
        precision, recall = (
            cell(scores, "plosive", 60, "unseen", of, 2)
            for of in (lambda s, kind=kind: s.types[kind].precision, lambda s, kind=kind: s.types[kind].recall)
        )
        alarms = cell(scores, "plosive", 60, "unseen", lambda s, kind=kind: s.false_types.get(kind, float("nan")), 1)
        ours = mean_and_sd(type_f1(scores, "plosive", kind), 2)
        rows.append((kind, ours, precision, recall, second, alarms, f"{theirs:.2f} {peer}" if peer else "", margin))
    head = ("type", "event-F1", "precision", "recall", "F1, second generator", "false per clean hour", "best peer", "margin")
    return table(head, rows)


def severity_table(scores: Scores) -> str:
    rows = [
        (title, *(cell(scores, "plosive", 60, row, lambda s, band=band: s.recall[band]) for band in SEVERITIES))
        for row, title in (("unseen", "unseen talker"), ("second", "second generator"))
    ]
    return table(("recall", *SEVERITIES), rows)


def peer_table(scores: Scores, parts: Sequence[Part]) -> str:
    rows = []
    for name in dict.fromkeys(part.detector for part in parts):
        mine = [part for part in parts if part.detector == name]
        minutes = max(part.minutes for part in mine)
        speed = [p.spent["detect_sound"] / max(1e-3, p.spent["detect_cpu"]) for p in mine if p.minutes == minutes]
        shown = ("unseen", "second", "opus", "telephone", "noise")
        figures = [cell(scores, name, minutes, row, lambda s: s.macro_f1) for row in shown]
        alarms = cell(scores, name, minutes, "unseen", lambda s: s.false_per_hour, 1)
        counts = (len(mine[0].types), minutes, len({part.seed for part in mine}))
        rows.append((name, *map(str, counts), *figures, alarms, mean_and_sd(np.array(speed), 0)))
    head = ("detector", "types", "training minutes", "seeds", "unseen talker", "second generator", "Opus", "8 kHz", "noise")
    return table((*head, "false per clean hour", "times real time, one core"), rows)


def invented_table(parts: Sequence[Part]) -> str:
    scores = {}
    for part in parts:
        takes = invented.takes_of(invented.TEST, part.seed)
        scores[part.seed] = judge(takes, part.rows["invented"], part.clean["invented"], part.thresholds, part.types)
    if not scores:
        return "Not measured.\n"

    def over(of: Callable[[Score], float], digits: int = 2) -> str:
        return mean_and_sd(np.array([of(scores[seed]) for seed in sorted(scores)]), digits)

    rows = [(kind, over(lambda s, kind=kind: s.types[kind].f1)) for kind in invented.TYPES]
    rows.append(("**macro**", over(lambda s: s.macro_f1, 3)))
    alarms = over(lambda s: s.false_per_hour, 1)
    return table(("type", "event-F1"), rows) + f"\nFalse events per clean hour: {alarms}.\n"


def draw(scores: Scores) -> None:
    ours = [float(v.mean()) if len(v := type_f1(scores, "plosive", kind)) else None for kind in TYPES]
    second = [float(v.mean()) if len(v := type_f1(scores, "plosive", kind, "second")) else None for kind in TYPES]
    peers = [theirs if (theirs := best_peer(scores, kind)[1]) == theirs else None for kind in TYPES]
    series = {"ours": ours, "best peer": peers, "ours, second generator": second}
    (FOLDER / "detection-types.svg").write_text(plots.bars("Event-F1 by type, unseen talker, 60 min", TYPES, series))
    names = [row.name for row in ROWS]
    f1_of = {name: over_seeds(scores, "plosive", 60, name, lambda s: s.macro_f1) for name in names}
    by_row = [float(f1_of[name].mean()) if len(f1_of[name]) else None for name in names]
    (FOLDER / "detection-rows.svg").write_text(plots.bars("Macro event-F1 by held-out row, 60 min", names, {"ours": by_row}))
    hour = [(seed, s) for (d, m, seed, row), s in scores.items() if (d, m, row) == ("plosive", 60, "unseen")]
    curves = {f"seed {seed}": s.reliability for seed, s in sorted(hour, key=lambda x: x[0])}
    (FOLDER / "detection-reliability.svg").write_text(plots.reliability("Is the confidence honest?", curves))


def render(scores: Scores, parts: Sequence[Part], made_up: Sequence[Part], timed: Speeds) -> str:
    seeds = sorted({part.seed for part in parts if part.detector == "plosive"})
    held = "; ".join(f"{talker}, {language}" for talker, language in HELD_OUT)
    method = METHOD.format(seeds=len(seeds), languages=8, held=held, types=len(TYPES), impulsive=", ".join(sorted(IMPULSIVE)))
    machine = f"{cpu_name()}, Python {platform.python_version()}"
    return f"""# Results of the detection benchmark

Written by `make bench-detection`. Seeds {", ".join(map(str, seeds))}. {machine}.

{method}
## Goals

{goal_table(scores, parts, timed)}
## By training audio

Macro event-F1.

{minutes_table(scores)}
## After 60 minutes

{row_table(scores)}
![Macro event-F1 by row](detection-rows.svg)

## By type

Unseen human talker, 60 minutes of training audio.

{type_table(scores)}
![Event-F1 by type](detection-types.svg)

{severity_table(scores)}
## Types that no feature was made for

A chime of another program, speech played backwards, a hand over the microphone, a buffer that is played again, a level that
flutters. The model learns them from {round(invented.TRAINING.minutes)} minutes of labelled takes and is tested on an
unseen talker.

{invented_table(made_up)}
## Peers

The mean is over the types that a detector can find. Peers without training chose their thresholds on 15 minutes of the
training takes. The CRNN trains for 80 epochs, half an hour of one core, and has not converged by then. Its row shows the
result of this amount of work (Plosive trains in a fifth of the time), not the best that such a network can reach.

{peer_table(scores, parts)}
## Confidence

![Reliability](detection-reliability.svg)
"""


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} cores"


def write_report(planned: Sequence[tuple[str, list[str], int, int, Path]]) -> None:
    parts = [results.read(path) for *_, path in planned if path.exists()]
    if not parts:
        raise SystemExit("no part has been run yet")
    made_up = [part for part in parts if part.detector == "invented"]
    parts = [part for part in parts if part.detector != "invented"]
    scores = scores_of(parts)
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw(scores)
    timed = speeds()
    (FOLDER / "detection.md").write_text(render(scores, parts, made_up, timed))
    say(f"wrote {FOLDER / 'detection.md'}")
    for goal in goals(scores, TYPES, spent(parts, timed)):
        say(f"{ {True: 'met', False: 'MISSED', None: 'unknown'}[goal.met]:9} {goal.name}: {goal.measured} ({goal.goal})")
