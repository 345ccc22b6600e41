# Heartbeats: a worker reports progress within a long file, and sends no report while a decoder hangs, so that the
# operator replaces its pod as stalled.
import os
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from plosive_worker import embed, session
from plosive_worker.audio import sandbox
from plosive_worker.failure import ItemFailure
from plosive_worker.pool import for_each_item
from plosive_worker.session import Environment, Session

from worker.platform import Platform, new_run, target


def started(platform: Platform, paths: list[Path], tmp_path: Path, monkeypatch) -> tuple[Session, list[dict]]:
    """A session of this process on these files that reports often, and the list of its reports."""
    monkeypatch.setattr(session, "REPORT_SECONDS", 0.05)
    monkeypatch.setattr(session, "HEARTBEAT_SECONDS", 0.2)
    run, items = new_run(), []
    for index, path in enumerate(paths):
        audio = platform.put(f"{run}/{index}", path.read_bytes())
        outputs = {"embedding": target(f"{run}/{index}.embedding"), "peaks": target(f"{run}/{index}.peaks")}
        name = f"00000000-0000-4000-8000-{index:012}"
        items.append({"id": name, "filename": path.name, "audio": audio, "outputs": outputs})
    common = {"version": 1, "kind": "embed", "run": run, "shard": 0, "result": target(f"{run}/result.json")}
    platform.works[run] = common | {"items": items}
    own = Session(Environment.read(platform.environment(run, tmp_path / "scratch")), "embed")
    return own, platform.progress.setdefault(run, [])


def test_a_long_file_reports_progress_while_it_is_decoded(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sandbox, "POLL_SECONDS", 0.1)
    path, rng = tmp_path / "long.wav", np.random.default_rng(1)
    with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
        for _ in range(20):
            file.write(rng.uniform(-0.1, 0.1, 30 * 16_000))
    own, reports = started(platform, [path], tmp_path, monkeypatch)
    embed.run(own)
    own.close()
    inside = [r["fraction"] for r in reports if r["items_done"] == 0 and 0 < r["fraction"] < 1]
    assert len(set(inside)) >= 2, "the file itself has no progress"
    assert inside == sorted(inside)
    assert (reports[-1]["fraction"], reports[-1]["items_done"]) == (1, 1)
    assert [r["seq"] for r in reports] == sorted({r["seq"] for r in reports})


def test_a_hanging_decoder_sends_no_progress_report(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sandbox, "POLL_SECONDS", 0.1)
    pipe = tmp_path / "hangs"
    os.mkfifo(pipe)
    # opened and never written to, so that a reader blocks
    end = os.open(pipe, os.O_RDWR)
    small = tmp_path / "small"
    small.write_bytes(b"x")
    own, reports = started(platform, [small], tmp_path, monkeypatch)
    own.fetch_work()

    def hang(_index: int, folder: Path, tell) -> dict:
        deadline = time.monotonic() + 10
        while not reports:  # the first report
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with pytest.raises(ItemFailure, match="took longer"):
            sandbox.extract_safely(pipe, folder, tell, wall_seconds=2)
        heard.append(len(reports))
        return {}

    heard: list[int] = []
    try:
        for_each_item(own, hang, 0)
    finally:
        own.close()
        os.close(end)
    assert heard == [1], "a hanging decoder was reported as progress"
