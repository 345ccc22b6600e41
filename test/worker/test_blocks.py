# Validation in blocks: what comes from blocks of logits equals what comes from all of them, and needs no more memory for
# longer recordings or more types.
import subprocess
import sys

import numpy as np
import pytest
import torch
from plosive_worker.events.boxes import FindStream, Posteriors, finds_of
from plosive_worker.events.profile import Profile
from plosive_worker.training.loss import StretchLoss, Targets, detection_loss

PROFILES = [
    Profile("hum", 1000.0, 900.0, 2000.0, 9),
    Profile("click", 10.0, 10.0, 1000.0, 9, long_ms=12.0),
    Profile("dropout", 100.0, 40.0, 30.0, 9),
    Profile("short", 20.0, 10.0, 0.0, 9, long_ms=300.0),
]
LENGTH = 6000


def curves(seed: int, loudness: float) -> np.ndarray:
    """Presence, onset and offset of one class, (T, 3): bursts with pauses of all lengths between them."""
    rng, p = np.random.default_rng(seed), np.full((LENGTH, 3), 0.02, np.float32)
    at = int(rng.integers(0, 60))
    while at < LENGTH:
        length = int(rng.choice([1, 2, 5, 30, 200]))
        p[at : at + length, 0] = rng.uniform(0.05, loudness, len(p[at : at + length]))
        p[at : at + 2, 1], p[at + length : at + length + 2, 2] = rng.uniform(0.1, 0.9, 2)
        at += length + int(rng.choice([1, 3, 8, 20, 70, 120, 260, 400]))
    return p + rng.uniform(0, 0.01, p.shape).astype(np.float32)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
@pytest.mark.parametrize("seed", range(4))
def test_candidates_from_blocks_equal_those_of_the_whole(profile: Profile, seed: int) -> None:
    p = curves(seed, [0.95, 0.3, 0.95, 0.09][seed])
    whole = finds_of(Posteriors(*p.T), profile)
    assert len(whole) > 5
    for size in (1, 37, 400, 2999, LENGTH):
        stream = FindStream(profile)
        for first in range(0, LENGTH, size):
            stream.add(p[first : first + size])
        assert stream.end() == whole, size


def test_posteriors_are_held_only_from_the_last_pause_on() -> None:
    stream, quiet = FindStream(PROFILES[1]), np.full((1000, 3), 0.01, np.float32)
    for _ in range(50):
        stream.add(quiet)
        assert sum(map(len, stream.held)) <= 1000
    burst = quiet.copy()
    burst[500:510] = 0.9
    stream.add(burst)
    stream.add(quiet)
    assert sum(map(len, stream.held)) <= 1000
    (find,) = stream.end()
    assert (find.first, find.last) == (50_500, 50_510)


@pytest.mark.parametrize("reviewed", [True, False])
def test_the_loss_from_blocks_equals_that_of_the_whole(reviewed: bool) -> None:
    rng, classes = np.random.default_rng(1), 5
    logits = torch.from_numpy(rng.normal(-2, 2, (LENGTH, 3, classes)).astype(np.float32))
    presence = (rng.uniform(0, 1, (LENGTH, classes)) > 0.9).astype(np.float32)
    presence[:, 2] = 0
    edges = [np.clip(rng.normal(0, 0.4, presence.shape), 0, 1).astype(np.float32) for _ in range(2)]
    weight = np.ones_like(presence) if reviewed else presence
    wanted = [torch.from_numpy(a) for a in (presence, *edges, weight)]
    whole = detection_loss(logits[None], Targets(*(a[None] for a in wanted)), slice(0, LENGTH))
    for size in (1000, 1024, LENGTH):
        loss = StretchLoss(classes)
        for first in range(0, LENGTH, size):
            rows = slice(first, first + size)
            loss.add(logits[rows], Targets(*(a[rows] for a in wanted)))
        assert loss.value() == pytest.approx(float(whole), rel=1e-6)


VALIDATE = """
import sys
import numpy as np, torch
from plosive_worker.features.file import FrameFile
from plosive_worker.features.spec import DIMS
from plosive_worker.model.head import Head
from plosive_worker.training import evaluation
from plosive_worker.training.data import LabelledFile, Part
from plosive_worker.training.split import Split

hours, classes = float(sys.argv[1]), 40
length = round(hours * 360_000)

class Repeated:
    shape = (length, DIMS)
    def __len__(self):
        return length
    def __getitem__(self, rows):
        return np.zeros((len(range(*rows.indices(length))), DIMS), np.float16)

def logits(head, frames):  # a head would take minutes
    out = torch.full((len(frames), 3, classes), -5.0)
    out[1000:1050, 0] = 3.0
    return out

evaluation.block_logits = logits
torch.set_num_threads(1)
events = tuple((kind, 10_000, 10_500) for kind in range(classes))
file = LabelledFile("a", FrameFile(Repeated(), np.zeros((3, DIMS), np.float32)), events, True)
part = Part(0, 0, length)
zeros = torch.zeros(DIMS)
types = [str(kind) for kind in range(classes)]
validation = evaluation.Validation([file], Split([part], [], "files", []), types, lambda: None)
losses = []
finds = validation.finds(Head(DIMS, classes, zeros, zeros + 1), losses)
assert len(losses) == 1 and len(finds[0]) == classes and len(finds[0][0]) > length // 3200
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


def peak_mib(hours: float) -> float:
    done = subprocess.run([sys.executable, "-c", VALIDATE, str(hours)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def test_the_memory_of_a_validation_does_not_grow_with_the_recording() -> None:
    short, long = peak_mib(0.1), peak_mib(2)
    assert long < short + 60, f"{short:.0f} MiB for six minutes, {long:.0f} MiB for two hours"
