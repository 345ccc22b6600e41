# The third generator: sounds that are added to a take (this file) and damage to the take itself (third_damage.py).
# Its subject is the analogue world: grooves, contacts, mouths, air, mains, tape, lines. Called by sets.py.
#   click         damage of a groove: a short burst under a bell, coloured by the pick-up (Godsill & Rayner, Digital Audio
#                 Restoration, 1998: clicks last up to a few milliseconds)
#   mouth_click   moist surfaces part: a step of pressure excites the modes of the mouth between 1 and 8 kHz
#   pop           a switched contact: a step of voltage through coupling capacitors
#   plosive       an air jet on the membrane: turbulence, most of it under 200 Hz
#   breath        inhalation: noise through a vocal tract like that of a schwa, falling spectrum, weak peaks under 3 kHz
#                 (doi 10.1044/2023_JSLHR-23-00112)
#   hum           a rectifier's charging current: pulses at twice the mains frequency over the mains tone
import numpy as np
from scipy.signal import butter, iirpeak, lfilter, sosfilt
from voices.scene import NOWHERE, Mixer, Scene, Span, add, loudness, quiet_run, ramps

from .third_damage import clipping, codec_glitch, dropout, echo, packet_loss, robotic, tts_seam

SHORTEST_LABEL_S = 0.005


def at_peak(sound: np.ndarray, peak: float) -> np.ndarray:
    return sound * peak / (np.abs(sound).max() + 1e-12)


def modes(t: np.ndarray, centres_hz: np.ndarray, decays_s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Decaying modes of a cavity after a step of pressure, (T,); they begin within 0.2 ms."""
    rings = weights[:, None] * np.exp(-t / decays_s[:, None]) * np.sin(2 * np.pi * centres_hz[:, None] * t)
    return rings.sum(0) * np.minimum(1, t / 2e-4)


def click(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    burst = np.zeros(scene.seconds(0.003, 0.005))
    width = max(4, scene.seconds(0.0003, 0.0025))
    burst[:width] = rng.standard_normal(width) * np.hanning(width + 2)[1:-1]
    centre = rng.uniform(0.12, 0.42) * rate
    coloured = burst + rng.uniform(1, 3) * lfilter(*iirpeak(centre, rng.uniform(1.5, 5), fs=rate), burst)
    start, end = add(take, at, at_peak(coloured, scene.gain(5)))
    return start, min(len(take), max(end, start + int(SHORTEST_LABEL_S * rate)))


def mouth_click(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    t = np.arange(int(0.012 * rate)) / rate
    sound = np.zeros(int(0.045 * rate))
    starts = np.sort(rng.uniform(0, 0.03, rng.integers(1, 4)))
    for index, start in enumerate(starts - starts[0]):
        centres = np.array([rng.uniform(900, 1800), rng.uniform(2200, 3800), rng.uniform(4500, 7800)])
        weights = np.array([1, rng.uniform(0.4, 1.2), rng.uniform(0.2, 0.8)]) * (centres < 0.45 * rate)
        ring = modes(t, centres, rng.uniform(0.0008, 0.003, 3), weights) * (1 if index == 0 else rng.uniform(0.3, 1))
        first = int(start * rate)
        sound[first : first + len(t)] += ring
    last = int((starts[-1] - starts[0]) * rate) + len(t)
    return add(take, at, at_peak(sound[:last], scene.gain(-1)))


def pop(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    step = np.ones(scene.seconds(0.06, 0.15))
    for corner in rng.uniform(6, 30, 2):
        step = sosfilt(butter(1, corner, "highpass", fs=rate, output="sos"), step)
    step = sosfilt(butter(1, rng.uniform(700, 3000), fs=rate, output="sos"), step)
    step *= np.minimum(1, np.arange(len(step), 0, -1) / (0.01 * rate))
    return add(take, at, at_peak(step, rng.choice([-1, 1]) * scene.gain(4)))


def plosive(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = scene.seconds(0.06, 0.16)
    # Eddies: pressure falls steeply over the frequency at which they pass the membrane.
    eddies = sosfilt(butter(2, rng.uniform(60, 180), fs=rate, output="sos"), rng.standard_normal(length + rate // 10))[-length:]
    t = np.arange(length) / rate
    front = np.exp(-t / rng.uniform(0.01, 0.03)) * rng.choice([-1, 1])  # the mean pressure of the jet's front
    envelope = np.minimum(1, t / rng.uniform(0.002, 0.008)) * np.exp(-t / rng.uniform(0.02, 0.05))
    sound = (eddies / loudness(eddies) + front) * envelope * ramps(length, rate // 500)
    return add(take, at, at_peak(sound, scene.gain(8)))


def breath(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = quiet_run(take, at, scene, scene.seconds(0.25, 0.8))
    if length < 0.18 * rate:
        return NOWHERE
    sound = sosfilt(butter(1, rng.uniform(700, 1800), fs=rate, output="sos"), rng.standard_normal(length))
    for low, high in ((450, 800), (1250, 1750), (2300, 2900)):
        centre = rng.uniform(low, high)
        sound = sound + rng.uniform(0.5, 1.5) * lfilter(*iirpeak(centre, centre / rng.uniform(250, 450), fs=rate), sound)
    # Air flows in slowly and stops fast, when the voice begins.
    phase = np.linspace(0, 1, length) ** rng.uniform(1.2, 2.2)
    sound *= np.sin(np.pi * phase)
    return add(take, at, sound / loudness(sound) * scene.gain(-20))


def hum(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = min(scene.seconds(1.0, 4.0), len(take) - at)
    if length < rate // 2:
        return NOWHERE
    t = np.arange(length) / rate
    mains = rng.choice([50, 60]) * rng.uniform(0.998, 1.002)
    width, sound = rng.uniform(0.0006, 0.0016), rng.uniform(0.2, 1.2) * np.sin(2 * np.pi * mains * t)
    for k in range(1, int(min(2500, 0.45 * rate) / (2 * mains)) + 1):
        strength = np.exp(-((2 * np.pi * k * 2 * mains * width) ** 2) / 4)
        sound += strength * np.cos(2 * np.pi * k * 2 * mains * t + rng.uniform(-0.2, 0.2))
    sound *= 1 + 0.2 * np.sin(2 * np.pi * rng.uniform(0.1, 0.6) * t)  # the load changes
    sound *= ramps(length, rate // 40)
    return add(take, at, sound / loudness(sound) * scene.gain(-13))


# The mixer of each type, and how often its place is in speech.
ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.5), "mouth_click": (mouth_click, 0.2), "pop": (pop, 0.4), "plosive": (plosive, 0.9),
    "breath": (breath, 0.0), "hum": (hum, 0.5), "clipping": (clipping, 1.0), "dropout": (dropout, 1.0),
    "packet_loss": (packet_loss, 1.0), "codec_glitch": (codec_glitch, 1.0), "robotic": (robotic, 1.0), "echo": (echo, 1.0),
    "tts_seam": (tts_seam, 1.0),
}  # fmt: skip
