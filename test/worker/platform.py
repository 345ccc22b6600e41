# The platform around a worker, for tests: run endpoint and object store in one HTTPS server on loopback. Work documents
# are built here as the operator builds them; objects are files; presigned URLs carry a generation that can expire.
import gzip
import hashlib
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
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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
    port: int = 0
    works: dict[str, dict] = field(default_factory=dict)  # run -> work without URLs (keys instead)
    progress: dict[str, list[dict]] = field(default_factory=dict)
    generation: int = 1  # URLs of an older generation answer 403
    fetches: dict[str, int] = field(default_factory=dict)
    faults: list[int] = field(default_factory=list)  # statuses that the next store requests get
    progress_lost: bool = False
    server: ThreadingHTTPServer | None = None
    package: Path = PACKAGE  # the worker's code

    @property
    def base(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def put(self, key: str, data: bytes) -> dict:
        """Stores an object; returns its source, with the key in place of the URL."""
        path = self.folder / "store" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return {"url": key, "size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def get(self, key: str) -> bytes:
        return (self.folder / "store" / key).read_bytes()

    def has(self, key: str) -> bool:
        return (self.folder / "store" / key).exists()

    def presigned(self, value):
        """The work with every key made a URL of the present generation."""
        if isinstance(value, dict):
            out = {name: self.presigned(inner) for name, inner in value.items()}
            if "url" in out:
                out["url"] = f"{self.base}/store/{value['url']}?generation={self.generation}"
            return out
        return [self.presigned(v) for v in value] if isinstance(value, list) else value

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

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

    def run(self, verb: str, run: str, scratch: Path, timeout: float = 400) -> tuple[int, dict]:
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
        return json.loads(text)


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

        def store(self, body: bytes | None) -> None:
            url = urlsplit(self.path)
            if platform.faults:
                return self.answer(platform.faults.pop(0))
            if parse_qs(url.query).get("generation") != [str(platform.generation)]:
                return self.answer(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
            key = url.path.removeprefix("/store/")
            if body is not None:
                assert self.headers["Content-Type"] == "application/octet-stream"
                platform.put(key, body)
                return self.answer(200)
            return self.answer(200, platform.get(key)) if platform.has(key) else self.answer(404)

        def do_GET(self) -> None:
            if self.path.startswith("/store/"):
                return self.store(None)
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                return self.answer(403)
            run = self.path.split("/")[3]
            if run not in platform.works:
                return self.answer(404)
            if platform.works[run] is None:  # its files were deleted
                return self.answer(409, b'{"detail": "the shard has no files left to work on"}')
            platform.fetches[run] = platform.fetches.get(run, 0) + 1
            body = gzip.compress(json.dumps(platform.presigned(platform.works[run])).encode())
            self.answer(200, body, {"Content-Encoding": "gzip", "Content-Type": "application/json"})

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/store/"):
                return self.store(body)
            if platform.progress_lost:
                return self.answer(503)
            platform.progress.setdefault(self.path.split("/")[3], []).append(json.loads(body))
            self.answer(204)

    return Handler


def start_platform(folder: Path) -> Platform:
    """Serves on a free port of loopback until stop()."""
    ca, key = make_certificate(folder)
    platform = Platform(folder, ca)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(platform))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    platform.server, platform.port = server, server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return platform
