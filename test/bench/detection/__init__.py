# The judge of every change to detection (`make bench-detection`). Run as `python3 -m bench.detection` with test/, tools/ and
# images/worker/ on PYTHONPATH. types.py is what all parts share; corpus/ makes the takes, metrics/ judges, peers/ are the
# others' detectors, product.py is our own workers' code, runner.py plays the parts and report.py writes them down.
