# Writes the waveform that the dashboard draws: min and max per pixel, in the BBC waveform-data JSON layout that
# peaks.js and wavesurfer read. Called by extraction.py, block by block.
import json

import numpy as np

PIXELS_PER_SECOND = 100
MAX_PIXELS = 240_000  # 40 minutes at full resolution; a longer file gets coarser pixels instead of a larger document


class PeakWriter:
    """Collects peaks over all channels. MAX_PIXELS bounds the memory."""

    def __init__(self, rate: int):
        self.rate, self.samples_per_pixel = rate, rate // PIXELS_PER_SECOND
        self.low, self.high = np.zeros(0, np.int8), np.zeros(0, np.int8)
        self.rest = np.zeros((0, 2), np.float32)  # min and max of the samples of an unfinished pixel

    def write(self, samples: np.ndarray) -> None:  # (n, C)
        both = np.concatenate([self.rest, np.stack([samples.min(1), samples.max(1)], 1)])
        count = len(both) // self.samples_per_pixel
        self.append(both[: count * self.samples_per_pixel].reshape(count, self.samples_per_pixel, 2))
        self.rest = both[count * self.samples_per_pixel :]
        while len(self.low) > MAX_PIXELS:
            even = len(self.low) // 2 * 2
            tail = self.low[even:], self.high[even:]
            self.low = np.concatenate([self.low[:even].reshape(-1, 2).min(1), tail[0]])
            self.high = np.concatenate([self.high[:even].reshape(-1, 2).max(1), tail[1]])
            self.samples_per_pixel *= 2

    def append(self, pixels: np.ndarray) -> None:  # (p, samples, 2)
        if pixels.size:
            scaled = np.clip(np.stack([pixels[..., 0].min(1), pixels[..., 1].max(1)]) * 128, -128, 127).astype(np.int8)
            self.low, self.high = np.concatenate([self.low, scaled[0]]), np.concatenate([self.high, scaled[1]])

    def save(self, descriptor: int) -> None:
        if len(self.rest):
            self.append(self.rest[None])
        data = np.stack([self.low, self.high], 1).ravel().tolist()
        document = {
            "version": 2,
            "channels": 1,
            "sample_rate": self.rate,
            "samples_per_pixel": self.samples_per_pixel,
            "bits": 8,
            "length": len(self.low),
            "data": data,
        }
        with open(descriptor, "w") as file:
            file.write(json.dumps(document, separators=(",", ":")))
