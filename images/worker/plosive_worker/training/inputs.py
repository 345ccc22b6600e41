# Downloads the embeddings of a training run, several at once, and joins them with their labels. Called by train.py.
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..failure import ItemFailure, WorkerFailure
from ..features.file import read_frames
from ..features.spec import HOP_MS
from ..manifest import Label, TrainWork
from ..store import Store
from .data import Event, LabelledFile

PARALLEL = 8


def events_from(annotations: list[Label], kinds: dict[str, int], length_ms: int) -> tuple[Event, ...]:
    """The labels of the wanted classes, inside the file; what two people marked within a frame of each other is one event."""
    events: list[Event] = []
    for kind, start, end in sorted((kinds[a.artifact_type], a.start_ms, a.end_ms) for a in annotations if a.artifact_type in kinds):
        start = min(start, length_ms - 1)
        end = max(start, min(end, length_ms))
        same = (k == kind and abs(s - start) <= HOP_MS and abs(e - end) <= HOP_MS for k, s, e in reversed(events[-20:]))
        if not any(same):
            events.append((kind, start, end))
    return tuple(events)


def load_files(store: Store, scratch: Path, types: list[str]) -> list[LabelledFile]:
    """The files of the work that say something, ordered by what is in them, not by their names: the same recordings uploaded
    once more make the same model. Of a file that is neither reviewed nor labelled nothing can be
    learned, and it would only thin out the others. A missing or changed embedding ends the run: training on less than was
    asked for would be a silent lie."""
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
            hint = "Have it embedded again: plosive-admin embeddings renew"
            raise WorkerFailure("input_missing", failure.message, hint, file.id) from failure
        frames = read_frames(path, work.feature_spec.id, work.feature_spec.hash)
        events = events_from(file.annotations, kinds, len(frames.frames) * HOP_MS)
        return LabelledFile(file.id, frames, events, file.reviewed, stored.sha256)

    with ThreadPoolExecutor(PARALLEL) as pool:
        telling = [i for i, file in enumerate(work.files) if file.reviewed or file.annotations]
        files = list(pool.map(load, telling or range(len(work.files))))
    files.sort(key=lambda file: (file.content, file.events))
    seen = {kind for file in files for kind, _, _ in file.events}
    absent = [name for kind, name in enumerate(types) if kind not in seen]
    if absent:
        hint = "Label some, or train without: config.artifact_types names the types"
        raise WorkerFailure("bad_manifest", f"No annotation of {', '.join(absent)} in the training files", hint)
    return files
