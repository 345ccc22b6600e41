# The short form: ten minutes of training takes, three small rows, one seed, human voices only. It is "whole" with the
# service's own settings of a training (a few minutes on two cores), and a "slice" with as many, but smaller, batches.
# Fails if a figure is worse than in short.json by more than its margin. Called by __main__.py, and by test_short.py:
# the slice in every test run, the whole in `make trials`.
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .cache import REPO
from .corpus.sets import ROWS, TRAINING, takes_of
from .metrics.judge import Score, judge
from .product import Product, say
from .types import TYPES

LIMITS = REPO / "test" / "bench" / "detection" / "short.json"
TRAIN = replace(TRAINING, name="short-training", minutes=10, voices="recorded")
SMALL = tuple(replace(row, name=f"short-{row.name}", minutes=4) for row in ROWS if row.name in ("unseen", "opus", "second"))
EPOCHS = 10
SEEDS = (0, 1, 2)
FORMS = {"whole": {}, "slice": {"batch_size": 8, "stride_ms": 1000}}
MARGIN = {"macro_f1": 0.05, "false_per_hour": 30.0}


def measure(form: str, seed: int = 0) -> dict[str, Score]:
    with tempfile.TemporaryDirectory() as folder:
        product = Product(Path(folder))
        try:
            train = takes_of(TRAIN, 0, training=True)
            model = product.train(train, seed, epochs=EPOCHS, **FORMS[form])
            rows = {row.name: takes_of(row, 0) for row in SMALL}
            takes = [take for row in rows.values() for take in row]
            found, _ = product.detect(model, takes + [take.twin() for take in takes])
        finally:
            product.close()
    return {name: judge(takes, found, found, model.thresholds, TYPES) for name, takes in rows.items()}


def figures(scores: dict[str, Score]) -> dict[str, dict[str, float]]:
    return {row: {"macro_f1": round(s.macro_f1, 4), "false_per_hour": round(s.false_per_hour, 1)} for row, s in scores.items()}


def faults(now: dict[str, dict[str, float]], then: dict[str, dict[str, float]]) -> list[str]:
    """The figures that are worse than before by more than the margin."""
    out = []
    for row, figures in then.items():
        f1, alarms = now[row]["macro_f1"], now[row]["false_per_hour"]
        if not f1 >= figures["macro_f1"] - MARGIN["macro_f1"]:
            out.append(f"{row}: macro F1 {f1:.3f}, it was {figures['macro_f1']:.3f}")
        if not alarms <= figures["false_per_hour"] + MARGIN["false_per_hour"]:
            out.append(f"{row}: {alarms:.0f} false events per hour, it was {figures['false_per_hour']:.0f}")
    return out


def worst(measured: Sequence[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Of each row the lowest macro F1 and the most false alarms."""
    return {
        row: {
            "macro_f1": min(one[row]["macro_f1"] for one in measured),
            "false_per_hour": max(one[row]["false_per_hour"] for one in measured),
        }
        for row in measured[0]
    }


def gate(accept: bool) -> int:
    """Returns the exit code. With `accept` it writes the figures of both forms instead of comparing those of the whole:
    the worst of three seeds, because another CPU model trains weights that differ as those of another seed do."""
    if accept:
        LIMITS.write_text(json.dumps({form: worst([told(form, seed) for seed in SEEDS]) for form in FORMS}, indent=2) + "\n")
        return 0
    wrong = faults(told("whole", 0), json.loads(LIMITS.read_text())["whole"])
    for line in wrong:
        say(f"worse: {line}")
    return 1 if wrong else 0


def told(form: str, seed: int) -> dict[str, dict[str, float]]:
    """Measures, and prints what it has found."""
    scores = measure(form, seed)
    for row, score in scores.items():
        alarms = f"{score.false_per_hour:.0f} false events per clean hour"
        say(f"{form}, seed {seed}, {row}: macro F1 {score.macro_f1:.3f}, PSDS {score.psds:.3f}, {alarms}")
        say("  " + ", ".join(f"{kind} {counts.f1:.2f}" for kind, counts in score.types.items()))
    return figures(scores)
