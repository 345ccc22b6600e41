# The object store of the worker tests: the S3 server of the end-to-end tests (versitygw) on a folder, with TLS, and
# URLs that are signed for one object, as by src/storage/presign.ts. Started by platform.py. Tests write and read
# objects in the folder; workers only use the URLs.
import hashlib
import hmac
import os
import secrets
import socket
import ssl
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

BUCKET, REGION = "store", "us-east-1"
LIFETIME_SECONDS = 3600


def binary() -> Path:
    cache = Path(os.environ.get("PLOSIVE_CACHE", Path.home() / ".cache" / "plosive"))
    path = cache / "bin" / "versitygw"
    if not path.exists():
        raise SystemExit(f"versitygw is not built yet (looked at {path}): run `make tools`")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


@dataclass(frozen=True)
class Server:
    """A running versitygw with one bucket."""

    process: subprocess.Popen
    port: int
    access_key: str
    secret_key: str

    def presigned(self, method: str, key: str, headers: dict[str, str], port: int, age_seconds: int = 0) -> str:
        """A URL that was signed `age_seconds` ago, for the server or a proxy that forwards the Host header at
        `port`. A request must send exactly these headers."""
        at = datetime.now(UTC) - timedelta(seconds=age_seconds)
        stamp, day, host = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d"), f"127.0.0.1:{port}"
        scope = f"{day}/{REGION}/s3/aws4_request"
        signed = sorted({"host": host, **{name.lower(): value for name, value in headers.items()}}.items())
        names = ";".join(name for name, _ in signed)
        members = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
            "X-Amz-Credential": f"{self.access_key}/{scope}", "X-Amz-Date": stamp,
            "X-Amz-Expires": str(LIFETIME_SECONDS), "X-Amz-SignedHeaders": names,
        }  # fmt: skip
        search = "&".join(sorted(f"{name}={quote(value, safe='')}" for name, value in members.items()))
        path = f"/{BUCKET}/{quote(key)}"
        request = "\n".join([method, path, search, *(f"{n}:{v}" for n, v in signed), "", names, "UNSIGNED-PAYLOAD"])
        signing = f"AWS4{self.secret_key}".encode()
        for part in (day, REGION, "s3", "aws4_request"):
            signing = mac(signing, part)
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
        return f"https://{host}{path}?{search}&X-Amz-Signature={mac(signing, text).hex()}"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def start_store(buckets: Path, ca: Path, key: Path) -> Server:
    """Serves the folder on a free port of loopback until stop(), or until this process ends."""
    (buckets / BUCKET).mkdir(parents=True, exist_ok=True)
    access_key, secret_key = f"test-{secrets.token_hex(6)}", secrets.token_urlsafe(24)
    context = ssl.create_default_context(cafile=str(ca))
    for attempt in range(3):  # another process may take the port before the server does
        port = free_port()
        command = ["setpriv", "--pdeathsig", "KILL", "--", str(binary()), f"--port=127.0.0.1:{port}", f"--region={REGION}"]
        command += [f"--cert={ca}", f"--key={key}", "--health=/health", "--quiet", "posix", str(buckets)]
        environment = os.environ | {"ROOT_ACCESS_KEY": access_key, "ROOT_SECRET_KEY": secret_key}
        with (buckets / f"versitygw-{attempt}.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"https://127.0.0.1:{port}/health", context=context, timeout=5).close()
                return Server(process, port, access_key, secret_key)
            except OSError:
                time.sleep(0.05)
        process.kill()
        process.wait()
    raise RuntimeError(f"versitygw does not start: {(buckets / 'versitygw-2.log').read_text()[-2000:]}")
