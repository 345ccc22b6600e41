# What the child process does with one file: header check, decode, features, peaks, facts. It speaks to its parent only
# through files in its folder, never through pickles. Started by sandbox.py.
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..failure import ItemFailure
from ..features.file import FrameWriter
from ..features.stream import feature_blocks
from .decoding import guarded, open_sound
from .header import read_header
from .peaks import PeakWriter

FRAMES, PEAKS, OUTCOME = "frames.safetensors", "peaks.json", "outcome.json"


@dataclass(frozen=True)
class Facts:
    """What is true of the sound itself, after decoding all of it."""

    duration_ms: int
    sample_rate_hz: int
    channels: int
    codec: str
    frames: int


def extract(path: Path, folder: Path) -> Facts:
    """Writes FRAMES and PEAKS into `folder`. Raises ItemFailure with a plain reason."""
    header = read_header(path)
    sound = open_sound(path, header)
    writer, peaks, samples = FrameWriter(folder / FRAMES), PeakWriter(sound.rate), 0

    def heard() -> Iterator[np.ndarray]:
        nonlocal samples
        for block in guarded(sound, path.stat().st_size):
            samples += len(block)
            peaks.write(block)
            yield block

    for frames in feature_blocks(heard(), sound.rate):
        writer.write(frames)
    rows = writer.close()
    peaks.save(folder / PEAKS)
    return Facts(round(samples * 1000 / sound.rate), sound.rate, sound.channels, header.codec, rows)


def extract_and_tell(path: Path, folder: Path) -> None:
    """The child's main: whatever happens is told in OUTCOME; a crash leaves none."""
    try:
        outcome = {"facts": asdict(extract(path, folder))}
    except ItemFailure as failure:
        outcome = {"error": {"code": failure.code, "message": failure.message[:1000]}}
    except MemoryError:
        outcome = {"error": {"code": "too_large", "message": "Decoding needs more memory than one file may use"}}
    (folder / OUTCOME).write_text(json.dumps(outcome))
