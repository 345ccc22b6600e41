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
# Learning rates as shares of the configured one. The trunk rests for the first PROBE of the steps: while the outputs are
# still random, their gradients would only distort it.
OUTPUT_RATE, TRUNK_RATE, PROBE = 3.0, 0.6, 0.4
# Share of the trained layers in the final ones; the rest is the trunk as it was. The mean of both keeps most of what was
# learned from the labels, with fewer false alarms on recordings of another make.
BLEND = 0.5


def save_trunk(head: Head, path: Path) -> None:
    kept = {name: value.half().contiguous() for name, value in head.state_dict().items() if name not in OUTPUTS}
    save_file(kept, path, {"features": own_spec().base})


@cache
def trunk_digest() -> str:
    return digest_of(TRUNK).sha256


def load_trunk(path: Path = TRUNK) -> dict[str, torch.Tensor]:
    return {name: value.float() for name, value in load_file(path).items()}


def begin_with_trunk(head: Head, trunk: dict[str, torch.Tensor]) -> None:
    """Copies the trunk's layers into the head. An encoder's columns keep their own mean and scale."""
    own = head.state_dict()
    for name in ("mean", "scale"):
        trunk = {**trunk, name: torch.cat([trunk[name], own[name][DIMS:]])}
    head.load_state_dict({**own, **trunk})


def parameter_groups(head: Head, trunk: dict[str, torch.Tensor]) -> list[dict]:
    """Returns the parameters for the optimizer, in two groups: what is new, and the trunk's layers."""
    named = dict(head.named_parameters())
    return [
        {"params": [p for name, p in named.items() if name not in trunk], "share": OUTPUT_RATE if trunk else 1.0, "rests": 0.0},
        {"params": [p for name, p in named.items() if name in trunk], "share": TRUNK_RATE, "rests": PROBE},
    ]


def blend_with_trunk(head: Head, trunk: dict[str, torch.Tensor]) -> None:
    """Moves the head's layers back towards the trunk, half of the way."""
    for name, parameter in head.named_parameters():
        if name in trunk:
            parameter.data.lerp_(trunk[name], 1 - BLEND)
