# What a decoding child leaves in its folder, and what it says of the sound. Imports nothing: the parent (sandbox.py) needs
# none of the libraries that its children (extraction.py) work with, and they take a second to load.
from dataclasses import dataclass

FRAMES, PEAKS, OUTCOME, PROGRESS = "frames.safetensors", "peaks.json", "outcome.json", "progress"
WAVE = "wave.pcm"  # mono int16 at an encoder's rate, where one is in use
STALL_SECONDS = 60


@dataclass(frozen=True)
class Facts:
    """What is true of the sound itself, after decoding all of it."""

    duration_ms: int
    sample_rate_hz: int
    channels: int
    codec: str
    frames: int
