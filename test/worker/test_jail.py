# The jail of a decoder: real attempts to leave it, with both mechanisms and with each alone; and a decoder that cannot
# be confined decodes nothing, unless an administrator allows it. escapes.py makes the attempts.
import contextlib
import errno
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import soundfile
from plosive_worker.audio.facts import OUTCOME
from plosive_worker.audio.sandbox import extract_safely
from plosive_worker.failure import ItemFailure

from worker.escapes import LANDLOCK_CALL, LIBC
from worker.platform import Platform, new_run, target

FOLDERS = f"{Path(__file__).parents[2] / 'images' / 'worker'}:{Path(__file__).parents[1]}"
SCOPES_SIGNALS = LIBC.syscall(LANDLOCK_CALL, None, 0, 1) >= 6
SIGNALS = {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"}
# What one mechanism alone does not stop. Landlock knows files, tracing and, from its version 6 on, signals.
BEYOND_LANDLOCK = {
    "prlimit64", "prlimit64, reading", "sched_setaffinity", "setpriority", "sched_setscheduler", "ioprio_set", "pidfd_open",
    "a signal by fcntl",
}  # fmt: skip
BEYOND_SECCOMP = {"open its memory for reading"}
WORK = ["read the file", "write to an open file", "run ffmpeg", "start a thread", "read random numbers"]


def python(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": FOLDERS} | variables
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd="/", env=env, timeout=120)


def attempts(folder: Path, lacks: str) -> dict:
    for name in ("audio", "secret", "other"):
        (folder / name).write_bytes(b"sound")
    (folder / "program").write_bytes(Path("/bin/true").read_bytes())
    (folder / "program").chmod(0o755)
    done = python("-m", "worker.escapes", lacks, folder / "audio")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def reached(answer: dict, *groups: str) -> set[str]:
    return {what for group in groups for what, code in answer["told"][group].items() if code == 0}


def passed(answer: dict, *groups: str) -> set[str]:
    """The calls that the filter let through to the kernel."""
    return {what for group in groups for what, code in answer["told"][group].items() if code != errno.ENOSYS}


def test_the_attempts_succeed_without_jail(tmp_path: Path) -> None:
    answer = attempts(tmp_path, "Landlock,seccomp")
    assert answer["missing"] == ["Landlock", "seccomp"]
    groups = answer["told"]
    for group in ("processes", "files", "secrets"):
        assert groups[group] == dict.fromkeys(groups[group], 0)
    assert passed(answer, "kernel") == set(groups["kernel"])


def test_a_jailed_decoder_does_its_work_and_reaches_nothing_else(tmp_path: Path) -> None:
    answer = attempts(tmp_path, "")
    assert answer["missing"] == [], "this kernel lacks a mechanism: the jail cannot be tried here"
    assert reached(answer, *answer["told"]) == set()
    assert answer["work"] == dict.fromkeys(WORK, True)


def test_seccomp_alone_lets_no_call_through_that_reaches_a_process_or_writes_a_file(tmp_path: Path) -> None:
    answer = attempts(tmp_path, "Landlock")
    assert answer["missing"] == ["Landlock"]
    assert passed(answer, "processes", "files", "kernel") == BEYOND_SECCOMP
    assert answer["unlisted"] == []
    assert answer["work"] == dict.fromkeys(WORK, True)


def test_landlock_alone_stops_what_it_knows(tmp_path: Path) -> None:
    answer = attempts(tmp_path, "seccomp")
    assert answer["missing"] == ["seccomp"]
    assert reached(answer, "files", "secrets") == set()
    assert reached(answer, "processes") <= BEYOND_LANDLOCK | (set() if SCOPES_SIGNALS else SIGNALS)
    assert answer["work"] == dict.fromkeys(WORK, True)


# --- the decoding child and its worker --------------------------------------------------------------------------------


def confined_child(opened: set[str]) -> tuple[dict[str, str], str]:
    """Waits for the process that has opened the files and is confined. Its descriptors, and its status in /proc."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for process in [p for p in Path("/proc").iterdir() if p.name.isdigit()]:
            with contextlib.suppress(OSError):  # it ended meanwhile
                files = {fd: os.readlink(process / "fd" / fd) for fd in os.listdir(process / "fd")}
                status = (process / "status").read_text()
                if opened <= set(files.values()) and "Seccomp:\t2" in status:
                    return files, status
        time.sleep(0.01)
    raise AssertionError("no child is confined")


def test_a_decoding_child_is_confined_and_holds_no_pipe_of_another_process(tmp_path: Path) -> None:
    pipe = tmp_path / "audio"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # a reader blocks; without a writer, opening the pipe would block for ever
    with ThreadPoolExecutor() as pool:
        decoding = pool.submit(extract_safely, pipe, tmp_path, wall_seconds=60)
        try:
            files, status = confined_child({str(tmp_path / OUTCOME), str(pipe)})
        finally:
            os.close(end)  # ends the file
        with pytest.raises(ItemFailure, match="empty"):
            decoding.result()
    assert re.search("^NoNewPrivs:\t1$", status, re.M)
    foreign = [where for where in files.values() if not where.startswith(str(tmp_path)) and where != os.devnull]
    logs = {os.readlink(f"/proc/self/fd/{fd}") for fd in (1, 2)}
    assert set(foreign) <= logs and len(foreign) <= 2, "only the worker's log"


AS_POD = """
import os, sys
from pathlib import Path
from plosive_worker.audio import jail, sandbox
if os.getuid() == 0:
    os.setgroups([]); os.setresgid(65532, 65532, 65532); os.setresuid(65532, 65532, 65532)
"""
READ_PARENT = """
jail.set_dumpable(sys.argv[1] == "open")
if os.fork() == 0:
    try:
        os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY)
    except PermissionError:
        os._exit(3)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
LIMIT = """
sandbox.limit_self(1 << 30)
print(Path("/proc/self/oom_score_adj").read_text(), jail.LIBC.prctl(3, 0, 0, 0, 0))
"""


def test_the_memory_of_the_worker_cannot_be_opened_by_its_user() -> None:
    assert python("-c", "from plosive_worker.audio import jail, sandbox; print(jail.LIBC.prctl(3, 0, 0, 0, 0))").stdout == "0\n"
    assert python("-c", AS_POD + READ_PARENT, "open").stdout == "0\n"
    assert python("-c", AS_POD + READ_PARENT, "shut").stdout == "3\n"


def test_the_kernel_ends_a_child_before_the_worker_when_memory_runs_out() -> None:
    assert python("-c", AS_POD + LIMIT).stdout.split() == ["1000", "0"]


# --- without confinement ----------------------------------------------------------------------------------------------

DECODE = """
import sys
from pathlib import Path
from plosive_worker.audio.sandbox import extract_safely
from plosive_worker.failure import ItemFailure
from worker.escapes import remove
if __name__ == "__main__":
    remove(sys.argv[1])
    try:
        print(extract_safely(Path(sys.argv[2]), Path(sys.argv[3]), allow_unconfined=sys.argv[4] == "allow").frames)
    except ItemFailure as failure:
        print(failure.code, failure.message)
"""
WORKER = """
import runpy, sys
from worker.escapes import remove
if __name__ == "__main__":
    remove(sys.argv.pop(1))
    runpy.run_module("plosive_worker", run_name="__main__", alter_sys=True)
"""
MECHANISMS = pytest.mark.parametrize(
    ("lacks", "names"), [("Landlock", "Landlock"), ("seccomp", "seccomp"), ("Landlock,seccomp", "Landlock and seccomp")]
)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.random.default_rng(1).uniform(-0.3, 0.3, 16_000), 16_000)
    return path


@MECHANISMS
def test_a_child_that_cannot_be_confined_decodes_nothing_unless_that_is_allowed(
    tmp_path: Path, sound: Path, lacks: str, names: str
) -> None:
    refused = python("-c", DECODE, lacks, sound, tmp_path, "refuse").stdout
    assert refused.startswith(f"decoder_unconfined The file was not decoded: the node lacks {names}. Use nodes with Linux")
    assert "allowUnconfinedDecoding" in refused
    assert python("-c", DECODE, lacks, sound, tmp_path, "allow").stdout == "100\n"


def start_shard(platform: Platform, sound: Path, verb: str) -> str:
    """Adds a run with one file. Its name."""
    run = new_run()
    audio = platform.put(f"{run}/0", sound.read_bytes())
    item = {"id": "00000000-0000-4000-8000-000000000000", "filename": "a.wav", "audio": audio}
    work = {"version": 1, "kind": verb, "run": run, "shard": 0, "result": target(f"{run}/result.json"), "encoder": None}
    if verb == "embed":
        item |= {"outputs": {"embedding": target(f"{run}/embedding"), "peaks": target(f"{run}/peaks")}}
    else:
        names = ("threshold", "artifact_types", "min_duration_ms", "merge_gap_ms", "chunk_size_ms", "stride_ms")
        config = dict.fromkeys((*names, "max_false_alarms_per_hour"))
        model = {"onnx": platform.put(f"{run}/onnx", b"no model"), "card": platform.put(f"{run}/card", b"{}")}
        work |= {"model": model, "config": config | {"thresholds": {}}}
    platform.works[run] = work | {"items": [item]}
    return run


@MECHANISMS
@pytest.mark.parametrize("verb", ["embed", "detect"])
def test_a_shard_on_a_node_that_cannot_confine_fails_as_a_whole(
    platform: Platform, tmp_path: Path, sound: Path, lacks: str, names: str, verb: str
) -> None:
    variables = platform.environment(start_shard(platform, sound, verb), tmp_path / "scratch")
    done = python("-c", WORKER, lacks, verb, **variables | {"PYTHONPATH": FOLDERS})
    ending = platform.termination(tmp_path / "scratch")
    assert (done.returncode, ending["code"]) == (70, "decoder_unconfined"), done.stderr
    assert ending["message"] == f"This node cannot confine decoders: it lacks {names}"
    assert "allowUnconfinedDecoding" in ending["hint"]
    assert (ending["items_done"], ending["items_failed"]) == (0, 0)


@MECHANISMS
def test_a_profile_can_allow_to_decode_without_confinement(
    platform: Platform, tmp_path: Path, sound: Path, lacks: str, names: str
) -> None:
    variables = platform.environment(start_shard(platform, sound, "embed"), tmp_path / "scratch")
    variables |= {"PLOSIVE_ALLOW_UNCONFINED_DECODING": "true", "PYTHONPATH": FOLDERS}
    done = python("-c", WORKER, lacks, "embed", **variables)
    ending = platform.termination(tmp_path / "scratch")
    assert (done.returncode, ending["items_done"], ending["items_failed"]) == (0, 1, 0), done.stderr
    assert f"it lacks {names}. The worker profile allows unconfined decoding" in done.stderr
