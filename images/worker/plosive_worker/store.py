# The object store through presigned URLs: downloads are verified and retried, uploads send the signed headers unchanged,
# and a URL that has expired (403) is asked for again. Used by the three verbs.
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from .failure import ItemFailure, WorkerFailure
from .manifest import Source, Target
from .session import Session
from .web import make_pool, with_retries

CHUNK = 1 << 20
REFRESHES = 3
MAX_INPUT_BYTES = 8 << 30


@dataclass(frozen=True)
class Stored:
    """Digest and size of bytes that were read or written."""

    sha256: str
    size_bytes: int


def digest_of(path: Path) -> Stored:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
            size += len(block)
    return Stored(digest.hexdigest(), size)


class ToldFile(io.FileIO):
    """Beats with every block that is read, and so with every block that was sent."""

    def __init__(self, path: Path, beat: Callable[[], None]):
        super().__init__(path)
        self.beat = beat

    def read(self, size: int = -1) -> bytes:
        self.beat()
        return super().read(size)


class Store:
    """Addresses are functions of the work, so that they can be asked again after a refresh."""

    def __init__(self, session: Session):
        self.session = session
        self.pool = make_pool(session.env.store_ca_file)

    def refreshed(
        self, what: str, address_of: Callable[[Any], Source | Target], call: Callable[[], urllib3.BaseHTTPResponse]
    ) -> urllib3.BaseHTTPResponse:
        """The answer; on 403 the work is fetched again and the call repeated with its new URL. Raises ItemFailure where it
        has none any more."""
        for _ in range(REFRESHES):
            address = address_of(self.session.work)
            answer = with_retries(what, call)
            if answer.status != 403:
                return answer
            answer.drain_conn()
            if address_of(self.session.fetch_work()) is address:
                raise ItemFailure("input_missing", f"{what}: the file was deleted, or is embedded again by another job")
        raise WorkerFailure("temporary", f"{what}: the object store refuses even fresh URLs (403)")

    def download(self, what: str, source_of: Callable[[Any], Source], path: Path) -> Stored:
        """Writes the object to `path`. Raises ItemFailure when it is missing or not what the work says."""
        wanted = source_of(self.session.work)
        stored = Stored("", -1)
        for _ in range(3):  # a cut connection shows as a short or different file
            stored = self.download_once(what, source_of, path)
            right_size = wanted.size_bytes in (None, stored.size_bytes)
            if right_size and wanted.sha256 in (None, stored.sha256):
                return stored
        raise ItemFailure(
            "digest_mismatch",
            f"{what} is not what was recorded: {stored.size_bytes} bytes, sha256 {stored.sha256[:12]}...",
        )

    def download_once(self, what: str, source_of: Callable[[Any], Source], path: Path) -> Stored:
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
                    self.session.beat()
            answer.stored = Stored(digest.hexdigest(), size)
            return answer

        answer = self.refreshed(f"Reading {what}", source_of, call)
        if answer.status != 200:
            answer.drain_conn()
            raise ItemFailure("input_missing", f"{what} is not in the object store ({answer.status})")
        return answer.stored

    def upload(self, what: str, target_of: Callable[[Any], Target], path: Path) -> Stored:
        """Sends a file. Raises WorkerFailure when the store does not take it."""
        stored = digest_of(path)

        def call() -> urllib3.BaseHTTPResponse:
            target = target_of(self.session.work)
            with ToldFile(path, self.session.beat) as file:
                headers = {**target.headers, "Content-Length": str(stored.size_bytes)}
                return self.pool.request("PUT", target.url, body=file, headers=headers)

        answer = self.refreshed(f"Writing {what}", target_of, call)
        if answer.status >= 300:
            text = answer.data[:200].decode(errors="replace")
            raise WorkerFailure("internal", f"Writing {what}: the object store answered {answer.status} {text}")
        return stored

    def upload_json(self, what: str, target_of: Callable[[Any], Target], document: Any, path: Path) -> Stored:
        path.write_text(json.dumps(document, separators=(",", ":"), allow_nan=False))
        return self.upload(what, target_of, path)
