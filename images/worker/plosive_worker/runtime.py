# Creates ONNX Runtime sessions. Called by model/detector.py, model/onnx_graph.py and features/encoder.py.
import onnxruntime


def cpu_session(model: bytes, threads: int = 1) -> onnxruntime.InferenceSession:
    """Opens a model from memory, so that it cannot load weights from other files. Raises ONNX Runtime's exceptions."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # idle threads must not spin on the cores that decode the next file
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
