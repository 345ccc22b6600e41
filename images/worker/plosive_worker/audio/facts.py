# Names of the files that a decoding child writes to its folder, and the facts that it reports. Imports little: the
# parent (sandbox.py) must not load the libraries of its children (extraction.py), which takes a second.
import os
from dataclasses import dataclass
from pathlib import Path

FRAMES, PEAKS, OUTCOME, PROGRESS = "frames.safetensors", "peaks.json", "outcome.json", "progress"
WAVE = "wave.pcm"  # mono int16 at the encoder's rate, if the run has an encoder
STALL_SECONDS = 60

Outputs = dict[str, int]  # name -> descriptor


def open_outputs(folder: Path) -> Outputs:
    """Creates the files, empty. A confined child can write to them, but cannot open any file for writing."""
    names = (FRAMES, PEAKS, OUTCOME, PROGRESS, WAVE)
    return {name: os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600) for name in names}


@dataclass(frozen=True)
class Facts:
    """Properties of the audio, measured after decoding all of it."""

    duration_ms: int
    sample_rate_hz: int
    channels: int
    codec: str
    frames: int
