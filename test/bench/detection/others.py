# The peers, each in a process of the benchmark's own environment (make bench-detection-deps). Called by runner.py.
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .cache import CACHE, REPO
from .types import Detection, Take

PYTHON = CACHE.parent / "detection-venv" / "bin" / "python"


def environment() -> dict[str, str]:
    folders = [REPO / "test", REPO / "tools", REPO / "images" / "worker"]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"}


def names() -> list[tuple[str, bool, list[str]]]:
    """For each peer: its name, whether it needs training, the types that it can find."""
    code = (
        "import json; from bench.detection.peers import PEERS; made = {name: PEERS[name]() for name in PEERS};"
        "print(json.dumps([(name, peer.needs_training, sorted(peer.types)) for name, peer in made.items()]))"
    )
    done = subprocess.run([str(PYTHON), "-c", code], env=environment(), capture_output=True, check=True, text=True)
    return [tuple(one) for one in json.loads(done.stdout.splitlines()[-1])]


def detect_with(
    peer: str, seed: int, types: Sequence[str], train: Sequence[Take], test: Sequence[Take]
) -> tuple[dict[str, list[Detection]], dict[str, float]]:
    """Detections by take id, and the processor seconds of tuning and detecting."""
    with tempfile.TemporaryDirectory() as folder:
        request, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        request.write_text(
            json.dumps(
                {
                    "peer": peer,
                    "types": list(types),
                    "seed": seed,
                    "train": [take.to_json() for take in train],
                    "test": [{**take.to_json(), "events": [], "clean": None} for take in test],
                }
            )
        )
        command = [str(PYTHON), "-m", "bench.detection.peer_child", str(request), str(answer)]
        subprocess.run(command, env=environment(), check=True)
        result = json.loads(answer.read_text())
    found = {name: [Detection(**d) for d in detections] for name, detections in result["detections"].items()}
    return found, {"tune_cpu": result["tune_seconds"], "detect_cpu": result["seconds"]}
