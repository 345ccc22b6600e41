# The benchmark of detection (`make bench-detection`), which judges every change to the detector. Run as `python3 -m
# bench.detection` with test/, tools/ and images/worker/ on PYTHONPATH. types.py has the shared types, corpus/ makes the
# takes, metrics/ scores detections, peers/ has the detectors of others, product.py runs our own workers, runner.py runs
# all parts and report.py writes the report.
