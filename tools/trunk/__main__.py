# `make trunk`: makes procedural takes, trains the detector head on their families, and writes the layers that every
# training of the service begins with (images/worker/plosive_worker/training/trunk.safetensors). On a CPU, the same seed gives
# the same bytes on the same machine.
import argparse
import os
import sys
from pathlib import Path

from plosive_worker.training.trunk import TRUNK, save_trunk

from .effects import CLASSES
from .pretraining import pretrain, settings_of
from .takes import takes_in

CACHE = Path(os.environ.get("PLOSIVE_CACHE") or Path.home() / ".cache" / "plosive")
HOURS, STEPS, BATCH, LEARNING_RATE = 24.0, 14_000, 48, 2e-3


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="trunk")
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--learning-rate", type=float, default=LEARNING_RATE)
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
    settings = settings_of(asked.batch, asked.learning_rate, asked.seed)
    head = pretrain(files, len(CLASSES), settings, asked.steps, asked.processes, say)
    save_trunk(head, asked.out)
    say(f"wrote {asked.out}, {asked.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
