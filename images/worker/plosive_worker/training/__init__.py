# Training of the detector head from stored embeddings and labels. Needs torch; imported by train.py only.
