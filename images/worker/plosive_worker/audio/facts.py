# Names of the files that a decoding child writes to its folder, and the facts that it reports. Imports nothing: the
# parent (sandbox.py) must not load the libraries of its children (extraction.py), which takes a second.
from dataclasses import dataclass

FRAMES, PEAKS, OUTCOME, PROGRESS = "frames.safetensors", "peaks.json", "outcome.json", "progress"
WAVE = "wave.pcm"  # mono int16 at the encoder's rate, if the run has an encoder
STALL_SECONDS = 60


@dataclass(frozen=True)
class Facts:
    """Properties of the audio, measured after decoding all of it."""

    duration_ms: int
    sample_rate_hz: int
    channels: int
    codec: str
    frames: int
