# The number of files that a pod decodes at once: the maximum that its cores, its memory limit and its scratch space
# allow.
import contextlib
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from plosive_worker import embed, pool
from plosive_worker.audio.facts import FRAMES
from plosive_worker.extract import scratch_per_second
from plosive_worker.failure import ItemFailure, WorkerFailure
from plosive_worker.features.spec import DIMS
from plosive_worker.manifest import Label, Source, TrainFile
from plosive_worker.pool import MIB, items_at_once, memory_limit, next_item, scratch_needed, scratch_space
from plosive_worker.session import Environment, bytes_of
from plosive_worker.store import Store, Stored
from plosive_worker.training.inputs import load_files

from worker.mutants import ffmpeg
from worker.platform import Platform
from worker.test_beat import started


@pytest.mark.parametrize(
    ("cpus", "memory_mib", "expected"),
    [
        (2, 3 * 1024, 3),  # limited by the cores
        (64, 3 * 1024, 6),  # a large node with the chart's limit: limited by memory
        (64, 256 * 1024, 65),
        (8, 512, 1),  # too little even for one file: the pod still tries one at a time
    ],
)
def test_cores_and_memory_limit_concurrent_files(cpus: int, memory_mib: int, expected: int) -> None:
    assert items_at_once(cpus, memory_mib * MIB) == expected


@pytest.mark.parametrize(("text", "limited"), [("3221225472\n", True), ("max\n", False)])
def test_the_memory_limit_of_the_cgroup_applies(tmp_path, monkeypatch, text: str, limited: bool) -> None:
    file = tmp_path / "memory.max"
    monkeypatch.setattr(pool, "MEMORY_LIMITS", (str(tmp_path / "absent"),))
    machine = memory_limit()
    file.write_text(text)
    monkeypatch.setattr(pool, "MEMORY_LIMITS", (str(tmp_path / "absent"), str(file)))
    assert memory_limit() == (min(machine, 3 * 1024 * MIB) if limited else machine)


@pytest.mark.parametrize(("quantity", "size"), [("4Gi", 4 << 30), ("500Mi", 500 << 20), ("7Ki", 7 << 10), ("1000000", 1_000_000)])
def test_the_limit_of_the_scratch_volume_is_a_quantity_of_kubernetes(quantity: str, size: int) -> None:
    assert bytes_of(quantity) == size


def test_the_longest_recording_of_a_size_counts_and_twelve_hours_at_most() -> None:
    second = scratch_per_second(None)
    assert second == 200 * DIMS
    assert scratch_needed("a.mp3", 10_000_000, second) == 10_000_000 + 8 * MIB + 10_000 * second
    assert scratch_needed("a", 1_200_000, second) == 1_200_000 + 8 * MIB + 3000 * second
    assert scratch_needed("a.WAV", 10_000_000, second) == 10_000_000 + 8 * MIB + 1250 * second
    assert scratch_needed("a.mp3", 1_000_000_000, second) == 1_000_000_000 + 8 * MIB + 12 * 3600 * second
    large = scratch_needed("a.wav", 2 << 30, second)
    assert large < 4 << 30 < 2 * large, "one fits into 4Gi, not two"
    assert scratch_needed("a.mp3", None, second) > 8 << 30


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.opus", ["-c:a", "libopus", "-b:a", "8k"]),
        ("a.ogg", ["-c:a", "libopus", "-b:a", "6k", "-frame_duration", "60"]),
        ("a.flac", ["-c:a", "flac"]),
        ("a.FLAC", ["-ar", "8000", "-c:a", "flac", "-f", "flac"]),
        ("a.mp3", ["-ar", "16000", "-c:a", "libmp3lame", "-b:a", "8k"]),
        ("a.m4a", ["-c:a", "aac", "-b:a", "8k"]),
        ("a.wav", ["-ar", "8000", "-c:a", "pcm_u8"]),
    ],
)
def test_a_long_recording_at_the_lowest_rate_fits_into_what_is_reserved(tmp_path: Path, name: str, options: list[str]) -> None:
    seconds = 100
    ffmpeg("-f", "lavfi", "-i", f"anoisesrc=r=48000:a=0.05:d={seconds}", *options, str(tmp_path / name))
    size = (tmp_path / name).stat().st_size
    assert scratch_needed(name, size, 28_000) >= size + 8 * MIB + 28_000 * seconds


def test_the_first_item_that_fits_is_next_and_one_that_never_fits_runs_alone() -> None:
    needs = [70, 50, 10]
    assert next_item([0, 1, 2], needs, 100, True) == 0
    assert next_item([1, 2], needs, 30, False) == 2
    assert next_item([1], needs, 30, False) is None
    assert next_item([0], needs, 30, True) == 0


@pytest.mark.parametrize(("size", "fit"), [(None, True), ("20Mi", True), ("12Mi", False), ("1Ki", False)])
def test_files_of_a_shard_are_processed_concurrently_if_they_fit_together(
    platform: Platform, tmp_path: Path, monkeypatch, size: str | None, fit: bool
) -> None:
    monkeypatch.setattr(pool, "items_at_once", lambda cpus, memory: 2)
    if size is not None:
        monkeypatch.setenv("PLOSIVE_SCRATCH_SIZE", size)
    both = threading.Barrier(2, timeout=20 if fit else 0.5)
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"x")
    session, _ = started(platform, paths, tmp_path, monkeypatch)
    session.fetch_work()

    def do(index: int, folder: Path, tell: object) -> dict:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait()
        return {"place": index, "met": not both.broken}

    try:
        outcomes = pool.for_each_item(session, do, 0)
    finally:
        session.close()
    assert [(outcome["place"], outcome["met"]) for outcome in outcomes] == [(0, fit), (1, fit)]


def test_what_is_in_the_scratch_folder_counts_against_its_limit(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "encoder.onnx").write_bytes(bytes(1000))
    env = Environment("https://runs", 0, tmp_path, None, None, tmp_path, 5000, False)
    assert scratch_space(env) == 4000
    monkeypatch.setattr(pool.shutil, "disk_usage", lambda folder: SimpleNamespace(free=300))
    assert scratch_space(env) == scratch_space(replace(env, scratch_bytes=None)) == 300


@pytest.mark.parametrize(("limit", "fits"), [("3Gi", False), ("3149Mi", True), (None, True)])
def test_a_training_downloads_nothing_that_its_scratch_volume_cannot_hold(
    tmp_path: Path, monkeypatch, limit: str | None, fits: bool
) -> None:
    monkeypatch.setattr(pool.shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 << 30))
    env = Environment("https://runs", 0, tmp_path, None, None, tmp_path, limit and bytes_of(limit), False)
    labels = [[Label("hum", 0, 100)], [Label("hum", 0, 100)], []]  # the last file would not be loaded
    files = [TrainFile(str(i), 10, Source("", 1542 * MIB, None), False, labels[i]) for i in range(3)]
    downloaded: list[str] = []

    def download(what: str, *_: object) -> None:
        downloaded.append(what)
        raise ItemFailure("input_missing", what)

    work = SimpleNamespace(files=files, feature_spec=SimpleNamespace(id="", hash=""))
    store = SimpleNamespace(session=SimpleNamespace(work=work, env=env), download=download)
    with pytest.raises(WorkerFailure) as failure:
        load_files(store, tmp_path, ["hum"])
    assert bool(downloaded) == fits
    if not fits:
        assert (failure.value.code, failure.value.exit_code) == ("scratch_full", 70) and "scratchSize" in failure.value.hint
        assert failure.value.message == "The embeddings of 2 training files need 3.1 GiB, the scratch volume has 3.0 GiB"


def test_the_audio_is_deleted_before_its_embedding_is_uploaded(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    path, upload, held = tmp_path / "a.wav", Store.upload, []
    soundfile.write(path, np.random.default_rng(1).uniform(-0.1, 0.1, 16_000), 16_000)
    session, _ = started(platform, [path], tmp_path, monkeypatch)

    def seen(store: Store, what: str, target_of, file: Path) -> Stored:
        held.append({each.name for each in file.parent.iterdir()})
        return upload(store, what, target_of, file)

    monkeypatch.setattr(Store, "upload", seen)
    try:
        embed.run(session)
    finally:
        session.close()
    assert FRAMES in held[0] and not any("audio" in names for names in held)
