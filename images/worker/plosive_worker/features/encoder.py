# A plug-in encoder: any ONNX model that maps a waveform to frames. It stands in the object store beside its manifest; the
# platform's administrator chooses it (the chart's `encoder`). Its columns are put behind our own ones on the 10 ms grid.
# Called by embed.py and detect.py in the worker itself: the decoding child writes the waveform, the model is loaded once.
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

CONTEXT_SECONDS = 0.5  # heard on both sides of a stretch, so that its edges are as good as its middle
MAX_DIMS, ROWS_AT_ONCE = 2048, 6000
LEAST_SECONDS = 0.5  # a shorter recording is filled up with silence: models have a shortest input
MAX_NAME = 64  # characters of a spec's id, in the contract (src/schemas/worker.ts)
MAX_BYTES = 5 * 1000**3  # of one embedding: what an object store takes in one upload
NORMALISATIONS = ("none", "zscore")


@dataclass(frozen=True)
class EncoderManifest:
    """What the platform's administrator says of the model. Frame i's centre is at first_frame_offset_ms + i * frame_hop_ms."""

    id: str
    version: str
    sha256: str  # of the ONNX file
    sample_rate: int  # of the mono waveform that it takes, (1, samples) float32
    frame_hop_ms: float
    first_frame_offset_ms: float
    dims: int  # of what it gives, (1, frames, dims) float32
    max_input_s: float
    normalise: str = "none"  # zscore: each input has mean 0 and deviation 1


def wrong(what: str) -> WorkerFailure:
    return WorkerFailure("bad_manifest", f"The encoder cannot be used: {what}", "See docs/encoders.md")


def read_manifest(path: Path) -> EncoderManifest:
    """Raises WorkerFailure(bad_manifest) with what is wrong."""
    try:
        found = EncoderManifest(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise wrong(f"its manifest cannot be read: {error}") from error
    for name, kinds in {"id": str, "version": str, "sha256": str, "sample_rate": int, "dims": int, "normalise": str}.items():
        if type(getattr(found, name)) is not kinds:
            raise wrong(f"{name} in its manifest is not of type {kinds.__name__}")
    for name in ("frame_hop_ms", "first_frame_offset_ms", "max_input_s"):
        if type(getattr(found, name)) not in (int, float):
            raise wrong(f"{name} in its manifest is no number")
    rules = {
        "id and version are words of letters, digits, dots, dashes and underscores": all(
            re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", word) for word in (found.id, found.version)
        ),
        "sample_rate is from 8000 to 48000": 8_000 <= found.sample_rate <= 48_000,
        "frame_hop_ms is from 1 to 1000": 1 <= found.frame_hop_ms <= 1000,
        "first_frame_offset_ms is from 0 to 1000": 0 <= found.first_frame_offset_ms <= 1000,
        f"dims is from 1 to {MAX_DIMS}": 1 <= found.dims <= MAX_DIMS,
        "max_input_s is from 2 to 600": 2 <= found.max_input_s <= 600,
        f"id and version have {MAX_NAME - len(spec.ID) - 2} characters together": len(spec_name(found)) <= MAX_NAME,
        f"normalise is one of {', '.join(NORMALISATIONS)}": found.normalise in NORMALISATIONS,
    }
    for rule, holds in rules.items():
        if not holds:
            raise wrong(f"its manifest breaks a rule: {rule}")
    return found


def spec_name(manifest: EncoderManifest) -> str:
    return f"{spec.ID}+{manifest.id}@{manifest.version}"


def spec_with(manifest: EncoderManifest) -> spec.FeatureSpec:
    """The spec of our own columns with those of the encoder behind them."""
    own = spec.own_spec()
    whole = spec.digest([own.base, asdict(manifest)])
    return spec.FeatureSpec(spec_name(manifest), whole, own.base, own.dims + manifest.dims)


class Encoder:
    """A loaded and tried encoder; used for many files, from several threads."""

    def __init__(self, model: Path, manifest: EncoderManifest, threads: int):
        self.manifest, self.spec = manifest, spec_with(manifest)
        # rows of our own at once, so that with its context it is no longer than the manifest allows
        self.stretch = min(int((manifest.max_input_s - 2 * CONTEXT_SECONDS) * spec.FRAMES_PER_SECOND), ROWS_AT_ONCE)
        try:
            self.session = cpu_session(model.read_bytes(), threads)
            self.input = self.session.get_inputs()[0].name
            for seconds in (LEAST_SECONDS, self.stretch / spec.FRAMES_PER_SECOND + 2 * CONTEXT_SECONDS):
                self.frames_of(np.zeros(int(seconds * manifest.sample_rate), np.float32))
        except ValueError as error:
            raise wrong(str(error)) from error
        except Exception as error:
            raise wrong(f"ONNX Runtime says: {str(error)[:300]}") from error

    def frames_of(self, wave: np.ndarray) -> np.ndarray:
        """Frames (n, dims) of a waveform (samples,). Raises ValueError when they are not what the manifest says."""
        if self.manifest.normalise == "zscore":
            wave = (wave - wave.mean()) / np.sqrt(wave.var() + 1e-7)
        found = self.session.run(None, {self.input: wave[None].astype(np.float32)})[0]
        if found.ndim != 3 or found.shape[0] != 1 or found.shape[2] != self.manifest.dims:
            raise ValueError(f"it gives frames of shape {found.shape}, its manifest says (1, frames, {self.manifest.dims})")
        wanted = len(wave) * 1000 / self.manifest.sample_rate / self.manifest.frame_hop_ms
        if not len(found[0]) or abs(len(found[0]) - wanted) > 3:
            raise ValueError(f"it gives {len(found[0])} frames where its manifest's hop would give {wanted:.0f}")
        if not np.isfinite(found).all():
            raise ValueError("it gives numbers that are not finite")
        return found[0]

    def on_grid(self, wave: np.ndarray, begin: int, first: int, last: int) -> np.ndarray:
        """Columns (last - first, dims) of the 10 ms frames first..last from a waveform that begins at sample `begin`."""
        found, m = self.frames_of(wave), self.manifest
        centres_ms = (np.arange(first, last) + 0.5) * spec.HOP_MS - begin * 1000 / m.sample_rate
        at = np.clip((centres_ms - m.first_frame_offset_ms) / m.frame_hop_ms, 0, len(found) - 1)
        low = np.minimum(at.astype(int), max(0, len(found) - 2))
        share = (at - low).astype(np.float32)[:, None]
        return found[low] * (1 - share) + found[np.minimum(low + 1, len(found) - 1)] * share

    def columns(self, pcm: np.ndarray, first: int, last: int) -> np.ndarray:
        """Columns of frames first..last of a whole recording, int16 at the encoder's rate (N,)."""
        rate = self.manifest.sample_rate
        # the last stretch may be short: it is heard with what was before it
        context = max(CONTEXT_SECONDS, 2 * CONTEXT_SECONDS - (last - first) / spec.FRAMES_PER_SECOND)
        low = max(0, int((first / spec.FRAMES_PER_SECOND - context) * rate))
        high = min(len(pcm), int((last / spec.FRAMES_PER_SECOND + CONTEXT_SECONDS) * rate))
        wave = np.asarray(pcm[low:high], np.float32) / 32768
        least = int(LEAST_SECONDS * rate)
        return self.on_grid(np.pad(wave, (0, max(0, least - len(wave)))), low, first, last)

    def fuse(self, own: FrameFile, pcm_path: Path, out: Path, beat: Callable[[], None] = lambda: None) -> None:
        """Writes the embedding of our own columns and the encoder's; memory does not grow with the length. `beat` hears of
        each stretch: a slow encoder at a long file is no hanging one. Raises ItemFailure(encoder_failed)."""
        rows = len(own.frames)
        if rows * self.spec.dims * 2 > MAX_BYTES:
            hours = MAX_BYTES / (self.spec.dims * 2 * 3600 * spec.FRAMES_PER_SECOND)
            raise ItemFailure("too_large", f"With this encoder a recording may last {hours:.1f} hours at most; split it")
        # a recording of a few samples has none at a lower rate
        pcm = np.memmap(pcm_path, "<i2", "r") if pcm_path.stat().st_size else np.zeros(0, np.int16)
        writer = FrameWriter(out, self.spec)
        for first in range(0, rows, self.stretch):
            last = min(rows, first + self.stretch)
            try:
                theirs = np.clip(self.columns(pcm, first, last), -60_000, 60_000).astype(np.float16)
            except Exception as error:  # it was tried when it was loaded: what it cannot do is this recording
                told = f"The encoder {self.manifest.id} {self.manifest.version} failed at {first / spec.FRAMES_PER_SECOND:.0f} s"
                raise ItemFailure("encoder_failed", f"{told}: {str(error)[:300]}") from error
            writer.write(np.concatenate([own.frames[first:last], theirs], 1))
            beat()
        writer.close()
