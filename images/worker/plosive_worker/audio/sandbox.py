# Decodes each file in a restricted child process with limits on memory, CPU time, file size and wall time, so that a
# crash or a decompression bomb in a native decoder fails one file only. The child's output is untrusted input too.
# Children are forked from a small server process that has loaded the libraries: a start takes milliseconds instead of a
# second. Called by extract.py.
import contextlib
import ctypes
import json
import multiprocessing
import os
import re
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from ..failure import ItemFailure, WorkerFailure
from ..features.file import is_frame_file
from ..features.spec import HOP_MS
from .facts import FRAMES, OUTCOME, PEAKS, PROGRESS, STALL_SECONDS, WAVE, Facts, open_outputs
from .header import CHANNELS, MAX_HOURS, RATES
from .jail import confine, set_dumpable

MIB = 1 << 20
# Limits of a child's private memory and address space, so that a bomb ends the child and not the pod. The largest
# ordinary file needs 350 MiB.
MEMORY_BYTES, ADDRESS_BYTES = 640 * MIB, 3 << 30
# Twelve hours of two channels at 192 kHz take about an hour. A hanging decoder is stopped much earlier (facts.py).
WALL_SECONDS, POLL_SECONDS = 7200.0, 2.0
FILE_BYTES = 4 << 30
OUTCOME_BYTES, PROGRESS_BYTES, PEAKS_BYTES = 16_384, 64, 4 * MIB
# Exit codes of a child that refuses to decode, by the mechanisms that are not in force. Python itself exits with 1.
REFUSALS = {"Landlock": 2, "seccomp": 3, "Landlock and seccomp": 4}
UNCONFINED_HINT = (
    "Use nodes with Linux 5.13 or newer, Landlock and seccomp (docs/install.md#nodes-of-worker-pods), "
    "or set allowUnconfinedDecoding in the worker profile"
)

# glibc reads this when the fork server starts: the heap of the children uses pages of 2 MiB if the kernel has them, so
# that a child has hundreds of page faults instead of tens of thousands. Saves a tenth of its time.
os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
set_dumpable(False)  # in the worker and in its fork server, and thereby in the children
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["plosive_worker.audio.sandbox", "plosive_worker.audio.extraction"])


def limit_self(memory_bytes: int) -> None:
    """Sets the resource limits. Runs in the child before it opens the file."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (int(WALL_SECONDS), int(WALL_SECONDS) + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    set_dumpable(True)  # only then may this process write to its files in /proc
    with contextlib.suppress(OSError):  # if memory still runs out, the kernel kills this child and not the worker
        Path("/proc/self/oom_score_adj").write_text("1000")
    set_dumpable(False)


def keep_memory() -> None:
    """Makes malloc take large arrays from the heap and keep freed memory: fresh pages for each array would cost a third
    of the time. Sets M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of glibc's mallopt; has no effect on other
    systems."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for name, value in ((-1, 1 << 30), (-2, 16 * MIB), (-3, 1 << 30)):
            libc.mallopt(name, value)


def quiet_libraries() -> None:
    """Discards the stderr output of native libraries: decoders write a line for each fault, endlessly for a forged
    file. Only Python's own messages reach the log."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)


def confine_or_exit(file: Path, allow_unconfined: bool) -> None:
    missing = confine(file)
    if missing and not allow_unconfined:
        os._exit(REFUSALS[" and ".join(missing)])


def child(path: str, folder: str, filename: str, wave_rate: int | None, memory_bytes: int, allow_unconfined: bool) -> None:
    from .extraction import extract_and_report  # loaded once by the fork server; see facts.py

    os.setsid()  # so that the parent can end the child together with its ffmpeg
    os.closerange(3, 1 << 16)  # pipes to the worker, the fork server and multiprocessing's resource tracker
    quiet_libraries()
    limit_self(memory_bytes)
    keep_memory()
    outputs = open_outputs(Path(folder))
    confine_or_exit(Path(path), allow_unconfined)
    extract_and_report(Path(path), outputs, filename, wave_rate)


def missing_mechanisms(exit_code: int | None) -> str | None:
    return next((names for names, code in REFUSALS.items() if code == exit_code), None)


def check_confinement(allow_unconfined: bool) -> None:
    """Confines a child that decodes nothing. Raises WorkerFailure if that is impossible on this node and not allowed:
    the shard fails, not its files. Children that decode check their own confinement again."""
    process = CONTEXT.Process(target=confine_or_exit, args=(Path(os.devnull), False), daemon=True)
    process.start()
    process.join()
    if process.exitcode == 0:
        return
    names = missing_mechanisms(process.exitcode)
    if names is None:
        raise WorkerFailure("internal", f"A process that confines itself failed with exit code {process.exitcode}")
    message = f"This node cannot confine decoders: it lacks {names}"
    if not allow_unconfined:
        raise WorkerFailure("decoder_unconfined", message, UNCONFINED_HINT)
    print(f"{message}. The worker profile allows unconfined decoding", file=sys.stderr)


def exit_failure(exit_code: int | None) -> ItemFailure:
    names = missing_mechanisms(exit_code)
    if names:
        return ItemFailure("decoder_unconfined", f"The file was not decoded: the node lacks {names}. {UNCONFINED_HINT}")
    if exit_code in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "The decoder exceeded its time or memory limit")
    if exit_code == -signal.SIGALRM:
        return ItemFailure("decoder_limit", f"The decoder was stopped because it made no progress for {STALL_SECONDS} s")
    if exit_code is not None and exit_code < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-exit_code).name})")
    return ItemFailure("decoder_crashed", "The decoder ended without a result")


def end_group(process: BaseProcess) -> None:
    """Kills the child, if it still runs, and its whole process group."""
    assert process.pid is not None  # the process was started
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        if process.is_alive():  # it does not have its own process group yet
            process.kill()
    process.join()


def is_plain_file(path: Path, most_bytes: int) -> bool:
    """Whether the path is a regular file of at most `most_bytes`. A symlink could point to a file that the child may
    not read."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= most_bytes


def is_wave(path: Path, samples: float) -> bool:
    """Whether the path is a regular file of about `samples` 16-bit samples."""
    if not is_plain_file(path, FILE_BYTES):
        return False
    size = path.lstat().st_size
    return size % 2 == 0 and abs(size / 2 - samples) <= 0.01 * samples + 1000


def checked_facts(reported: object) -> Facts:
    """Converts the facts that the child reported. Raises ItemFailure if a value is impossible."""
    if not isinstance(reported, dict):
        raise exit_failure(None)
    try:
        facts = Facts(**reported)
        whole = (facts.duration_ms, facts.sample_rate_hz, facts.channels, facts.frames)
        right = all(type(value) is int for value in whole) and re.fullmatch(r"[a-z0-9_]{1,31}", facts.codec) is not None
        right = right and 0 <= facts.duration_ms <= (MAX_HOURS * 3600 + 60) * 1000
        right = right and facts.frames > 0 and abs(facts.frames * HOP_MS - facts.duration_ms) <= 2 * HOP_MS
        right = right and RATES[0] <= facts.sample_rate_hz <= RATES[1] and CHANNELS[0] <= facts.channels <= CHANNELS[1]
    except TypeError:
        right = False
    if not right:
        raise exit_failure(None)
    return facts


def checked_failure(reported: dict) -> ItemFailure:
    code, message = reported["code"], reported["message"]
    if not re.fullmatch(r"[a-z_]{1,64}", code) or not message.isprintable():
        return exit_failure(None)
    return ItemFailure(code, message[:1000])


def read_result(folder: Path, exit_code: int | None, wave_rate: int | None = None) -> Facts:
    """Reads and checks what the child wrote to its folder. A compromised decoder can write anything, but can only make
    its own file fail. Raises ItemFailure."""
    if not is_plain_file(folder / OUTCOME, OUTCOME_BYTES) or (folder / OUTCOME).stat().st_size == 0:
        raise exit_failure(exit_code)
    try:
        outcome = json.loads((folder / OUTCOME).read_bytes())
        if "error" in outcome:
            raise checked_failure(outcome["error"])
        facts = checked_facts(outcome["facts"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise exit_failure(None) from error
    frames = folder / FRAMES
    if not is_plain_file(frames, FILE_BYTES) or not is_frame_file(frames, facts.frames):
        raise exit_failure(None)
    if not is_plain_file(folder / PEAKS, PEAKS_BYTES):
        raise exit_failure(None)
    if wave_rate and not is_wave(folder / WAVE, facts.duration_ms / 1000 * wave_rate):
        raise exit_failure(None)
    return facts


def wait_for_child(process: BaseProcess, folder: Path, on_progress: Callable[[float], None], until: float) -> None:
    """Waits until the child has ended or `until` (monotonic seconds). Calls `on_progress` with the finished share
    whenever the child has made progress, and not while it stalls."""
    last = b""
    while (left := until - time.monotonic()) > 0:
        process.join(min(POLL_SECONDS, left))
        if not process.is_alive():
            return
        with contextlib.suppress(OSError, ValueError, IndexError):
            if is_plain_file(folder / PROGRESS, PROGRESS_BYTES) and (report := (folder / PROGRESS).read_bytes()) != last:
                share, last = float(report.split()[1]), report
                on_progress(share if 0 <= share <= 1 else 0.0)


def extract_safely(
    path: Path,
    folder: Path,
    on_progress: Callable[[float], None] = lambda _: None,
    *,
    filename: str = "",
    wave_rate: int | None = None,
    wall_seconds: float = WALL_SECONDS,
    memory_bytes: int = MEMORY_BYTES,
    allow_unconfined: bool = False,
) -> Facts:
    """Writes FRAMES and PEAKS of one file to `folder`, and WAVE if a rate is given, in a child process. Raises
    ItemFailure. `on_progress` receives the finished share of the audio, or 0 if the file declares no length."""
    arguments = (str(path.resolve()), str(folder.resolve()), filename, wave_rate, memory_bytes, allow_unconfined)
    process = CONTEXT.Process(target=child, args=arguments, daemon=True)
    began = time.monotonic()
    process.start()
    wait_for_child(process, folder, on_progress, began + wall_seconds)
    late = process.is_alive()
    end_group(process)
    if late:
        raise ItemFailure("decoder_limit", f"Decoding took longer than {time.monotonic() - began:.0f} s and was stopped")
    return read_result(folder, process.exitcode, wave_rate)


__all__ = ["FRAMES", "PEAKS", "extract_safely"]
