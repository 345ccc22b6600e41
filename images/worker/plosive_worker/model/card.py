# card.json, the model card: describes model.onnx and holds the values that detection needs. Written by train.py, read
# by detect.py.
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..events.profile import Profile
from ..failure import WorkerFailure
from ..features.spec import FeatureSpec

FORMAT = 1


@dataclass(frozen=True)
class Card:
    """The part of the card that detection uses."""

    profiles: list[Profile]
    onnx_sha256: str
    chunk_size_ms: int
    stride_ms: int
    dims: int
    max_false_alarms_per_hour: float | None = None  # the budget that the training was given


def build_card(profiles: list[Profile], onnx_sha256: str, spec: FeatureSpec, facts: dict[str, Any]) -> dict[str, Any]:
    """Returns the whole document. `facts` holds config, seed, data snapshot, split, metrics and versions."""
    return {
        "format": FORMAT,
        "classes": [p.name for p in profiles],
        "profiles": [p.as_json() for p in profiles],
        "embedder": {"id": spec.id, "hash": spec.hash, "dims": spec.dims, "hop_ms": spec.hop_ms},
        "onnx_sha256": onnx_sha256,
        "intended_use": "Finds artifacts of the listed types in voice recordings that resemble the training data.",
        **facts,
    }


def read_card(path: Path, own: FeatureSpec) -> Card:
    """Reads the card. Raises WorkerFailure(bad_manifest) if it has another format or was made for other features than
    `own`."""
    try:
        document = json.loads(path.read_text())
        if document["format"] != FORMAT:
            raise WorkerFailure("bad_manifest", f"The model card has format {document['format']}, this worker reads {FORMAT}")
        embedder = document["embedder"]
        profiles = [Profile(**p) for p in document["profiles"]]
        config = document["config"]
        times = int(config["chunk_size_ms"]), int(config["stride_ms"])
        card = Card(profiles, document["onnx_sha256"], *times, own.dims, config.get("max_false_alarms_per_hour"))
    except (ValueError, KeyError, TypeError) as error:
        raise WorkerFailure("bad_manifest", f"The model card cannot be read: {error!r}") from error
    if (embedder["id"], embedder["hash"]) != (own.id, own.hash):
        raise WorkerFailure(
            "bad_manifest",
            f"The model was trained on features {embedder['id']} {embedder['hash']}, this worker computes {own.id} {own.hash}",
            "Renew the embeddings of the audio (plosive-admin embeddings renew) and train a new model",
        )
    return card
