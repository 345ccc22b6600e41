# Checks a model's protobuf before ONNX Runtime parses it. Allows only the operators that onnx_graph.py exports, and
# only tensors inside the file: paths of external data can leave the folder (onnx#3991). Called by detector.py.
from collections.abc import Iterator

from ..failure import WorkerFailure

OPERATORS = {"Sub", "Mul", "Clip", "MatMul", "Add", "Transpose", "Conv", "LayerNormalization", "Relu", "Sigmoid"}
MAX_BYTES = 64 << 20
# field numbers of onnx.proto
MODEL_GRAPH, MODEL_FUNCTIONS = 7, 25
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_SPARSE = 1, 5, 15
NODE_OP, NODE_ATTRIBUTE, NODE_DOMAIN = 4, 5, 7
ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_TENSORS, ATTRIBUTE_GRAPHS = 5, 6, 10, 11
TENSOR_EXTERNAL, TENSOR_LOCATION = 13, 14


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise IndexError


def members(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """(field number, bytes or number) of a protobuf message."""
    at = 0
    value: bytes | int
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at : at + size], at + size
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise IndexError
            value, at = data[at : at + size], at + size
        else:
            raise IndexError
        yield key >> 3, value


def content(value: bytes | int) -> bytes:
    """Returns the bytes of a field that holds text or a message. Raises TypeError if the file has a number there."""
    if isinstance(value, int):
        raise TypeError
    return value


def refuse(why: str) -> WorkerFailure:
    return WorkerFailure("bad_manifest", f"The model is rejected: {why}", "Use a model that this service trained")


def has_external_data(tensor: bytes) -> bool:
    return any(field == TENSOR_EXTERNAL or (field == TENSOR_LOCATION and value) for field, value in members(tensor))


def check_node(node: bytes) -> None:
    for field, value in members(node):
        if field == NODE_OP and (operator := content(value).decode(errors="replace")) not in OPERATORS:
            raise refuse(f"operator {operator[:40]!r} is not allowed")
        if field == NODE_DOMAIN and value:
            raise refuse("it uses an operator of another domain")
        if field == NODE_ATTRIBUTE:
            inside = {name for name, _ in members(content(value))}
            if inside & {ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_TENSORS, ATTRIBUTE_GRAPHS}:
                raise refuse("an operator carries a tensor or a graph")


def check_model(data: bytes) -> None:
    """Raises WorkerFailure(bad_manifest) with the reason unless the model passes all checks."""
    if len(data) > MAX_BYTES:
        raise refuse(f"it has {len(data)} bytes")
    try:
        graphs = 0
        for field, value in members(data):
            if field == MODEL_FUNCTIONS:
                raise refuse("it defines functions")
            if field != MODEL_GRAPH:
                continue
            graphs += 1
            for part, inner in members(content(value)):
                if part == GRAPH_NODE:
                    check_node(content(inner))
                elif part == GRAPH_SPARSE:
                    raise refuse("it has sparse tensors")
                elif part == GRAPH_INITIALIZER and has_external_data(content(inner)):
                    raise refuse("it has external data")
    except (IndexError, TypeError) as error:
        raise refuse("it is not an ONNX file") from error
    if graphs != 1:
        raise refuse("it is not an ONNX file")
