# Writes the head as an ONNX graph, node by node and without tracing: the same weights give the same bytes, and guard.py
# can reject every operator that is not written here. The export fails unless it agrees with torch. Called by
# training/artifacts.py.
from collections.abc import Callable

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from ..features.spec import DIMS
from ..runtime import cpu_session
from .head import DILATIONS, KERNEL, Head

OPSET = 17
IR_VERSION = 9
MAX_DIFFERENCE = 1e-4


def export(head: Head) -> bytes:
    """Returns the model's bytes: input frames (batch, time, F) float32, output posteriors (batch, time, 3 * K), classes
    innermost."""
    state = {name: value.detach().cpu().numpy() for name, value in head.state_dict().items()}
    nodes: list[onnx.NodeProto] = []
    constants: list[TensorProto] = []

    def constant(name: str, value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def node(op: str, inputs: list[str], **attributes) -> str:
        name = f"{op.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def linear(x: str, layer: str) -> str:
        product = node("MatMul", [x, constant(f"{layer}.weight", state[f"{layer}.weight"].T)])
        return node("Add", [product, constant(f"{layer}.bias", state[f"{layer}.bias"])])

    def norm(x: str, layer: str) -> str:
        names = [constant(f"{layer}.{part}", state[f"{layer}.{part}"]) for part in ("weight", "bias")]
        return node("LayerNormalization", [x, *names], axis=-1, epsilon=1e-5)

    x = node("Sub", ["frames", constant("mean", state["mean"])])
    x = node("Mul", [x, constant("scale", state["scale"])])
    x = node("Clip", [x, constant("lowest", np.array(-6.0)), constant("highest", np.array(6.0))])
    x = input_layer(x, state, constant, node, linear)
    for index, dilation in enumerate(DILATIONS):
        block = f"blocks.{index}"
        weight = constant(f"{block}.over_time.weight", state[f"{block}.over_time.weight"].T[:, None, :])  # (W, 1, 5)
        bias = constant(f"{block}.over_time.bias", state[f"{block}.over_time.bias"])
        pad = KERNEL // 2 * dilation
        y = node("Transpose", [x], perm=[0, 2, 1])
        y = node(
            "Conv",
            [y, weight, bias],
            group=weight_groups(state, block),
            dilations=[dilation],
            pads=[pad, pad],
            kernel_shape=[KERNEL],
        )
        y = node("Transpose", [y], perm=[0, 2, 1])
        y = linear(norm(y, f"{block}.norm"), f"{block}.up")
        x = node("Add", [x, linear(node("Relu", [y]), f"{block}.down")])
    x = linear(node("Relu", [norm(x, "leave_norm")]), "leave")
    nodes.append(helper.make_node("Sigmoid", [x], ["posteriors"], "posteriors"))
    outputs = state["leave.bias"].shape[0]
    graph = helper.make_graph(
        nodes,
        "plosive-detector",
        [helper.make_tensor_value_info("frames", TensorProto.FLOAT, ["batch", "time", state["mean"].shape[0]])],
        [helper.make_tensor_value_info("posteriors", TensorProto.FLOAT, ["batch", "time", outputs])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="plosive")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def input_layer(x: str, state: dict[str, np.ndarray], constant: Callable, node: Callable, linear: Callable) -> str:
    """Writes the first layer. With an encoder, both weight matrices take all columns and have rows of zeros for the
    columns of the other, so that the graph needs no slicing."""
    dims = len(state["mean"])
    if dims == DIMS:
        return linear(x, "enter")
    own = np.pad(state["enter.weight"].T, ((0, dims - DIMS), (0, 0)))
    encoder = np.pad(state["project.weight"].T, ((DIMS, 0), (0, 0)))
    entered = node("Add", [node("MatMul", [x, constant("enter.weight", own)]), constant("enter.bias", state["enter.bias"])])
    product = node("MatMul", [x, constant("project.weight", encoder)])
    small = node("Add", [product, constant("project.bias", state["project.bias"])])
    joined = node("MatMul", [node("Relu", [small]), constant("join.weight", state["join.weight"].T)])
    return node("Add", [entered, joined])


def weight_groups(state: dict[str, np.ndarray], block: str) -> int:
    return state[f"{block}.over_time.weight"].shape[1]


@torch.no_grad()
def difference(head: Head, model: bytes, frames: np.ndarray) -> float:
    """Returns the largest difference between the posteriors of torch and of ONNX Runtime on frames (B, T, F)."""
    session = cpu_session(model)
    by_onnx = session.run(None, {"frames": frames})[0]
    by_torch = torch.sigmoid(head.eval()(torch.from_numpy(frames))).flatten(2).numpy()
    return float(np.abs(by_torch - by_onnx).max())
