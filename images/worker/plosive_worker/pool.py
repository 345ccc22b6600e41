# Works through the items of a shard, a few at once, each in a folder of its own that is removed afterwards: download,
# compute and upload of different files overlap. Called by embed.py and detect.py.
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .session import Session


def usable_cpus() -> int:
    """Cores that this container may use: affinity, and the quota of its cgroup."""
    cpus = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            cpus = min(cpus, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return max(1, cpus)


def for_each_item(session: Session, count: int, do: Callable[[int, Path], dict]) -> list[dict]:
    """Outcomes in the order of the items; progress is reported as they finish. The first exception ends the shard."""

    def one(index: int) -> dict:
        folder = Path(tempfile.mkdtemp(prefix=f"item-{index}-", dir=session.env.scratch))
        try:
            return do(index, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    outcomes: list[dict | None] = [None] * count
    done = failed = 0
    session.progress(0.0, f"0 of {count} files", items_done=0, items_total=count, items_failed=0)
    with ThreadPoolExecutor(usable_cpus() + 1) as pool:
        futures = {pool.submit(one, index): index for index in range(count)}
        try:
            for future in as_completed(futures):
                outcome = outcomes[futures[future]] = future.result()
                done += 1
                failed += outcome["status"] == "failed"
                session.progress(done / count, f"{done} of {count} files", items_done=done, items_failed=failed)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return outcomes
