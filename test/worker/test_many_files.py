# Training on very many files, more than a process may hold open or mapped: a stored embedding is read slice by slice, and
# the split does not compare all files with each other.
import os
import resource
from pathlib import Path

import numpy as np
import pytest
from plosive_worker.failure import WorkerFailure
from plosive_worker.features.file import FrameFile, FrameWriter, normal_frames, read_frames
from plosive_worker.features.spec import DIMS
from plosive_worker.training.data import LabelledFile, Part, feature_scale
from plosive_worker.training.split import split_files

FILES, LENGTH = 200, 40


def written(path: Path, length: int = LENGTH) -> np.ndarray:
    """Writes an embedding with random frames, and returns these."""
    frames = np.random.default_rng(length).standard_normal((length, DIMS)).astype(np.float16)
    writer = FrameWriter(path)
    writer.write(frames)
    writer.close()
    return frames


def mappings_in(folder: Path) -> int:
    return Path("/proc/self/maps").read_text().count(str(folder))


def test_a_training_holds_no_descriptor_and_no_mapping_for_a_file(tmp_path: Path) -> None:
    for index in range(FILES):
        written(tmp_path / str(index))
    before, limits = len(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + FILES // 2, limits[1]))
    try:
        files = [LabelledFile(str(i), read_frames(tmp_path / str(i)), (), True) for i in range(FILES)]
        feature_scale(files, [Part(i, 0, LENGTH) for i in range(FILES)])
        assert all(len(file.frames.normal(3, 30)) == 27 for file in files)
        assert mappings_in(tmp_path) == 0 and len(os.listdir("/proc/self/fd")) == before
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("rows", [(0, 300), (17, 101), (299, 300), (250, 900), (300, 400), (40, 40), (0, 300, 7), (5, 290, 300)])
def test_a_slice_of_a_stored_embedding_equals_that_of_its_frames(tmp_path: Path, rows: tuple[int, ...]) -> None:
    frames = written(tmp_path / "a", 300)
    file = read_frames(tmp_path / "a")
    assert len(file.frames) == 300 and file.frames.shape == (300, DIMS)
    assert np.array_equal(file.frames[slice(*rows)], frames[slice(*rows)])
    normal = file.normal(*rows)
    assert normal.dtype == np.float32 and np.array_equal(normal, normal_frames(frames[slice(*rows)], file.stats))
    assert np.array_equal(file.frames[:], frames)


def test_a_split_compares_each_file_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    frames = FrameFile(np.zeros((3000, DIMS), np.float16), np.zeros((3, DIMS), np.float32))
    files = [LabelledFile(str(i), frames, ((0, 1000, 1200),), True) for i in range(1000)]
    equal = Part.__eq__
    monkeypatch.setattr(Part, "__eq__", lambda part, other: compared.append(1) or equal(part, other))
    split = split_files(files, 1, 0.2, 1)
    assert len(compared) < 10 * len(files)
    held = {part.file for part in split.validation}
    assert [part.file for part in split.train] == [i for i in range(len(files)) if i not in held], "in the order of the files"


def test_a_shortened_embedding_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "a")
    data = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(data[:-1])
    with pytest.raises(WorkerFailure, match="shorter than its header declares"):
        read_frames(tmp_path / "a")
