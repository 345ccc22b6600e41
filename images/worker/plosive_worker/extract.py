# Shared by embed and detect: loads the encoder of the run, if there is one, and computes the embedding of one audio
# file. A sandboxed child decodes the file and computes the built-in features; the encoder's columns are appended to
# them.
from collections.abc import Callable
from pathlib import Path

from .audio.facts import FRAMES, WAVE, Facts
from .audio.sandbox import extract_safely
from .failure import ItemFailure, WorkerFailure
from .features.encoder import Encoder, encoder_failure, read_manifest
from .features.file import read_frames
from .features.spec import DIMS, FRAMES_PER_SECOND
from .store import Store


def load_encoder(store: Store, folder: Path, threads: int) -> Encoder | None:
    """Downloads, verifies and test-runs the encoder; None if the run has none. Raises WorkerFailure if it cannot be
    used."""
    if store.session.work.encoder is None:
        return None
    manifest, model = folder / "encoder.json", folder / "encoder.onnx"
    try:
        store.download("The encoder's manifest", lambda w: w.encoder.manifest, manifest)
        stored = store.download("The encoder", lambda w: w.encoder.onnx, model)
    except ItemFailure as failure:
        raise WorkerFailure("input_missing", failure.message, "The chart's value `encoder` names it") from failure
    declared = read_manifest(manifest)
    if declared.sha256 != stored.sha256:
        digests = f"{declared.sha256[:12]}..., the model has {stored.sha256[:12]}..."
        raise encoder_failure(f"its manifest belongs to another model: it declares sha256 {digests}")
    return Encoder(model, declared, threads)


def scratch_per_second(encoder: Encoder | None) -> int:
    """Returns the bytes that compute_embedding writes for each second of audio: float16 frames, with an encoder also its
    int16 waveform and the fused frames."""
    own = FRAMES_PER_SECOND * 2 * DIMS
    return own if encoder is None else own + FRAMES_PER_SECOND * 2 * encoder.spec.dims + 2 * encoder.manifest.sample_rate


def compute_embedding(
    store: Store, encoder: Encoder | None, folder: Path, filename: str, on_progress: Callable[[float], None]
) -> tuple[Facts, Path]:
    """Decodes `folder`/audio and deletes it, because the space is scarce. Returns its facts and the path of its
    embedding. Raises ItemFailure if the file is unusable."""
    rate = None if encoder is None else encoder.manifest.sample_rate
    allow = store.session.env.allow_unconfined
    facts = extract_safely(folder / "audio", folder, on_progress, filename=filename, wave_rate=rate, allow_unconfined=allow)
    (folder / "audio").unlink(missing_ok=True)  # a child without confinement may have deleted it
    if encoder is None:
        return facts, folder / FRAMES
    fused = folder / "fused.safetensors"
    encoder.fuse(read_frames(folder / FRAMES), folder / WAVE, fused, lambda: on_progress(1.0))
    (folder / WAVE).unlink()
    return facts, fused
