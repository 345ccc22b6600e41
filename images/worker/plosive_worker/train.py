# The train verb: load embeddings and labels, split by file, train (from the last checkpoint, if there is one), choose
# thresholds on the validation files, where labels are few learn once more from all files, export, check, upload. SIGTERM: a
# checkpoint, then exit 75.
import hashlib
import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from .events.profile import Profile
from .failure import ItemFailure, WorkerFailure
from .features.spec import HOP_MS
from .manifest import TrainWork
from .model.head import Head
from .pool import usable_cpus
from .session import Session
from .store import Store
from .training.artifacts import save_artifacts
from .training.data import LabelledFile, Part
from .training.evaluation import Validation, finish_profiles
from .training.inputs import load_files
from .training.loop import Settings, Trainer, frames_of, note_of
from .training.split import Split, split_files

CHECKPOINT_SECONDS = 30
MAX_CHUNK_MS, MAX_STRIDE_MS = 20_000, 20_000
# Where a usual type has fewer labels to learn from than this, the validation files are worth more as teachers than what a
# second training costs: macro F1 .63 instead of .57 after five minutes.
FEW_LABELS = 60
MAX_BATCH_FRAMES = 100_000  # about 3 GB
FRAMES_FOR_ALL_CORES = 8_000  # of a batch; under it a second thread costs more than it brings


def settings_of(work: TrainWork) -> Settings:
    config = work.config
    chunk = frames_of(config.chunk_size_ms, MAX_CHUNK_MS // HOP_MS)
    stride = min(chunk, frames_of(config.stride_ms, MAX_STRIDE_MS // HOP_MS))  # a longer one would pass labels over
    if config.batch_size * chunk > MAX_BATCH_FRAMES:
        chunk = frames_of(MAX_BATCH_FRAMES // config.batch_size * HOP_MS, chunk)
        stride = min(stride, chunk)
        print(f"chunks are cut to {chunk * HOP_MS} ms: {config.batch_size} longer ones at once do not fit into memory")
    return Settings(config.epochs, config.batch_size, config.learning_rate, chunk, stride, work.seed)


def snapshot_of(work: TrainWork) -> str:
    """Digest of what was learned from: embeddings, labels, and which files are reviewed, in whatever order they came."""
    lines = []
    for file in work.files:
        labels = sorted(f"{a.start_ms}-{a.end_ms} {a.artifact_type}" for a in file.annotations)
        lines.append(f"{file.id} {file.embedding.sha256} {file.reviewed} {'; '.join(labels)}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def is_worth_a_second_training(split: Split, profiles: list[Profile]) -> bool:
    return bool(split.validation) and float(np.median([p.support for p in profiles])) < FEW_LABELS


class Checkpoints:
    """Writes the trainer's state every CHECKPOINT_SECONDS, and at once before the pod has to go. `verdict` is what the first
    training's validation said, as JSON, "" before its end."""

    def __init__(self, store: Store, scratch: Path):
        self.store, self.path, self.due, self.ending = store, scratch / "checkpoint", time.monotonic() + CHECKPOINT_SECONDS, False
        self.kept = self.load()
        self.verdict = note_of(self.kept) if self.kept else ""
        self.steps_before = 0  # of an earlier training
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_: object) -> None:
        self.ending = True

    def save(self, trainer: Trainer) -> bool:
        """A store that is away costs the checkpoint, not the run."""
        self.path.write_bytes(trainer.state_bytes(self.verdict))
        self.due = time.monotonic() + CHECKPOINT_SECONDS
        try:
            self.store.upload("a checkpoint", lambda w: w.outputs.checkpoint, self.path)
        except WorkerFailure as failure:
            print(f"no checkpoint: {failure.message}")
            return False
        self.store.session.checkpointed(self.steps_before + trainer.step)
        return True

    def after_step(self, trainer: Trainer) -> None:
        if self.ending:
            kept = "a checkpoint is written" if self.save(trainer) else "no checkpoint could be written"
            raise WorkerFailure("interrupted", f"Ended by the cluster at step {self.steps_before + trainer.step}; {kept}")
        if time.monotonic() >= self.due:
            self.save(trainer)

    def load(self) -> bytes | None:
        """A checkpoint that is gone costs time, not the run."""
        if self.store.session.work.checkpoint is None:
            return None
        try:
            self.store.download("The checkpoint", lambda w: w.checkpoint, self.path)
        except ItemFailure as failure:
            print(f"starting over: {failure.message}")
            return None
        return self.path.read_bytes()

    def restore(self, trainer: Trainer) -> None:
        """Once: the second of two trainings begins at its beginning. A checkpoint of other settings costs time, not the run."""
        if self.kept:
            resumed = trainer.restore(self.kept)
            print(f"going on at step {trainer.step}" if resumed else "starting over: the checkpoint is of other settings")
        self.kept = None


class Lessons:
    """One training, or two where labels are few: `learn` runs the training with this number over these parts."""

    def __init__(self, session: Session, checkpoints: Checkpoints, files: list[LabelledFile], settings: Settings, count: int):
        self.session, self.checkpoints, self.files, self.settings, self.count = session, checkpoints, files, settings, count

    def learn(self, number: int, parts: list[Part], after_epoch: Callable[[Trainer, float], None]) -> tuple[Head, Trainer]:
        trainer = Trainer(self.files, parts, len(self.session.work.config.artifact_types), self.settings)
        self.checkpoints.restore(trainer)

        def tell(message: str | None = None) -> None:
            share = (number + trainer.step / trainer.total_steps) / self.count
            self.session.progress(0.97 * share, message or self.session.report["message"])

        def after_step(trainer: Trainer) -> None:
            self.checkpoints.after_step(trainer)
            self.session.beat()
            if trainer.step % 20 == 0:
                tell()

        tell(f"Training on {len({part.file for part in parts})} of {len(self.files)} files")
        head = trainer.run(after_step, after_epoch)
        self.checkpoints.steps_before += trainer.total_steps
        return head, trainer


def first_lesson(lessons: Lessons, split: Split, validation: Validation) -> tuple[Head, list[Profile], dict]:
    """The model that has not heard the validation files, what they say of it, and the metrics."""
    session, epochs = lessons.session, lessons.settings.epochs

    def after_epoch(trainer: Trainer, train_loss: float) -> None:
        epoch = trainer.step // trainer.steps_per_epoch
        val_loss, val_f1 = validation.measure(trainer)
        values = {"train_loss": train_loss, "val_loss": val_loss, "val_f1": val_f1, "learning_rate": trainer.learning_rate()}
        trainer.history.append({"epoch": epoch, **{name: round(value, 6) for name, value in values.items()}})
        points = [(epoch, name, value) for name, value in values.items()]
        message = f"Epoch {epoch} of {epochs}, validation F1 {val_f1:.2f}"
        session.progress(0.97 * epoch / epochs / lessons.count, message, points, items_done=epoch)

    head, trainer = lessons.learn(0, split.train, after_epoch)
    session.progress(session.report["fraction"], "Choosing thresholds")
    profiles, metrics = finish_profiles(head, validation)
    facts = {"seed": lessons.settings.seed, "learned_again_from_all_files": lessons.count > 1}
    return head, profiles, metrics | {"history": trainer.history, "split": metrics["split"] | facts}


def taught(lessons: Lessons, split: Split, validation: Validation) -> tuple[Head, list[Profile], dict]:
    """The finished model, its profiles and metrics. A run that was taken away in its second training goes on there."""
    checkpoints, head = lessons.checkpoints, None
    if checkpoints.verdict:
        known = json.loads(checkpoints.verdict)
        profiles, metrics = [Profile(**values) for values in known["profiles"]], known["metrics"]
        checkpoints.steps_before = known["steps"]
    else:
        head, profiles, metrics = first_lesson(lessons, split, validation)
        known = {"profiles": [p.as_json() for p in profiles], "metrics": metrics, "steps": checkpoints.steps_before}
        checkpoints.verdict = json.dumps(known)
    if lessons.count > 1:
        epochs = lessons.settings.epochs

        def after_epoch(trainer: Trainer, train_loss: float) -> None:
            lessons.session.report["message"] = f"Learning from all files, epoch {trainer.step // trainer.steps_per_epoch} of {epochs}"

        head, _ = lessons.learn(1, split.train + split.validation, after_epoch)
    return head, profiles, metrics


def run(session: Session) -> str:
    """One training run; returns the sentence for the termination log."""
    work: TrainWork = session.fetch_work()
    store, scratch, config, settings = Store(session), session.env.scratch, work.config, settings_of(work)
    types = config.artifact_types
    session.progress(0.0, "Loading embeddings", items_total=config.epochs)
    files = load_files(store, scratch, types)
    split = split_files(files, len(types), config.validation_split, settings.seed)
    torch.set_num_threads(usable_cpus() if settings.batch_size * settings.chunk_frames >= FRAMES_FOR_ALL_CORES else 1)
    validation = Validation(files, split, types, session.beat)
    count = 2 if is_worth_a_second_training(split, validation.profiles) else 1
    lessons = Lessons(session, Checkpoints(store, scratch), files, settings, count)
    head, profiles, metrics = taught(lessons, split, validation)
    session.progress(0.97, "Exporting the model")
    saved = save_artifacts(store, scratch, head, profiles, work, metrics, snapshot_of(work), files)
    result = {
        "version": 1,
        "kind": "train",
        "run": work.run,
        "shard": work.shard,
        "artifact_types": types,
        "architecture": saved.architecture,
        "metrics": metrics,
        "artifacts": saved.artifacts,
    }
    store.upload_json("the result", lambda w: w.result, result, scratch / "result.json")
    session.progress(1.0, "Done", items_done=config.epochs)
    f1 = metrics["overall"]["f1"]
    worth = "no event to validate with" if f1 is None else f"macro F1 {f1:.2f}"
    return f"Trained {config.epochs} epochs on {len(files)} files, {worth}"
