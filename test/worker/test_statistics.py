# No library of the workers collects usage statistics. ONNX Runtime keeps them in a database in the user's cache, and sends
# them from there; both begin with its import.
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["runtime", "model.detector", "training.artifacts", "embed", "detect", "train"])
def test_importing_the_worker_leaves_nothing_to_send(module: str, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    script = f"import plosive_worker.{module}, sys; assert 'onnxruntime' in sys.modules"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []
