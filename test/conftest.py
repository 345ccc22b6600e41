# Settings of all pytest runs. Each of several processes (-n) uses one core, so that trainings do not wait for each other's
# threads. Temporary folders have short paths, because the path of a UNIX socket has at most 107 bytes.
import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
    elif config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="p-")
        config.add_cleanup(lambda: shutil.rmtree(config.option.basetemp, ignore_errors=True))
