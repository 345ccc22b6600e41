# The first generator: sounds that are added to a take (this file) and damage to the take itself (damage.py). Each mixer
# changes a stretch of a take in place and returns its span. Called by takes.py.
import numpy as np
from scipy.signal import butter, sosfilt

from .damage import clipping, codec_glitch, dropout, echo, packet_loss, robotic, tts_seam
from .scene import NOWHERE, Mixer, Scene, Span, add, quiet_run


def click(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A digital tick of a few samples or a short damped ring: 0.1 to 4 ms."""
    rng, sr, peak = scene.rng, scene.rate, scene.gain(6)
    if rng.random() < 0.5:
        sound = np.zeros(rng.integers(1, 6))
        sound[0] = peak * rng.choice([-1, 1])
        sound[1:] = -sound[0] * rng.uniform(0, 0.8, len(sound) - 1)
    else:
        t = np.arange(scene.seconds(0.001, 0.004)) / sr
        ring = np.cos(2 * np.pi * rng.uniform(1500, min(12_000, sr * 0.45)) * t)
        sound = peak * np.exp(-t * rng.uniform(1000, 3000)) * ring
    start, end = add(take, at, sound)
    return start, max(end, start + sr // 200)


def mouth_click(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Two to four small wet ticks within 60 ms, each a damped resonance between 1.2 and 4 kHz."""
    rng, end = scene.rng, at
    for _ in range(rng.integers(2, 5)):
        t = np.arange(scene.seconds(0.004, 0.010)) / scene.rate
        tone = np.exp(-t * rng.uniform(400, 900)) * np.sin(2 * np.pi * rng.uniform(1200, 4000) * t)
        start = end
        _, end = add(take, start, scene.gain(-2) * tone)
        end += scene.seconds(0.002, 0.012)
    return at, min(end, len(take))


def pop(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A plug or a switch: a ring of 90 to 500 Hz with a sudden onset that decays within 8 to 40 ms."""
    rng = scene.rng
    decay = rng.uniform(0.003, 0.012)
    t = np.arange(int(3.5 * decay * scene.rate)) / scene.rate
    sound = np.exp(-t / decay) * np.cos(2 * np.pi * rng.uniform(90, 500) * t + rng.uniform(0, 0.8))
    return add(take, at, scene.gain(6) * rng.choice([-1, 1]) * sound)


def plosive(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A breath blast on the microphone: a falling low tone and low-passed turbulence, 60 to 160 ms."""
    rng, sr = scene.rng, scene.rate
    t = np.arange(scene.seconds(0.06, 0.16)) / sr
    envelope = np.minimum(t / rng.uniform(0.004, 0.012), 1) * np.exp(-t * rng.uniform(18, 35))
    start_hz = rng.uniform(60, 140)
    phase = 2 * np.pi * (start_hz * t - start_hz * t**2 * rng.uniform(1, 3)) + rng.uniform(0, 6.28)
    wind = sosfilt(butter(2, rng.uniform(120, 300), fs=sr, output="sos"), rng.standard_normal(len(t)))
    sound = np.sin(phase) + rng.uniform(0.3, 1.0) * wind / (np.abs(wind).max() + 1e-9)
    return add(take, at, scene.gain(6) * envelope * sound)


def breath(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Air drawn in during a pause, 0.14 to 0.6 s: noise in three resonances that swells and stops."""
    rng, sr = scene.rng, scene.rate
    length = min(scene.seconds(0.2, 0.6), quiet_run(take, at, scene, scene.seconds(0.2, 0.7)))
    if length < 0.14 * sr:
        return NOWHERE
    noise, sound = rng.standard_normal(length), np.zeros(length)
    for centre in rng.uniform((450, 1300, 2600), (900, 2200, min(4500, sr * 0.4))):
        band = butter(2, [centre * 0.75, min(centre * 1.3, sr * 0.48)], "bandpass", fs=sr, output="sos")
        sound += rng.uniform(0.4, 1.0) * sosfilt(band, noise)
    x = np.linspace(0, 1, length)
    sound *= np.minimum(x / rng.uniform(0.3, 0.7), 1) ** rng.uniform(0.6, 1.4) * np.minimum((1 - x) / 0.15, 1)
    return add(take, at, scene.gain(0, ((-28, -22), (-22, -16), (-16, -10))) * sound / (sound.std() + 1e-9))


def hum(take: np.ndarray, at: int, scene: Scene) -> Span:
    """Mains hum of 50 or 60 Hz with falling harmonics, 0.8 to 4 s, faded in and out."""
    rng = scene.rng
    t = np.arange(scene.seconds(0.8, 4.0)) / scene.rate
    mains = rng.choice([50.0, 60.0]) + rng.uniform(-0.3, 0.3)
    tilt = rng.uniform(0.4, 1.4)
    sound = sum(rng.uniform(0.4, 1) * k**-tilt * np.sin(2 * np.pi * mains * k * t + rng.uniform(0, 6.28)) for k in range(1, 9))
    fade = np.minimum(1, np.minimum(t, t[::-1]) / rng.uniform(0.01, 0.08))
    return add(take, at, scene.gain(-12) * fade * sound)


# name -> (mixer, share of the events that begin in speech; the others begin in a pause)
ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.6), "mouth_click": (mouth_click, 0.4), "pop": (pop, 0.6), "plosive": (plosive, 0.7),
    "breath": (breath, 0.0), "hum": (hum, 0.5), "clipping": (clipping, 1.0), "dropout": (dropout, 1.0),
    "packet_loss": (packet_loss, 1.0), "codec_glitch": (codec_glitch, 1.0), "robotic": (robotic, 1.0), "echo": (echo, 1.0),
    "tts_seam": (tts_seam, 1.0),
}  # fmt: skip
