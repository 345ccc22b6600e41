# clipdetect, an implementation of ClipDaT with a search for clip levels below the peak. Registered in __init__.py.
import numpy as np
from clipdetect import detect_clipping

from ..types import Take
from .tuned import Candidate, Setting, TunedPeer, joined, settings

RUNS = settings(
    "detect_clipping",
    threshold=(0.98, 0.995),
    min_consecutive_extremes=(1, 3),
    sustain_samples=(4, 32),
    flat_slope=(0.0015, 0.005),
    corner=(0.001, 0.004),
)
JOIN_S = 0.15


class ClipdetectPeer(TunedPeer):
    name = "clipdetect"
    grid = {"clipping": RUNS}

    def candidates(self, take: Take, samples: np.ndarray, setting: Setting) -> list[Candidate]:
        """Flat tops near each other are one event; how many samples they have is its strength."""
        sections, _ = detect_clipping(samples, **dict(setting.values))
        starts = np.array([s["start"] for s in sections]) / take.sample_rate
        lengths = np.array([s["end"] - s["start"] for s in sections]) / take.sample_rate
        tops = [Candidate(a, a + length) for a, length in zip(starts.tolist(), lengths.tolist())]
        return [
            Candidate(c.onset_s, c.offset_s, float(lengths[(starts >= c.onset_s) & (starts <= c.offset_s)].sum()))
            for c in joined(tops, JOIN_S)
        ]
