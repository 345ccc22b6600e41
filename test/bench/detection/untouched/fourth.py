# The fourth generator: sounds that are added to a take (this file) and damage to the take itself (fourth_damage.py).
# Its subject is the digital world and the handling of equipment. It shares no sound with the third generator. Called by
# sets.py.
#   click         bit errors in one to three PCM words
#   mouth_click   bubbles of saliva burst: short tones that rise while the film opens, some of them in a row
#   pop           a knock on the stand: a mass on a spring, hit once or twice
#   plosive       a pressure wave with a front and an undershoot (Friedlander's equation) that the capsule's high-pass
#                 follows; the membrane is busy with it, so the voice is weaker meanwhile
#   breath        air through the nose: two broad bands of noise that flutter
#   hum           a dimmer that cuts the phase of the mains: an edge in each half wave
import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import butter, sosfilt
from voices.scene import NOWHERE, Mixer, Scene, Span, add, loudness, quiet_run, ramps

from .fourth_damage import clipping, codec_glitch, dropout, echo, packet_loss, robotic, tts_seam

WORD = 32_768


def click(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    bit = int(np.clip(np.round(np.log2(scene.gain(6) * WORD)), 7, 14))
    places = at + np.unique(rng.integers(0, max(2, rate // 1000), rng.integers(1, 4)))
    places = places[places < len(take)]
    if not len(places):
        return NOWHERE
    words = np.clip(np.round(take[places] * WORD), -WORD, WORD - 1).astype(np.int64)
    # The error is the difference of the words, so that the rounding of the others' samples does not count.
    take[places] += np.where((words >> bit) & 1, -1, 1) * (1 << bit) / WORD
    return int(places[0]), min(len(take), int(places[0]) + rate // 200)


def mouth_click(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    starts = np.sort(rng.uniform(0, rng.uniform(0.008, 0.045), rng.integers(2, 8)))
    starts -= starts[0]
    t = np.arange(int(0.006 * rate)) / rate
    sound = np.zeros(int(starts[-1] * rate) + len(t))
    for start in starts:
        low = rng.uniform(1100, min(5500, 0.3 * rate))
        rise, decay = rng.uniform(0.2, 0.8) * low / 0.003, rng.uniform(0.0006, 0.002)
        film = np.sin(2 * np.pi * (low * t + np.minimum(t, 0.003) ** 2 * rise / 2)) * np.exp(-t / decay)
        first = int(start * rate)
        sound[first : first + len(t)] += rng.lognormal(0, 0.5) * film * np.minimum(1, t / 1e-4)
    return add(take, at, sound / np.abs(sound).max() * scene.gain(-1))


def pop(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    force = np.zeros(scene.seconds(0.09, 0.16))
    for start, strength in ((0.0, 1.0), (rng.uniform(0.025, 0.05), rng.choice([0.0, rng.uniform(0.2, 0.5)]))):
        first, width = int(start * rate), scene.seconds(0.002, 0.007)
        force[first : first + width] += strength * np.sin(np.pi * np.arange(width) / width)
    hz, quality = rng.uniform(45, 140), rng.uniform(1, 4)
    t = np.arange(len(force)) / rate
    spring = np.exp(-np.pi * hz * t / quality) * np.sin(2 * np.pi * hz * t)
    sound = np.convolve(force, spring)[: len(force)] * np.minimum(1, np.arange(len(force), 0, -1) / (0.015 * rate))
    return add(take, at, sound / np.abs(sound).max() * rng.choice([-1, 1]) * scene.gain(5))


def plosive(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    wave = np.zeros(scene.seconds(0.08, 0.16))
    for start in (0.0, *rng.uniform(0.01, 0.05, rng.integers(0, 2))):
        t = np.arange(len(wave) - int(start * rate)) / rate
        lasts = rng.uniform(0.012, 0.035)
        wave[int(start * rate) :] += rng.uniform(0.5, 1) * (1 - t / lasts) * np.exp(-rng.uniform(1, 2) * t / lasts)
    wave = sosfilt(butter(1, rng.uniform(20, 45), "highpass", fs=rate, output="sos"), wave)
    wave = sosfilt(butter(2, rng.uniform(250, 700), fs=rate, output="sos"), wave)
    wave *= np.minimum(1, np.arange(len(wave), 0, -1) / (0.02 * rate))
    end = min(len(take), at + len(wave))
    wave = (wave / np.abs(wave).max())[: end - at]
    take[at:end] *= 1 - 0.5 * np.abs(wave)
    return add(take, at, wave * rng.choice([-1, 1]) * scene.gain(7))


def breath(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = quiet_run(take, at, scene, scene.seconds(0.22, 0.7))
    if length < 0.18 * rate:
        return NOWHERE
    white, sound = rng.standard_normal(length), np.zeros(length)
    for low, high, weight in ((700, 1500, 1.0), (2400, 5200, rng.uniform(0.3, 1.0))):
        centre = rng.uniform(low, high)
        edges = [0.7 * centre, min(1.4 * centre, 0.45 * rate)]
        sound += weight * sosfilt(butter(1, edges, "bandpass", fs=rate, output="sos"), white)
    flutter = gaussian_filter1d(rng.standard_normal(length), 0.01 * rate)
    sound *= np.clip(1 + 0.4 * flutter / (flutter.std() + 1e-12), 0.1, 2)
    sound *= ramps(length, int(rng.uniform(0.1, 0.35) * length))
    return add(take, at, sound / loudness(sound) * scene.gain(-20))


def hum(take: np.ndarray, at: int, scene: Scene) -> Span:
    rng, rate = scene.rng, scene.rate
    length = min(scene.seconds(1.0, 4.0), len(take) - at)
    if length < rate // 2:
        return NOWHERE
    half_waves = 2 * rng.choice([50, 60]) * rng.uniform(0.998, 1.002) * np.arange(length) / rate + rng.random()
    phase, sign = half_waves % 1, 1 - 2 * (half_waves.astype(int) % 2)
    angle = rng.uniform(0.2, 0.75)
    on = phase > angle
    voltage = np.where(on, np.sin(np.pi * phase), 0)
    edge = np.where(on, np.exp(-(phase - angle) / rng.uniform(0.02, 0.08)), 0)  # what the cable's inductance picks up
    sound = sign * (voltage + rng.uniform(0.3, 1.5) * edge)
    sound = sosfilt(butter(2, min(rng.uniform(1500, 4000), 0.4 * rate), fs=rate, output="sos"), sound)
    sound *= ramps(length, rate // 40)
    return add(take, at, sound / loudness(sound) * scene.gain(-13))


# The mixer of each type, and how often its place is in speech.
ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.5), "mouth_click": (mouth_click, 0.2), "pop": (pop, 0.4), "plosive": (plosive, 0.9),
    "breath": (breath, 0.0), "hum": (hum, 0.5), "clipping": (clipping, 1.0), "dropout": (dropout, 1.0),
    "packet_loss": (packet_loss, 1.0), "codec_glitch": (codec_glitch, 1.0), "robotic": (robotic, 1.0), "echo": (echo, 1.0),
    "tts_seam": (tts_seam, 1.0),
}  # fmt: skip
