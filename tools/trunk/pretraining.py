# Trains the detector head on the takes, as a training of the service does, with batches that other processes prepare: that
# takes a tenth of the time of a step on a CPU, and as long as the step itself on a GPU. Called by __main__.py.
from collections.abc import Callable, Iterator

import numpy as np
import torch
from plosive_worker.model.head import Head
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.loop import Settings, Trainer
from plosive_worker.training.loss import Targets
from torch.utils.data import DataLoader, Dataset

CHUNK_FRAMES, STRIDE_FRAMES = 176, 88  # longer than the service's chunks: most frames have their whole context
ROUND = 1000  # steps between two copies of the losses, from which the processes draw hard negatives
AHEAD = 2  # batches of each process in shared memory, of 12 MB each; a container often has 64 MB


class Examples(Dataset):
    """The batches of the steps from `first` on. Each has random numbers of its own, so that the number of processes changes
    nothing."""

    def __init__(self, trainer: Trainer, first: int, count: int):
        self.trainer, self.first, self.count = trainer, first, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> list[torch.Tensor]:
        drawn, arrays = self.trainer.examples(np.random.default_rng([self.trainer.settings.seed, 3, self.first + index]))
        # half of the bytes, for the way between two processes
        return [torch.from_numpy(drawn), *(torch.from_numpy(np.asarray(a, np.float16)) for a in arrays)]


class Pretrainer(Trainer):
    def __init__(self, files: list[LabelledFile], classes: int, settings: Settings, steps: int, processes: int):
        super().__init__(files, [Part(i, 0, f.length) for i, f in enumerate(files)], classes, settings, from_trunk=False)
        self.steps_per_epoch, self.total_steps, self.processes = min(ROUND, steps), steps, processes
        self.prepared: Iterator[list[torch.Tensor]] = iter(())

    def batch(self) -> tuple[np.ndarray, torch.Tensor, Targets]:
        if self.step % ROUND == 0:
            self.prepared = iter(())  # ends the processes of the last round before the next ones start
            examples = Examples(self, self.step, min(ROUND, self.total_steps - self.step))
            # fork: the processes have a copy of the losses
            options = {"num_workers": self.processes, "prefetch_factor": AHEAD, "multiprocessing_context": "fork"}
            self.prepared = iter(DataLoader(examples, batch_size=None, **options))
        drawn, *tensors = next(self.prepared)
        frames, *labels = (tensor.to(self.device).float() for tensor in tensors)
        return drawn.numpy(), frames, Targets(*labels)


def settings_of(batch: int, rate: float, seed: int) -> Settings:
    return Settings(1, batch, rate, CHUNK_FRAMES, STRIDE_FRAMES, seed)


def pretrain(
    files: list[LabelledFile], classes: int, settings: Settings, steps: int, processes: int, say: Callable[[str], None]
) -> Head:
    torch.set_num_threads(1)
    trainer = Pretrainer(files, classes, settings, steps, processes)
    try:
        return trainer.run(lambda _: None, lambda t, loss: say(f"step {t.step} of {steps}: loss {loss:.4f}"))
    finally:
        trainer.prepared = iter(())
