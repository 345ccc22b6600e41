# Each of several pytest processes (-n) uses one core, so that trainings do not wait for each other's threads.
import os


def pytest_configure() -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
