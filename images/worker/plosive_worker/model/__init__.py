# The detector: head.py (torch, trainer only), onnx_graph.py (export), card.py (model card), detector.py (inference).
