# The platform around a worker, for tests: a real S3 server (store.py) and a run endpoint, both over TLS on loopback.
# The run endpoint is a stand-in: the operator's own needs a Kubernetes API server and Postgres, and never sends invalid
# work. The platform validates every document, in both directions, with the schema that `make gen` writes from
# src/schemas/worker.ts; test/controllers/run-endpoint.test.ts tests the operator's side. The end-to-end tests run
# worker and operator together.
import gzip
import hashlib
import http.client
import ipaddress
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from worker.contract import breaches_of, check
from worker.store import BUCKET, LIFETIME_SECONDS, Server, start_store

PACKAGE = Path(__file__).resolve().parents[2] / "images" / "worker"
TOKEN = "token-of-this-pod"


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1: (certificate, key)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "plosive test")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1)).add_extension(address, False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True).sign(key, hashes.SHA256())
    )  # fmt: skip
    pem, key_file = folder / "ca.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key_file.write_bytes(private)
    return pem, key_file


@dataclass
class Platform:
    """State of the server; tests read and change it directly."""

    folder: Path
    ca: Path
    store: Server
    port: int = 0
    works: dict[str, dict] = field(default_factory=dict)  # run -> work without URLs (keys instead)
    odd: set[str] = field(default_factory=set)  # runs whose work breaks the contract on purpose
    breaches: list = field(default_factory=list)  # of the contract, in sent work or received progress
    progress: dict[str, list[dict]] = field(default_factory=dict)
    fetches: dict[str, int] = field(default_factory=dict)
    expired_fetches: int = 0  # how many of the next works have expired URLs
    cut_works: int = 0  # how many of the next works end in the middle
    through_proxy: bool = False  # URLs point to the proxy of this server, which injects the faults
    faults: list[int | str | None] = field(default_factory=list)  # of the next store requests: a status, "cut", "changed"
    progress_lost: bool = False
    server: ThreadingHTTPServer | None = None
    package: Path = PACKAGE  # the worker's code

    @property
    def base(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def put(self, key: str, data: bytes) -> dict:
        """Stores an object; returns its source, with the key in place of the URL."""
        path = self.folder / BUCKET / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return {"url": key, "size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def get(self, key: str) -> bytes:
        return (self.folder / BUCKET / key).read_bytes()

    def has(self, key: str) -> bool:
        return (self.folder / BUCKET / key).exists()

    def presigned(self, value, age_seconds: int = 0):
        """The work with a URL that was signed `age_seconds` ago in place of every key."""
        if isinstance(value, dict):
            out = {name: self.presigned(inner, age_seconds) for name, inner in value.items()}
            if "url" in out:
                method, port = "PUT" if "headers" in value else "GET", self.port if self.through_proxy else self.store.port
                out["url"] = self.store.presigned(method, value["url"], value.get("headers", {}), port, age_seconds)
            return out
        return [self.presigned(v, age_seconds) for v in value] if isinstance(value, list) else value

    def work_of(self, run: str) -> dict:
        """The work as the run endpoint sends it now."""
        age_seconds = 0
        if self.expired_fetches:
            self.expired_fetches, age_seconds = self.expired_fetches - 1, 2 * LIFETIME_SECONDS
        work = self.presigned(self.works[run], age_seconds)
        if run not in self.odd:
            self.breaches += breaches_of("work", work)
        return work

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.store.stop()

    def environment(self, run: str, scratch: Path) -> dict[str, str]:
        scratch.mkdir(parents=True, exist_ok=True)
        token = scratch.parent / f"{scratch.name}.token"
        token.write_text(TOKEN + "\n")
        return os.environ | {
            "PYTHONPATH": str(self.package), "PLOSIVE_RUN_URL": f"{self.base}/v1/runs/{run}", "JOB_COMPLETION_INDEX": "0",
            "PLOSIVE_TOKEN_FILE": str(token), "PLOSIVE_CA_FILE": str(self.ca), "PLOSIVE_STORE_CA_FILE": str(self.ca),
            "PLOSIVE_TERMINATION_LOG": str(scratch.parent / f"{scratch.name}.termination"), "TMPDIR": str(scratch),
        }  # fmt: skip

    def start(self, verb: str, run: str, scratch: Path) -> subprocess.Popen:
        """The worker as the pod starts it."""
        return subprocess.Popen([sys.executable, "-m", "plosive_worker", verb], env=self.environment(run, scratch))

    def run(self, verb: str, run: str, scratch: Path, timeout: float = 1_200) -> tuple[int, dict]:
        """Runs the worker to its end: exit code and termination document."""
        process = self.start(verb, run, scratch)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return code, self.termination(scratch)

    def termination(self, scratch: Path) -> dict:
        text = (scratch.parent / f"{scratch.name}.termination").read_text()
        assert len(text.encode()) <= 4096
        document = json.loads(text)
        check("termination", document)
        return document


def new_run() -> str:
    return f"run-{uuid.uuid4().hex[:12]}"


def target(key: str) -> dict:
    return {"url": key, "headers": {"Content-Type": "application/octet-stream"}}


def handler_of(platform: Platform) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def pass_on(self, body: bytes | None) -> None:
            """Forwards the request to the real store, or injects a fault of the store or the network."""
            fault = platform.faults.pop(0) if platform.faults else None
            if isinstance(fault, int):
                return self.answer(fault)
            context = ssl.create_default_context(cafile=str(platform.ca))
            connection = http.client.HTTPSConnection("127.0.0.1", platform.store.port, context=context, timeout=60)
            try:
                # with the Host header of the client, for which the URL was signed
                connection.request(self.command, self.path, body, dict(self.headers))
                told = connection.getresponse()
                data = told.read()
            finally:
                connection.close()
            if fault == "changed":
                data = bytes([data[0] ^ 1]) + data[1:]
            if fault == "cut":
                self.send_response(told.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
                return None
            return self.answer(told.status, data)

        def do_GET(self) -> None:
            if self.path.startswith(f"/{BUCKET}/"):
                return self.pass_on(None)
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                return self.answer(403)
            run = self.path.split("/")[3]
            if run not in platform.works:
                return self.answer(404)
            if platform.works[run] is None:  # its files were deleted
                return self.answer(409, b'{"detail": "the shard has no files left to work on"}')
            platform.fetches[run] = platform.fetches.get(run, 0) + 1
            body = gzip.compress(json.dumps(platform.work_of(run)).encode())
            if platform.cut_works:
                platform.cut_works, self.close_connection = platform.cut_works - 1, True
                half = body[: len(body) // 2]
                self.send_response(200)
                self.send_header("Content-Encoding", "gzip")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")
                return None
            self.answer(200, body, {"Content-Encoding": "gzip", "Content-Type": "application/json"})

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith(f"/{BUCKET}/"):
                return self.pass_on(body)
            if platform.progress_lost:
                return self.answer(503)
            report = json.loads(body)
            platform.breaches += breaches_of("progress", report)
            platform.progress.setdefault(self.path.split("/")[3], []).append(report)
            self.answer(204)

    return Handler


def start_platform(folder: Path) -> Platform:
    """Serves on free ports of loopback until stop()."""
    ca, key = make_certificate(folder)
    platform = Platform(folder, ca, start_store(folder, ca, key))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(platform))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    platform.server, platform.port = server, server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return platform
