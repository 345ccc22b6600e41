# The Work document of a shard as frozen dataclasses, with the names of src/schemas/worker.ts. One generic reader checks
# names and types and ignores unknown members. Read by session.py, used by the three verbs.
import types
import typing
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from .failure import WorkerFailure

T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """An object that the pod may read."""

    url: str
    size_bytes: int | None
    sha256: str | None


@dataclass(frozen=True)
class Target:
    """An object that the pod may write. The request must have exactly these headers."""

    url: str
    headers: dict[str, str]


@dataclass(frozen=True)
class EmbedOutputs:
    embedding: Target
    peaks: Target


@dataclass(frozen=True)
class EmbedItem:
    id: str
    filename: str
    audio: Source
    outputs: EmbedOutputs


@dataclass(frozen=True)
class EncoderSources:
    manifest: Source
    onnx: Source


@dataclass(frozen=True)
class EmbedWork:
    run: str
    shard: int
    result: Target
    encoder: EncoderSources | None
    items: list[EmbedItem]


@dataclass(frozen=True)
class TrainingConfig:
    artifact_types: list[str]
    epochs: int
    validation_split: float
    learning_rate: float
    batch_size: int
    chunk_size_ms: int
    stride_ms: int
    max_false_alarms_per_hour: float | None = None


@dataclass(frozen=True)
class SpecName:
    id: str
    hash: str


@dataclass(frozen=True, slots=True)  # a training may have a million
class Label:
    artifact_type: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True)
class TrainFile:
    id: str
    duration_ms: int
    embedding: Source
    reviewed: bool
    annotations: list[Label]


@dataclass(frozen=True)
class TrainOutputs:
    model: Target
    weights: Target
    card: Target
    sums: Target
    checkpoint: Target


@dataclass(frozen=True)
class TrainWork:
    run: str
    shard: int
    result: Target
    config: TrainingConfig
    seed: int
    feature_spec: SpecName
    files: list[TrainFile]
    outputs: TrainOutputs
    checkpoint: Source | None


@dataclass(frozen=True)
class DetectConfig:
    threshold: float | None
    thresholds: dict[str, float]
    artifact_types: list[str] | None
    min_duration_ms: int | None
    merge_gap_ms: int | None
    chunk_size_ms: int | None
    stride_ms: int | None
    max_false_alarms_per_hour: float | None = None


@dataclass(frozen=True)
class ModelSources:
    onnx: Source
    card: Source


@dataclass(frozen=True)
class DetectItem:
    id: str
    filename: str
    audio: Source


@dataclass(frozen=True)
class DetectWork:
    run: str
    shard: int
    result: Target
    config: DetectConfig
    model: ModelSources
    encoder: EncoderSources | None
    items: list[DetectItem]


Work = EmbedWork | TrainWork | DetectWork
KINDS: dict[str, type] = {"embed": EmbedWork, "train": TrainWork, "detect": DetectWork}


hints_of = cache(typing.get_type_hints)


def type_failure(path: str, wanted: str, value: Any) -> WorkerFailure:
    return WorkerFailure("bad_manifest", f"Work member {path} should be {wanted}, it is {type(value).__name__}")


def read(kind: Any, value: Any, path: str) -> Any:
    """Converts `value` (parsed JSON) to `kind`: a dataclass, list[X], dict[str, X], X | None or a plain type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        inner = [a for a in arguments if a is not type(None)]
        return None if value is None else read(inner[0], value, path)
    if origin is list:
        if not isinstance(value, list):
            raise type_failure(path, "a list", value)
        return [read(arguments[0], item, f"{path}[{i}]") for i, item in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise type_failure(path, "an object", value)
        return {str(name): read(arguments[1], item, f"{path}.{name}") for name, item in value.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        if not isinstance(value, dict):
            raise type_failure(path, "an object", value)
        hints = hints_of(kind)
        missing = [f.name for f in fields(kind) if f.name not in value and type(None) not in typing.get_args(hints[f.name])]
        if missing:
            raise WorkerFailure("bad_manifest", f"Work member {path} lacks {', '.join(missing)}")
        return kind(**{f.name: read(hints[f.name], value.get(f.name), f"{path}.{f.name}") for f in fields(kind)})
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise type_failure(path, kind.__name__, value)
    return value


def read_work(document: Any, verb: str) -> Any:
    """Converts parsed JSON to the work of `verb`. Raises WorkerFailure(bad_manifest) for another version or verb."""
    if not isinstance(document, dict) or document.get("version") != 1:
        raise WorkerFailure("bad_manifest", "The version of the work is not 1", "Use worker images of the operator's release")
    if document.get("kind") != verb:
        raise WorkerFailure("bad_manifest", f"The work is of kind {document.get('kind')!r}, this pod runs {verb}")
    return read(KINDS[verb], document, "work")


def in_order_of(first: Any, fresh: Any) -> Any:
    """Returns `fresh` work with its items or files in the order of `first`, so that an index still means the same item.
    An item that was deleted or moved to another job meanwhile is the object from `first`; store.py compares
    identities."""
    name = "files" if isinstance(first, TrainWork) else "items"
    present = {item.id: item for item in getattr(fresh, name)}
    return replace(fresh, **{name: [present.get(item.id, item) for item in getattr(first, name)]})
