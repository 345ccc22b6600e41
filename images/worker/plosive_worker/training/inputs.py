# Downloads the embeddings of a training run, several at once, and joins them with their labels. Called by train.py.
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..failure import ItemFailure, WorkerFailure
from ..features.file import read_frames
from ..manifest import TrainWork
from ..store import Store
from .data import LabelledFile

PARALLEL = 8


def load_files(store: Store, scratch: Path, types: list[str]) -> list[LabelledFile]:
    """All files of the work in its order. A missing or changed embedding ends the run: training on less than was asked
    for would be a silent lie."""
    work: TrainWork = store.session.work
    kinds = {name: kind for kind, name in enumerate(types)}
    folder = scratch / "embeddings"
    folder.mkdir(exist_ok=True)

    def load(index: int) -> LabelledFile:
        file = work.files[index]
        path = folder / f"{index}.safetensors"
        try:
            store.download(f"The embedding of {file.id}", lambda w: w.files[index].embedding, path)
        except ItemFailure as failure:
            raise WorkerFailure("input_missing", failure.message, "Embed the audio file again", file.id) from failure
        events = tuple(
            (kinds[a.artifact_type], a.start_ms, max(a.start_ms, a.end_ms)) for a in file.annotations if a.artifact_type in kinds
        )
        frames = read_frames(path, work.feature_spec.id, work.feature_spec.hash)
        return LabelledFile(file.id, frames, events, file.reviewed)

    with ThreadPoolExecutor(PARALLEL) as pool:
        files = list(pool.map(load, range(len(work.files))))
    seen = {kind for file in files for kind, _, _ in file.events}
    absent = [name for kind, name in enumerate(types) if kind not in seen]
    if absent:
        raise WorkerFailure("bad_manifest", f"No annotation of {', '.join(absent)} in the training files")
    return files
