# The train verb. Loads embeddings and labels, splits them by file, trains (from the last checkpoint, if there is one)
# and chooses thresholds on the validation files. With few labels, it then trains a second time on all files. Exports,
# checks and uploads the model. On SIGTERM it writes a checkpoint and exits with code 75.
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
from .training.loop import CheckpointKey, Settings, Trainer, checkpoint_key, first_pass_of, ms_to_frames
from .training.split import Split, files_of, split_files
from .web import ATTEMPTS

CHECKPOINT_SECONDS = 30  # of training between two checkpoints
# One more try, because the next checkpoint is near. Without a limit, an outage of the object store would stop the training.
CHECKPOINT_ATTEMPTS, CHECKPOINT_PATIENCE_SECONDS = 2, 15
# after SIGTERM: the rest of the pod's grace period of 60 s (controllers/job/child.ts) is for a step and the last report
LAST_SAVE_SECONDS, LEAST_SAVE_SECONDS = 45, 5
MAX_CHUNK_MS, MAX_STRIDE_MS = 20_000, 20_000
# If the median type has fewer training labels than this, a second training that includes the validation files is worth
# its cost: macro F1 .63 instead of .57 with five minutes of training audio.
FEW_LABELS = 60
MAX_BATCH_FRAMES = 100_000  # about 3 GB
FRAMES_FOR_ALL_CORES = 8_000  # in a batch; with fewer, a second thread costs more time than it saves


def settings_of(work: TrainWork) -> Settings:
    config = work.config
    chunk = ms_to_frames(config.chunk_size_ms, MAX_CHUNK_MS // HOP_MS)
    stride = min(chunk, ms_to_frames(config.stride_ms, MAX_STRIDE_MS // HOP_MS))  # a longer stride would skip labels
    if config.batch_size * chunk > MAX_BATCH_FRAMES:
        chunk = ms_to_frames(MAX_BATCH_FRAMES // config.batch_size * HOP_MS, chunk)
        stride = min(stride, chunk)
        print(f"using chunks of {chunk * HOP_MS} ms: a batch of {config.batch_size} longer chunks does not fit into memory")
    return Settings(config.epochs, config.batch_size, config.learning_rate, chunk, stride, work.seed)


def snapshot_of(work: TrainWork) -> str:
    """Digest of the training data: embeddings, labels and review flags, independent of the order of the files."""
    lines = []
    for file in work.files:
        labels = sorted(f"{a.start_ms}-{a.end_ms} {a.artifact_type}" for a in file.annotations)
        lines.append(f"{file.id} {file.embedding.sha256} {file.reviewed} {'; '.join(labels)}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def needs_second_pass(split: Split, profiles: list[Profile]) -> bool:
    return bool(split.validation) and float(np.median([p.support for p in profiles])) < FEW_LABELS


class Checkpoints:
    """Writes the trainer's state after every CHECKPOINT_SECONDS of training, and at once on SIGTERM. `first_pass_result` is
    the JSON of the first pass's profiles and metrics, and "" until that pass has ended."""

    def __init__(self, store: Store, scratch: Path, key: CheckpointKey):
        self.store, self.path, self.due = store, scratch / "checkpoint", time.monotonic() + CHECKPOINT_SECONDS
        self.ends_at: float | None = None  # when the last save must have ended, after SIGTERM
        self.kept = self.load()
        self.first_pass_result = first_pass_of(self.kept, key) if self.kept else ""
        self.steps_before = 0  # of the earlier pass
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_: object) -> None:
        self.ends_at = self.ends_at or time.monotonic() + LAST_SAVE_SECONDS

    def save(self, trainer: Trainer, attempts: int, deadline: float) -> bool:
        """Uploads a checkpoint. Returns False if the object store is unavailable; the run continues without it."""
        self.path.write_bytes(trainer.state_bytes(self.first_pass_result))
        try:
            self.store.upload("a checkpoint", lambda w: w.outputs.checkpoint, self.path, attempts, deadline)
        except WorkerFailure as failure:
            print(f"could not write a checkpoint: {failure.message}")
            return False
        self.store.session.checkpointed(self.steps_before + trainer.step)
        return True

    def after_step(self, trainer: Trainer) -> None:
        saved = False
        if self.ends_at is None and time.monotonic() >= self.due:
            saved = self.save(trainer, CHECKPOINT_ATTEMPTS, time.monotonic() + CHECKPOINT_PATIENCE_SECONDS)
            self.due = time.monotonic() + CHECKPOINT_SECONDS
        if self.ends_at is not None:
            # after a long validation the grace period is nearly over: then it tries all the same
            saved = saved or self.save(trainer, ATTEMPTS, max(self.ends_at, time.monotonic() + LEAST_SAVE_SECONDS))
            told = "a checkpoint was written" if saved else "no checkpoint could be written"
            raise WorkerFailure("interrupted", f"The cluster ended this pod at step {self.steps_before + trainer.step}; {told}")

    def load(self) -> bytes | None:
        """Downloads the last checkpoint. Returns None if there is none; the run then starts from the beginning."""
        if self.store.session.work.checkpoint is None:
            return None
        try:
            self.store.download("The checkpoint", lambda w: w.checkpoint, self.path)
        except ItemFailure as failure:
            print(f"starting over: {failure.message}")
            return None
        return self.path.read_bytes()

    def drop_second_pass(self) -> None:
        """Drops a checkpoint of a second pass. A run with one pass cannot use it: another release of the worker decided
        on two passes."""
        if self.first_pass_result:
            print("starting over: the checkpoint belongs to a second pass, and this run has only one")
            self.kept, self.first_pass_result = None, ""

    def restore(self, trainer: Trainer) -> None:
        """Restores the checkpoint into the first trainer that asks for it; a later pass starts from its beginning.
        Ignores a checkpoint of other settings."""
        if self.kept:
            resumed = trainer.restore(self.kept)
            other = "starting over: the checkpoint was written with other settings"
            print(f"resuming at step {self.steps_before + trainer.step}" if resumed else other)
        self.kept = None


class TrainingPasses:
    """One training pass, or two if labels are few."""

    def __init__(self, session: Session, checkpoints: Checkpoints, files: list[LabelledFile], settings: Settings, count: int):
        self.session, self.checkpoints, self.files, self.settings, self.count = session, checkpoints, files, settings, count

    def train(self, number: int, parts: list[Part], after_epoch: Callable[[Trainer, float], None]) -> tuple[Head, Trainer]:
        """Runs pass `number` (0 or 1) over `parts`. Returns the head and its trainer."""
        trainer = Trainer(self.files, parts, len(self.session.work.config.artifact_types), self.settings)
        self.checkpoints.restore(trainer)

        def report(message: str | None = None) -> None:
            share = (number + trainer.step / trainer.total_steps) / self.count
            # Epochs of the first pass: a new pod begins with 0, also in the second pass.
            epochs = self.settings.epochs if number else trainer.step // trainer.steps_per_epoch
            self.session.progress(0.97 * share, message or self.session.report["message"], items_done=epochs)

        def after_step(trainer: Trainer) -> None:
            self.checkpoints.after_step(trainer)
            self.session.heartbeat()
            if trainer.step % 20 == 0:
                report()

        report(f"Training on {len({part.file for part in parts})} of {len(self.files)} files")
        head = trainer.run(after_step, after_epoch)
        self.checkpoints.steps_before += trainer.total_steps
        return head, trainer


def run_first_pass(passes: TrainingPasses, split: Split, validation: Validation) -> tuple[Head, list[Profile], dict]:
    """Trains on the training part only. Returns the head, its profiles and its metrics on the validation files."""
    session, epochs = passes.session, passes.settings.epochs

    def after_epoch(trainer: Trainer, train_loss: float) -> None:
        epoch = trainer.step // trainer.steps_per_epoch
        val_loss, val_f1 = validation.measure(trainer)
        values = {"train_loss": train_loss, "val_loss": val_loss, "val_f1": val_f1, "learning_rate": trainer.learning_rate()}
        trainer.history.append({"epoch": epoch, **{name: round(value, 6) for name, value in values.items()}})
        points = [(epoch, name, value) for name, value in values.items()]
        message = f"Epoch {epoch} of {epochs}, validation F1 {val_f1:.2f}"
        session.progress(0.97 * epoch / epochs / passes.count, message, points, items_done=epoch)

    head, trainer = passes.train(0, split.train, after_epoch)
    session.progress(session.report["fraction"], "Choosing thresholds")
    profiles, metrics = finish_profiles(head, validation, session.work.config.max_false_alarms_per_hour)
    facts = {"seed": passes.settings.seed, "learned_again_from_all_files": passes.count > 1}
    return head, profiles, metrics | {"history": trainer.history, "split": metrics["split"] | facts}


def train_model(passes: TrainingPasses, split: Split, validation: Validation) -> tuple[Head, list[Profile], dict]:
    """Runs all passes. Returns the final head, its profiles and metrics. A run that was interrupted in its second pass
    continues there."""
    checkpoints = passes.checkpoints
    if passes.count == 1:
        checkpoints.drop_second_pass()
        return run_first_pass(passes, split, validation)
    if checkpoints.first_pass_result:
        first = json.loads(checkpoints.first_pass_result)
        profiles, metrics = [Profile(**values) for values in first["profiles"]], first["metrics"]
        checkpoints.steps_before = first["steps"]
    else:
        _, profiles, metrics = run_first_pass(passes, split, validation)
        first = {"profiles": [p.as_json() for p in profiles], "metrics": metrics, "steps": checkpoints.steps_before}
        checkpoints.first_pass_result = json.dumps(first)
    epochs = passes.settings.epochs

    def after_epoch(trainer: Trainer, train_loss: float) -> None:
        epoch = trainer.step // trainer.steps_per_epoch
        passes.session.report["message"] = f"Training on all files, epoch {epoch} of {epochs}"

    head, _ = passes.train(1, files_of(split, passes.files), after_epoch)
    return head, profiles, metrics


def quality_of(f1: float | None, profiles: list[Profile], passes: int) -> str:
    """Returns what the job's last message says about the model. Only a second pass learns from every label."""
    quality = "no events for validation" if f1 is None else f"macro F1 {f1:.2f}"
    unlearned = [profile.name for profile in profiles if not profile.support] if passes == 1 else []
    return f"{quality}; no label of {', '.join(unlearned)} was in training" if unlearned else quality


def run(session: Session) -> str:
    """Runs the whole training job. Returns the message for the termination log."""
    work: TrainWork = session.fetch_work()
    store, scratch, config, settings = Store(session), session.env.scratch, work.config, settings_of(work)
    types = config.artifact_types
    session.progress(0.0, "Loading embeddings", items_total=config.epochs)
    files = load_files(store, scratch, types)
    split = split_files(files, len(types), config.validation_split, settings.seed)
    torch.set_num_threads(usable_cpus() if settings.batch_size * settings.chunk_frames >= FRAMES_FOR_ALL_CORES else 1)
    validation = Validation(files, split, types, session.heartbeat)
    count = 2 if needs_second_pass(split, validation.profiles) else 1
    checkpoints = Checkpoints(store, scratch, checkpoint_key(settings, files[0].frames.frames.shape[1]))
    passes = TrainingPasses(session, checkpoints, files, settings, count)
    head, profiles, metrics = train_model(passes, split, validation)
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
    quality = quality_of(metrics["overall"]["f1"], profiles, count)
    return f"Trained {config.epochs} epochs on {len(files)} files, {quality}"
