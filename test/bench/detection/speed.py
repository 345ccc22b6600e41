# Speed of the workers compared with other tools, on the same files and one core, in one run: `python3 -m
# bench.detection.speed` (make bench-detection-speed) writes docs/benchmarks/detection-speed.md.
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from . import cache, others
from .corpus.sets import ROWS, takes_of, training_takes
from .product import Product, say
from .report import FOLDER, SPEEDS, cpu_name, table
from .speed_child import WAYS
from .types import TYPES, Take

ROUNDS = 3
TITLES = {
    "features": "ours, features alone",
    "embed": "**ours, the embed verb**",
    "detect": "**ours, the detect verb**",
}
LIMITS = {"embed": 200, "detect": 150}
NOTES = """\
The figures are processor time, so waiting for the object store and load from other processes do not count. The detectors
take turns for {rounds} rounds; the table shows the median and the range. Input: {files} FLAC files, {minutes:.0f} minutes,
16 kHz, one core. Every row includes decoding. The verbs include the whole life of a pod: start-up, download, checks, a sandbox
process for each file, upload. The other rows are loops in one warm process. silero-vad computes one probability per 32 ms,
librosa's row 64 bands per 10 ms, Plosive ("ours") {dims} features per 10 ms. The detect verb then also finds events of
{types} types.
"""


def timed_child(name: str, files: Path) -> float:
    python = sys.executable if name == "features" else str(others.PYTHON)
    command = [python, "-W", "ignore", "-m", "bench.detection.speed_child", name, str(files)]
    environment = others.environment() | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def measure(takes: list[Take], folder: Path) -> dict[str, list[float]]:
    """For each way, times real time in each round."""
    sound = sum(take.duration_s for take in takes)
    names = folder / "files.json"
    names.write_text(json.dumps([str(take.path) for take in takes]))
    found: dict[str, list[float]] = {name: [] for name in ("embed", "detect", *WAYS)}
    worker = Product(folder)  # its store is empty
    try:
        model = worker.train(training_takes(5, 0), 0, epochs=1)  # the quality of its training does not matter here
        for number in range(ROUNDS):
            _, spent = worker.embed(takes)
            found["embed"].append(sound / spent.cpu)
            for note in (worker.folder / "embedded").glob("*"):
                note.unlink()
            _, spent = worker.detect(model, takes, None)
            found["detect"].append(sound / spent.cpu)
            for name in WAYS:
                found[name].append(sound / timed_child(name, names))
            say(f"round {number + 1} of {ROUNDS}: " + ", ".join(f"{name} {values[-1]:.0f}x" for name, values in found.items()))
    finally:
        worker.close()
    return found


def main() -> None:
    from plosive_worker.features.spec import DIMS

    if not others.PYTHON.exists():
        raise SystemExit("the other tools are not installed: make bench-detection-deps")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    takes = takes_of(next(row for row in ROWS if row.name == "unseen"), 0)
    takes += [take.twin() for take in takes]
    with tempfile.TemporaryDirectory(dir=cache.CACHE) as folder:
        found = measure(takes, Path(folder))
    SPEEDS.write_text(json.dumps(found))
    rows = []
    for name, values in sorted(found.items(), key=lambda item: -median(item[1])):
        wanted = LIMITS.get(name)
        goal = "" if wanted is None else f"at least {wanted}x: " + ("met" if median(values) >= wanted else "**missed**")
        rows.append((TITLES.get(name, name), f"{median(values):.0f}x", f"{min(values):.0f} to {max(values):.0f}", goal))
    minutes = sum(take.duration_s for take in takes) / 60
    notes = NOTES.format(rounds=ROUNDS, files=len(takes), minutes=minutes, dims=DIMS, types=len(TYPES))
    text = table(("", "times real time", "rounds", ""), rows)
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = f"# Speed of the workers\n\nWritten by `make bench-detection-speed`. {cpu_name()}.\n"
    (FOLDER / "detection-speed.md").write_text(f"{head}\n{notes}\n{text}")
    say(f"wrote {FOLDER / 'detection-speed.md'}\n{text}")


if __name__ == "__main__":
    main()
