# Measures the contribution of each part of the detector: the worker's code with one line changed, trained on 15 minutes
# and scored like the rest. `python3 -m bench.detection.ablation` (make bench-detection-ablation) writes
# docs/benchmarks/detection-ablation.md; finished parts are kept in the cache. --seeds 1,2 runs these seeds alone,
# --report-only runs nothing.
import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import invented, results
from .cache import REPO, key_of
from .corpus.sets import takes_of, training_takes
from .metrics.judge import Score, judge
from .product import CODE, CONFIG, Product, say
from .report import FOLDER, table
from .results import Part
from .runner import CORPUS, rows_named, split, with_twins
from .types import TYPES

MINUTES, SEEDS, ROWS = 15, (0, 1, 2), ("unseen", "second")
PACKAGE = REPO / "images" / "worker"
SEEN = "return frames.astype(np.float32) - level_reference(stats)"  # frames for training and detection


@dataclass(frozen=True)
class Variant:
    """One changed line of the worker; `old` occurs once in `file`."""

    title: str
    file: str = ""
    old: str = ""
    new: str = ""

    def path(self, detector: str, seed: int) -> Path:
        """The path of the variant's result."""
        return results.path_of(detector, MINUTES, seed, key_of(extra=f"{CODE} {CORPUS} {CONFIG} {self}"))


def unseen_columns(title: str, chosen: str) -> Variant:
    """Sets the columns of the embedding to 0 for which `chosen`, a condition on `name`, is true."""
    columns = f"[i for i, name in enumerate(spec.NAMES) if {chosen}]"
    lines = f"out = frames.astype(np.float32) - level_reference(stats)\n    out[:, {columns}] = 0\n    return out"
    return Variant(title, "features/file.py", SEEN, lines)


UNCHANGED = Variant("unchanged")
NO_LOG_MEL = unseen_columns("no log-mel", 'name.startswith("mel_")')
PLAIN_WEIGHT = Variant("weight 1 for positive frames", "training/loss.py", "POSITIVE_WEIGHT = 2.0", "POSITIVE_WEIGHT = 1.0")
NOT_MOVED = Variant("edges not moved to the onset and offset outputs", "events/boxes.py", "part[best] >= 0.25", "part[best] >= 2")
VARIANTS = (
    UNCHANGED,
    NO_LOG_MEL,
    unseen_columns("no long windows", 'name.startswith(("long_", "tone_", "steady_")) and "pitch" not in name'),
    unseen_columns("no sample features", "name in dict(spec.SAMPLE_FEATURES)"),
    unseen_columns("no features for repetition", 'name.startswith(("echo_", "exact_", "steady_pitch")) or name == "self_repeat"'),
    Variant("absolute levels", "features/file.py", SEEN, "return frames.astype(np.float32)"),
    Variant("no trunk", "training/loop.py", "from_trunk: bool = True):", "from_trunk: bool = False):"),
    PLAIN_WEIGHT,
    Variant("no extra weight for edges", "training/loss.py", "BOUNDARY_BOOST = 1.0", "BOUNDARY_BOOST = 0.0"),
    Variant("no loss of the chunk", "training/loss.py", "CHUNK_WEIGHT = 0.3", "CHUNK_WEIGHT = 0.0"),
    Variant("no mixup", "training/augmentation.py", "if rng.random() < 0.7:", "if rng.random() < 0.0:"),
    Variant("no hard negatives", "training/sampler.py", "= 0.5, 0.125", "= 0.5, 0.0"),
    Variant("no second training", "train.py", "FEW_LABELS = 60", "FEW_LABELS = 0"),
    Variant("calibration from the validation files alone", "events/calibration.py", "(1.0, -0.8), 10.0", "(1.0, 0.0), 0.1"),
    NOT_MOVED,
    Variant(
        "no merging of near parts", "events/boxes.py", "MERGE_SHARE, MERGE_MS = 0.75, 1000", "MERGE_SHARE, MERGE_MS = 0.0, 0"
    ),
)
# Within chance for one seed, so these variants run with all seeds and also on invented types.
DOUBTFUL = (NO_LOG_MEL, PLAIN_WEIGHT, NOT_MOVED)
NOTES = """\
# Contribution of each part of the detector

Written by `make bench-detection-ablation`. Each row is the worker's own code with one change, trained on {minutes} minutes of
audio and tested on an unseen talker and language, with the same takes in every row. A row without some features sets them
to 0 in training and in detection.

## One change at a time, seed {seed}

Differences under 0.02 are within the variation between seeds.

{first}
## Changes whose effect is within chance for one seed, seeds {seeds}

Change of the event-F1 against the unchanged detector with the same seed and takes: mean ± standard deviation over seeds. The
types that no feature was made for are alert, backwards, muffled, stutter and tremolo, after 20 minutes of training audio.

{repeated}"""


def changed(variant: Variant, folder: Path) -> Path:
    """A copy of the worker with the variant's lines."""
    package = folder / "worker"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if variant.file:
        file = package / "plosive_worker" / variant.file
        text = file.read_text()
        if text.count(variant.old) != 1:
            raise SystemExit(f"{variant.title}: {variant.file} no longer holds just one {variant.old!r}")
        file.write_text(text.replace(variant.old, variant.new))
    return package


def rows_of(seed: int) -> dict[str, list]:
    return {row.name: takes_of(row, seed) for row in rows_named(ROWS)}


def found_by(product: Product, seed: int) -> Part:
    rows, train = rows_of(seed), training_takes(MINUTES, seed)
    model = product.train(train, seed)
    found, _ = product.detect(model, with_twins(rows))
    of_row, of_twins = split(found, rows)
    return Part("ablation", MINUTES, seed, list(TYPES), model.thresholds, of_row, of_twins)


RUNS = {"ablation": found_by, "ablation-invented": invented.run}


def steps(seeds: Sequence[int]) -> list[tuple[Variant, str, int]]:
    """The parts to run: variant, which of RUNS, seed."""
    close = (UNCHANGED, *DOUBTFUL)
    once = [(variant, "ablation", SEEDS[0]) for variant in VARIANTS]
    more = [(variant, sort, seed) for seed in SEEDS for sort in RUNS for variant in close]
    return [step for step in dict.fromkeys([*once, *more]) if step[2] in seeds]


def run(product: Product, variant: Variant, sort: str, seed: int) -> None:
    product.embed(training_takes(MINUTES, seed))
    with tempfile.TemporaryDirectory() as folder:
        product.platform.package = changed(variant, Path(folder))
        results.write(variant.path(sort, seed), RUNS[sort](product, seed))
        product.platform.package = PACKAGE


def scores(variant: Variant, sort: str, seed: int) -> dict[str, Score] | None:
    """Scores by row; None for a part that was not run."""
    path = variant.path(sort, seed)
    if not path.exists():
        return None
    part = results.read(path)
    of_rows = rows_of(seed) if sort == "ablation" else {invented.TEST.name: invented.takes_of(invented.TEST, seed)}
    return {
        name: judge(takes, part.rows[name], part.clean.get(name, {}), part.thresholds, part.types)
        for name, takes in of_rows.items()
    }


def line(title: str, found: dict[str, Score], whole: dict[str, Score]) -> tuple[str, ...]:
    unseen, second = found["unseen"], found["second"]
    step, step_second = unseen.macro_f1 - whole["unseen"].macro_f1, second.macro_f1 - whole["second"].macro_f1
    f1 = (f"{unseen.macro_f1:.3f}", f"{step:+.3f}", f"{second.macro_f1:.3f}", f"{step_second:+.3f}")
    onset_ms = f"{unseen.onset_ms[0]:.1f} / {unseen.onset_ms[1]:.1f}"
    return (title, *f1, f"{unseen.false_per_hour:.0f}", f"{unseen.ece:.3f}", onset_ms)


def one_seed() -> str:
    found = {variant: scores(variant, "ablation", SEEDS[0]) for variant in VARIANTS}
    whole = found[UNCHANGED]
    if whole is None:
        return "Not run yet.\n"
    head = ("", "event-F1", "change", "second generator", "change", "false per clean hour", "ECE", "onset P50 / P95, ms")
    text = table(head, [line(variant.title, values, whole) for variant, values in found.items() if values])
    missing = ", ".join(variant.title for variant, values in found.items() if values is None)
    return text + (f"\nNot run yet: {missing}.\n" if missing else "")


def several(values: Sequence[float], form: str) -> str:
    """Mean and deviation, with the number of seeds unless all were run."""
    if not values:
        return "not run yet"
    seeds = "" if len(values) == len(SEEDS) else f" ({len(values)} of {len(SEEDS)} seeds)"
    deviation = f" ± {np.std(values, ddof=1):{form.lstrip('+')}}" if len(values) > 1 else ""
    return f"{np.mean(values):{form}}{deviation}{seeds}"


def repeated_line(variant: Variant) -> tuple[str, ...]:
    gains: dict[str, list[float]] = {"unseen": [], "second": [], invented.TEST.name: []}
    false: list[float] = []
    ece: list[float] = []
    for seed in SEEDS:
        for sort in RUNS:
            found, whole = scores(variant, sort, seed), scores(UNCHANGED, sort, seed)
            if not found or not whole:
                continue
            for name, score in found.items():
                gains[name].append(score.macro_f1 - (0 if variant is UNCHANGED else whole[name].macro_f1))
            if sort == "ablation":
                false.append(found["unseen"].false_per_hour)
                ece.append(found["unseen"].ece)
    form = ".3f" if variant is UNCHANGED else "+.3f"
    return (variant.title, *(several(values, form) for values in gains.values()), several(false, ".0f"), several(ece, ".3f"))


def write() -> None:
    """The tables of the parts that were run so far."""
    head = ("", "unseen talker", "second generator", "types that no feature was made for", "false per clean hour", "ECE")
    repeated = table(head, [repeated_line(variant) for variant in (UNCHANGED, *DOUBTFUL)])
    seeds = ", ".join(map(str, SEEDS))
    text = NOTES.format(minutes=MINUTES, seed=SEEDS[0], seeds=seeds, first=one_seed(), repeated=repeated)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "detection-ablation.md").write_text(text)
    say(f"wrote {FOLDER / 'detection-ablation.md'}\n{text}")


def main() -> None:
    parser = argparse.ArgumentParser(description="The contribution of each part of the detector.")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--report-only", action="store_true", help="run nothing, write the tables of the finished parts")
    options = parser.parse_args()
    wanted = [] if options.report_only else steps([int(seed) for seed in options.seeds.split(",")])
    product = None
    try:
        for number, (variant, sort, seed) in enumerate(wanted):
            if not variant.path(sort, seed).exists():
                say(f"{variant.title}, {sort}, seed {seed} ({number + 1} of {len(wanted)}): begins")
                product = product or Product()
                run(product, variant, sort, seed)
    finally:
        if product:
            product.close()
        write()


if __name__ == "__main__":
    main()
