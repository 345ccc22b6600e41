# Untrusted sound -> features, safely: header.py judges the bytes, decoding.py streams the samples, extraction.py runs in a
# child process of its own, sandbox.py starts and limits that child.
