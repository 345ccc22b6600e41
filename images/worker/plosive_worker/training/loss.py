# The loss: boundary-weighted BCE, plus 0.5 of the edge outputs' loss and 0.3 of the chunk's loss (arXiv 2403.13254).
# Called by loop.py and evaluation.py.
from dataclasses import dataclass

import torch
from torch.nn import functional as f

EDGE_WEIGHT = 0.5
CHUNK_WEIGHT = 0.3
BOUNDARY_BOOST = 1.0
# Weight of a frame that contains the artifact. Larger weights for rare types (the square root of negatives to
# positives, up to 10) gave more confident but worse detectors: macro F1 .72 instead of .75 with 15 minutes of training
# audio.
POSITIVE_WEIGHT = 2.0


@dataclass(frozen=True)
class Targets:
    """Targets of a batch, each (B, T, K)."""

    presence: torch.Tensor
    onset: torch.Tensor
    offset: torch.Tensor
    weight: torch.Tensor


def pool(p: torch.Tensor) -> torch.Tensor:
    """Linear softmax over time, (B, T, K) -> (B, K): the probability of the whole chunk."""
    return (p * p).sum(1) / p.sum(1).clamp(min=1e-6)


def bce(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    weight = torch.tensor(POSITIVE_WEIGHT, device=logits.device)
    return f.binary_cross_entropy_with_logits(logits, target, pos_weight=weight, reduction="none")


def detection_loss(logits: torch.Tensor, targets: Targets, middle: slice) -> torch.Tensor:
    """Returns the loss of each example, (B,). `middle` is the chunk itself; the context around it has a weight of a
    third."""
    presence, onset, offset = logits.unbind(2)
    edges = torch.maximum(targets.onset, targets.offset)
    weight = targets.weight * (1 + BOUNDARY_BOOST * edges)
    along = torch.full((logits.shape[1], 1), 0.33, device=logits.device)
    along[middle] = 1.0
    weight = weight * along
    norm = weight.sum((1, 2)).clamp(min=1.0)
    loss = (bce(presence, targets.presence) * weight).sum((1, 2)) / norm
    for logit, target in ((onset, targets.onset), (offset, targets.offset)):
        loss = loss + EDGE_WEIGHT * (bce(logit, target) * weight).sum((1, 2)) / norm
    chunk = pool(torch.sigmoid(presence[:, middle])).clamp(1e-5, 1 - 1e-5)
    known = targets.weight[:, middle].amax(1)
    wanted = (targets.presence[:, middle] > 0.5).float().amax(1)
    return loss + CHUNK_WEIGHT * (f.binary_cross_entropy(chunk, wanted, reduction="none") * known).mean(1)
