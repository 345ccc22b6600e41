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
    """Targets of a batch, each (B, T, K), or of a stretch of a file, each (T, K)."""

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


class StretchLoss:
    """The detection_loss of one stretch of any length without context, from its blocks. Sums in float64, so that it differs
    from the loss of the whole by the rounding of float32 sums."""

    def __init__(self, classes: int):
        zeros = torch.zeros(classes, dtype=torch.float64)
        self.weight, self.bce = 0.0, 0.0
        self.sum, self.squares = zeros, zeros  # of the presence
        self.known, self.wanted = torch.zeros(classes), torch.zeros(classes, dtype=torch.bool)

    def add(self, logits: torch.Tensor, targets: Targets) -> None:
        """Takes the logits (n, 3, K) and the targets (n, K) of the next block."""
        presence, onset, offset = logits.unbind(1)
        weight = targets.weight * (1 + BOUNDARY_BOOST * torch.maximum(targets.onset, targets.offset))
        self.weight += float(weight.sum())
        self.bce += float((bce(presence, targets.presence) * weight).sum())
        for logit, target in ((onset, targets.onset), (offset, targets.offset)):
            self.bce += EDGE_WEIGHT * float((bce(logit, target) * weight).sum())
        p = torch.sigmoid(presence).double()
        self.sum, self.squares = self.sum + p.sum(0), self.squares + (p * p).sum(0)
        self.known = torch.maximum(self.known, targets.weight.amax(0))
        self.wanted |= (targets.presence > 0.5).any(0)

    def value(self) -> float:
        chunk = (self.squares / self.sum.clamp(min=1e-6)).clamp(1e-5, 1 - 1e-5).float()
        chunk_loss = f.binary_cross_entropy(chunk, self.wanted.float(), reduction="none") * self.known
        return self.bce / max(self.weight, 1.0) + CHUNK_WEIGHT * float(chunk_loss.mean())
