# The embedder dsp-mr1: computes signal-processing features for each 10 ms frame of audio, as a stream.
