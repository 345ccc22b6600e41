# Writes and uploads the model: model.onnx, weights.safetensors, card.json, SHA256SUMS; no pickle. Uploads nothing
# unless ONNX Runtime and torch agree. Called by train.py.
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from safetensors.torch import save_file

from ..events.profile import Profile
from ..failure import WorkerFailure
from ..features.spec import BASE_RATE, FeatureSpec
from ..manifest import TrainWork
from ..model.card import build_card
from ..model.head import CONTEXT_FRAMES, DILATIONS, HEADS, KERNEL, WIDTH, Head
from ..model.onnx_graph import MAX_DIFFERENCE, difference, export
from ..store import Store, digest_of
from .data import LabelledFile

PARITY_FRAMES = 700


@dataclass(frozen=True)
class Saved:
    artifacts: list[dict[str, Any]]  # name, sha256, size_bytes
    architecture: dict[str, Any]


def architecture_of(head: Head, spec: FeatureSpec) -> dict[str, Any]:
    return {
        "family": "tcn",
        "encoder": {"id": spec.id, "dims": spec.dims},
        "head": {
            "width": WIDTH,
            "kernel": KERNEL,
            "dilations": list(DILATIONS),
            "context_ms": CONTEXT_FRAMES * 10,
            "outputs": list(HEADS),
            "classes": head.classes,
        },
        "sample_rate_hz": BASE_RATE,
        "frame_hop_ms": 10,
        "parameters": sum(p.numel() for p in head.parameters()),
    }


def check_parity(head: Head, model: bytes, files: list[LabelledFile]) -> float:
    """Returns the largest difference on real frames. Raises WorkerFailure if it is MAX_DIFFERENCE or more."""
    longest = max(files, key=lambda f: f.length)
    frames = longest.frames.normal(0, min(longest.length, PARITY_FRAMES))[None]
    found = difference(head, model, np.ascontiguousarray(frames, np.float32))
    if not found < MAX_DIFFERENCE:
        raise WorkerFailure("internal", f"The posteriors of the exported model differ from the trained one's by {found:.2e}")
    return found


def save_artifacts(
    store: Store, scratch: Path, head: Head, profiles: list[Profile], work: TrainWork, metrics: dict, snapshot: str,
    files: list[LabelledFile],
) -> Saved:  # fmt: skip
    """Exports, checks and uploads the model; SHA256SUMS last."""
    model = export(head)
    parity = check_parity(head, model, files)
    paths = {name: scratch / name for name in ("model.onnx", "weights.safetensors", "card.json", "SHA256SUMS")}
    paths["model.onnx"].write_bytes(model)
    save_file({name: value.contiguous() for name, value in head.state_dict().items()}, paths["weights.safetensors"])
    architecture = architecture_of(head, files[0].frames.spec)
    facts = {
        "config": asdict(work.config),
        "seed": work.seed,
        "data_snapshot": snapshot,
        "architecture": architecture,
        "metrics": metrics,
        "onnx_parity": parity,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "onnxruntime": onnxruntime.__version__,
            "numpy": np.__version__,
        },
    }
    card = build_card(profiles, digest_of(paths["model.onnx"]).sha256, files[0].frames.spec, facts)
    targets = {
        "model.onnx": lambda w: w.outputs.model,
        "weights.safetensors": lambda w: w.outputs.weights,
        "card.json": lambda w: w.outputs.card,
        "SHA256SUMS": lambda w: w.outputs.sums,
    }
    artifacts: list[dict[str, Any]] = []
    for name, target in targets.items():
        if name == "card.json":
            stored = store.upload_json(name, target, card, paths[name])
        else:
            if name == "SHA256SUMS":
                paths[name].write_text("".join(f"{a['sha256']}  {a['name']}\n" for a in artifacts))
            stored = store.upload(name, target, paths[name])
        artifacts.append({"name": name, "sha256": stored.sha256, "size_bytes": stored.size_bytes})
    return Saved(artifacts, architecture)
