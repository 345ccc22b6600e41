# The trunk: layers of the head that were pretrained on procedural artifacts (tools/trunk, `make trunk`). Every training
# begins with them, because labels of one make of artifacts say little about another make. Called by loop.py.
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from ..features.spec import DIMS, own_spec
from ..model.head import Head
from ..store import digest_of

TRUNK = Path(__file__).with_name("trunk.safetensors")
OUTPUTS = ("leave.weight", "leave.bias")  # of the families of procedural artifacts; a training has types of its own
RATE = 0.3  # share of the learning rate for these layers


def save_trunk(head: Head, path: Path) -> None:
    kept = {name: value.half().contiguous() for name, value in head.state_dict().items() if name not in OUTPUTS}
    save_file(kept, path, {"features": own_spec().base})


@cache
def trunk_digest() -> str:
    return digest_of(TRUNK).sha256


def load_trunk(path: Path = TRUNK) -> dict[str, torch.Tensor]:
    return {name: value.float() for name, value in load_file(path).items()}


def begin_with_trunk(head: Head, trunk: dict[str, torch.Tensor]) -> list[str]:
    """Copies the trunk's layers into the head. Returns the names of the copied parameters. An encoder's columns keep their
    own mean and scale."""
    own = head.state_dict()
    for name in ("mean", "scale"):
        trunk = {**trunk, name: torch.cat([trunk[name], own[name][DIMS:]])}
    head.load_state_dict({**own, **trunk})
    return [name for name, _ in head.named_parameters() if name in trunk]
