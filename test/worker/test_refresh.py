# Work that is fetched again: for fresh URLs after some of its files were deleted or moved to another job, and after a
# response that ended in the middle.
from pathlib import Path

import pytest
from plosive_worker.failure import ItemFailure
from plosive_worker.session import Environment, Session
from plosive_worker.store import Store

from worker.platform import Platform, new_run, target


def test_items_keep_their_indexes_when_others_are_removed(platform: Platform, tmp_path: Path) -> None:
    run, items = new_run(), []
    for number, name in enumerate(("first", "second", "third")):
        outputs = {"embedding": target(f"{run}/{name}.embedding"), "peaks": target(f"{run}/{name}.peaks")}
        audio = platform.put(f"{run}/{name}", name.encode())
        items.append(
            {"id": f"00000000-0000-4000-8000-{number:012}", "filename": f"{name}.wav", "audio": audio, "outputs": outputs}
        )
    platform.works[run] = {"version": 1, "kind": "embed", "run": run, "shard": 0, "result": target(f"{run}/r"), "items": items}
    session = Session(Environment.read(platform.environment(run, tmp_path / "scratch")), "embed")
    try:
        platform.expired_fetches = 1
        session.fetch_work()
        store, sent = Store(session), tmp_path / "sent"
        sent.write_bytes(b"x")
        platform.works[run] = platform.works[run] | {"items": items[1:]}
        for index in (1, 2):
            store.download("audio", lambda w, index=index: w.items[index].audio, tmp_path / "got")
            assert (tmp_path / "got").read_bytes() == ("first", "second", "third")[index].encode()
        store.upload("an embedding", lambda w: w.items[2].outputs.embedding, sent)
        assert platform.has(f"{run}/third.embedding")
        with pytest.raises(ItemFailure, match="deleted, or is embedded again"):
            store.download("audio", lambda w: w.items[0].audio, tmp_path / "got")
        with pytest.raises(ItemFailure, match="deleted, or is embedded again"):
            store.upload("an embedding", lambda w: w.items[0].outputs.embedding, sent)
    finally:
        session.close()


def test_work_that_ends_in_the_middle_is_fetched_again(platform: Platform, tmp_path: Path) -> None:
    run = new_run()
    outputs = {"embedding": target(f"{run}/embedding"), "peaks": target(f"{run}/peaks")}
    file = {"id": "00000000-0000-4000-8000-000000000000", "filename": "a.wav", "audio": platform.put(f"{run}/a", b"a")}
    work = {"version": 1, "kind": "embed", "run": run, "shard": 0, "result": target(f"{run}/r")}
    platform.works[run] = work | {"items": [file | {"outputs": outputs}]}
    platform.cut_works = 1
    session = Session(Environment.read(platform.environment(run, tmp_path / "scratch")), "embed")
    try:
        assert len(session.fetch_work().items) == 1
        assert platform.fetches[run] == 2
    finally:
        session.close()
