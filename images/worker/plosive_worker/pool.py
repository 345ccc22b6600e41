# Processes the items of a shard, several at once, so that download, computation and upload of different files overlap.
# Each item has its own folder, which is removed afterwards. Called by embed.py and detect.py.
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .failure import ItemFailure
from .session import Session

MIB = 1024 * 1024
# A decoding child peaks at 285 MiB, independent of the length of its file. OWN_BYTES is for the model and buffers.
ITEM_BYTES, OWN_BYTES = 400 * MIB, 600 * MIB
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


def for_each_item(session: Session, do: Callable[[int, Path, Callable[[float], None]], dict]) -> list[dict]:
    """Calls `do` for each item of the work. Returns the outcomes in the order of the items.

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
    done = failed = 0
    session.progress(0.0, f"0 of {count} files", items_done=0, items_total=count, items_failed=0)
    with ThreadPoolExecutor(items_at_once(usable_cpus(), memory_limit())) as pool:
        futures = {pool.submit(one, index): index for index in range(count)}
        try:
            for future in as_completed(futures):
                outcome = outcomes[futures[future]] = future.result()
                shares[futures[future]] = 1.0
                done += 1
                failed += outcome["status"] == "failed"
                session.progress(sum(shares) / count, f"{done} of {count} files", items_done=done, items_failed=failed)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [outcomes[index] for index in range(count)]
