# Errors of the pod's own disk and limits are failures with their own reasons: they are neither tried again nor blamed on the
# object store.
import contextlib
import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from plosive_worker import __main__, web
from plosive_worker.failure import WorkerFailure, local_failure
from plosive_worker.store import Store

from worker.platform import Platform
from worker.test_beat import started


@contextlib.contextmanager
def store_of(platform: Platform, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The object store with one file, for a session whose every pause fails the test."""
    (folder / "a").write_bytes(bytes(3 << 20))
    session, _ = started(platform, [folder / "a"], folder, monkeypatch)
    session.fetch_work()

    def never(attempt: int) -> float:
        raise AssertionError("it is tried again")

    monkeypatch.setattr(web.random, "uniform", lambda low, high: never(0))
    try:
        yield Store(session)
    finally:
        session.close()


def test_a_full_scratch_volume_is_named_and_not_tried_again(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    with store_of(platform, tmp_path, monkeypatch) as store, pytest.raises(WorkerFailure) as failure:
        store.download("The audio of a", lambda w: w.items[0].audio, Path("/dev/full"))
    assert (failure.value.code, failure.value.exit_code) == ("scratch_full", 70)
    assert failure.value.message.startswith("Reading The audio of a: the scratch volume is full (No space left on device)")
    assert "scratchSize" in failure.value.hint


def test_the_limit_of_open_files_is_named_and_not_tried_again(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with store_of(platform, tmp_path, monkeypatch) as store:
        store.download("a", lambda w: w.items[0].audio, tmp_path / "b")  # leaves an open connection
        highest, held = max(map(int, os.listdir("/proc/self/fd"))), [os.open("/dev/null", os.O_RDONLY)]
        while held[-1] <= highest:  # until no number below the limit is free
            held.append(os.open("/dev/null", os.O_RDONLY))
        low = held[-1] + 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (low, limits[1]))
        try:
            with pytest.raises(WorkerFailure) as failure:
                store.download("a", lambda w: w.items[0].audio, tmp_path / "b")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            for file in held:
                os.close(file)
    assert failure.value.code == "internal" and f"limit (RLIMIT_NOFILE) admits, {low}" in failure.value.message


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (errno.ENOSPC, "scratch_full", "the scratch volume is full"),
        (errno.EDQUOT, "scratch_full", "the scratch volume is full"),
        (errno.EMFILE, "internal", "RLIMIT_NOFILE"),
        (errno.ENFILE, "internal", "fs.file-max"),
        (errno.EROFS, "internal", "read-only"),
    ],
)
def test_each_local_error_is_found_below_others(number: int, code: str, text: str) -> None:
    tries: list[int] = []

    def call() -> urllib3.BaseHTTPResponse:
        tries.append(1)
        try:
            raise OSError(number, os.strerror(number), "/scratch/a")
        except OSError as error:
            raise urllib3.exceptions.NewConnectionError(None, "cannot connect") from error

    with pytest.raises(WorkerFailure) as failure:
        web.with_retries("Reading a file", call)
    assert len(tries) == 1 and failure.value.code == code and failure.value.hint
    assert text in failure.value.message and "(/scratch/a)" in failure.value.message


def test_errors_of_the_network_are_not_local() -> None:
    for error in (
        ConnectionResetError(errno.ECONNRESET, "reset"),
        TimeoutError(),
        urllib3.exceptions.HTTPError(),
        ValueError(),
        None,
    ):
        assert local_failure("Reading", error) is None


def test_a_full_disk_outside_of_transfers_has_the_same_reason(tmp_path: Path, monkeypatch, capsys) -> None:
    def run(session: object) -> str:
        Path("/dev/full").write_bytes(b"x" * 100_000)
        return "written"

    monkeypatch.setattr("plosive_worker.session.make_session", lambda verb: None)
    monkeypatch.setattr("plosive_worker.embed.run", run)
    monkeypatch.setenv("PLOSIVE_TERMINATION_LOG", str(tmp_path / "log"))
    assert __main__.run("embed") == 70
    assert '"code": "scratch_full"' in (tmp_path / "log").read_text()
