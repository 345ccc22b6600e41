# One child process per file, in a jail and with limits on memory, CPU time, file size and wall time: a crash or a bomb in
# a native decoder is one failed file. What it leaves behind is not believed either. Called by embed.py and detect.py. The
# children are forked from a small server process that has the libraries loaded, so that a file costs milliseconds of
# start-up, not a second.
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
from pathlib import Path

from ..failure import ItemFailure
from ..features.file import is_frame_file
from ..features.spec import HOP_MS
from .facts import FRAMES, OUTCOME, PEAKS, PROGRESS, STALL_SECONDS, WAVE, Facts
from .header import CHANNELS, MAX_HOURS, RATES
from .jail import lock_in

MIB = 1 << 20
# Private memory of a child, so that a bomb ends before the pod does (the largest plain file needs 350 MiB); address space.
MEMORY_BYTES, ADDRESS_BYTES = 640 * MIB, 3 << 30
# Twelve hours of two channels at 192 kHz take about an hour; a decoder that stands still is ended long before (facts.py).
WALL_SECONDS, LOOK_SECONDS = 7200.0, 2.0
FILE_BYTES = 4 << 30
OUTCOME_BYTES, PROGRESS_BYTES, PEAKS_BYTES = 16_384, 64, 4 * MIB

# Read by glibc when the server of the children starts: their heap comes in pages of 2 MiB where the kernel has any, so that
# a child faults hundreds of times and not tens of thousands. A tenth of its time.
os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["plosive_worker.audio.sandbox", "plosive_worker.audio.extraction"])


def limit_self(memory_bytes: int) -> None:
    """In the child, before it touches the file."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (int(WALL_SECONDS), int(WALL_SECONDS) + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with contextlib.suppress(OSError):  # where memory runs out all the same, a file ends and not the worker
        Path("/proc/self/oom_score_adj").write_text("1000")


def keep_memory() -> None:
    """Large arrays come from the heap, which is not given back while the child lives: fresh pages for each of them would cost
    a third of the time. (M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of glibc's mallopt; elsewhere nothing happens.)"""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for name, value in ((-1, 1 << 30), (-2, 16 * MIB), (-3, 1 << 30)):
            libc.mallopt(name, value)


def quiet_libraries() -> None:
    """Decoders write a line for each fault of a file, without end for a forged one: only Python's own words reach the log."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)


def child(path: str, folder: str, filename: str, wave_rate: int | None, memory_bytes: int) -> None:
    from .extraction import extract_and_tell  # loaded once, by the server: see facts.py

    os.setsid()  # so that the parent can end the child together with its ffmpeg
    quiet_libraries()
    limit_self(memory_bytes)
    keep_memory()
    lock_in(Path(path), Path(folder))
    extract_and_tell(Path(path), Path(folder), filename, wave_rate)


def reason_of(exit_code: int | None) -> ItemFailure:
    if exit_code in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "Decoding was ended: it went over its limit of time or memory")
    if exit_code == -signal.SIGALRM:
        return ItemFailure("decoder_limit", f"The decoder stood still for {STALL_SECONDS} s and was ended")
    if exit_code is not None and exit_code < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-exit_code).name})")
    return ItemFailure("decoder_crashed", "The decoder ended without a result")


def end_group(process: multiprocessing.Process) -> None:
    """The child, if it still runs, and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        if process.is_alive():  # it has no group of its own yet
            process.kill()
    process.join()


def is_plain_file(path: Path, most_bytes: int) -> bool:
    """A file and no link to something that the child itself may not read."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= most_bytes


def is_wave(path: Path, samples: float) -> bool:
    """A plain file of about so many 16-bit samples."""
    if not is_plain_file(path, FILE_BYTES):
        return False
    size = path.lstat().st_size
    return size % 2 == 0 and abs(size / 2 - samples) <= 0.01 * samples + 1000


def facts_of(told: object) -> Facts:
    """Raises ItemFailure unless they are facts that a decoder can find."""
    try:
        facts = Facts(**told)
        whole = (facts.duration_ms, facts.sample_rate_hz, facts.channels, facts.frames)
        right = all(type(value) is int for value in whole) and re.fullmatch(r"[a-z0-9_]{1,31}", facts.codec) is not None
        right = right and 0 <= facts.duration_ms <= (MAX_HOURS * 3600 + 60) * 1000
        right = right and facts.frames > 0 and abs(facts.frames * HOP_MS - facts.duration_ms) <= 2 * HOP_MS
        right = right and RATES[0] <= facts.sample_rate_hz <= RATES[1] and CHANNELS[0] <= facts.channels <= CHANNELS[1]
    except TypeError:
        right = False
    if not right:
        raise reason_of(None)
    return facts


def failure_of(told: dict) -> ItemFailure:
    code, message = told["code"], told["message"]
    if not re.fullmatch(r"[a-z_]{1,64}", code) or not message.isprintable():
        return reason_of(None)
    return ItemFailure(code, message[:1000])


def result_in(folder: Path, exit_code: int | None, wave_rate: int | None = None) -> Facts:
    """What the child left in its folder. A decoder that was taken over can write anything: it costs its own file only."""
    if not is_plain_file(folder / OUTCOME, OUTCOME_BYTES):
        raise reason_of(exit_code)
    try:
        told = json.loads((folder / OUTCOME).read_bytes())
        if "error" in told:
            raise failure_of(told["error"])
        facts = facts_of(told["facts"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise reason_of(None) from error
    frames = folder / FRAMES
    if not is_plain_file(frames, FILE_BYTES) or not is_frame_file(frames, facts.frames):
        raise reason_of(None)
    if not is_plain_file(folder / PEAKS, PEAKS_BYTES):
        raise reason_of(None)
    if wave_rate and not is_wave(folder / WAVE, facts.duration_ms / 1000 * wave_rate):
        raise reason_of(None)
    return facts


def follow(process: multiprocessing.Process, folder: Path, tell: Callable[[float], None], until: float) -> None:
    """Waits for the child's end; `tell` hears its share whenever it has come further, and nothing while it stands still."""
    heard = b""
    while (left := until - time.monotonic()) > 0:
        process.join(min(LOOK_SECONDS, left))
        if not process.is_alive():
            return
        with contextlib.suppress(OSError, ValueError, IndexError):
            if is_plain_file(folder / PROGRESS, PROGRESS_BYTES) and (said := (folder / PROGRESS).read_bytes()) != heard:
                share, heard = float(said.split()[1]), said
                tell(share if 0 <= share <= 1 else 0.0)


def extract_safely(
    path: Path,
    folder: Path,
    tell: Callable[[float], None] = lambda _: None,
    *,
    filename: str = "",
    wave_rate: int | None = None,
    wall_seconds: float = WALL_SECONDS,
    memory_bytes: int = MEMORY_BYTES,
) -> Facts:
    """FRAMES and PEAKS of one file in `folder`, and WAVE where a rate is given, made in a child process. Raises ItemFailure.
    `tell` hears the share of the sound that is done, 0 where the file does not say how long it is."""
    arguments = (str(path.resolve()), str(folder.resolve()), filename, wave_rate, memory_bytes)
    process = CONTEXT.Process(target=child, args=arguments, daemon=True)
    began = time.monotonic()
    process.start()
    follow(process, folder, tell, began + wall_seconds)
    late = process.is_alive()
    end_group(process)
    if late:
        raise ItemFailure("decoder_limit", f"Decoding took longer than {time.monotonic() - began:.0f} s and was ended")
    return result_in(folder, process.exitcode, wave_rate)


__all__ = ["FRAMES", "PEAKS", "extract_safely"]
