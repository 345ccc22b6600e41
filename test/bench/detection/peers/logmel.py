# The textbook's simplest learner: logistic regression on log-mel frames with their neighbors. Registered in __init__.py.
import numpy as np
import torch
from torch.nn import functional

from .frames import FramePeer, device, scale_of

NEIGHBOURS = (-8, -4, -2, -1, 0, 1, 2, 4, 8)  # frames
EPOCHS, BATCH, LEARNING_RATE = 15, 4096, 3e-3


def stacked(frames: torch.Tensor) -> torch.Tensor:
    """(T, bands) -> (T, bands * neighbors); the ends are repeated."""
    at = torch.arange(len(frames), device=frames.device)
    return torch.cat([frames[(at + n).clamp(0, len(frames) - 1)] for n in NEIGHBOURS], 1)


class LogmelPeer(FramePeer):
    name = "logmel"
    bands, size = 64, 512

    def learn(self, inputs: list[np.ndarray], wanted: list[np.ndarray], seed: int):
        torch.manual_seed(seed)
        where = device()
        mean, deviation = (torch.from_numpy(a).to(where) for a in scale_of(inputs))

        def prepared(frames: np.ndarray) -> torch.Tensor:
            return (torch.from_numpy(frames).to(where) - mean) / deviation

        takes = [prepared(x) for x in inputs]
        starts = np.cumsum([0, *map(len, takes)])
        x, y = torch.cat(takes), torch.from_numpy(np.concatenate(wanted)).to(where)
        take_of = torch.from_numpy(np.repeat(np.arange(len(takes)), np.diff(starts))).to(where)
        low, high = (torch.from_numpy(a).to(where)[take_of] for a in (starts[:-1], starts[1:] - 1))
        weight = ((len(y) - y.sum(0)) / y.sum(0).clamp(min=1)).sqrt().clamp(1, 20)
        linear = torch.nn.Linear(self.bands * len(NEIGHBOURS), y.shape[1]).to(where)
        steps = EPOCHS * -(-len(x) // BATCH)
        optimiser = torch.optim.AdamW(linear.parameters(), LEARNING_RATE, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps)
        order = torch.Generator().manual_seed(seed)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(x), generator=order).to(where).split(BATCH):
                beside = [torch.minimum(torch.maximum(rows + n, low[rows]), high[rows]) for n in NEIGHBOURS]
                logits = linear(torch.cat([x[at] for at in beside], 1))
                loss = functional.binary_cross_entropy_with_logits(logits, y[rows], pos_weight=weight)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()

        @torch.no_grad()
        def model(frames: np.ndarray) -> np.ndarray:
            return torch.sigmoid(linear(stacked(prepared(frames)))).cpu().numpy()

        return model
