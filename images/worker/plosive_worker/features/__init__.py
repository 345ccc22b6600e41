# The embedder dsp-mr1: sound -> 10 ms frames of signal-processing features, streamed.
