"""Whom a worker trusts: at the run endpoint only the given certificate, at the object store also the public authorities."""

import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import urllib3
from plosive_worker.web import make_pool


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def make_certificate(folder: Path, name: str) -> Path:
    file = folder / f"{name}.pem"
    request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*request, *subject, "-keyout", str(file), "-out", str(folder / "crt")], check=True, capture_output=True)
    file.write_text(file.read_text() + (folder / "crt").read_text())
    return file


@pytest.fixture
def server(tmp_path: Path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_certificate(tmp_path, "server"))
    server = HTTPServer(("127.0.0.1", 0), Answer)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("system", [False, True])
def test_trusts_the_given_certificate_and_no_other(server: str, tmp_path: Path, system: bool):
    given, other = tmp_path / "server.pem", make_certificate(tmp_path, "other")
    assert make_pool(str(given), system=system).request("GET", server).status == 204
    for file in (str(other), None):
        with pytest.raises(urllib3.exceptions.SSLError):
            make_pool(file, system=system).request("GET", server)


def authorities(pool: urllib3.PoolManager) -> int:
    return pool.connection_pool_kw["ssl_context"].cert_store_stats()["x509"]


def test_trusts_public_authorities_only_where_it_is_told(tmp_path: Path):
    given = str(make_certificate(tmp_path, "given"))
    public = authorities(make_pool(None))
    assert public > 10
    assert authorities(make_pool(given)) == 1
    assert authorities(make_pool(given, system=True)) == public + 1
