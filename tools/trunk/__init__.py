# The trunk: weights of the detector head, pretrained on procedural artifacts, from which every training begins.
