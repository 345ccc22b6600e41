# From frame posteriors to events, and how events are scored. Used by the trainer (validation) and the detector.
