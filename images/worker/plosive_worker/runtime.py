# ONNX Runtime as the workers use it. Called by model/detector.py, model/onnx_graph.py and features/encoder.py.
import onnxruntime

# nothing of a recording leaves the pod, not even usage figures
onnxruntime.disable_telemetry_events()


def cpu_session(model: bytes, threads: int = 1) -> onnxruntime.InferenceSession:
    """From memory: a model whose weights lie in other files finds none of them. Raises what ONNX Runtime raises."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # idle threads must not burn the cores that decode the next file
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
