# The metrics of detections. events.py and segments.py: F1; psds.py: PSDS; calibration.py: ECE; judge.py combines them.
