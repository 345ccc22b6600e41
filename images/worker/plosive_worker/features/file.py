# The stored embedding: one safetensors file with `frames` (T, F) float16, rows contiguous and first in the file so that
# a slice of time is one byte range, and `stats` (3, F) float32, the file's own quantiles. Written by audio/extraction.py
# as the blocks come (the header is filled in last), read by training and detection.
import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..failure import WorkerFailure
from . import spec

HEADER_BYTES = 1024  # of JSON, padded with spaces; frames begin at 8 + 1024
KEPT_ROWS = 2_048  # the quantiles are of at most twice as many rows, evenly spread


def header_of(rows: int) -> bytes:
    """The file's first bytes; they follow from the number of frames."""
    own, split, quantiles = spec.own_spec(), rows * spec.DIMS * 2, [len(spec.STATS), spec.DIMS]
    header = {
        "__metadata__": {"feature_spec": own.id, "feature_hash": own.hash, "hop_ms": str(spec.HOP_MS)},
        "frames": {"dtype": "F16", "shape": [rows, spec.DIMS], "data_offsets": [0, split]},
        "stats": {"dtype": "F32", "shape": quantiles, "data_offsets": [split, split + 4 * quantiles[0] * quantiles[1]]},
    }
    return struct.pack("<Q", HEADER_BYTES) + json.dumps(header).encode().ljust(HEADER_BYTES)


def is_frame_file(path: Path, rows: int) -> bool:
    """Whether it is just what FrameWriter writes for so many frames."""
    wanted = header_of(rows)
    size = len(wanted) + rows * spec.DIMS * 2 + 4 * len(spec.STATS) * spec.DIMS
    if path.stat().st_size != size:
        return False
    with path.open("rb") as file:
        return file.read(len(wanted)) == wanted


class FrameWriter:
    """Writes frames as they come; memory does not grow with the length."""

    def __init__(self, path: Path):
        self.file = path.open("wb")
        self.file.write(bytes(8 + HEADER_BYTES))
        self.rows, self.step = 0, 1
        self.sample: list[np.ndarray] = []

    def write(self, frames: np.ndarray) -> None:
        first = -self.rows % self.step
        self.sample.append(frames[first :: self.step].copy())
        self.rows += len(frames)
        self.file.write(np.ascontiguousarray(frames, "<f2").tobytes())
        if sum(map(len, self.sample)) > 2 * KEPT_ROWS:
            self.sample, self.step = [np.concatenate(self.sample)[::2]], self.step * 2

    def close(self) -> int:
        """Writes the quantiles and the header; returns the number of frames."""
        stats = np.quantile(np.concatenate(self.sample).astype(np.float32), spec.STATS, axis=0).astype("<f4")
        self.file.write(stats.tobytes())
        self.file.seek(0)
        self.file.write(header_of(self.rows))
        self.file.close()
        return self.rows


@dataclass(frozen=True)
class FrameFile:
    """A stored embedding, mapped into memory: reading a slice reads those pages only."""

    frames: np.ndarray  # (T, F) float16
    stats: np.ndarray  # (3, F) float32

    def normal(self, first: int, last: int, step: int = 1) -> np.ndarray:
        """Frames first..last as the model sees them, float32 (n, F): levels against the file's own median level."""
        return normal_frames(self.frames[max(0, first) : last : step], self.stats)


def level_reference(stats: np.ndarray) -> np.ndarray:
    """What is subtracted from each column, (F,): makes levels independent of gain and equalisation."""
    return np.where(spec.IS_LEVEL, stats[1], 0).astype(np.float32)


def normal_frames(frames: np.ndarray, stats: np.ndarray) -> np.ndarray:
    return frames.astype(np.float32) - level_reference(stats)


def read_frames(path: Path) -> FrameFile:
    """Raises WorkerFailure(bad_manifest) when the file is not an embedding of our spec."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
        if not 2 <= length <= 65_536 or 8 + length > size:
            raise WorkerFailure("bad_manifest", f"{path.name} is no embedding file: its header is {length} bytes")
        header = json.loads(file.read(length))
    found = header.get("__metadata__", {})
    own = spec.own_spec()
    if (found.get("feature_spec"), found.get("feature_hash")) != (own.id, own.hash):
        raise WorkerFailure(
            "bad_manifest",
            f"{path.name} has features {found.get('feature_spec')} {found.get('feature_hash')}, "
            f"this worker has {own.id} {own.hash}",
            "Embed the audio again with this release",
        )
    frames, stats = header["frames"], header["stats"]
    base = 8 + length
    return FrameFile(
        np.memmap(path, "<f2", "r", base + frames["data_offsets"][0], tuple(frames["shape"])),
        np.array(np.memmap(path, "<f4", "r", base + stats["data_offsets"][0], tuple(stats["shape"]))),
    )
