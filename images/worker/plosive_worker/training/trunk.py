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
# Learning rates as shares of the configured one. The trunk rests for PROBE_SHARE of the steps, at most PROBE_STEPS: while the
# outputs are still random, their gradients would only distort it.
OUTPUT_RATE, TRUNK_RATE, PROBE_SHARE, PROBE_STEPS = 3.0, 0.6, 0.4, 800
# Share of the trunk as it was in the final layers; the rest are the trained ones. The mean of both keeps most of what was
# learned from the labels, with fewer false alarms on recordings of another make. After more than LONG steps, which much
# training audio takes, the share falls.
KEPT, LONG = 0.5, 2000


def save_trunk(head: Head, path: Path) -> None:
    kept = {name: value.half().contiguous() for name, value in head.state_dict().items() if name not in OUTPUTS}
    save_file(kept, path, {"features": own_spec().base})


@cache
def trunk_key() -> str:
    """Identifies the trunk and the way in which a training uses it. Checkpoints contain it."""
    return f"{digest_of(TRUNK).sha256} {OUTPUT_RATE} {TRUNK_RATE} {PROBE_SHARE} {PROBE_STEPS} {KEPT} {LONG}"


def load_trunk(path: Path = TRUNK) -> dict[str, torch.Tensor]:
    return {name: value.float() for name, value in load_file(path).items()}


def begin_with_trunk(head: Head, trunk: dict[str, torch.Tensor]) -> None:
    """Copies the trunk's layers into the head. An encoder's columns keep their own mean and scale, and add nothing at first."""
    own = head.state_dict()
    for name in ("mean", "scale"):
        trunk = {**trunk, name: torch.cat([trunk[name], own[name][DIMS:]])}
    head.load_state_dict({**own, **trunk})
    if "join.weight" in own:
        torch.nn.init.zeros_(head.join.weight)


def parameter_groups(head: Head, trunk: dict[str, torch.Tensor]) -> list[dict]:
    """Returns the parameters for the optimizer, in two groups: what is new, and the trunk's layers. `share` is that of the
    configured learning rate."""
    named = dict(head.named_parameters())
    return [
        {"params": [p for name, p in named.items() if name not in trunk], "share": OUTPUT_RATE if trunk else 1.0, "rests": False},
        {"params": [p for name, p in named.items() if name in trunk], "share": TRUNK_RATE, "rests": True},
    ]


def steps_at_rest(total: int) -> int:
    """How many of a training's first steps leave the trunk as it is."""
    return min(PROBE_STEPS, round(PROBE_SHARE * total))


def blend_with_trunk(head: Head, trunk: dict[str, torch.Tensor], steps: int) -> None:
    """Moves the head's layers back towards the trunk: half of the way after `steps` up to LONG, less after more."""
    kept = KEPT * min(1.0, (LONG / steps) ** 0.5)
    for name, parameter in head.named_parameters():
        if name in trunk:
            parameter.data.lerp_(trunk[name], kept)
