# Throughput of one worker on a whole machine, with and without its GPU: `python3 -m bench.detection.machine AUDIO MODEL`, where
# AUDIO is a folder of sound files and MODEL one with model.onnx and card.json (docs/benchmarks/detection-gpu.md). Each figure is
# seconds of sound for each second of wall clock. Files are on the local disk: no object store takes part. Functions import torch,
# because decoding children import this module, and torch does not fit into their memory limit.
import plosive_worker.__main__  # noqa: F401, I001  sets the number of threads before numpy is imported
import argparse
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import soundfile
from plosive_worker.audio.sandbox import FRAMES, check_confinement, extract_safely
from plosive_worker.failure import WorkerFailure
from plosive_worker.features.file import FrameFile, read_frames
from plosive_worker.features.spec import own_spec
from plosive_worker.manifest import DetectConfig
from plosive_worker.model.card import read_card
from plosive_worker.model.detector import Detector
from plosive_worker.model.torch_session import TorchSession
from plosive_worker.pool import items_at_once, memory_limit, usable_cpus
from plosive_worker.runtime import cpu_session

ROUNDS, BLOCK, STEPS = 2, 1 << 19, 60


def decode(path: Path) -> None:
    with soundfile.SoundFile(path) as sound:
        for _ in sound.blocks(BLOCK, dtype="float32"):
            pass


def can_confine() -> bool:
    try:
        check_confinement(False)
    except WorkerFailure as failure:
        if failure.code != "decoder_unconfined":
            raise
        print(f"decoding without confinement: {failure.message}")
        return False
    return True


def process(detector: Detector | None, allow_unconfined: bool, path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts = extract_safely(path, folder, allow_unconfined=allow_unconfined)
        if detector is not None:
            detector.detect(read_frames(folder / FRAMES), facts.duration_ms, folder / "posteriors")


def detector_on(folder: Path, device: str) -> Detector:
    model, config = (folder / "model.onnx").read_bytes(), DetectConfig(None, {}, None, None, None, None, None)
    detector = Detector(model, read_card(folder / "card.json", own_spec()), config, usable_cpus())
    detector.session = cpu_session(model, usable_cpus()) if device == "cpu" else TorchSession(model, device)
    return detector


def training(frames: FrameFile, is_on_gpu: bool) -> str:
    """Times a training with the service's settings and 13 types."""
    import torch
    from plosive_worker.training.data import LabelledFile, Part
    from plosive_worker.training.loop import Settings, Trainer

    torch.set_num_threads(1)
    events = tuple((kind, 1000 * kind, 1000 * kind + 300) for kind in range(13))
    file = LabelledFile("0", frames, events, True)
    with patch.object(torch.cuda, "is_available", lambda: is_on_gpu):
        trainer = Trainer([file], [Part(0, 0, file.length)], 13, Settings(20, 32, 1e-3, 50, 25, 0))

    def seconds_of(do: Callable[[], object]) -> float:
        began = time.monotonic()
        for _ in range(STEPS):
            do()
        return (time.monotonic() - began) / STEPS

    seconds_of(trainer.train_step)
    step, batch = seconds_of(trainer.train_step), seconds_of(trainer.batch)
    where = "GPU" if is_on_gpu else "CPU"
    return f"training on the {where}: {1 / step:.1f} steps a second; {1000 * batch:.0f} ms of each prepare the batch"


def main() -> None:
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("audio", type=Path)
    parser.add_argument("model", type=Path)
    asked = parser.parse_args()
    files = sorted(path for path in asked.audio.iterdir() if path.is_file())
    sound = sum(soundfile.info(path).duration for path in files)
    allow, has_gpu = not can_confine(), torch.cuda.is_available()
    print(f"{usable_cpus()} cores, {len(files)} files, {sound / 3600:.1f} hours of sound")

    with (
        ProcessPoolExecutor(usable_cpus(), get_context("spawn")) as processes,
        ThreadPoolExecutor(items_at_once(usable_cpus(), memory_limit())) as threads,
    ):
        ways = {
            "decode alone": partial(processes.map, decode),
            "decode and features": partial(threads.map, partial(process, None, allow)),
        }
        for device in ("cpu", "cuda") if has_gpu else ("cpu",):
            ways[f"decode to events, model on {device}"] = partial(
                threads.map, partial(process, detector_on(asked.model, device), allow)
            )
        for way in ways.values():
            list(way(files))  # starts processes, and compiles what a GPU needs
        for number in range(ROUNDS):
            for name, way in ways.items():
                began = time.monotonic()
                list(way(files))
                print(f"round {number + 1}: {name}: {sound / (time.monotonic() - began):.0f} times real time", flush=True)

    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    began = time.monotonic()
    process(None, allow, files[0])
    print(
        f"one file on one core: {soundfile.info(files[0]).duration / (time.monotonic() - began):.0f} times real time", flush=True
    )
    os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as folder:
        extract_safely(files[0], Path(folder), allow_unconfined=allow)
        for is_on_gpu in (False, True) if has_gpu else (False,):
            print(training(read_frames(Path(folder) / FRAMES), is_on_gpu), flush=True)


if __name__ == "__main__":
    main()
