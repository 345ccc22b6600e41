# The trunk: weights of the detector head, pretrained on procedural artifacts. A training can begin with them
# (docs/adr/0032-pretrained-trunk.md).
