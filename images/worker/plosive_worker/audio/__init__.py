# Untrusted audio -> features. header.py checks the bytes, decoding.py streams the samples, extraction.py does both in a
# child process, sandbox.py starts and limits that process.
