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
    p = torch.sigmoid(logits(head, file, Part(0, 0, len(frames.frames)), lambda: None)).numpy()
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
    steps: float = 1.0  # of the usual number
    rate: float = 1e-3
    trunk: str = ""  # weights to begin with, a file in the cache
    trunk_rate: float = 1.0  # share of the learning rate for the trunk's layers
    distill: float = 0.0  # weight of the trunk's own outputs as a second task, so that it does not forget
    probe: float = 0.0  # share of the steps in which only the new outputs learn
    blends: tuple[float, ...] = ()  # shares of the trained weights in a mean with those at the end of the probe
    product: bool = False  # as the service trains now, whatever else is set


FULL = Variant(context=62, window=176, batch=10, margin_weight=0.0)
FIXED = replace(FULL, random_partner=True, unmixed_hardness=True, soft_chunk=True)
VARIANTS: dict[str, Variant] = {
    "baseline": Variant(),
    "product": Variant(product=True),
    "context": FULL,
    "mixup": Variant(random_partner=True, unmixed_hardness=True, soft_chunk=True),
    "context+mixup": FIXED,
    "trunk": replace(FIXED, trunk="trunk1.pt", trunk_rate=0.3),
    "trunk-frozen": replace(FIXED, trunk="trunk1.pt", trunk_rate=0.0),
    "probe-tune": replace(FIXED, trunk="trunk2.pt", rate=0.003, trunk_rate=0.2, probe=0.4, blends=(0.0, 0.5, 1.0)),
    "trunk-distill": replace(FIXED, trunk="trunk1.pt", trunk_rate=0.3, distill=3.0),
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


def run_training(
    files: list[LabelledFile], seed: int, options: Variant, epochs: int = 20
) -> list[tuple[float, Head, list[Profile]]]:
    from plosive_worker.training import loop, loss
    from plosive_worker.training.evaluation import Validation, finish_profiles
    from plosive_worker.training.split import split_files

    torch.set_num_threads(1)
    split = split_files(files, len(TYPES), 0.2, seed)
    settings = loop.Settings(epochs, 32, options.rate, 50, 25, seed)
    usual = loop.Trainer(files, split.train, len(TYPES), settings, from_trunk=False).total_steps
    if options.product:
        trainer = loop.Trainer(files, split.train, len(TYPES), settings)
        head = trainer.run(lambda _: None, lambda t, value: print(f"  step {t.step}: loss {value:.4f}", flush=True))
        profiles, metrics = finish_profiles(head, Validation(files, split, list(TYPES), lambda: None))
        print("  own validation:", metrics["overall"]["f1"], flush=True)
        return [(1.0, head, profiles)]
    loop.TRAINING_CONTEXT_FRAMES = options.context
    mixed = [False]
    loop.augment = patched_augment(options, mixed)
    longer = replace(settings, chunk_frames=options.window, batch_size=options.batch)
    trainer = loop.Trainer(files, split.train, len(TYPES), longer, from_trunk=False)
    trainer.total_steps = round(usual * options.steps)
    trainer.steps_per_epoch = trainer.total_steps // epochs
    record = trainer.sampler.record_losses

    def record_losses(drawn: np.ndarray, losses: np.ndarray) -> None:
        if not (mixed[0] and options.unmixed_hardness):
            record(drawn, losses)

    trainer.sampler.record_losses = record_losses  # type: ignore[method-assign]
    loop.detection_loss = lambda logits, wanted, middle: variant_loss(loss, logits, wanted, middle, options)
    if options.trunk:
        begin_with(trainer, options)
    if options.distill:
        keep_knowledge(trainer, options)
    probed: dict[str, torch.Tensor] = {}
    if options.probe:
        probe_first(trainer, options, probed)
    head = trainer.run(lambda _: None, lambda t, value: print(f"  step {t.step}: loss {value:.4f}", flush=True))
    trained, validation, out = head.state_dict(), Validation(files, split, list(TYPES), lambda: None), []
    for share in options.blends or (1.0,):
        blend = {name: share * value + (1 - share) * probed[name] if probed else value for name, value in trained.items()}
        one = Head(len(head.mean), len(TYPES), head.mean, head.scale)
        one.load_state_dict(blend)
        profiles, metrics = finish_profiles(one.eval().requires_grad_(False), validation)
        print(f"  own validation ({share}):", metrics["overall"]["f1"], flush=True)
        out.append((share, one, profiles))
    return out


def probe_first(trainer, options: Variant, probed: dict[str, torch.Tensor]) -> None:  # noqa: ANN001
    """Only the new outputs learn until the share `probe` of the steps; `probed` then gets the weights."""
    step, until = trainer.train_step, round(options.probe * trainer.total_steps)
    trunk = trainer.optimizer.param_groups[1]["params"]

    def train_step() -> None:
        for parameter in trunk:
            parameter.requires_grad_(trainer.step >= until)
            parameter.grad = None
        if trainer.step == until:
            probed.update({name: value.clone() for name, value in trainer.head.state_dict().items()})
        step()

    trainer.train_step = train_step


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


def begin_with(trainer, options: Variant) -> None:  # noqa: ANN001
    """Starts from the trunk's weights, with a lower learning rate for them."""
    state = torch.load(folder_of("variants") / options.trunk, weights_only=True)
    own = trainer.head.state_dict()
    kept = {
        name: value
        for name, value in state.items()
        if name in own and own[name].shape == value.shape and not name.startswith("leave.")
    }
    trainer.head.load_state_dict({**own, **kept})
    trainer.mean, trainer.scale = trainer.head.mean.cpu(), trainer.head.scale.cpu()
    pretrained = [p for name, p in trainer.head.named_parameters() if name in kept]
    fresh = [p for name, p in trainer.head.named_parameters() if name not in kept]
    groups = [{"params": fresh, "share": 1.0, "rests": 0.0}, {"params": pretrained, "share": options.trunk_rate, "rests": 0.0}]
    for parameter in pretrained:
        parameter.requires_grad_(options.trunk_rate > 0)
    trainer.optimizer = torch.optim.AdamW(groups, options.rate, weight_decay=0.01)


def keep_knowledge(trainer, options: Variant) -> None:  # noqa: ANN001
    """Adds a second task: a linear layer on the head's last features must still tell what the trunk tells."""
    state = torch.load(folder_of("variants") / options.trunk, weights_only=True)
    classes = state["leave.bias"].shape[0] // 3
    teacher = Head(len(state["mean"]), classes, state["mean"], state["scale"])
    teacher.load_state_dict(state)
    teacher.eval().requires_grad_(False)
    student = torch.nn.Linear(state["leave.weight"].shape[1], 3 * classes)
    student.load_state_dict({"weight": state["leave.weight"], "bias": state["leave.bias"]})
    trainer.optimizer.add_param_group({"params": list(student.parameters()), "share": options.trunk_rate, "rests": 0.0})
    last: dict[str, torch.Tensor] = {}
    trainer.head.leave.register_forward_pre_hook(lambda _, inputs: last.update(features=inputs[0]))
    draw = trainer.batch

    def batch() -> tuple:
        drawn, frames, wanted = draw()
        last["frames"] = frames
        return drawn, frames, wanted

    trainer.batch = batch
    from plosive_worker.training import loop

    inner, middle = loop.detection_loss, slice(options.context, options.context + options.window)

    def with_teacher(logits: torch.Tensor, wanted: object, where: slice) -> torch.Tensor:
        with torch.no_grad():
            told = torch.sigmoid(teacher.body(last["frames"]).flatten(2)[:, middle])
        own = student(last["features"])[:, middle]
        bce = torch.nn.functional.binary_cross_entropy_with_logits(own, told, reduction="none")
        return inner(logits, wanted, where) + options.distill * bce.mean((1, 2))

    loop.detection_loss = with_teacher


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
        trained = run_training(files, asked.seed, options, asked.epochs)
        spent = time.process_time() - began
        for share, head, profiles in trained:
            called = name if len(trained) == 1 else f"{name}, {share:g}"
            called += f" + {asked.few} labels of B" if asked.few else ""
            torch.save(head.state_dict(), folder_of("variants") / f"{called}-{asked.minutes:g}-{asked.seed}.pt")
            report(called, asked, head, profiles, rows, spent)


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
