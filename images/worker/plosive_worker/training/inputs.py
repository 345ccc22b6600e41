# Downloads the embeddings of a training run, several at once, and combines them with their labels. Called by train.py.
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..failure import ItemFailure, WorkerFailure
from ..features.file import read_frames
from ..features.spec import HOP_MS
from ..manifest import Label, TrainFile, TrainWork
from ..pool import GIB, MIB, scratch_space
from ..session import Environment
from ..store import Store
from .data import Event, LabelledFile

PARALLEL = 8
WORKING_BYTES = 64 * MIB  # of the scratch folder, beside the embeddings: checkpoint, model and result


def events_from(annotations: list[Label], kinds: dict[str, int], length_ms: int) -> tuple[Event, ...]:
    """Returns the labels of the wanted classes, clipped to the file. Labels of one class whose edges differ by at most
    a frame (two annotators) become one event."""
    events: list[Event] = []
    wanted = [(kinds[a.artifact_type], a.start_ms, a.end_ms) for a in annotations if a.artifact_type in kinds]
    for kind, start, end in sorted(wanted):
        start = min(start, length_ms - 1)
        end = max(start, min(end, length_ms))
        same = (k == kind and abs(s - start) <= HOP_MS and abs(e - end) <= HOP_MS for k, s, e in reversed(events[-20:]))
        if not any(same):
            events.append((kind, start, end))
    return tuple(events)


def check_space(env: Environment, files: list[TrainFile]) -> None:
    """Raises WorkerFailure if the embeddings do not fit into the scratch folder: the kubelet would evict the pod, again and
    again, in the middle of the downloads."""
    needed, space = sum(file.embedding.size_bytes or 0 for file in files) + WORKING_BYTES, scratch_space(env)
    if needed > space:
        needs = f"The embeddings of {len(files)} training files need {needed / GIB:.1f} GiB"
        hint = "Raise scratchSize of train in the worker profile, or train on fewer files"
        raise WorkerFailure("scratch_full", f"{needs}, the scratch volume has {space / GIB:.1f} GiB", hint)


def load_files(store: Store, scratch: Path, types: list[str]) -> list[LabelledFile]:
    """Loads the files of the work that are reviewed or labelled. Other files add nothing to training and would only
    dilute the batches. Orders files by content and not by id, so that the same recordings uploaded again give the same
    model. Raises WorkerFailure if an embedding is missing or changed: training must not silently use less data than
    requested."""
    work: TrainWork = store.session.work
    kinds = {name: kind for kind, name in enumerate(types)}
    folder = scratch / "embeddings"
    folder.mkdir(exist_ok=True)

    def load(index: int) -> LabelledFile:
        file = work.files[index]
        path = folder / f"{index}.safetensors"
        try:
            stored = store.download(f"The embedding of {file.id}", lambda w: w.files[index].embedding, path)
        except ItemFailure as failure:
            hint = "Renew the embedding: plosive-admin embeddings renew"
            raise WorkerFailure("input_missing", failure.message, hint, file.id) from failure
        frames = read_frames(path, work.feature_spec.id, work.feature_spec.hash)
        events = events_from(file.annotations, kinds, len(frames.frames) * HOP_MS)
        return LabelledFile(file.id, frames, events, file.reviewed, stored.sha256)

    usable = [i for i, file in enumerate(work.files) if file.reviewed or file.annotations] or range(len(work.files))
    check_space(store.session.env, [work.files[index] for index in usable])
    with ThreadPoolExecutor(PARALLEL) as pool:
        files = list(pool.map(load, usable))
    files.sort(key=lambda file: (file.content, file.events))
    seen = {kind for file in files for kind, _, _ in file.events}
    absent = [name for kind, name in enumerate(types) if kind not in seen]
    if absent:
        hint = "Add labels of these types, or remove the types from config.artifact_types"
        raise WorkerFailure("bad_manifest", f"The training files have no annotation of {', '.join(absent)}", hint)
    return files
