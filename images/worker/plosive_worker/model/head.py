# The detector head in torch: frames (B, T, F) -> logits of presence, onset and offset (B, T, 3, K). Used by the trainer
# and by torch_session.py. onnx_graph.py writes the same arithmetic as an ONNX graph; the export fails unless both
# agree.
import torch
from torch import nn
from torch.nn import functional

from ..features.spec import DIMS

WIDTH = 96
PROJECTION = 32  # width to which the columns of a plug-in encoder are projected before they join the built-in ones
KERNEL = 5
DILATIONS = (1, 2, 4, 8, 16)
CONTEXT_FRAMES = sum((KERNEL // 2) * d for d in DILATIONS)  # 62: how many frames on each side influence a frame
HEADS = ("presence", "onset", "offset")


def standardised(frames: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return ((frames - mean) * scale).clamp(-6, 6)


class OverTime(nn.Module):
    """Depthwise dilated convolution as shifted multiply-adds: twice as fast as Conv1d on a CPU at this size."""

    def __init__(self, width: int, dilation: int):
        super().__init__()
        self.dilation = dilation
        self.weight = nn.Parameter(torch.empty(KERNEL, width).uniform_(-1, 1) / KERNEL**0.5)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (B, T, W) -> (B, T, W)
        time, pad = x.shape[1], KERNEL // 2 * self.dilation
        x = functional.pad(x, (0, 0, pad, pad))
        y = self.bias
        for tap in range(KERNEL):
            y = torch.addcmul(y, x[:, tap * self.dilation : tap * self.dilation + time], self.weight[tap])
        return y


class Block(nn.Module):
    """Depthwise dilated convolution over time, then a pointwise pair, around a residual."""

    def __init__(self, width: int, dilation: int):
        super().__init__()
        self.over_time = OverTime(width, dilation)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (B, T, W) -> (B, T, W)
        return x + self.down(torch.relu(self.up(self.norm(self.over_time(x)))))


class Head(nn.Module):
    """`mean` and `scale` (F,) are stored in the model: those of the trunk, or those of the training part if there is none.
    Columns after the built-in ones belong to an encoder; a learned projection adds them, with a mean and scale of the
    training part."""

    def __init__(self, dims: int, classes: int, mean: torch.Tensor, scale: torch.Tensor, dropout: float = 0.1):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        self.enter = nn.Linear(min(dims, DIMS), WIDTH)
        if dims > DIMS:
            self.project, self.join = nn.Linear(dims - DIMS, PROJECTION), nn.Linear(PROJECTION, WIDTH, bias=False)
        self.blocks = nn.ModuleList(Block(WIDTH, d) for d in DILATIONS)
        self.leave_norm = nn.LayerNorm(WIDTH)
        self.leave = nn.Linear(WIDTH, len(HEADS) * classes)
        self.dropout = dropout
        self.classes = classes
        nn.init.constant_(self.leave.bias, -3.0)  # artifacts are rare: start at a low posterior

    def forward(self, frames: torch.Tensor) -> torch.Tensor:  # (B, T, F) -> (B, T, 3, K)
        return self.body(standardised(frames, self.mean, self.scale))

    def body(self, x: torch.Tensor) -> torch.Tensor:
        encoder_columns = x[..., DIMS:]
        x = self.enter(x[..., :DIMS])
        if encoder_columns.shape[-1]:
            x = x + self.join(torch.relu(self.project(encoder_columns)))
        if self.training:  # drops whole channels per sample: a mask per frame would cost more than a block
            # drawn on the CPU, so that a GPU gets the same numbers
            kept = (torch.rand(x.shape[0], 1, x.shape[2]) >= self.dropout).to(x.device)
            x = x * kept / (1 - self.dropout)
        for block in self.blocks:
            x = block(x)
        return self.leave(torch.relu(self.leave_norm(x))).unflatten(2, (len(HEADS), self.classes))
