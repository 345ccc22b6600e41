# Derives events from frame posteriors, and scores them. Used by the trainer (validation) and the detector.
