# What embed and detect have in common: the encoder of the run, if there is one, and the frames of one audio file: decode and
# compute in a sandboxed child, then the encoder's columns behind our own.
from collections.abc import Callable
from pathlib import Path

from .audio.facts import FRAMES, WAVE, Facts
from .audio.sandbox import extract_safely
from .failure import ItemFailure, WorkerFailure
from .features.encoder import Encoder, read_manifest, wrong
from .features.file import read_frames
from .store import Store


def load_encoder(store: Store, folder: Path, threads: int) -> Encoder | None:
    """Downloads, verifies and tries the encoder. Raises WorkerFailure when it may not be used."""
    if store.session.work.encoder is None:
        return None
    manifest, model = folder / "encoder.json", folder / "encoder.onnx"
    try:
        store.download("The encoder's manifest", lambda w: w.encoder.manifest, manifest)
        stored = store.download("The encoder", lambda w: w.encoder.onnx, model)
    except ItemFailure as failure:
        raise WorkerFailure("input_missing", failure.message, "The chart's value `encoder` names it") from failure
    told = read_manifest(manifest)
    if told.sha256 != stored.sha256:
        raise wrong(f"its manifest belongs to another model, of sha256 {told.sha256[:12]}..., not {stored.sha256[:12]}...")
    return Encoder(model, told, threads)


def frames_of(
    encoder: Encoder | None, folder: Path, filename: str, tell: Callable[[float], None]
) -> tuple[Facts, Path]:
    """Facts and embedding of `folder`/audio. Raises ItemFailure when the file cannot be used."""
    rate = encoder and encoder.manifest.sample_rate
    facts = extract_safely(folder / "audio", folder, tell, filename=filename, wave_rate=rate)
    if encoder is None:
        return facts, folder / FRAMES
    fused = folder / "fused.safetensors"
    encoder.fuse(read_frames(folder / FRAMES), folder / WAVE, fused, lambda: tell(1.0))
    (folder / WAVE).unlink()
    return facts, fused
