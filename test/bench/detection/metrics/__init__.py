# How detections are judged. events.py and segments.py: F1; psds.py: PSDS; calibration.py: ECE; judge.py puts them together.
