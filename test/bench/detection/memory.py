# Memory of the three verbs on one ten-hour recording: `python3 -m bench.detection.memory [--hours 10]` (make
# bench-detection-memory) writes docs/benchmarks/detection-memory.md. Each verb runs as the pod starts it, in a memory
# cgroup of 1 GiB if this machine permits one (the kernel would kill a larger process). The private memory of all its
# processes together is sampled. Fails when a verb needs more.
import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from voices.recordings import decode, list_prompts
from worker.platform import Platform, new_run, start_platform, target

from .product import say
from .report import FOLDER, cpu_name, table

RATE, LIMIT_BYTES = 16_000, 1 << 30
SAMPLE_SECONDS = 0.1
CGROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
LIMITS = ("memory.limit_in_bytes", "memory.max")
TYPES = ("click", "hum")


@dataclass
class Peak:
    """The peak memory of all processes of a verb together, in bytes."""

    private: int = 0
    limited: bool = False
    seconds: float = 0.0


def make_recording(path: Path, hours: float) -> list[dict]:
    """Repeats real voices with a click every ten seconds and hums; returns the labels."""
    prompts = list_prompts()[:400:8]
    speech = np.concatenate([np.concatenate([decode(p), np.zeros(RATE // 2, np.float32)]) for p in prompts])
    labels, rng = [], np.random.default_rng(3)
    minute = RATE * 60
    with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16") as file:
        for number in range(round(hours * 60)):
            first = int(rng.integers(0, max(1, len(speech) - minute)))
            block = np.resize(speech[first : first + minute], minute) + rng.normal(0, 1e-3, minute)
            for at in range(5, 60, 10):
                block[at * RATE : at * RATE + 3] += 0.6
                place = {"start_ms": (number * 60 + at) * 1000, "end_ms": (number * 60 + at) * 1000}
                labels.append({"artifact_type": "click", **place})
            if number % 4 == 0:
                block[: minute // 12] += 0.05 * np.sin(2 * np.pi * 50 * np.arange(minute // 12) / RATE)
                labels.append({"artifact_type": "hum", "start_ms": number * 60_000, "end_ms": number * 60_000 + 5_000})
            file.write(np.clip(block, -1, 1))
    return labels


def limited_group() -> Path | None:
    """A memory cgroup with the limit; None if this machine does not permit one."""
    for root in CGROUPS:
        own = root / f"plosive-bench-{os.getpid()}"
        try:
            own.mkdir(exist_ok=True)
            for name in LIMITS:
                if (own / name).exists():
                    (own / name).write_text(str(LIMIT_BYTES))
                    return own
            own.rmdir()
        except OSError:
            continue
    return None


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(entry.read_text().rpartition(")")[2].split()[1]), []).append(int(entry.parent.name))
        except OSError:
            continue
    out, todo = [], [root]
    while todo:
        out.append(todo.pop())
        todo += children.get(out[-1], [])
    return out


def private_bytes(pid: int) -> int:
    """Anonymous memory, which cannot be read again from a file."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def measured(platform: Platform, verb: str, run: str, scratch: Path, group: Path | None) -> Peak:
    peak, began = Peak(limited=group is not None), time.monotonic()
    environment = platform.environment(run, scratch)
    command = [sys.executable, "-m", "plosive_worker", verb]
    if group:
        command = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command]
    process = subprocess.Popen(command, env=environment)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_SECONDS):
            peak.private = max(peak.private, sum(map(private_bytes, tree(process.pid))))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    code = process.wait()
    done.set()
    watcher.join()
    peak.seconds = time.monotonic() - began
    if code:
        raise SystemExit(f"{verb} ended with {code}: {platform.termination(scratch)}")
    return peak


def works(platform: Platform, recording: Path, labels: list[dict], duration_ms: int) -> dict[str, tuple[str, dict]]:
    """verb -> (run, work); later verbs use the files that earlier ones store."""
    from plosive_worker.features.spec import own_spec

    name, runs = str(uuid.uuid4()), {verb: new_run() for verb in ("embed", "train", "detect")}

    def common(verb: str) -> dict:
        result = target(f"{runs[verb]}/result.json")
        return {"version": 1, "kind": verb, "run": runs[verb], "shard": 0, "result": result}

    shutil.copy(recording, platform.folder / "store" / "audio")
    audio = {"url": "audio", "size_bytes": recording.stat().st_size, "sha256": None}
    item, spec = {"id": name, "filename": "long.wav", "audio": audio}, own_spec()
    outputs = {"embedding": target("embedding"), "peaks": target("peaks")}
    config = {"artifact_types": list(TYPES), "epochs": 1, "validation_split": 0.2, "learning_rate": 0.001, "batch_size": 32}
    stored = {"url": "embedding", "size_bytes": None, "sha256": None}
    file = {"id": name, "duration_ms": duration_ms, "embedding": stored, "reviewed": True, "annotations": labels}
    train = {
        "config": config | {"chunk_size_ms": 500, "stride_ms": 250},
        "seed": 1,
        "feature_spec": {"id": spec.id, "hash": spec.hash},
        "files": [file],
        "outputs": {part: target(part) for part in ("model", "weights", "card", "sums", "checkpoint")},
        "checkpoint": None,
    }
    model = {part: {"url": key, "size_bytes": None, "sha256": None} for part, key in (("onnx", "model"), ("card", "card"))}
    config = dict.fromkeys(("threshold", "artifact_types", "min_duration_ms", "merge_gap_ms", "chunk_size_ms", "stride_ms"))
    detect = {"config": config | {"thresholds": {}}, "model": model, "items": [item]}
    return {
        "embed": (runs["embed"], common("embed") | {"items": [item | {"outputs": outputs}]}),
        "train": (runs["train"], common("train") | train),
        "detect": (runs["detect"], common("detect") | detect),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.detection.memory")
    parser.add_argument("--hours", type=float, default=10)
    parser.add_argument("--folder", type=Path, default=None, help="with room for 8 GB")
    options = parser.parse_args()
    group = limited_group()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        root = Path(folder)
        labels = make_recording(root / "long.wav", options.hours)
        platform = start_platform(root)
        (root / "store").mkdir(exist_ok=True)
        rows, is_met = [], True
        for verb, (run, work) in works(platform, root / "long.wav", labels, round(options.hours * 3_600_000)).items():
            platform.works[run] = work
            peak = measured(platform, verb, run, root / verb, group)
            is_met = is_met and peak.private <= LIMIT_BYTES
            limited = "met" if peak.limited else "not available"
            rows.append((verb, f"{peak.private / 2**20:.0f}", limited, f"{peak.seconds:.0f}"))
            say(f"{verb}: {peak.private / 2**20:.0f} MiB, {peak.seconds:.0f} s")
        platform.stop()
    text = table(("verb", "private memory, MiB", "cgroup of 1 GiB", "seconds"), rows)
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = f"# Memory of the workers\n\nWritten by `make bench-detection-memory`. {cpu_name()}.\n"
    notes = f"One recording of {options.hours:g} hours (16 kHz, one channel), one pod per verb. The train verb runs one epoch.\n"
    (FOLDER / "detection-memory.md").write_text(f"{head}\n{notes}\n{text}")
    say(f"wrote {FOLDER / 'detection-memory.md'}\n{text}")
    deadline = time.monotonic() + 10
    while group and group.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # busy until its last process has exited
            group.rmdir()
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
