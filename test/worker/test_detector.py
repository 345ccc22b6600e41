# The detector on long recordings: its memory is bounded, and times are correct to the end of the file.
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from plosive_worker.features import spec
from plosive_worker.features.file import FrameWriter
from plosive_worker.features.stream import feature_blocks
from plosive_worker.model.detector import inference_block_length
from plosive_worker.model.head import Head
from plosive_worker.model.onnx_graph import export

PACKAGE = Path(__file__).resolve().parents[2] / "images" / "worker"
# prints the number of detections, the last one's end, and the peak of anonymous memory in MiB
SCRIPT = """
import sys, threading, time
from pathlib import Path
from plosive_worker.events.profile import Profile
from plosive_worker.features.file import read_frames
from plosive_worker.manifest import DetectConfig
from plosive_worker.model.card import Card
from plosive_worker.model.detector import Detector
peak = 0
def watch():
    global peak
    while True:
        for line in open("/proc/self/status"):
            if line.startswith("RssAnon"):
                peak = max(peak, int(line.split()[1]) / 1024)
        time.sleep(0.01)
threading.Thread(target=watch, daemon=True).start()
folder = Path(sys.argv[1])
profiles = [Profile(f"type {i}", 100, 50, 300, 9, threshold=0.3) for i in range(6)]
config = DetectConfig(None, {}, None, None, None, None, None)
file = read_frames(folder / sys.argv[2])
card = Card(profiles, "", 500, 250, file.spec.dims)
detector = Detector((folder / "model.onnx").read_bytes(), card, config, 1)
found = detector.detect(file, len(file.frames) * 10, folder / "scratch")
assert not (folder / "scratch").exists()
print(len(found), found[-1].end_ms, peak)
"""


@pytest.fixture(scope="module")
def folder(voices: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights that detects some events, and the frames of 4 and of 120 minutes."""
    out = tmp_path_factory.mktemp("long")
    samples, rate = soundfile.read(sorted((voices / "test").glob("*.wav"))[0], dtype="float32", always_2d=True)
    blocks = list(feature_blocks([samples], rate))
    minute = np.resize(np.concatenate(blocks), (6000, spec.DIMS))
    for minutes in (4, 120):
        writer = FrameWriter(out / f"{minutes}.safetensors")
        for _ in range(minutes):
            writer.write(minute)
        writer.close()
    torch.manual_seed(0)
    head = Head(spec.DIMS, 6, torch.from_numpy(minute.astype(np.float32).mean(0)), torch.full((spec.DIMS,), 0.5))
    torch.nn.init.normal_(head.leave.weight, std=0.4)
    (out / "model.onnx").write_bytes(export(head))
    return out


def detect(folder: Path, minutes: int) -> tuple[int, int, float]:
    env = os.environ | {"PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, "-c", SCRIPT, str(folder), f"{minutes}.safetensors"]
    count, end, peak = subprocess.run(command, check=True, capture_output=True, env=env, text=True).stdout.split()
    return int(count), int(end), float(peak)


def test_memory_is_bounded_and_events_reach_to_the_end_of_a_long_file(folder: Path) -> None:
    short, long = detect(folder, 4), detect(folder, 120)
    assert short[0] > 20, "the model must detect events"
    assert long[0] > 20 * short[0]
    assert 119 * 60_000 < long[1] <= 120 * 60_000
    assert long[2] < 500
    assert long[2] - short[2] < 160, f"{short[2]:.0f} MiB for 4 minutes, {long[2]:.0f} MiB for 120"


@pytest.mark.parametrize(("chunk", "stride"), [(500, 250), (1, 1), (2_147_483_647, 2_147_483_647), (30_000, 70), (500, 5_000)])
def test_blocks_are_whole_strides_and_bounded(chunk: int, stride: int) -> None:
    frames = inference_block_length(chunk, stride)
    assert 2000 <= frames <= 12_000
    assert frames % max(1, min(2000, stride // 10)) == 0
