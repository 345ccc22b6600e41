# The detector: head.py (torch, trainer only), onnx_graph.py (export), card.py (what goes with it), detector.py (inference).
