# A CRNN after the baselines of DCASE task 4: convolutions with gated units over 128 mel bands, two bidirectional GRU layers, a
# frame and an attention-pooled clip output, mixup. The hop is finer than there (10 ms, pooled to 40 ms instead of 64), because
# the collar of a click is 50 ms. To be trainable on a CPU, the network has half the channels, pools before the gate, and has
# little dropout. Its initial output is "no event". The same work then covers three times as many clips, which improves the
# result more than the full network does. Registered in __init__.py.
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from .frames import FRAMES_PER_SECOND, FramePeer, device, scale_of

CHANNELS = (16, 32, 64, 64, 64, 64)
POOLS = ((2, 4), (2, 2), (1, 2), (1, 2), (1, 2), (1, 2))  # time, bands
POOLED = 4  # frames in one step of the output
CLIP = 10 * FRAMES_PER_SECOND
EPOCHS = 80  # half an hour of one core for an hour of sound
BATCH, LEARNING_RATE, WARM_UP = 8, 3e-3, 0.1
DROPOUT = 0.1
LEAST_STEPS = 400  # little material is seen more often


class Gated(nn.Module):
    """Convolution, pooling, normalization, gated linear unit."""

    def __init__(self, before: int, after: int, pool: tuple[int, int]):
        super().__init__()
        self.convolution = nn.Conv2d(before, after, 3, padding=1)
        self.norm = nn.BatchNorm2d(after)
        self.gate = nn.Linear(after, after)
        self.pool = nn.AvgPool2d(pool)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (B, C, T, M)
        x = self.norm(self.pool(self.convolution(x)))
        gate = self.gate(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.dropout(x * torch.sigmoid(gate))


class Crnn(nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.layers = nn.Sequential(*(Gated(a, b, pool) for a, b, pool in zip((1, *CHANNELS), CHANNELS, POOLS)))
        self.memory = nn.GRU(CHANNELS[-1], 128, 2, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(DROPOUT)
        self.frame, self.attention = nn.Linear(256, classes), nn.Linear(256, classes)
        nn.init.constant_(self.frame.bias, -4.0)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # (B, T, M) -> (B, T / 4, K), (B, K)
        x = self.layers(x[:, None])[..., 0].transpose(1, 2)
        x = self.dropout(self.memory(x)[0])
        strong = self.frame(x)
        attention = torch.softmax(self.attention(x).clamp(-7, 7), 1)
        weak = (torch.sigmoid(strong) * attention).sum(1) / attention.sum(1)
        return strong, weak


def clip_of(frames: np.ndarray, wanted: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ten seconds from anywhere in a take; a shorter one is followed by silence."""
    first = int(rng.integers(0, max(1, len(frames) - CLIP + 1)))
    x, y = frames[first : first + CLIP], wanted[first : first + CLIP]
    short = CLIP - len(x)
    return np.pad(x, ((0, short), (0, 0)), mode="edge"), np.pad(y, ((0, short), (0, 0)))


class CrnnPeer(FramePeer):
    name = "crnn"
    bands, size = 128, 1024

    def learn(self, inputs: list[np.ndarray], wanted: list[np.ndarray], seed: int):
        torch.manual_seed(seed)
        rng, where = np.random.default_rng(seed), device()
        mean, deviation = scale_of(inputs)
        takes = [((x - mean) / deviation).astype(np.float32) for x in inputs]
        network = Crnn(wanted[0].shape[1]).to(where)
        clips = sum(map(len, takes)) / CLIP
        steps = max(LEAST_STEPS, round(EPOCHS * clips / BATCH))
        share = np.array([len(x) for x in takes]) / sum(map(len, takes))
        optimiser = torch.optim.Adam(network.parameters(), LEARNING_RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps, pct_start=WARM_UP)
        for step in range(steps):
            batch = [clip_of(takes[i], wanted[i], rng) for i in rng.choice(len(takes), BATCH, p=share)]
            x, y = (torch.from_numpy(np.stack(part)).to(where) for part in zip(*batch))
            if rng.random() < 0.5:
                mix, other = float(rng.beta(0.2, 0.2)), torch.from_numpy(rng.permutation(BATCH)).to(where)
                x, y = mix * x + (1 - mix) * x[other], mix * y + (1 - mix) * y[other]
            y = functional.max_pool1d(y.transpose(1, 2), POOLED).transpose(1, 2)
            strong, weak = network(x)
            loss = functional.binary_cross_entropy_with_logits(strong, y)
            loss = loss + 0.5 * functional.binary_cross_entropy(weak.clamp(1e-6, 1 - 1e-6), y.amax(1))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimiser.step()
            schedule.step()
            if (step + 1) % 100 == 0:
                print(f"crnn: step {step + 1} of {steps}, loss {loss.item():.3f}", file=sys.stderr, flush=True)
        network.eval()

        @torch.no_grad()
        def model(frames: np.ndarray) -> np.ndarray:
            """Posteriors each 10 ms: those of the 40 ms steps, joined by straight lines between their middles."""
            x = torch.from_numpy(((frames - mean) / deviation).astype(np.float32)).to(where)
            x = functional.pad(x[None], (0, 0, 0, -len(frames) % POOLED))
            p = torch.sigmoid(network(x)[0])[0].cpu().numpy()
            middles = (np.arange(len(p)) + 0.5) * POOLED
            at = np.arange(len(frames)) + 0.5
            return np.stack([np.interp(at, middles, p[:, k]) for k in range(p.shape[1])], 1)

        return model
