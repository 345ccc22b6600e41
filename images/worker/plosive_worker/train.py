# The train verb: load embeddings and labels, split by file, train (from the last checkpoint, if there is one), choose
# thresholds on the validation files, export, check, upload. SIGTERM: a checkpoint, then exit 75.
import hashlib
import signal
import time
from pathlib import Path

import torch

from .failure import ItemFailure, WorkerFailure
from .features.spec import HOP_MS, own_spec
from .manifest import TrainWork
from .pool import usable_cpus
from .session import Session
from .store import Store
from .training.artifacts import save_artifacts
from .training.evaluation import Validation, finish_profiles
from .training.inputs import load_files
from .training.loop import Settings, Trainer, frames_of
from .training.split import split_files

CHECKPOINT_SECONDS = 30
MAX_CHUNK_MS, MAX_STRIDE_MS = 20_000, 20_000
FRAMES_FOR_ALL_CORES = 8_000  # of a batch; under it a second thread costs more than it brings


def settings_of(work: TrainWork) -> Settings:
    config = work.config
    chunk = frames_of(config.chunk_size_ms, MAX_CHUNK_MS // HOP_MS)
    stride = frames_of(config.stride_ms, MAX_STRIDE_MS // HOP_MS)
    return Settings(config.epochs, config.batch_size, config.learning_rate, chunk, stride, work.seed)


def check_spec(work: TrainWork) -> None:
    spec = own_spec()
    if (work.feature_spec.id, work.feature_spec.hash) != (spec.id, spec.hash):
        raise WorkerFailure(
            "bad_manifest",
            f"The embeddings have features {work.feature_spec.id} {work.feature_spec.hash}, "
            f"this worker trains on {spec.id} {spec.hash}",
            "Embed the dataset again with this release",
        )


class Checkpoints:
    """Writes the trainer's state every CHECKPOINT_SECONDS, and at once before the pod has to go."""

    def __init__(self, store: Store, scratch: Path):
        self.store, self.path, self.due, self.ending = store, scratch / "checkpoint", time.monotonic() + CHECKPOINT_SECONDS, False
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_: object) -> None:
        self.ending = True

    def save(self, trainer: Trainer) -> bool:
        """A store that is away costs the checkpoint, not the run."""
        self.path.write_bytes(trainer.state_bytes())
        self.due = time.monotonic() + CHECKPOINT_SECONDS
        try:
            self.store.upload("a checkpoint", lambda w: w.outputs.checkpoint, self.path)
        except WorkerFailure as failure:
            print(f"no checkpoint: {failure.message}")
            return False
        self.store.session.checkpointed(trainer.step)
        return True

    def after_step(self, trainer: Trainer) -> None:
        if self.ending:
            kept = "a checkpoint is written" if self.save(trainer) else "no checkpoint could be written"
            raise WorkerFailure("interrupted", f"Ended by the cluster at step {trainer.step}; {kept}")
        if time.monotonic() >= self.due:
            self.save(trainer)

    def restore(self, trainer: Trainer) -> None:
        """A checkpoint that is gone or of other settings costs time, not the run."""
        if self.store.session.work.checkpoint is None:
            return
        try:
            self.store.download("The checkpoint", lambda w: w.checkpoint, self.path)
            resumed = trainer.restore(self.path.read_bytes())
            print(f"going on at step {trainer.step}" if resumed else "starting over: the checkpoint is of other settings")
        except ItemFailure as failure:
            print(f"starting over: {failure.message}")


def run(session: Session) -> str:
    """One training run; returns the sentence for the termination log."""
    work: TrainWork = session.fetch_work()
    check_spec(work)
    store, scratch, config, settings = Store(session), session.env.scratch, work.config, settings_of(work)
    types = config.artifact_types
    session.progress(0.0, "Loading embeddings", items_total=config.epochs)
    files = load_files(store, scratch, types)
    split = split_files(files, len(types), config.validation_split, settings.seed)
    torch.set_num_threads(usable_cpus() if settings.batch_size * settings.chunk_frames >= FRAMES_FOR_ALL_CORES else 1)

    trainer = Trainer(files, split.train, len(types), settings)
    validation = Validation(files, split, types, session.beat)
    checkpoints = Checkpoints(store, scratch)
    checkpoints.restore(trainer)
    session.progress(0.97 * trainer.step / trainer.total_steps, f"Training on {len(split.train)} of {len(files)} files")

    def after_epoch(trainer: Trainer, train_loss: float) -> None:
        epoch = trainer.step // trainer.steps_per_epoch
        val_loss, val_f1 = validation.measure(trainer)
        values = {"train_loss": train_loss, "val_loss": val_loss, "val_f1": val_f1, "learning_rate": trainer.learning_rate()}
        trainer.history.append({"epoch": epoch, **{name: round(value, 6) for name, value in values.items()}})
        points = [(epoch, name, value) for name, value in values.items()]
        message = f"Epoch {epoch} of {config.epochs}, validation F1 {val_f1:.2f}"
        session.progress(0.97 * epoch / config.epochs, message, points, items_done=epoch)

    def after_step(trainer: Trainer) -> None:
        checkpoints.after_step(trainer)
        session.beat()
        if trainer.step % 20 == 0:
            session.progress(0.97 * trainer.step / trainer.total_steps, session.report["message"])

    head = trainer.run(after_step, after_epoch)
    session.progress(0.97, "Choosing thresholds and exporting the model")
    profiles, metrics = finish_profiles(head, validation)
    metrics |= {"history": trainer.history, "split": metrics["split"] | {"seed": settings.seed}}
    snapshot = hashlib.sha256("\n".join(sorted(f"{f.id} {f.embedding.sha256}" for f in work.files)).encode()).hexdigest()
    saved = save_artifacts(store, scratch, head, profiles, work, metrics, snapshot, files)
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
    return f"Trained {config.epochs} epochs on {len(files)} files, macro F1 {metrics['overall']['f1']:.2f}"
