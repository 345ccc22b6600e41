# A second generator of the same artifact types, with other physics and other ranges. It tests that a detector does not
# depend on how artifacts.py synthesizes. The second half is second_damage.py. Called by takes.py on request.
import numpy as np
from scipy.signal import butter, lfilter, sosfilt

from .scene import NOWHERE, Mixer, Scene, Span, add, quiet_run
from .second_damage import clipping, codec_glitch, dropout, echo, packet_loss, robotic, tts_seam


def amplitude(scene: Scene, low: float, high: float) -> float:
    return scene.level * 10 ** (scene.third(low, high) / 20)


def click(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A scratch: a double spike, a decaying step, or a burst of noise of 1 to 8 ms."""
    rng, sr = scene.rng, scene.rate
    peak, kind = amplitude(scene, 4, 22), rng.integers(3)
    if kind == 0:
        sound = np.zeros(int(rng.uniform(0.001, 0.006) * sr) + 2)
        sound[0], sound[-1] = peak, -peak * rng.uniform(0.2, 1)
    elif kind == 1:
        sound = peak * np.exp(-np.arange(int(0.006 * sr)) / (rng.uniform(0.0005, 0.002) * sr))
    else:
        sound = peak / 2 * rng.standard_normal(int(rng.uniform(0.001, 0.008) * sr))
    return add(take, at, sound * rng.choice([-1, 1]))


def mouth_click(take: np.ndarray, at: int, scene: Scene) -> Span:
    """One to three smacks: band-passed noise of 3 to 15 ms around 1 to 5 kHz."""
    rng, sr, end = scene.rng, scene.rate, at
    for _ in range(rng.integers(1, 4)):
        centre = rng.uniform(1000, 5000)
        band = butter(2, [centre * 0.7, min(centre * 1.4, sr * 0.49)], "bandpass", fs=sr, output="sos")
        length = int(rng.uniform(0.003, 0.015) * sr)
        noise = sosfilt(band, rng.standard_normal(length + 200))[200:] * np.hanning(length)
        _, end = add(take, end, amplitude(scene, -6, 12) * noise / (np.abs(noise).max() + 1e-9))
        end += int(rng.uniform(0.005, 0.03) * sr)
    return at, min(end, len(take))


def pop(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A knock on the stand or a plug: one or two half waves of 1.5 to 8 ms, or a step that decays in 4 to 15 ms."""
    rng, sr = scene.rng, scene.rate
    if rng.random() < 0.5:
        sizes = rng.uniform(0.0015, 0.008, rng.integers(1, 3)) * sr
        waves = [sign * np.sin(np.pi * np.linspace(0, 1, int(n) + 2)) for sign, n in zip((1, -0.6), sizes)]
        sound = np.concatenate(waves)
    else:
        sound = np.exp(-np.arange(int(0.04 * sr)) / (rng.uniform(0.004, 0.015) * sr))
        sound = sosfilt(butter(1, min(2000, sr * 0.4), fs=sr, output="sos"), sound)
    return add(take, at, amplitude(scene, 2, 20) * rng.choice([-1, 1]) * sound)


def plosive(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A push of air: one to three uneven half waves of 8 to 25 ms with rumble, 30 to 250 ms."""
    rng, sr = scene.rng, scene.rate
    length = int(rng.uniform(0.03, 0.25) * sr)
    push = np.concatenate(
        [s * np.sin(np.pi * np.linspace(0, 1, int(rng.uniform(0.008, 0.025) * sr))) for s in rng.uniform(0.4, 1, 3) * [1, -1, 1]]
    )
    rumble = lfilter([0.02], [1, -0.98], rng.standard_normal(length)) * np.exp(-np.arange(length) / (0.3 * length))
    sound = rumble / (np.abs(rumble).max() + 1e-9) * rng.uniform(0.3, 1)
    sound[: min(length, len(push))] += push[:length]
    return add(take, at, amplitude(scene, 2, 20) * sound)


def breath(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A sigh or a gasp in a pause, 0.12 to 0.9 s: decaying noise whose timbre glides from bright to dark or back, with
    flutter."""
    rng, sr = scene.rng, scene.rate
    length = min(scene.seconds(0.15, 0.9), quiet_run(take, at, scene, sr))
    if length < 0.12 * sr:
        return NOWHERE
    noise = rng.standard_normal(length)
    bright = noise - lfilter([0.3], [1, -0.7], noise)
    dark = sosfilt(butter(2, [250, rng.uniform(900, 1800)], "bandpass", fs=sr, output="sos"), noise)
    x = np.linspace(0, 1, length)
    x = x if rng.random() < 0.5 else x[::-1]
    sound = x * bright / bright.std() * 0.5 + (1 - x) * dark / (dark.std() + 1e-9)
    flutter = 1 + rng.uniform(0, 0.4) * np.sin(2 * np.pi * rng.uniform(15, 35) * np.arange(length) / sr)
    envelope = np.minimum(1, np.arange(length) / (rng.uniform(0.02, 0.1) * sr)) * np.linspace(1, rng.uniform(0, 0.5), length)
    return add(take, at, amplitude(scene, -26, -8) * sound * flutter * envelope)


def hum(take: np.ndarray, at: int, scene: Scene) -> Span:
    """A buzz: rectified mains with few or many harmonics, 0.4 to 8 s, sometimes swelling."""
    rng = scene.rng
    t = np.arange(scene.seconds(0.4, 8.0)) / scene.rate
    wave = np.sin(2 * np.pi * rng.choice([50, 60]) * t + rng.uniform(0, 6))
    wave = rng.uniform(0, 1) * wave + rng.uniform(0, 1) * (np.abs(wave) - 0.64) + rng.uniform(0, 0.3) * np.sign(wave)
    swell = 1 + rng.uniform(0, 0.5) * np.sin(2 * np.pi * rng.uniform(0.3, 3) * t)
    return add(take, at, amplitude(scene, -22, 2) * wave * swell)


ARTIFACTS: dict[str, tuple[Mixer, float]] = {
    "click": (click, 0.5), "mouth_click": (mouth_click, 0.5), "pop": (pop, 0.5), "plosive": (plosive, 0.6),
    "breath": (breath, 0.0), "hum": (hum, 0.6), "clipping": (clipping, 1.0), "dropout": (dropout, 1.0),
    "packet_loss": (packet_loss, 1.0), "codec_glitch": (codec_glitch, 1.0), "robotic": (robotic, 1.0), "echo": (echo, 1.0),
    "tts_seam": (tts_seam, 1.0),
}  # fmt: skip
