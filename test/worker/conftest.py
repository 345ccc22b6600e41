# Fixtures of the worker tests: real voices with known artifacts, composed once per run, a real S3 server and a run
# endpoint that implements the contract of src/schemas/worker.ts. The package under test is
# images/worker/plosive_worker.
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "images" / "worker", ROOT / "tools", ROOT / "test"):
    sys.path.insert(0, str(folder))
# inherited by the separate process that forks the decoding children
os.environ["PYTHONPATH"] = str(ROOT / "images" / "worker")
for name, value in (("OPENBLAS_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive"), ("ORT_DISABLE_TELEMETRY", "1")):
    os.environ.setdefault(name, value)

import json  # noqa: E402
import subprocess  # noqa: E402

import pytest  # noqa: E402
from bench.detection.cache import folder_of, key_of  # noqa: E402
from bench.detection.corpus.voices import once  # noqa: E402

from worker.platform import Platform, start_platform  # noqa: E402

OPTIONS = "--train-minutes 6 --test-minutes 1.5 --seed 3 --types click,plosive,hum,dropout --per-minute 6"


@pytest.fixture(scope="session")
def voices() -> Path:
    """Folder with train/ (6 min) and test/ (1.5 min) of different speakers, each with truth.json. Composed once: it stays in
    the cache, which the process of each core reads."""

    def compose(out: Path) -> None:
        command = [sys.executable, "-m", "voices", "--out", str(out), *OPTIONS.split()]
        subprocess.run(command, check=True, cwd=ROOT / "tools")

    return once(folder_of("takes") / f"worker-{key_of('tools/voices', extra=OPTIONS)}", compose)


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory):
    """The run endpoint and the object store of the tests, over TLS."""
    running: Platform = start_platform(tmp_path_factory.mktemp("platform"))
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def contract_kept(request: pytest.FixtureRequest):
    """Fails a test if the run endpoint sent or received a document that breaks the contract."""
    yield
    if "platform" in request.fixturenames:
        platform: Platform = request.getfixturevalue("platform")
        broken, platform.breaches = platform.breaches, []
        assert broken == []


@pytest.fixture(scope="session")
def truth(voices: Path) -> dict[str, list[dict]]:
    return {part: json.loads((voices / part / "truth.json").read_text()) for part in ("train", "test")}
