# One child process per file, with limits on memory, CPU time, file size and wall time: a crash or a bomb in a native
# decoder is one failed file. Called by embed.py and detect.py. The children are forked from a small server process that
# has the libraries loaded, so that a file costs milliseconds of start-up, not a second.
import json
import multiprocessing
import os
import resource
import signal
import time
from pathlib import Path

from ..failure import ItemFailure
from .extraction import FRAMES, OUTCOME, PEAKS, Facts, extract_and_tell

MEMORY_BYTES = 2 << 30
WALL_SECONDS = 600
FILE_BYTES = 4 << 30

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["plosive_worker.audio.extraction"])


def limit_self() -> None:
    """In the child, before it touches the file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (WALL_SECONDS, WALL_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def child(path: str, folder: str) -> None:
    os.setsid()  # so that the parent can end the child together with its ffmpeg
    limit_self()
    extract_and_tell(Path(path), Path(folder))


def reason_of(exit_code: int | None) -> ItemFailure:
    if exit_code in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "Decoding was ended: it went over its limit of time or memory")
    if exit_code is not None and exit_code < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-exit_code).name})")
    return ItemFailure("decoder_crashed", "The decoder ended without a result")


def extract_safely(path: Path, folder: Path, wall_seconds: float = WALL_SECONDS) -> Facts:
    """FRAMES and PEAKS of one file in `folder`, made in a child process. Raises ItemFailure."""
    process = CONTEXT.Process(target=child, args=(str(path), str(folder)), daemon=True)
    process.start()
    began = time.monotonic()
    process.join(wall_seconds)
    if process.is_alive():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        process.join()
        raise ItemFailure("decoder_limit", f"Decoding took longer than {time.monotonic() - began:.0f} s and was ended")
    outcome = folder / OUTCOME
    if not outcome.exists() or outcome.stat().st_size > 16_384:
        raise reason_of(process.exitcode)
    told = json.loads(outcome.read_text())
    if "error" in told:
        raise ItemFailure(str(told["error"]["code"])[:64], str(told["error"]["message"])[:1000])
    return Facts(**told["facts"])


__all__ = ["FRAMES", "PEAKS", "extract_safely"]
