# HTTPS client of the workers: one connection pool per certificate authority, retries with backoff, errors as
# WorkerFailure. Called by session.py (the run endpoint) and store.py (presigned URLs).
import math
import random
import ssl
import time
from collections.abc import Callable

import urllib3

from .failure import WorkerFailure, local_failure

CONNECT_SECONDS, READ_SECONDS = 10, 60
ATTEMPTS = 7  # with backoffs of 0.5 + 1 + 2 + 4 + 8 + 16 s, about half a minute
# and then 30 s each: a minute and a half. With the retries of a shard, an upgrade has five minutes to replace the run endpoint
PATIENT_ATTEMPTS = 9


def timeout_until(deadline: float = math.inf) -> urllib3.Timeout:
    """Returns how long one request may wait for the other side, at most until `deadline` on the monotonic clock."""
    left = max(0.1, deadline - time.monotonic())
    return urllib3.Timeout(connect=min(CONNECT_SECONDS, left), read=min(READ_SECONDS, left))


def make_pool(ca_file: str | None, size: int = 8, *, system: bool = False) -> urllib3.PoolManager:
    """Keeps connections open. Verifies certificates against `ca_file`, with `system` also against the system's
    authorities, or against those alone without a file."""
    context = ssl.create_default_context(cafile=ca_file or None)
    if system:
        context.load_default_certs()
    return urllib3.PoolManager(maxsize=size, ssl_context=context, timeout=timeout_until(), retries=False)


def with_retries(
    what: str, call: Callable[[], urllib3.BaseHTTPResponse], attempts: int = ATTEMPTS, deadline: float = math.inf
) -> urllib3.BaseHTTPResponse:
    """Returns the first response that is neither 429 nor 5xx; the caller handles other 4xx. Raises
    WorkerFailure(temporary) after the last attempt, or if the next one would begin after `deadline`, and at once if this
    pod's disk or limits are the reason."""
    trouble, tried = "", 0
    for attempt in range(attempts):
        if attempt:
            pause = min(30, 0.5 * 2 ** (attempt - 1)) * random.uniform(0.75, 1.25)
            if time.monotonic() + pause >= deadline:
                break
            time.sleep(pause)
        tried += 1
        try:
            answer = call()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if failure := local_failure(what, error):
                raise failure from error
            trouble = f"{type(error).__name__}: {error}"
            continue
        if answer.status == 429 or answer.status >= 500:
            trouble = f"answered {answer.status}"
            answer.drain_conn()
            continue
        return answer
    often = "once" if tried == 1 else f"{tried} times, the last time"
    raise WorkerFailure("temporary", f"{what} failed {often}: {trouble}"[:1000])
