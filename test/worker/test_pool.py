# The number of files that a pod decodes at once: the maximum that its cores and its memory limit allow.
import threading
from pathlib import Path

import pytest
from plosive_worker import pool
from plosive_worker.pool import MIB, items_at_once, memory_limit

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


def test_files_of_a_shard_are_processed_concurrently(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(pool, "items_at_once", lambda cpus, memory: 2)
    both = threading.Barrier(2, timeout=20)  # a single thread would time out
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"x")
    session, _ = started(platform, paths, tmp_path, monkeypatch)
    session.fetch_work()

    def do(index: int, folder: Path, tell: object) -> dict:
        both.wait()
        return {"place": index}

    try:
        outcomes = pool.for_each_item(session, do)
    finally:
        session.close()
    assert [outcome["place"] for outcome in outcomes] == [0, 1]
