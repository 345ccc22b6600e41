# aubio's onset detection for whatever is an onset by nature. Registered in __init__.py.
import aubio
import numpy as np

from ..types import Take
from .tuned import Candidate, Setting, TunedPeer, settings

METHODS = ("hfc", "energy", "complex", "specflux", "kl", "mkl", "specdiff", "phase")
ONSETS = settings("onset", method=METHODS, size=(256, 1024), silence=(-90, -50))


class AubioPeer(TunedPeer):
    name = "aubio"
    grid = {kind: ONSETS for kind in ("click", "mouth_click", "pop", "plosive", "tts_seam")}

    def candidates(self, take: Take, samples: np.ndarray, setting: Setting) -> list[Candidate]:
        """All peaks of the onset curve; how far each is above aubio's own threshold is its strength."""
        size = int(setting["size"])
        hop = size // 2
        onset = aubio.onset(str(setting["method"]), size, hop, take.sample_rate)
        onset.set_silence(float(setting["silence"]))
        onset.set_threshold(0.05)
        onset.set_minioi_ms(20)
        out = []
        padded = np.pad(samples.astype(np.float32), (0, -len(samples) % hop))
        for first in range(0, len(padded), hop):
            if onset(padded[first : first + hop])[0] > 0:
                at = onset.get_last_s()
                out.append(Candidate(at, at, float(onset.get_thresholded_descriptor())))
        return out
