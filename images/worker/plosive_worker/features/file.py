# The stored embedding: one safetensors file with `frames` (T, F) float16 and `stats` (3, F) float32, the file's own
# quantiles. The frames come first and row by row, so that a slice of time is one byte range. Written by
# audio/extraction.py and encoder.py block by block (the header last), read by training and detection.
import json
import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..failure import WorkerFailure
from . import spec
from .spec import FeatureSpec

HEADER_BYTES = 1024  # of JSON, padded with spaces; frames begin at 8 + 1024
CHECKED_BYTES, HALF_EXPONENT = 1 << 20, 0x7C00  # all exponent bits of a float16: infinite or not a number
RMS, SILENCE = spec.NAMES.index("rms"), -10.5  # log10 of the power; the lowest bit of 16 gives -9.9
KEPT_ROWS = 1_024  # the quantiles use at most twice as many rows, evenly spread


def header_of(rows: int, of: FeatureSpec) -> bytes:
    """Returns the file's first bytes, which the number of frames and the spec determine."""
    split, quantiles = rows * of.dims * 2, [len(spec.STATS), of.dims]
    names = {"feature_spec": of.id, "feature_hash": of.hash, "base_hash": of.base, "hop_ms": str(of.hop_ms)}
    header = {
        "__metadata__": names,
        "frames": {"dtype": "F16", "shape": [rows, of.dims], "data_offsets": [0, split]},
        "stats": {"dtype": "F32", "shape": quantiles, "data_offsets": [split, split + 4 * quantiles[0] * quantiles[1]]},
    }
    return struct.pack("<Q", HEADER_BYTES) + json.dumps(header).encode().ljust(HEADER_BYTES)


def is_frame_file(path: Path, rows: int) -> bool:
    """Whether the file is what FrameWriter writes for `rows` frames without an encoder, with finite numbers only."""
    wanted = header_of(rows, spec.own_spec())
    size = len(wanted) + rows * spec.DIMS * 2 + 4 * len(spec.STATS) * spec.DIMS
    if path.stat().st_size != size:
        return False
    with path.open("rb") as file:
        if file.read(len(wanted)) != wanted:
            return False
        left = rows * spec.DIMS * 2
        while left:
            block = file.read(min(left, CHECKED_BYTES))
            left -= len(block)
            if ((np.frombuffer(block, "<u2") & HALF_EXPONENT) == HALF_EXPONENT).any():
                return False
        return bool(np.isfinite(np.frombuffer(file.read(), "<f4")).all())


def audible_rows(frames: np.ndarray) -> np.ndarray:
    """Returns the frames that are not silent, or all if none is: silence must not set the usual level of a recording
    that is muted half of the time."""
    rows = frames[frames[:, RMS] > SILENCE]
    return rows if len(rows) else frames


def quantiles(frames: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """Returns the quantiles of each column, with linear interpolation, float32 (S, F). np.quantile takes twice as
    long."""
    ordered = np.sort(np.ascontiguousarray(frames.T, np.float32), axis=1)
    at = np.multiply(shares, len(frames) - 1)
    low, high = ordered[:, np.floor(at).astype(int)], ordered[:, np.ceil(at).astype(int)]
    return (low + (high - low) * (at % 1)).T.astype("<f4")


class FrameWriter:
    """Writes frames block by block, in bounded memory. `path` may be the descriptor of an open file."""

    def __init__(self, path: Path | int, of: FeatureSpec | None = None):
        self.spec = of or spec.own_spec()
        self.file = open(path, "wb")
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
        self.file.write(quantiles(audible_rows(np.concatenate(self.sample)), spec.STATS).tobytes())
        self.file.seek(0)
        self.file.write(header_of(self.rows, self.spec))
        self.file.close()
        return self.rows


@dataclass(frozen=True)
class StoredFrames:
    """The frames of an embedding in its file, (T, F) float16. A slice opens the file and reads only its own bytes: a training
    has more files than a process may hold open or mapped."""

    path: Path
    offset: int
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        first, last, step = rows.indices(len(self))
        if step != 1:  # mapped for this call: a few rows of a long file must not bring all of them into memory
            return np.array(np.memmap(self.path, "<f2", "r", self.offset, self.shape)[rows])
        dims, count = self.shape[1], max(0, last - first)
        return np.fromfile(self.path, "<f2", count * dims, offset=self.offset + 2 * dims * first).reshape(count, dims)


@dataclass(frozen=True)
class FrameFile:
    """An embedding: its frames, in memory or in a file, and its quantiles."""

    frames: np.ndarray | StoredFrames  # (T, F) float16
    stats: np.ndarray  # (3, F) float32
    spec: FeatureSpec = field(default_factory=spec.own_spec)

    def normal(self, first: int, last: int, step: int = 1) -> np.ndarray:
        """Returns frames first..last as the model's input, float32 (n, F): levels relative to the file's own median
        level."""
        return normal_frames(self.frames[max(0, first) : last : step], self.stats)


def level_reference(stats: np.ndarray) -> np.ndarray:
    """Returns the value to subtract from each column, (F,), so that levels do not depend on gain and equalization."""
    is_level = np.pad(spec.IS_LEVEL, (0, stats.shape[1] - spec.DIMS))  # an encoder's columns stay unchanged
    return np.where(is_level, stats[1], 0).astype(np.float32)


def normal_frames(frames: np.ndarray, stats: np.ndarray) -> np.ndarray:
    return frames.astype(np.float32) - level_reference(stats)


def read_frames(path: Path, name: str | None = None, digest: str | None = None) -> FrameFile:
    """Opens an embedding. Raises WorkerFailure(bad_manifest) if its built-in columns were computed by another version
    of the features, or if its spec differs from `name` and `digest`, if they are given."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
        if not 2 <= length <= 65_536 or 8 + length > size:
            raise WorkerFailure("bad_manifest", f"{path.name} is not an embedding file: its header has {length} bytes")
        header = json.loads(file.read(length))
    found, own = header.get("__metadata__", {}), spec.own_spec()
    frames, stats = header["frames"], header["stats"]
    here = FeatureSpec(found.get("feature_spec"), found.get("feature_hash"), found.get("base_hash"), frames["shape"][1])
    if here.base != own.base or (name, digest) not in ((None, None), (here.id, here.hash)):
        wanted = f"the run needs {name} {digest}" if here.base == own.base else f"this worker computes {own.id} {own.base}"
        raise WorkerFailure(
            "bad_manifest",
            f"{path.name} has features {here.id} {here.hash}, {wanted}",
            "Renew the embedding: plosive-admin embeddings renew",
        )
    base = 8 + length
    if base + max(frames["data_offsets"][1], stats["data_offsets"][1]) > size:
        raise WorkerFailure("bad_manifest", f"{path.name} is not an embedding file: it is shorter than its header declares")
    rows, dims = frames["shape"]
    quantiles_at = base + stats["data_offsets"][0]
    return FrameFile(
        StoredFrames(path, base + frames["data_offsets"][0], (rows, dims)),
        np.fromfile(path, "<f4", math.prod(stats["shape"]), offset=quantiles_at).reshape(stats["shape"]),
        here,
    )
