# The detector head in torch: frames (B, T, F) -> logits of presence, onset and offset (B, T, 3, K). Trainer only; the
# same arithmetic is written as an ONNX graph in onnx_graph.py, and export is gated on their agreement.
import torch
from torch import nn

WIDTH = 80
KERNEL = 5
DILATIONS = (1, 2, 4, 8, 16)
CONTEXT_FRAMES = sum((KERNEL // 2) * d for d in DILATIONS)  # 62: what a frame sees on each side
HEADS = ("presence", "onset", "offset")


class Block(nn.Module):
    """Depthwise dilated convolution over time, then a pointwise pair, around a residual."""

    def __init__(self, width: int, dilation: int, dropout: float):
        super().__init__()
        pad = KERNEL // 2 * dilation
        self.over_time = nn.Conv1d(width, width, KERNEL, padding=pad, dilation=dilation, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (B, T, W) -> (B, T, W)
        y = self.over_time(x.transpose(1, 2)).transpose(1, 2)
        return x + self.down(self.dropout(torch.relu(self.up(self.norm(y)))))


class Head(nn.Module):
    """`mean` and `scale` (F,) come from the training part and are baked in."""

    def __init__(self, dims: int, classes: int, mean: torch.Tensor, scale: torch.Tensor, dropout: float = 0.1):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        self.enter = nn.Linear(dims, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH, d, dropout) for d in DILATIONS)
        self.leave_norm = nn.LayerNorm(WIDTH)
        self.leave = nn.Linear(WIDTH, len(HEADS) * classes)
        self.dropout = nn.Dropout(dropout)
        self.classes = classes
        nn.init.constant_(self.leave.bias, -3.0)  # artifacts are rare: start from "nothing here"

    def standardise(self, frames: torch.Tensor) -> torch.Tensor:
        return ((frames - self.mean) * self.scale).clamp(-6, 6)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:  # (B, T, F) -> (B, T, 3, K)
        return self.body(self.standardise(frames))

    def body(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dropout(self.enter(x))
        for block in self.blocks:
            x = block(x)
        return self.leave(torch.relu(self.leave_norm(x))).unflatten(2, (len(HEADS), self.classes))
