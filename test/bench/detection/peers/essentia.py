# Essentia's detectors of audio problems, each for the types that come nearest to what it was made for. Registered in
# __init__.py.
from collections.abc import Callable, Sequence

import essentia
import essentia.standard as es
import numpy as np

from ..types import Take
from .tuned import Candidate, Setting, TunedPeer, joined, settings

essentia.log.infoActive = False
essentia.log.warningActive = False

CLICKS = settings("ClickDetector", detectionThreshold=(8, 12, 16, 20, 25, 30, 40), silenceThreshold=(-50, -70))
JUMPS = settings("DiscontinuityDetector", detectionThreshold=(2, 4, 8, 16), energyThreshold=(-60, -40))
BURSTS = settings("NoiseBurstDetector", threshold=(4, 6, 8, 12, 20), alpha=(0.8, 0.9))
GAPS = settings("GapsDetector", minimumTime=(5, 20), prepowerThreshold=(-50, -40, -30), silenceThreshold=(-70, -50))
FLAT = settings(
    "SaturationDetector", energyThreshold=(-18, -12, -6, -1), differentialThreshold=(0.001, 0.01), minimumDuration=(0, 5)
)
HUM = settings("HumDetector", detectionThreshold=(2, 5, 10), timeWindow=(4, 10), minimumDuration=(0.5, 2))


def frames_of(samples: np.ndarray, size: int, hop: int):
    return es.FrameGenerator(samples, frameSize=size, hopSize=hop, startFromZero=True)


def by_times(make: Callable, size: int, hop: int) -> Callable[[np.ndarray, float, dict], list[Candidate]]:
    """For algorithms that count their frames themselves and give starts and ends in seconds."""

    def run(samples: np.ndarray, rate: float, values: dict) -> list[Candidate]:
        algorithm = make(sampleRate=rate, frameSize=size, hopSize=hop, **values)
        out = []
        for frame in frames_of(samples, size, hop):
            starts, ends = algorithm(frame)[:2]
            out += [Candidate(float(a), max(float(a), float(b))) for a, b in zip(starts, ends)]
        return out

    return run


def discontinuities(samples: np.ndarray, rate: float, values: dict) -> list[Candidate]:
    size, hop = 512, 256
    algorithm = es.DiscontinuityDetector(frameSize=size, hopSize=hop, **values)
    out = []
    for index, frame in enumerate(frames_of(samples, size, hop)):
        places, sizes = algorithm(frame)
        out += [Candidate(*[(index * hop + float(p)) / rate] * 2, float(abs(s))) for p, s in zip(places, sizes)]
    return joined(out, 0.01)


def noise_bursts(samples: np.ndarray, rate: float, values: dict) -> list[Candidate]:
    size, hop = 512, 256
    algorithm = es.NoiseBurstDetector(**values)
    out = []
    for index, frame in enumerate(frames_of(samples, size, hop)):
        places = algorithm(frame)
        if len(places):
            at = (index * hop + float(places[0])) / rate
            out.append(Candidate(at, at, float(len(places))))
    return joined(out, 0.03)


def hums(samples: np.ndarray, rate: float, values: dict) -> list[Candidate]:
    _, _, saliences, starts, ends = es.HumDetector(sampleRate=rate, **values)(samples)
    return [Candidate(float(a), float(b), float(np.max(s))) for s, a, b in zip(saliences, starts, ends)]


ALGORITHMS: dict[str, Callable[[np.ndarray, float, dict], list[Candidate]]] = {
    "ClickDetector": by_times(es.ClickDetector, 512, 256),
    "SaturationDetector": by_times(es.SaturationDetector, 512, 256),
    "GapsDetector": by_times(es.GapsDetector, 2048, 1024),
    "DiscontinuityDetector": discontinuities,
    "NoiseBurstDetector": noise_bursts,
    "HumDetector": hums,
}
IMPULSES: Sequence[Setting] = [*CLICKS, *JUMPS, *BURSTS]


class EssentiaPeer(TunedPeer):
    name = "essentia"
    grid = {
        "click": IMPULSES,
        "mouth_click": IMPULSES,
        "pop": IMPULSES,
        "plosive": BURSTS,
        "tts_seam": IMPULSES,
        "codec_glitch": [*JUMPS, *BURSTS],
        "dropout": GAPS,
        "packet_loss": GAPS,
        "clipping": FLAT,
        "hum": HUM,
    }

    def candidates(self, take: Take, samples: np.ndarray, setting: Setting) -> list[Candidate]:
        run = ALGORITHMS[setting.algorithm]
        found = run(np.ascontiguousarray(samples, np.float32), float(take.sample_rate), dict(setting.values))
        # one event for marks next to each other: a clipped word is many flat tops
        return joined(found, 0.15 if setting.algorithm == "SaturationDetector" else 0.02)
