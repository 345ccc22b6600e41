# The detect verb. Loads the model once. For each audio file of the shard it downloads the file, decodes it and computes
# features in a sandboxed child process, runs the model and derives events. An unusable file becomes a failed item with
# a reason; the shard continues.
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from .audio.sandbox import check_confinement
from .extract import compute_embedding, load_encoder, scratch_per_second
from .failure import ItemFailure, WorkerFailure
from .features.encoder import Encoder
from .features.file import read_frames
from .features.spec import FRAMES_PER_SECOND, own_spec
from .manifest import DetectWork
from .model.card import read_card
from .model.detector import Detector, load_detector
from .pool import for_each_item, usable_cpus
from .session import Session
from .store import Store

DECODING = 0.7  # approximate share of an item's time; the model takes the rest


def load_model(store: Store, encoder: Encoder | None, folder: Path) -> Detector:
    """Downloads, verifies and loads the model. Raises WorkerFailure if the model is missing or fails a check."""
    work: DetectWork = store.session.work
    try:
        onnx = store.download("The model", lambda w: w.model.onnx, folder / "model.onnx")
        store.download("The model card", lambda w: w.model.card, folder / "card.json")
    except ItemFailure as failure:
        code = "input_missing" if failure.code == "input_missing" else "bad_manifest"
        raise WorkerFailure(code, failure.message) from failure
    card = read_card(folder / "card.json", encoder.spec if encoder else own_spec())
    if card.onnx_sha256 != onnx.sha256:
        raise WorkerFailure("bad_manifest", "The model card belongs to another model: the digests differ")
    return load_detector(folder / "model.onnx", card, work.config, usable_cpus())


def detect_item(
    store: Store, detector: Detector, encoder: Encoder | None, index: int, folder: Path, on_progress: Callable[[float], None]
) -> dict:
    """Returns the members of a completed item in result.json. Raises ItemFailure if the file cannot be used."""
    name = store.session.work.items[index].filename
    audio = store.download(f"The audio of {name}", lambda w: w.items[index].audio, folder / "audio")
    facts, embedding = compute_embedding(store, encoder, folder, name, lambda share: on_progress(DECODING * share))
    frames, scratch = read_frames(embedding), folder / "posteriors"
    detections = detector.detect(frames, facts.duration_ms, scratch, lambda share: on_progress(DECODING + (1 - DECODING) * share))
    return {
        "duration_ms": facts.duration_ms,
        "sample_rate_hz": facts.sample_rate_hz,
        "channels": facts.channels,
        "sha256": audio.sha256,
        "size_bytes": audio.size_bytes,
        "detections": [asdict(d) for d in detections],
    }


def run(session: Session) -> str:
    """Runs all items of the shard. Returns the message for the termination log."""
    work: DetectWork = session.fetch_work()
    check_confinement(session.env.allow_unconfined)
    store = Store(session)
    session.progress(0.0, "Loading the model", items_total=len(work.items))
    encoder = load_encoder(store, session.env.scratch, usable_cpus())
    detector = load_model(store, encoder, session.env.scratch)
    notice = detector.budget_notice()
    if notice:
        print(notice)
    posteriors = FRAMES_PER_SECOND * 6 * len(detector.card.profiles)  # bytes of a second: three float16 of each type
    per_second = scratch_per_second(encoder) + posteriors
    items = for_each_item(session, partial(detect_item, store, detector, encoder), per_second)
    result = {"version": 1, "kind": "detect", "run": work.run, "shard": work.shard, "items": items}
    store.upload_json("the result", lambda w: w.result, result, session.env.scratch / "result.json")
    failed = sum(i["status"] == "failed" for i in items)
    events = sum(len(i.get("detections", [])) for i in items)
    return f"{len(items) - failed} of {len(items)} files, {events} detections{f'; {notice}' if notice else ''}"
