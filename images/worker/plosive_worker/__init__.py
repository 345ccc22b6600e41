# The workers of Plosive. The three verbs are embed.py, train.py and detect.py; the other modules hold what they share.
import os

# No data about a recording may leave the pod, not even usage statistics. ONNX Runtime reads this variable when it is
# imported. Its disable_telemetry_events() comes too late: from the import on, a thread connects to its maker's server.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
