# `make trunk`: makes procedural takes, trains the detector head on their families, and writes the layers that every
# training of the service begins with (images/worker/plosive_worker/training/trunk.safetensors). Same seed, same machine,
# same bytes.
import argparse
import os
import sys
from pathlib import Path

import torch
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.loop import Settings, Trainer
from plosive_worker.training.trunk import TRUNK, save_trunk

from .effects import CLASSES
from .takes import takes_in

CACHE = Path(os.environ.get("PLOSIVE_CACHE") or Path.home() / ".cache" / "plosive")
HOURS, STEPS, BATCH, LEARNING_RATE = 16.0, 20_000, 12, 1e-3
CHUNK_FRAMES, STRIDE_FRAMES = 176, 88  # longer than the service's chunks: most frames have their whole context


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def pretrain(files: list[LabelledFile], steps: int, seed: int) -> Trainer:
    torch.set_num_threads(1)
    settings = Settings(1, BATCH, LEARNING_RATE, CHUNK_FRAMES, STRIDE_FRAMES, seed)
    trainer = Trainer(files, [Part(i, 0, f.length) for i, f in enumerate(files)], len(CLASSES), settings, from_trunk=False)
    trainer.steps_per_epoch, trainer.total_steps = 500, steps
    trainer.run(lambda _: None, lambda t, loss: say(f"step {t.step} of {steps}: loss {loss:.4f}"))
    return trainer


def main() -> None:
    parser = argparse.ArgumentParser(prog="trunk")
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--without", default="", help="comma-separated talkers to leave out")
    parser.add_argument("--cache", type=Path, default=CACHE / "trunk")
    parser.add_argument("--out", type=Path, default=TRUNK)
    asked = parser.parse_args()
    without = set(filter(None, asked.without.split(",")))
    folder = asked.cache / "-".join(["takes", str(asked.seed), *sorted(without)])
    files = takes_in(folder, asked.hours, asked.seed, without, asked.processes)
    say(f"{len(files)} takes, {len(CLASSES)} classes")
    save_trunk(pretrain(files, asked.steps, asked.seed).head, asked.out)
    say(f"wrote {asked.out}, {asked.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
