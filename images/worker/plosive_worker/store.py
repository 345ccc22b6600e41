# Client of the object store through presigned URLs. Verifies and retries downloads, sends the signed headers of uploads
# unchanged, and fetches new URLs when one has expired (403). Used by the three verbs.
import hashlib
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from .failure import ItemFailure, WorkerFailure
from .manifest import Source, Target
from .session import Session
from .web import ATTEMPTS, make_pool, timeout_until, with_retries

CHUNK = 1 << 20
REFRESHES = 3
MAX_INPUT_BYTES = 8 << 30


@dataclass(frozen=True)
class Stored:
    """Digest and size of an object that was read or written."""

    sha256: str
    size_bytes: int


def digest_of(path: Path) -> Stored:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
            size += len(block)
    return Stored(digest.hexdigest(), size)


class HeartbeatFile(io.FileIO):
    """A file whose every read sends a heartbeat. During an upload, a read means that the block before it was sent."""

    def __init__(self, path: Path, heartbeat: Callable[[], None]):
        super().__init__(path)
        self.heartbeat = heartbeat

    def read(self, size: int | None = -1) -> bytes:
        self.heartbeat()
        return super().read(size)


class Store:
    """Callers pass URLs as functions of the work, so that a repeated call uses the URL of the refreshed work."""

    def __init__(self, session: Session):
        self.session = session
        self.pool = make_pool(session.env.store_ca_file, system=True)

    def with_fresh_url(
        self,
        what: str,
        address_of: Callable[[Any], Source | Target],
        call: Callable[[], urllib3.BaseHTTPResponse],
        attempts: int = ATTEMPTS,
        deadline: float = math.inf,
    ) -> urllib3.BaseHTTPResponse:
        """Returns the response. On 403, fetches the work again and repeats the call with the new URL. Raises
        ItemFailure if the new work has no URL for this item."""
        for _ in range(REFRESHES):
            address = address_of(self.session.work)
            answer = with_retries(what, call, attempts, deadline)
            if answer.status != 403:
                return answer
            answer.drain_conn()
            if address_of(self.session.fetch_work(deadline)) is address:
                raise ItemFailure("input_missing", f"{what}: the file was deleted, or is embedded again by another job")
        raise WorkerFailure("temporary", f"{what}: the object store rejects fresh URLs too (403)")

    def download(self, what: str, source_of: Callable[[Any], Source], path: Path) -> Stored:
        """Downloads the object to `path`. Raises ItemFailure if it is missing, or differs from the work's size or
        digest."""
        wanted = source_of(self.session.work)
        stored = Stored("", -1)
        for _ in range(3):  # a broken connection shows as a short or different file
            stored = self.download_once(what, source_of, path)
            right_size = wanted.size_bytes in (None, stored.size_bytes)
            if right_size and wanted.sha256 in (None, stored.sha256):
                return stored
        raise ItemFailure(
            "digest_mismatch",
            f"{what} differs from the recorded size or digest: {stored.size_bytes} bytes, sha256 {stored.sha256[:12]}...",
        )

    def download_once(self, what: str, source_of: Callable[[Any], Source], path: Path) -> Stored:
        received: list[Stored] = []  # one entry, when a response was read to its end

        def call() -> urllib3.BaseHTTPResponse:
            answer = self.pool.request("GET", source_of(self.session.work).url, preload_content=False)
            if answer.status != 200:
                return answer
            digest, size = hashlib.sha256(), 0
            with path.open("wb") as file:
                for block in answer.stream(CHUNK, decode_content=False):
                    size += len(block)
                    if size > MAX_INPUT_BYTES:
                        raise ItemFailure("too_large", f"{what} is larger than {MAX_INPUT_BYTES} bytes")
                    digest.update(block)
                    file.write(block)
                    self.session.heartbeat()
            received.append(Stored(digest.hexdigest(), size))
            return answer

        answer = self.with_fresh_url(f"Reading {what}", source_of, call)
        if answer.status != 200:
            answer.drain_conn()
            raise ItemFailure("input_missing", f"{what} is not in the object store ({answer.status})")
        return received[-1]

    def upload(
        self, what: str, target_of: Callable[[Any], Target], path: Path, attempts: int = ATTEMPTS, deadline: float = math.inf
    ) -> Stored:
        """Uploads a file. Raises WorkerFailure if the object store rejects it. Waits for the store until `deadline` at most;
        a transfer that goes on may take longer."""
        stored = digest_of(path)

        def call() -> urllib3.BaseHTTPResponse:
            target = target_of(self.session.work)
            with HeartbeatFile(path, self.session.heartbeat) as file:
                headers = {**target.headers, "Content-Length": str(stored.size_bytes)}
                return self.pool.request("PUT", target.url, body=file, headers=headers, timeout=timeout_until(deadline))

        answer = self.with_fresh_url(f"Writing {what}", target_of, call, attempts, deadline)
        if answer.status >= 300:
            text = answer.data[:200].decode(errors="replace")
            raise WorkerFailure("internal", f"Writing {what}: the object store answered {answer.status} {text}")
        return stored

    def upload_json(self, what: str, target_of: Callable[[Any], Target], document: Any, path: Path) -> Stored:
        path.write_text(json.dumps(document, separators=(",", ":"), allow_nan=False))
        return self.upload(what, target_of, path)
