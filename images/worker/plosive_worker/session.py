# The pod's client of the run endpoint: fetches the shard's work, fetches it again when URLs expire, and
# reports progress in a background thread. An unreachable endpoint does not slow the work down. Used by the three verbs.
import json
import math
import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from .failure import NothingToDo, WorkerFailure
from .manifest import in_order_of, read_work
from .web import PATIENT_ATTEMPTS, make_pool, timeout_until, with_retries

REPORT_SECONDS = 2.0
HEARTBEAT_SECONDS = 5.0
MAX_POINTS = 256
UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}


def bytes_of(quantity: str) -> int:
    """Converts a quantity of Kubernetes, such as 4Gi or 1000000, to bytes."""
    number, unit = quantity[:-2], quantity[-2:]
    return int(number) * UNITS[unit] if unit in UNITS else int(quantity)


@dataclass(frozen=True)
class Environment:
    """The environment variables that the Job's template sets."""

    run_url: str
    shard: int
    token_file: Path
    ca_file: str | None
    store_ca_file: str | None
    scratch: Path
    scratch_bytes: int | None  # limit of the scratch volume; None if there is none, in local runs
    allow_unconfined: bool  # decode although the kernel cannot confine decoders

    @staticmethod
    def read(env: dict[str, str]) -> "Environment":
        try:
            url, shard, token = env["PLOSIVE_RUN_URL"], int(env["JOB_COMPLETION_INDEX"]), env["PLOSIVE_TOKEN_FILE"]
            size = bytes_of(env["PLOSIVE_SCRATCH_SIZE"]) if "PLOSIVE_SCRATCH_SIZE" in env else None
        except (KeyError, ValueError) as error:
            raise WorkerFailure("bad_manifest", f"The pod's environment is incomplete or wrong: {error}") from error
        ca, store_ca = env.get("PLOSIVE_CA_FILE"), env.get("PLOSIVE_STORE_CA_FILE")
        allow_unconfined = env.get("PLOSIVE_ALLOW_UNCONFINED_DECODING") == "true"
        scratch = Path(env.get("TMPDIR", "/tmp"))
        return Environment(url.rstrip("/"), shard, Path(token), ca, store_ca, scratch, size, allow_unconfined)


def detail_of(body: bytes) -> str:
    """Returns the detail of a problem response of the run endpoint."""
    try:
        return str(json.loads(body)["detail"])[:800]
    except (ValueError, KeyError, TypeError):
        return body[:200].decode(errors="replace")


class Session:
    """Work and progress of one shard."""

    def __init__(self, env: Environment, verb: str):
        self.env, self.verb = env, verb
        self.pool = make_pool(env.ca_file, 2)
        self.base = f"{env.run_url}/shards/{env.shard}"
        self.work: Any = None
        self.lock = threading.Lock()
        self.report: dict[str, Any] = {"items_done": 0, "items_total": 0, "items_failed": 0, "fraction": 0.0, "message": None}
        self.checkpoint_step: int | None = None
        self.points: list[dict] = []
        self.seq, self.wake, self.closing, self.sent_at = 0, threading.Event(), False, 0.0
        self.sender = threading.Thread(target=self.send_reports, daemon=True)
        self.sender.start()

    def headers(self) -> dict[str, str]:
        # read for each request, because the kubelet rotates the token
        token = self.env.token_file.read_text().strip()
        return {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip"}

    def fetch_work(self, deadline: float = math.inf) -> Any:
        """Fetches the shard's work with fresh URLs. Raises WorkerFailure, or NothingToDo if the shard is done."""

        def call() -> urllib3.BaseHTTPResponse:
            return self.pool.request("GET", f"{self.base}/work", headers=self.headers(), timeout=timeout_until(deadline))

        answer = with_retries("Fetching the work", call, PATIENT_ATTEMPTS, deadline)
        if answer.status in (401, 403):
            raise WorkerFailure("forbidden", f"The run endpoint refused this pod: {answer.status}", "The run may have ended")
        if answer.status == 404:
            raise WorkerFailure("bad_manifest", "The run endpoint does not know this run or shard")
        if answer.status == 409:  # the other shards continue without this one
            hint = "The files were deleted, or another job embeds them again"
            raise WorkerFailure("input_missing", "No file of this shard is available any more", hint)
        if answer.status == 422:
            raise WorkerFailure("bad_manifest", f"The run endpoint rejected this work: {detail_of(answer.data)}")
        if answer.status != 200:
            detail = f"The run endpoint answered {answer.status} for the work: {detail_of(answer.data)}"
            raise WorkerFailure("bad_manifest", detail)
        try:
            document = json.loads(answer.data)
        except ValueError as error:
            raise WorkerFailure("bad_manifest", f"The work is not valid JSON: {error}") from error
        if isinstance(document, dict) and document.get("kind") == "done":
            items = document.get("items", 0)
            self.progress(1.0, None, items_done=items, items_total=items)
            raise NothingToDo("An earlier run completed this shard")
        work = read_work(document, self.verb)
        self.work = work if self.work is None else in_order_of(self.work, work)
        return self.work

    def progress(
        self, fraction: float, message: str | None = None, points: Iterable[tuple[int, str, float]] = (), **items: int
    ) -> None:
        """Records the current state. The background thread sends it as soon as 2 s have passed since the last
        report."""
        with self.lock:
            self.report.update(items, fraction=min(1.0, max(0.0, fraction)), message=message and message[:200])
            self.points += [{"step": step, "name": name, "value": float(value)} for step, name, value in points]
            self.points = self.points[-10 * MAX_POINTS :]
        self.wake.set()

    def heartbeat(self, fraction: float = 0.0) -> None:
        """Records that a part of a long step is done. Sent every few seconds, so that the operator does not treat the
        pod as stalled. Call it only after real work, never from a timer."""
        with self.lock:
            self.report["fraction"] = max(self.report["fraction"], min(1.0, fraction))
        if time.monotonic() >= self.sent_at + HEARTBEAT_SECONDS:
            self.wake.set()

    def checkpointed(self, step: int) -> None:
        """Records that the object store holds a checkpoint of this step."""
        with self.lock:
            self.checkpoint_step = step
        self.wake.set()

    def counts(self) -> dict[str, int]:
        with self.lock:
            return {name: self.report[name] for name in ("items_done", "items_total", "items_failed")}

    def send_reports(self) -> None:
        """The background thread. Sends the newest state at most every 2 s; after a failure, the next report includes
        it."""
        while not self.closing or self.wake.is_set():
            self.wake.wait()
            if not self.closing:
                time.sleep(max(0.0, self.sent_at + REPORT_SECONDS - time.monotonic()))
            self.wake.clear()
            self.sent_at = time.monotonic()
            self.send_once()

    def send_once(self) -> None:
        with self.lock:
            self.seq += 1
            points = self.points[:MAX_POINTS]
            body = json.dumps({"seq": self.seq, **self.report, "checkpoint_step": self.checkpoint_step, "metrics": points})
        try:
            headers = self.headers() | {"Content-Type": "application/json"}
            answer = self.pool.request("PUT", f"{self.base}/progress", body=body, headers=headers, timeout=5.0)
            delivered = answer.status < 300
        except (urllib3.exceptions.HTTPError, OSError):
            delivered = False
        if delivered:
            with self.lock:
                self.points = self.points[len(points) :]
                more = bool(self.points)
            if more:
                self.wake.set()

    def close(self) -> None:
        """Sends the last report. Waits at most 6 s for it."""
        self.closing = True
        self.wake.set()
        self.sender.join(6)


def make_session(verb: str) -> Session:
    return Session(Environment.read(dict(os.environ)), verb)
