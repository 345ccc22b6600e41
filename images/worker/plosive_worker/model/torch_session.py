# Runs the exported model on a GPU: loads its weights into the torch head, with the interface of an ONNX Runtime
# session. Used only if the pod has a GPU and the image has torch (the trainer image). Called by detector.py.
from pathlib import Path

import numpy as np

TRANSPOSED = (".up.weight", ".down.weight", "enter.weight", "leave.weight", "project.weight", "join.weight")
GPU_DEVICE = Path("/dev/nvidiactl")  # NVIDIA's container runtime adds it to the pod; asking torch would take seconds


class TorchSession:
    """Has `run` of onnxruntime.InferenceSession for the single input and output of onnx_graph.py."""

    def __init__(self, model: bytes, device: str):
        import onnx
        import torch

        from ..features.spec import DIMS
        from .head import DILATIONS, Head

        weights = {i.name: np.array(onnx.numpy_helper.to_array(i)) for i in onnx.load_from_string(model).graph.initializer}
        state = {name: torch.from_numpy(value) for name, value in weights.items() if name not in ("lowest", "highest")}
        for index in range(len(DILATIONS)):
            name = f"blocks.{index}.over_time.weight"
            state[name] = state[name][:, 0].T  # the convolution's weight is (W, 1, taps)
        for name in [name for name in state if name.endswith(TRANSPOSED)]:
            state[name] = state[name].T  # the graph multiplies weights from the right
        state["enter.weight"] = state["enter.weight"][:, :DIMS]  # without the rows of zeros of onnx_graph.input_layer
        if "project.weight" in state:
            state["project.weight"] = state["project.weight"][:, DIMS:]
        dims, outputs = len(state["mean"]), len(state["leave.bias"])
        self.torch, self.device = torch, device
        self.head = Head(dims, outputs // 3, state["mean"], state["scale"])
        self.head.load_state_dict({name: value.contiguous() for name, value in state.items()})
        self.head.eval().to(device)

    def run(self, outputs: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Returns posteriors (batch, time, 3 * K) of frames (batch, time, F)."""
        with self.torch.inference_mode():
            frames = self.torch.from_numpy(np.ascontiguousarray(inputs["frames"])).to(self.device)
            return [self.torch.sigmoid(self.head(frames)).flatten(2).cpu().numpy()]
