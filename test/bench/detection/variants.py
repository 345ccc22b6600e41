# A fast harness for changes of training: library calls on cached features instead of whole pods. Trains on generator A,
# tests on an unheard talker of A and on B, and prints one row of a table. Development set only, human voices only.
# `python3 -m bench.detection.variants NAME [--minutes 15] [--seed 0]`; the variants are in VARIANTS. Not part of the
# benchmark: what pays here is measured again by transfer.py.
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile
import torch
from plosive_worker.events.boxes import Posteriors, boxes_of
from plosive_worker.events.calibration import confidence
from plosive_worker.events.profile import Profile
from plosive_worker.features.file import FrameWriter, read_frames
from plosive_worker.features.spec import own_spec
from plosive_worker.features.stream import feature_blocks
from plosive_worker.model.head import Head
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.evaluation import part_logits

from .cache import folder_of, key_of
from .corpus import sets
from .few_labels import few
from .metrics.agnostic import compare
from .metrics.events import macro_f1
from .metrics.judge import judge, kept
from .types import TYPES, Detection, Take

CORPUS = key_of("tools/voices", "test/bench/detection/corpus")
FEATURES = own_spec().hash[:12]
NAMED = {row.name: row for row in sets.ROWS}
ROWS = {
    "training": replace(sets.TRAINING, voices="recorded"),
    "training-B": replace(sets.TRAINING, name="second-training", generator="second", voices="recorded"),
    "A": NAMED["unseen"],
    "B": NAMED["second"],
}
TEST_MINUTES = 10.0


def takes_of(name: str, seed: int, minutes: float) -> list[Take]:
    """The first takes of a row, each made once."""
    row, out, total = ROWS[name], [], 0.0
    folder = folder_of("takes") / f"variants-{row.name}-{seed}-{CORPUS}"
    folder.mkdir(exist_ok=True)
    for index, part in enumerate(sets.plan(row, seed, name.startswith("training"))):
        if total >= 60 * minutes:
            break
        note = folder / f"{index:04d}.json"
        if not note.exists():
            made = json.dumps(sets.make_one(row, seed, folder, index, part))
            note.with_suffix(".partial").write_text(made)
            note.with_suffix(".partial").rename(note)
        take = Take.from_json(json.loads(note.read_text()))
        assert take.clean
        out.append(replace(take, path=folder / take.path, clean=folder / take.clean))
        total += take.duration_s
    return out


def write_features(samples: np.ndarray, rate: int, path: Path) -> None:
    writer = FrameWriter(path)
    for frames in feature_blocks([samples.astype(np.float32)[:, None]], rate):
        writer.write(frames)
    writer.close()


def features_of(sound: Path) -> Path:
    path = sound.with_suffix(f".{FEATURES}.frames")
    if not path.exists():
        samples, rate = soundfile.read(sound, dtype="float32")
        write_features(samples, rate, path.with_suffix(".partial"))
        path.with_suffix(".partial").rename(path)
    return path


def labelled(take: Take) -> LabelledFile:
    events = tuple((TYPES.index(e.type), int(e.onset_s * 1000), round(e.offset_s * 1000 + 0.5)) for e in take.events)
    return LabelledFile(take.id, read_frames(features_of(take.path)), events, True, take.id)


def few_of_b(count: int, seed: int) -> list[Take]:
    """Takes of B with exactly so many labels of each type."""
    folder = folder_of("takes") / f"variants-few-{count}-{seed}-{CORPUS}"
    folder.mkdir(exist_ok=True)
    minutes = count * 1.4
    while True:
        try:
            return few(takes_of("training-B", seed, minutes), count, TYPES, folder)
        except ValueError:
            minutes += 3


def detections(head: Head, profiles: list[Profile], path: Path, logits: Callable = part_logits) -> list[Detection]:
    """As model/detector.py does it: all boxes with their confidence."""
    frames = read_frames(features_of(path))
    file = LabelledFile("", frames, (), True)
    blocks = logits(head, file, Part(0, 0, len(frames.frames)), lambda: None)
    p = torch.sigmoid(torch.cat(list(blocks))).numpy()
    out = []
    for kind, profile in enumerate(profiles):
        for box in boxes_of(Posteriors(p[:, 0, kind], p[:, 1, kind], p[:, 2, kind]), profile):
            sure = float(confidence(box.score, profile.slope, profile.offset))
            if sure >= 0.02:
                out.append(Detection(profile.name, box.start_ms / 1000, box.end_ms / 1000, sure))
    return sorted(out, key=lambda d: d.onset_s)


def best_macro(takes: list[Take], found: dict[str, list[Detection]]) -> float:
    """The macro F1 with the best threshold of each type, chosen on the test itself: what the ranking alone would give."""
    from .metrics.events import Counts, count, of_type

    best = dict.fromkeys(TYPES, 0.0)
    for threshold in np.linspace(0.05, 0.95, 19):
        for kind in TYPES:
            total = Counts()
            for take in takes:
                mine = [d for d in of_type(found[take.id], kind) if d.score >= threshold]
                total += count(of_type(take.events, kind), mine, kind)
            best[kind] = max(best[kind], total.f1)
    return float(np.mean(list(best.values())))


@dataclass(frozen=True)
class Tested:
    f1: float
    oracle: float
    agnostic: float
    alarms: float
    types: dict[str, float]
    confusion: Counter


def test(head: Head, profiles: list[Profile], takes: list[Take], logits: Callable = part_logits) -> Tested:
    found = {take.id: detections(head, profiles, take.path, logits) for take in takes}
    clean = {f"{take.id}~clean": detections(head, profiles, take.clean, logits) for take in takes}
    thresholds = {p.name: p.threshold for p in profiles}
    score = judge(takes, found, clean, thresholds, TYPES)
    agnostic, confusion = compare(takes, {take.id: kept(found[take.id], thresholds) for take in takes})
    types = {kind: round(counts.f1, 2) for kind, counts in score.types.items()}
    assert abs(macro_f1(score.types.values()) - score.macro_f1) < 1e-9
    return Tested(score.macro_f1, best_macro(takes, found), agnostic.f1, score.false_per_hour, types, confusion)


# --- training -------------------------------------------------------------------------------------------------------

OTHER_CLEAN = ("noise", "music", "telephone", "opus", "mp3")  # rows whose clean twins are voice of another make
OTHER_MINUTES = 4.0


@dataclass(frozen=True)
class Variant:
    """How one training differs from the product's as it was before this harness. `window` and `batch` keep the frames of
    a step about equal."""

    context: int = 20
    window: int = 50  # frames of a chunk
    batch: int = 32
    margin_weight: float = 0.33
    random_partner: bool = False
    unmixed_hardness: bool = False
    soft_chunk: bool = False
    product: bool = False  # as the service trains now, whatever else is set


FULL = Variant(context=62, window=176, batch=10, margin_weight=0.0)
FIXED = replace(FULL, random_partner=True, unmixed_hardness=True, soft_chunk=True)
VARIANTS: dict[str, Variant] = {
    "baseline": Variant(),
    "product": Variant(product=True),
    "context": FULL,
    "mixup": Variant(random_partner=True, unmixed_hardness=True, soft_chunk=True),
    "context+mixup": FIXED,
}


def patched_augment(options: Variant, mixed: list[bool]) -> Callable:
    """The product's augmentation with another partner in mixup. Notes in `mixed` whether the batch was mixed."""
    from plosive_worker.training import augmentation

    def augment(frames: np.ndarray, labels: list[np.ndarray], rng: np.random.Generator) -> tuple:
        class Draws:  # the last draw decides on mixup, and comes after all arrays were augmented
            def __getattr__(self, name: str) -> object:
                return getattr(rng, name)

            def beta(self, a: float, b: float) -> float:
                mixed[0] = True
                return 1.0 if options.random_partner else rng.beta(a, b)  # 1: the product's mixup changes nothing

        mixed[0] = False
        frames, out = augmentation.augment(frames, labels, Draws())  # type: ignore[arg-type]
        if mixed[0] and options.random_partner:
            share = np.float32(rng.beta(0.3, 0.3))
            share, other = max(share, 1 - share), rng.permutation(len(frames))
            frames = share * frames + (1 - share) * frames[other]
            out = [share * a + (1 - share) * a[other] for a in labels[:-1]] + [np.minimum(labels[-1], labels[-1][other])]
        return frames, out

    return augment


def run_training(files: list[LabelledFile], seed: int, options: Variant, epochs: int = 20) -> tuple[Head, list[Profile]]:
    from plosive_worker.training import loop
    from plosive_worker.training.evaluation import Validation, finish_profiles
    from plosive_worker.training.split import split_files

    torch.set_num_threads(1)
    split = split_files(files, len(TYPES), 0.2, seed)
    settings = loop.Settings(epochs, 32, 1e-3, 50, 25, seed)
    if options.product:
        trainer = loop.Trainer(files, split.train, len(TYPES), settings)
    else:
        trainer = changed_trainer(files, split.train, settings, options)
    head = trainer.run(lambda _: None, lambda t, value: print(f"  step {t.step}: loss {value:.4f}", flush=True))
    profiles, metrics = finish_profiles(head, Validation(files, split, list(TYPES), lambda: None))
    print("  own validation:", metrics["overall"]["f1"], flush=True)
    return head, profiles


def changed_trainer(files: list[LabelledFile], parts: list[Part], settings, options: Variant):  # noqa: ANN001, ANN201
    """A trainer without the trunk, with the options of the variant and as many steps as the product takes."""
    from plosive_worker.training import loop, loss

    usual = loop.Trainer(files, parts, len(TYPES), settings, from_trunk=False).total_steps
    loop.TRAINING_CONTEXT_FRAMES = options.context
    mixed = [False]
    loop.augment = patched_augment(options, mixed)
    longer = replace(settings, chunk_frames=options.window, batch_size=options.batch)
    trainer = loop.Trainer(files, parts, len(TYPES), longer, from_trunk=False)
    trainer.total_steps, trainer.steps_per_epoch = usual, usual // settings.epochs
    record = trainer.sampler.record_losses

    def record_losses(drawn: np.ndarray, losses: np.ndarray) -> None:
        if not (mixed[0] and options.unmixed_hardness):
            record(drawn, losses)

    trainer.sampler.record_losses = record_losses  # type: ignore[method-assign]
    loop.detection_loss = lambda logits, wanted, middle: variant_loss(loss, logits, wanted, middle, options)
    return trainer


def variant_loss(loss, logits: torch.Tensor, wanted, middle: slice, options: Variant) -> torch.Tensor:  # noqa: ANN001
    if options.margin_weight == 0 and logits.shape[1] > options.window:
        logits = logits[:, middle]
        wanted = loss.Targets(*(getattr(wanted, n)[:, middle] for n in ("presence", "onset", "offset", "weight")))
        middle = slice(0, logits.shape[1])
    if not options.soft_chunk:
        return loss.detection_loss(logits, wanted, middle)
    out = loss.detection_loss(logits, wanted, middle)
    chunk = loss.pool(torch.sigmoid(logits[:, middle, 0])).clamp(1e-5, 1 - 1e-5)
    known, most = wanted.weight[:, middle].amax(1), wanted.presence[:, middle].amax(1)
    bce = torch.nn.functional.binary_cross_entropy
    change = bce(chunk, most, reduction="none") - bce(chunk, (most > 0.5).float(), reduction="none")
    return out + loss.CHUNK_WEIGHT * (change * known).mean(1)


def main() -> None:
    import argparse
    import time

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--few", type=int, default=0, help="labels a type of B that are added")
    parser.add_argument("--set", default="{}", help="members of Variant as JSON")
    parser.add_argument("--out", type=Path, default=folder_of("variants") / "results.md")
    asked = parser.parse_args()
    rows = {name: takes_of(name, asked.seed, TEST_MINUTES) for name in ("A", "B")}
    ROWS.update({name: NAMED[name] for name in OTHER_CLEAN})
    files = [labelled(take) for take in takes_of("training", asked.seed, asked.minutes)]
    if asked.few:
        files += [labelled(take) for take in few_of_b(asked.few, asked.seed)]
    for name in asked.names:
        began = time.process_time()
        options = replace(VARIANTS[name.split(":")[0]], **json.loads(asked.set))
        head, profiles = run_training(files, asked.seed, options, asked.epochs)
        called = f"{name} + {asked.few} labels of B" if asked.few else name
        report(called, asked, head, profiles, rows, time.process_time() - began)


def report(
    name: str, asked, head: Head, profiles: list[Profile], rows: dict, spent: float, logits: Callable = part_logits
) -> None:  # noqa: ANN001
    tested = {row: test(head, profiles, takes, logits) for row, takes in rows.items()}
    thresholds, other, hours = {p.name: p.threshold for p in profiles}, Counter(), 0.0
    for row in OTHER_CLEAN:
        for take in takes_of(row, asked.seed, OTHER_MINUTES):
            other[row] += len(kept(detections(head, profiles, take.clean, logits), thresholds))
            hours += take.duration_s / 3600
    a, b = tested["A"], tested["B"]
    if not asked.out.exists():
        head_row = (
            "variant",
            "min",
            "seed",
            "A F1",
            "B F1",
            "B oracle",
            "A agn.",
            "B agn.",
            "FA/h A",
            "FA/h B",
            "FA/h other",
            "train s",
        )
        asked.out.write_text("| " + " | ".join(head_row) + " |\n|" + "---|" * len(head_row) + "\n")
    cells = (
        name, f"{asked.minutes:g}", str(asked.seed), f"{a.f1:.3f}", f"{b.f1:.3f}", f"{b.oracle:.3f}", f"{a.agnostic:.3f}",
        f"{b.agnostic:.3f}", f"{a.alarms:.0f}", f"{b.alarms:.0f}", f"{sum(other.values()) / hours:.0f}", f"{spent:.0f}",
    )  # fmt: skip
    with asked.out.open("a") as file:
        file.write("| " + " | ".join(cells) + " |\n")
    print("| " + " | ".join(cells) + " |")
    print("  B by type:", b.types)
    print("  other clean:", dict(other))
    print("  B confused:", {f"{k[0]}>{k[1]}": n for k, n in b.confusion.most_common(30) if k[0] != k[1]}, flush=True)


if __name__ == "__main__":
    main()
