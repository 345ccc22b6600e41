# The takes of the benchmark: voices (recorded and synthetic), backgrounds, artifacts, codings. sets.py defines the sets.
