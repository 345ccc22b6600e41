# The embed verb. For each audio file of the shard it downloads the file, decodes it and computes features in a
# sandboxed child process, and uploads the embedding and the waveform. An unusable file becomes a failed item with a
# reason. Only a fault of the worker or of the object store fails the shard.
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .audio.facts import PEAKS
from .audio.sandbox import check_confinement
from .extract import compute_embedding, load_encoder, scratch_per_second
from .features.encoder import Encoder
from .features.spec import own_spec
from .manifest import EmbedWork
from .pool import for_each_item, usable_cpus
from .session import Session
from .store import Store

DECODING = 0.9  # approximate share of an item's time


def embed_item(store: Store, encoder: Encoder | None, index: int, folder: Path, on_progress: Callable[[float], None]) -> dict:
    """Returns the members of a completed item in result.json. Raises ItemFailure if the file cannot be used."""
    work: EmbedWork = store.session.work
    name = work.items[index].filename
    audio = store.download(f"The audio of {name}", lambda w: w.items[index].audio, folder / "audio")
    facts, frames = compute_embedding(store, encoder, folder, name, lambda share: on_progress(DECODING * share))
    embedding = store.upload("an embedding", lambda w: w.items[index].outputs.embedding, frames)
    store.upload("a waveform", lambda w: w.items[index].outputs.peaks, folder / PEAKS)
    return {
        "duration_ms": facts.duration_ms,
        "sample_rate_hz": facts.sample_rate_hz,
        "channels": facts.channels,
        "sha256": audio.sha256,
        "size_bytes": audio.size_bytes,
        "codec": facts.codec,
        "frames": facts.frames,
        "embedding": {"sha256": embedding.sha256, "size_bytes": embedding.size_bytes},
    }


def run(session: Session) -> str:
    """Runs all items of the shard. Returns the message for the termination log."""
    work: EmbedWork = session.fetch_work()
    check_confinement(session.env.allow_unconfined)
    store = Store(session)
    encoder = load_encoder(store, session.env.scratch, usable_cpus())
    spec = encoder.spec if encoder else own_spec()
    items = for_each_item(session, partial(embed_item, store, encoder), scratch_per_second(encoder))
    result = {
        "version": 1,
        "kind": "embed",
        "run": work.run,
        "shard": work.shard,
        "feature_spec": {"id": spec.id, "hash": spec.hash, "dims": spec.dims, "hop_ms": spec.hop_ms},
        "items": items,
    }
    store.upload_json("the result", lambda w: w.result, result, session.env.scratch / "result.json")
    failed = sum(i["status"] == "failed" for i in items)
    return f"{len(items) - failed} of {len(items)} files embedded"
