# How many files a pod decodes at once: as many as its cores and its memory limit allow, never more.
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from plosive_worker import pool
from plosive_worker.pool import MIB, items_at_once, memory_limit


@pytest.mark.parametrize(
    ("cpus", "memory_mib", "expected"),
    [
        (2, 3 * 1024, 3),  # the cores decide
        (64, 3 * 1024, 6),  # a large node, the chart's limit: the memory decides
        (64, 256 * 1024, 65),
        (8, 512, 1),  # too little even for one: it still tries, one at a time
    ],
)
def test_cores_and_memory_decide(cpus: int, memory_mib: int, expected: int) -> None:
    assert items_at_once(cpus, memory_mib * MIB) == expected


@pytest.mark.parametrize(("text", "limited"), [("3221225472\n", True), ("max\n", False)])
def test_the_limit_of_the_cgroup_counts(tmp_path, monkeypatch, text: str, limited: bool) -> None:
    file = tmp_path / "memory.max"
    monkeypatch.setattr(pool, "MEMORY_LIMITS", (str(tmp_path / "absent"),))
    machine = memory_limit()
    file.write_text(text)
    monkeypatch.setattr(pool, "MEMORY_LIMITS", (str(tmp_path / "absent"), str(file)))
    assert memory_limit() == (min(machine, 3 * 1024 * MIB) if limited else machine)


def test_files_of_a_shard_overlap(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pool, "items_at_once", lambda cpus, memory: 2)
    both = threading.Barrier(2, timeout=20)  # one alone would wait in vain

    class Alone:
        work = SimpleNamespace(items=[SimpleNamespace(id="a"), SimpleNamespace(id="b")])
        env = SimpleNamespace(scratch=tmp_path)
        heartbeat = progress = staticmethod(lambda *_, **__: None)

    def do(index: int, folder: Path, tell: object) -> dict:
        both.wait()
        return {"place": index}

    assert [one["place"] for one in pool.for_each_item(Alone(), do)] == [0, 1]
