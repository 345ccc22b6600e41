# Processes the items of a shard, several at once, so that download, computation and upload of different files overlap.
# Each item has its own folder, which is removed afterwards. Called by embed.py and detect.py.
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from .audio.header import MAX_HOURS
from .failure import ItemFailure
from .session import Environment, Session
from .store import MAX_INPUT_BYTES

MIB, GIB = 1 << 20, 1 << 30
# A decoding child peaks at 285 MiB, independent of the length of its file. OWN_BYTES is for the model and buffers.
ITEM_BYTES, OWN_BYTES = 400 * MIB, 600 * MIB
SMALL_FILES_BYTES = 8 * MIB  # of an item in the scratch folder, beside its audio and embedding: at most 4 MiB of peaks
# Of audio, by the end of the file's name: WAV with 8 kHz and 8 bits, MP3 and AAC with 8 kbit/s, FLAC with 8 kHz that is mostly
# pauses; others: Opus with 6 kbit/s and long packets. Silence takes less, but its rates would let few ordinary files run at once.
OF_AAC = dict.fromkeys((".m4a", ".mp4", ".aac"), 1000)
LEAST_BYTES_PER_SECOND, LEAST_OF_OTHERS = {".wav": 8000, ".mp3": 1000, ".flac": 2000, **OF_AAC}, 400
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def usable_cpus() -> int:
    """Returns how many cores this container may use, by CPU affinity and by the quota of its cgroup."""
    cpus = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cpus = min(cpus, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return max(1, cpus)


def memory_limit() -> int:
    """Returns the bytes that this container may use: the limit of its cgroup (v2 or v1), at most the machine's
    memory."""
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in MEMORY_LIMITS:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text != "max":
            limit = min(limit, int(text))
    return limit


def items_at_once(cpus: int, memory: int) -> int:
    """Returns the concurrency: cores + 1, so that transfers overlap with computation; less if `memory` (bytes) is
    short."""
    return max(1, min(cpus + 1, (memory - OWN_BYTES) // ITEM_BYTES))


def scratch_space(env: Environment) -> int:
    """Returns the bytes that items may write to the scratch folder: what is free on its disk, at most what the limit of
    the volume leaves. The kubelet evicts a pod that exceeds that limit."""
    free = shutil.disk_usage(env.scratch).free
    if env.scratch_bytes is None:
        return free
    held = sum(path.stat().st_size for path in env.scratch.rglob("*") if path.is_file())
    return min(free, env.scratch_bytes - held)


def scratch_needed(filename: str, audio_bytes: int | None, second_bytes: int) -> int:
    """Returns the bytes of scratch space to reserve for an item: its audio, and `second_bytes` for each second. How long
    it is shows only when it is decoded, so it counts as a recording at the lowest rate of its format. A file that is
    mostly digital silence may be longer. An unknown size counts as the largest."""
    audio = MAX_INPUT_BYTES if audio_bytes is None else audio_bytes
    least = LEAST_BYTES_PER_SECOND.get(Path(filename).suffix.lower(), LEAST_OF_OTHERS)
    return audio + SMALL_FILES_BYTES + second_bytes * min(MAX_HOURS * 3600, audio // least)


def next_item(waiting: list[int], needs: list[int], free: int, alone: bool) -> int | None:
    """Returns the first waiting item that needs at most `free` bytes, or the first one of all if it would be alone:
    waiting would give it no more space."""
    return next((index for index in waiting if alone or needs[index] <= free), None)


def for_each_item(session: Session, do: Callable[[int, Path, Callable[[float], None]], dict], second_bytes: int) -> list[dict]:
    """Calls `do` for each item of the work, for several at once if their scratch space suffices: `second_bytes` for each
    second of audio, beside the audio itself. Returns the outcomes in the order of the items.

    `do` receives the item's index, a folder, and a callback for the finished share (0..1) of the item. Its result becomes
    a completed item, an ItemFailure a failed one. Any other exception ends the shard. Progress is reported when items
    finish and while long ones run.
    """
    items = session.work.items
    count = len(items)
    shares = [0.0] * count

    def one(index: int) -> dict:
        def on_progress(share: float) -> None:
            shares[index] = max(shares[index], min(1.0, share))
            session.heartbeat(sum(shares) / count)

        folder = Path(tempfile.mkdtemp(prefix=f"item-{index}-", dir=session.env.scratch))
        try:
            return {"id": items[index].id, "status": "completed", **do(index, folder, on_progress)}
        except ItemFailure as failure:
            error = {"code": failure.code, "message": failure.message}
            return {"id": items[index].id, "status": "failed", "error": error}
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    outcomes: dict[int, dict] = {}  # by index, in the order of completion
    waiting = list(range(count))
    running: dict[Future[dict], int] = {}
    needs = [scratch_needed(item.filename, item.audio.size_bytes, second_bytes) for item in items]
    free, most = scratch_space(session.env), items_at_once(usable_cpus(), memory_limit())
    done = failed = 0
    session.progress(0.0, f"0 of {count} files", items_done=0, items_total=count, items_failed=0)
    with ThreadPoolExecutor(most) as pool:
        while waiting or running:
            while len(running) < most and (index := next_item(waiting, needs, free, not running)) is not None:
                waiting.remove(index)
                free -= needs[index]
                running[pool.submit(one, index)] = index
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                index = running.pop(future)
                free += needs[index]
                outcome = outcomes[index] = future.result()
                shares[index] = 1.0
                done += 1
                failed += outcome["status"] == "failed"
                session.progress(sum(shares) / count, f"{done} of {count} files", items_done=done, items_failed=failed)
    return [outcomes[index] for index in range(count)]
