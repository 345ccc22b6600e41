# A plug-in encoder: any ONNX model that maps a waveform to frames. It is stored in the object store beside its
# manifest; the platform's administrator configures it (the chart's value `encoder`). Its columns are resampled to the
# 10 ms grid and appended to the built-in ones. Called by extract.py in the worker process, which loads the model once;
# the decoding child only writes the waveform.
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..failure import ItemFailure, WorkerFailure
from ..runtime import cpu_session
from . import spec
from .file import FrameFile, FrameWriter

CONTEXT_SECONDS = 0.5  # extra input on both sides of a stretch, so that its edges are as accurate as its middle
MAX_DIMS, ROWS_AT_ONCE = 2048, 6000
LEAST_SECONDS = 0.5  # shorter recordings are padded with silence, because models have a minimum input length
MAX_NAME = 64  # characters of a spec's id, by the contract (src/schemas/worker.ts)
MAX_BYTES = 5 * 1000**3  # of one embedding: the limit of object stores for a single upload
NORMALISATIONS = ("none", "zscore")


@dataclass(frozen=True)
class EncoderManifest:
    """The administrator's description of the model. The center of frame i is at first_frame_offset_ms + i *
    frame_hop_ms."""

    id: str
    version: str
    sha256: str  # of the ONNX file
    sample_rate: int  # of the mono input, (1, samples) float32
    frame_hop_ms: float
    first_frame_offset_ms: float
    dims: int  # of the output, (1, frames, dims) float32
    max_input_s: float
    normalise: str = "none"  # zscore: each input is scaled to mean 0 and deviation 1


def encoder_failure(what: str) -> WorkerFailure:
    return WorkerFailure("bad_manifest", f"The encoder cannot be used: {what}", "See docs/encoders.md")


def read_manifest(path: Path) -> EncoderManifest:
    """Reads the manifest. Raises WorkerFailure(bad_manifest) with the first error."""
    try:
        found = EncoderManifest(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise encoder_failure(f"its manifest cannot be read: {error}") from error
    for name, kinds in {"id": str, "version": str, "sha256": str, "sample_rate": int, "dims": int, "normalise": str}.items():
        if type(getattr(found, name)) is not kinds:
            raise encoder_failure(f"{name} in its manifest is not of type {kinds.__name__}")
    for name in ("frame_hop_ms", "first_frame_offset_ms", "max_input_s"):
        if type(getattr(found, name)) not in (int, float):
            raise encoder_failure(f"{name} in its manifest is not a number")
    rules = {
        "id and version consist of letters, digits, dots, dashes and underscores": all(
            re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", word) for word in (found.id, found.version)
        ),
        "sample_rate is from 8000 to 48000": 8_000 <= found.sample_rate <= 48_000,
        "frame_hop_ms is from 1 to 1000": 1 <= found.frame_hop_ms <= 1000,
        "first_frame_offset_ms is from 0 to 1000": 0 <= found.first_frame_offset_ms <= 1000,
        f"dims is from 1 to {MAX_DIMS}": 1 <= found.dims <= MAX_DIMS,
        "max_input_s is from 2 to 600": 2 <= found.max_input_s <= 600,
        f"id and version have at most {MAX_NAME - len(spec.ID) - 2} characters together": len(spec_name(found)) <= MAX_NAME,
        f"normalise is one of {', '.join(NORMALISATIONS)}": found.normalise in NORMALISATIONS,
    }
    for rule, holds in rules.items():
        if not holds:
            raise encoder_failure(f"its manifest violates a rule: {rule}")
    return found


def spec_name(manifest: EncoderManifest) -> str:
    return f"{spec.ID}+{manifest.id}@{manifest.version}"


def spec_with(manifest: EncoderManifest) -> spec.FeatureSpec:
    """Returns the spec of the built-in columns followed by those of the encoder."""
    own = spec.own_spec()
    whole = spec.digest([own.base, asdict(manifest)])
    return spec.FeatureSpec(spec_name(manifest), whole, own.base, own.dims + manifest.dims)


class Encoder:
    """A loaded and test-run encoder. Used for many files, from several threads."""

    def __init__(self, model: Path, manifest: EncoderManifest, threads: int):
        self.manifest, self.spec = manifest, spec_with(manifest)
        # 10 ms frames per call, so that the input with its context does not exceed the manifest's max_input_s
        self.stretch = min(int((manifest.max_input_s - 2 * CONTEXT_SECONDS) * spec.FRAMES_PER_SECOND), ROWS_AT_ONCE)
        try:
            self.session = cpu_session(model.read_bytes(), threads)
            self.input = self.session.get_inputs()[0].name
            for seconds in (LEAST_SECONDS, self.stretch / spec.FRAMES_PER_SECOND + 2 * CONTEXT_SECONDS):
                self.encode(np.zeros(int(seconds * manifest.sample_rate), np.float32))
        except ValueError as error:
            raise encoder_failure(str(error)) from error
        except Exception as error:
            raise encoder_failure(f"ONNX Runtime reports: {str(error)[:300]}") from error

    def encode(self, wave: np.ndarray) -> np.ndarray:
        """Returns frames (n, dims) of a waveform (samples,). Raises ValueError if they do not fit the manifest."""
        if self.manifest.normalise == "zscore":
            wave = (wave - wave.mean()) / np.sqrt(wave.var() + 1e-7)
        found = self.session.run(None, {self.input: wave[None].astype(np.float32)})[0]
        if found.ndim != 3 or found.shape[0] != 1 or found.shape[2] != self.manifest.dims:
            raise ValueError(f"it returns frames of shape {found.shape}, its manifest declares (1, frames, {self.manifest.dims})")
        wanted = len(wave) * 1000 / self.manifest.sample_rate / self.manifest.frame_hop_ms
        if not len(found[0]) or abs(len(found[0]) - wanted) > 3:
            raise ValueError(f"it returns {len(found[0])} frames, the frame_hop_ms of its manifest requires {wanted:.0f}")
        if not np.isfinite(found).all():
            raise ValueError("it returns numbers that are not finite")
        return found[0]

    def on_grid(self, wave: np.ndarray, begin: int, first: int, last: int) -> np.ndarray:
        """Interpolates columns (last - first, dims) of the 10 ms frames first..last. The waveform begins at sample
        `begin`."""
        found, m = self.encode(wave), self.manifest
        centres_ms = (np.arange(first, last) + 0.5) * spec.HOP_MS - begin * 1000 / m.sample_rate
        at = np.clip((centres_ms - m.first_frame_offset_ms) / m.frame_hop_ms, 0, len(found) - 1)
        low = np.minimum(at.astype(int), max(0, len(found) - 2))
        share = (at - low).astype(np.float32)[:, None]
        return found[low] * (1 - share) + found[np.minimum(low + 1, len(found) - 1)] * share

    def columns(self, pcm: np.ndarray, first: int, last: int) -> np.ndarray:
        """Returns the columns of frames first..last of a whole recording, int16 at the encoder's rate (N,)."""
        rate = self.manifest.sample_rate
        # the last stretch may be short: it gets more context before it
        context = max(CONTEXT_SECONDS, 2 * CONTEXT_SECONDS - (last - first) / spec.FRAMES_PER_SECOND)
        low = max(0, int((first / spec.FRAMES_PER_SECOND - context) * rate))
        high = min(len(pcm), int((last / spec.FRAMES_PER_SECOND + CONTEXT_SECONDS) * rate))
        wave = np.asarray(pcm[low:high], np.float32) / 32768
        least = int(LEAST_SECONDS * rate)
        return self.on_grid(np.pad(wave, (0, max(0, least - len(wave)))), low, first, last)

    def fuse(self, own: FrameFile, pcm_path: Path, out: Path, heartbeat: Callable[[], None] = lambda: None) -> None:
        """Writes the embedding of the built-in columns and the encoder's, in bounded memory. Calls `heartbeat` after
        each stretch, so that a slow encoder on a long file does not look stalled. Raises
        ItemFailure(encoder_failed)."""
        rows = len(own.frames)
        if rows * self.spec.dims * 2 > MAX_BYTES:
            hours = MAX_BYTES / (self.spec.dims * 2 * 3600 * spec.FRAMES_PER_SECOND)
            raise ItemFailure("too_large", f"With this encoder a recording may last {hours:.1f} hours at most; split it")
        # a recording of a few samples may have no sample at a lower rate
        pcm = np.memmap(pcm_path, "<i2", "r") if pcm_path.stat().st_size else np.zeros(0, np.int16)
        writer = FrameWriter(out, self.spec)
        for first in range(0, rows, self.stretch):
            last = min(rows, first + self.stretch)
            try:
                added = np.clip(self.columns(pcm, first, last), -60_000, 60_000).astype(np.float16)
            except Exception as error:  # the encoder passed its test run, so the fault is specific to this recording
                what = f"The encoder {self.manifest.id} {self.manifest.version} failed at {first / spec.FRAMES_PER_SECOND:.0f} s"
                raise ItemFailure("encoder_failed", f"{what}: {str(error)[:300]}") from error
            writer.write(np.concatenate([own.frames[first:last], added], 1))
            heartbeat()
        writer.close()
