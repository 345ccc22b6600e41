# What each part of the detector is worth: the worker's own code with one line changed, trained on 15 minutes and judged like
# the rest. `python3 -m bench.detection.ablation` (make bench-detection-ablation) writes docs/benchmarks/detection-ablation.md;
# what has been played is kept in the cache.
import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import results
from .cache import REPO, key_of
from .corpus.sets import takes_of, training_takes
from .metrics.judge import Score, judge
from .product import CODE, CONFIG, Product, say
from .report import FOLDER, table
from .results import Part
from .runner import CORPUS, rows_named, split, with_twins
from .types import TYPES

MINUTES, SEED, ROWS = 15, 0, ("unseen", "second")
PACKAGE = REPO / "images" / "worker"
SEEN = "return frames.astype(np.float32) - level_reference(stats)"  # what training and detection see of an embedding


@dataclass(frozen=True)
class Variant:
    """A line of the worker that is changed; `old` stands in `file` once."""

    title: str
    file: str = ""
    old: str = ""
    new: str = ""


def unseen_columns(title: str, chosen: str) -> Variant:
    """These columns of the embedding are 0, `chosen` a condition on `name`."""
    columns = f"[i for i, name in enumerate(spec.NAMES) if {chosen}]"
    lines = f"out = frames.astype(np.float32) - level_reference(stats)\n    out[:, {columns}] = 0\n    return out"
    return Variant(title, "features/file.py", SEEN, lines)


VARIANTS = (
    Variant("as it is"),
    unseen_columns("no log-mel", 'name.startswith("mel_")'),
    unseen_columns("no short windows", 'name.startswith("short_")'),
    unseen_columns("no long windows", 'name.startswith(("long_", "tone_", "steady_")) and "pitch" not in name'),
    unseen_columns("no sample features", "name in dict(spec.SAMPLE_FEATURES)"),
    unseen_columns(
        "no features for repetition", 'name.startswith(("echo_", "exact_", "steady_pitch")) or name == "self_repeat"'
    ),
    unseen_columns("no outliers of the residual", 'name.endswith("_outlier") or name in ("residual_after", "residual_before")'),
    Variant("levels not against the file's own", "features/file.py", SEEN, "return frames.astype(np.float32)"),
    Variant("width 64", "model/head.py", "WIDTH = 96", "WIDTH = 64"),
    Variant("context of 140 ms", "model/head.py", "DILATIONS = (1, 2, 4, 8, 16)", "DILATIONS = (1, 1, 1, 2, 2)"),
    Variant("positive frames weigh 1", "training/loss.py", "POSITIVE_WEIGHT = 2.0", "POSITIVE_WEIGHT = 1.0"),
    Variant("no focal term", "training/loss.py", "FOCAL_NEGATIVE = 1.5", "FOCAL_NEGATIVE = 0.0"),
    Variant("edges weigh no more", "training/loss.py", "BOUNDARY_BOOST = 1.0", "BOUNDARY_BOOST = 0.0"),
    Variant("no loss of the chunk", "training/loss.py", "CHUNK_WEIGHT = 0.3", "CHUNK_WEIGHT = 0.0"),
    Variant("no mixup", "training/augmentation.py", "if rng.random() < 0.7:", "if rng.random() < 0.0:"),
    Variant("no hard negatives", "training/sampler.py", "= 0.5, 0.125", "= 0.5, 0.0"),
    Variant("no average of the weights", "training/loop.py", "EMA_DECAY = 0.995", "EMA_DECAY = 0.0"),
    Variant("no second training", "train.py", "FEW_LABELS = 60", "FEW_LABELS = 0"),
    Variant("calibration from the validation files alone", "events/calibration.py", "(1.0, -0.8), 10.0", "(1.0, 0.0), 0.1"),
    Variant("edges not moved to the onset and offset outputs", "events/boxes.py", "part[best] >= 0.25", "part[best] >= 2"),
    Variant("near parts are not joined", "events/boxes.py", "MERGE_SHARE, MERGE_MS = 0.75, 300", "MERGE_SHARE, MERGE_MS = 0.0, 0"),
)
NOTES = """\
Written by `make bench-detection-ablation`: the worker's own code with one thing changed, {minutes} minutes of training audio,
seed {seed}, an unseen talker and language; the same takes in each row. Differences under 0.02 are within what another seed
changes. The features of a row that lacks some are 0 in training and in detection.
"""


def changed(variant: Variant, folder: Path) -> Path:
    """A copy of the worker with that line changed."""
    package = folder / "worker"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if variant.file:
        file = package / "plosive_worker" / variant.file
        text = file.read_text()
        if text.count(variant.old) != 1:
            raise SystemExit(f"{variant.title}: {variant.file} no longer holds just one {variant.old!r}")
        file.write_text(text.replace(variant.old, variant.new))
    return package


def play(product: Product, variant: Variant, path: Path) -> None:
    rows = {row.name: takes_of(row, SEED) for row in rows_named(ROWS)}
    train = training_takes(MINUTES, SEED)
    product.embed(train)
    with tempfile.TemporaryDirectory() as folder:
        product.platform.package = changed(variant, Path(folder))
        model = product.train(train, SEED)
        found, _ = product.detect(model, with_twins(rows))
        product.platform.package = PACKAGE
    of_row, of_twins = split(found, rows)
    results.write(path, Part("ablation", MINUTES, SEED, list(TYPES), model.thresholds, of_row, of_twins))


def scores(path: Path) -> dict[str, Score]:
    part = results.read(path)
    rows = {row.name: takes_of(row, SEED) for row in rows_named(ROWS)}
    return {name: judge(takes, part.rows[name], part.clean.get(name, {}), part.thresholds, TYPES) for name, takes in rows.items()}


def line(title: str, found: dict[str, Score], whole: dict[str, Score]) -> tuple[str, ...]:
    unseen, second = found["unseen"], found["second"]
    step, step_second = unseen.macro_f1 - whole["unseen"].macro_f1, second.macro_f1 - whole["second"].macro_f1
    f1 = (f"{unseen.macro_f1:.3f}", f"{step:+.3f}", f"{second.macro_f1:.3f}", f"{step_second:+.3f}")
    return (title, *f1, f"{unseen.false_per_hour:.0f}", f"{unseen.ece:.3f}", f"{unseen.onset_ms[0]:.1f} / {unseen.onset_ms[1]:.1f}")


def write(paths: dict[Variant, Path]) -> None:
    """The table of what has been played so far."""
    found = {variant: scores(path) for variant, path in paths.items() if path.exists()}
    whole = found.get(VARIANTS[0])
    if whole is None:
        return
    head = ("", "event-F1", "change", "second generator", "change", "false per clean hour", "ECE", "onset P50 / P95, ms")
    text = table(head, [line(variant.title, values, whole) for variant, values in found.items()])
    missing = ", ".join(variant.title for variant in paths if variant not in found)
    text += f"\nNot played yet: {missing}.\n" if missing else ""
    FOLDER.mkdir(parents=True, exist_ok=True)
    notes = NOTES.format(minutes=MINUTES, seed=SEED)
    (FOLDER / "detection-ablation.md").write_text(f"# What each part of the detector is worth\n\n{notes}\n{text}")
    say(f"wrote {FOLDER / 'detection-ablation.md'}\n{text}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What each part of the detector is worth.")
    parser.add_argument("--report-only", action="store_true", help="play nothing: the table of what has been played")
    report_only = parser.parse_args().report_only
    paths = {v: results.path_of("ablation", MINUTES, SEED, key_of(extra=f"{CODE} {CORPUS} {CONFIG} {v}")) for v in VARIANTS}
    product = None
    try:
        for number, (variant, path) in enumerate(paths.items()):
            if not path.exists() and not report_only:
                say(f"{variant.title} ({number + 1} of {len(paths)}): begins")
                product = product or Product()
                play(product, variant, path)
    finally:
        if product:
            product.close()
        write(paths)


if __name__ == "__main__":
    main()
