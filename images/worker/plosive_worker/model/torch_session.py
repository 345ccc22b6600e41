# The exported model on a GPU: the same weights in the torch head, asked like an ONNX Runtime session. Only where the pod has
# a GPU and the image has torch (the trainer's). Called by detector.py.
from pathlib import Path

import numpy as np

TURNED = (".up.weight", ".down.weight", "enter.weight", "leave.weight", "project.weight", "join.weight")
GPU_DEVICE = Path("/dev/nvidiactl")  # what NVIDIA's container runtime puts into a pod; asking torch would cost seconds


class TorchSession:
    """`run` as onnxruntime.InferenceSession has it, for the one input and the one output of onnx_graph.py."""

    def __init__(self, model: bytes, device: str):
        import onnx
        import torch

        from ..features.spec import DIMS
        from .head import DILATIONS, Head

        weights = {i.name: np.array(onnx.numpy_helper.to_array(i)) for i in onnx.load_from_string(model).graph.initializer}
        state = {name: torch.from_numpy(value) for name, value in weights.items() if name not in ("lowest", "highest")}
        for index in range(len(DILATIONS)):
            name = f"blocks.{index}.over_time.weight"
            state[name] = state[name][:, 0].T  # (W, 1, taps) of a convolution
        for name in [name for name in state if name.endswith(TURNED)]:
            state[name] = state[name].T  # the graph multiplies from the right
        state["enter.weight"] = state["enter.weight"][:, :DIMS]  # without the rows of zeros of onnx_graph.entered
        if "project.weight" in state:
            state["project.weight"] = state["project.weight"][:, DIMS:]
        dims, outputs = len(state["mean"]), len(state["leave.bias"])
        self.torch, self.device = torch, device
        self.head = Head(dims, outputs // 3, state["mean"], state["scale"])
        self.head.load_state_dict({name: value.contiguous() for name, value in state.items()})
        self.head.eval().to(device)

    def run(self, outputs: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Posteriors (batch, time, 3 * K) of frames (batch, time, F)."""
        with self.torch.inference_mode():
            frames = self.torch.from_numpy(np.ascontiguousarray(inputs["frames"])).to(self.device)
            return [self.torch.sigmoid(self.head(frames)).flatten(2).cpu().numpy()]
