# The short form: ten minutes of training takes, three small rows, one seed, human voices only; a few minutes on two
# cores. Fails if a figure is worse than in short.json by more than its margin. Called by __main__.py, and by
# test_short.py in every test run.
import json
import tempfile
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
MARGIN = {"macro_f1": 0.05, "false_per_hour": 30.0}  # different CPU models train different weights from one seed


def measure() -> dict[str, Score]:
    with tempfile.TemporaryDirectory() as folder:
        product = Product(Path(folder))
        try:
            train = takes_of(TRAIN, 0, training=True)
            model = product.train(train, 0, epochs=EPOCHS)
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


def gate(accept: bool) -> int:
    """Returns the exit code. With `accept` it writes the figures instead of comparing them."""
    scores = measure()
    now = figures(scores)
    for row, score in scores.items():
        alarms = f"{score.false_per_hour:.0f} false events per clean hour"
        say(f"{row}: macro F1 {score.macro_f1:.3f}, PSDS {score.psds:.3f}, {alarms}")
        say("  " + ", ".join(f"{kind} {counts.f1:.2f}" for kind, counts in score.types.items()))
    if accept:
        LIMITS.write_text(json.dumps(now, indent=2) + "\n")
        return 0
    wrong = faults(now, json.loads(LIMITS.read_text()))
    for line in wrong:
        say(f"worse: {line}")
    return 1 if wrong else 0
