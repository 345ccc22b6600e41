# Throughput of one worker on a whole machine, with and without its GPU: `python3 -m bench.detection.machine AUDIO MODEL`, where
# AUDIO is a folder of sound files and MODEL one with model.onnx and card.json (docs/benchmarks/detection-gpu.md). Each figure is
# sound processed by second of wall clock. Files are on the local disk: no object store takes part. Functions import torch,
# because decoding children import this module, and torch does not fit into their memory limit.
import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

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

ROUNDS, BLOCK = 2, 1 << 19
Way = Callable[[list[Path]], None]


def decode(path: Path) -> None:
    with soundfile.SoundFile(path) as sound:
        for _ in sound.blocks(BLOCK, dtype="float32"):
            pass


def decode_all(files: list[Path]) -> None:
    with ProcessPoolExecutor(usable_cpus()) as processes:
        list(processes.map(decode, files))


def can_confine() -> bool:
    try:
        check_confinement(False)
    except WorkerFailure as failure:
        print(f"decoding without confinement: {failure.message}")
        return False
    return True


def process(detector: Detector | None, allow_unconfined: bool, path: Path) -> None:
    folder = Path(tempfile.mkdtemp())
    facts = extract_safely(path, folder, allow_unconfined=allow_unconfined)
    if detector is not None:
        detector.detect(read_frames(folder / FRAMES), facts.duration_ms, folder / "posteriors")
    shutil.rmtree(folder)


def process_all(detector: Detector | None, allow_unconfined: bool, files: list[Path]) -> None:
    """As many files at once as the verbs process."""
    with ThreadPoolExecutor(items_at_once(usable_cpus(), memory_limit())) as threads:
        list(threads.map(partial(process, detector, allow_unconfined), files))


def detector_on(folder: Path, device: str) -> Detector:
    model, config = (folder / "model.onnx").read_bytes(), DetectConfig(None, {}, None, None, None, None, None)
    detector = Detector(model, read_card(folder / "card.json", own_spec()), config, usable_cpus())
    detector.session = cpu_session(model, usable_cpus()) if device == "cpu" else TorchSession(model, device)
    return detector


def training_steps(frames: FrameFile, is_on_gpu: bool) -> float:
    """Steps a second of a training with the service's settings and 13 types."""
    import torch
    from plosive_worker.training.data import LabelledFile, Part
    from plosive_worker.training.loop import Settings, Trainer

    torch.set_num_threads(1)
    available = torch.cuda.is_available
    torch.cuda.is_available = lambda: is_on_gpu
    events = tuple((kind, 1000 * kind, 1000 * kind + 300) for kind in range(13))
    file = LabelledFile("0", frames, events, True)
    trainer = Trainer([file], [Part(0, 0, file.length)], 13, Settings(20, 32, 1e-3, 50, 25, 0))
    torch.cuda.is_available = available
    for _ in range(20):
        trainer.train_step()
    began = time.monotonic()
    for _ in range(60):
        trainer.train_step()
    return 60 / (time.monotonic() - began)


def main() -> None:
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("audio", type=Path)
    parser.add_argument("model", type=Path)
    asked = parser.parse_args()
    files = sorted(path for path in asked.audio.iterdir() if path.is_file())
    sound = sum(soundfile.info(path).duration for path in files)
    allow = not can_confine()
    ways: dict[str, Way] = {
        "decode alone": decode_all,
        "decode and features": partial(process_all, None, allow),
        "decode to events, model on the CPU": partial(process_all, detector_on(asked.model, "cpu"), allow),
    }
    devices = [False]
    if torch.cuda.is_available():
        ways["decode to events, model on the GPU"] = partial(process_all, detector_on(asked.model, "cuda"), allow)
        devices.append(True)
    print(f"{usable_cpus()} cores, {len(files)} files, {sound / 3600:.1f} hours of sound")
    for way in ways.values():
        way(files[:1])  # starts the server of the decoding children, and compiles what a GPU needs
    for number in range(ROUNDS):
        for name, way in ways.items():
            began = time.monotonic()
            way(files)
            print(f"round {number + 1}: {name}: {sound / (time.monotonic() - began):.0f} times real time", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        extract_safely(files[0], Path(folder), allow_unconfined=allow)
        for is_on_gpu in devices:
            steps = training_steps(read_frames(Path(folder) / FRAMES), is_on_gpu)
            print(f"training on the {'GPU' if is_on_gpu else 'CPU'}: {steps:.1f} steps a second", flush=True)


if __name__ == "__main__":
    main()
