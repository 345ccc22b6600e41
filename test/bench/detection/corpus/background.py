# Generates background sounds: street and fan noise, a crowd, music. They contain no clicks or hum, so that the truth lists
# all artifacts. Called by sets.py through voices.takes.make_take.
import numpy as np
from scipy.signal import butter, lfilter, sosfilt


def at_ratio(sound: np.ndarray, voice: np.ndarray, ratio_db: float) -> np.ndarray:
    """`sound` so loud that the voice's loud parts lie `ratio_db` above it."""
    hop = 400
    frames = np.sqrt((voice[: len(voice) // hop * hop].reshape(-1, hop) ** 2).mean(1))
    return sound * np.percentile(frames, 80) / 10 ** (ratio_db / 20) / (sound.std() + 1e-9)


def glide(values: np.ndarray, step: int, length: int) -> np.ndarray:
    """From one value to the next every `step` samples, (length,)."""
    return np.interp(np.arange(length), np.arange(len(values)) * step, values)


def put(sound: np.ndarray, at: int, part: np.ndarray) -> None:
    sound[at : at + len(part)] += part[: len(sound) - at]


def noise(voice: np.ndarray, rate: int, rng: np.random.Generator) -> np.ndarray:
    """A fan, a street or a crowd, 8 to 22 dB under the voice."""
    length, kind = len(voice), rng.integers(3)
    white = rng.standard_normal(length)
    if kind == 0:  # air through a grille
        centre = rng.uniform(200, 900)
        whine = sosfilt(butter(1, [centre, 2 * centre], "bandpass", fs=rate, output="sos"), white)
        sound = lfilter([1], [1, -0.9], white) + 2 * whine
    elif kind == 1:  # passing cars: rumble that swells and goes
        swell = glide(rng.uniform(0.2, 1, length // (2 * rate) + 2), 2 * rate, length)
        sound = lfilter([1], [1, -0.97], white) * swell
    else:  # babble: speech-shaped noise in syllables of many people
        shaped = sosfilt(butter(2, [250, min(3400, 0.45 * rate)], "bandpass", fs=rate, output="sos"), white)
        step = rate // 5
        sound = np.zeros(length)
        for _ in range(8):
            syllables = glide(rng.random(length // step + 2) ** 2, step, length)
            sound += np.roll(shaped, int(rng.integers(length))) * syllables
    return at_ratio(sound, voice, rng.uniform(8, 22))


def music(voice: np.ndarray, rate: int, rng: np.random.Generator) -> np.ndarray:
    """Chords, a plucked melody and soft drums, 8 to 22 dB under the voice."""
    length = len(voice)
    beat = int(rate * 60 / rng.uniform(70, 130))
    root, sound = rng.uniform(110, 220), np.zeros(length + 4 * rate)
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12])
    for index, start in enumerate(range(0, length, beat)):
        if index % 4 == 0:
            degree = int(rng.choice([0, 3, 4, 5]))
            t = np.arange(4 * beat) / rate
            swell = np.minimum(1, np.minimum(t, t[::-1]) / 0.15)
            for note in (0, 2, 4):
                hz = root * 2 ** (scale[(degree + note) % 7] / 12)
                put(sound, start, 0.15 * swell * sum(np.sin(2 * np.pi * hz * k * t) / k**2 for k in (1, 2, 3)))
        if rng.random() < 0.7:
            put(sound, start, 0.4 * pluck(2 * root * 2 ** (rng.choice(scale) / 12), rate, rng))
        if rng.random() < 0.5:
            put(sound, start, 0.1 * brush(rate, rng))
    return at_ratio(sound[:length], voice, rng.uniform(8, 22))


def pluck(hz: float, rate: int, rng: np.random.Generator) -> np.ndarray:
    """A string: overtones that die the sooner the higher they are, 0.8 s."""
    t = np.arange(int(0.8 * rate)) / rate
    top = max(2, min(9, int(0.45 * rate / hz)))
    tones = [rng.uniform(0.5, 1) / k * np.exp(-t * (2 + 1.5 * k)) * np.sin(2 * np.pi * hz * k * t) for k in range(1, top)]
    return sum(tones) * np.minimum(1, t / 0.004)


def brush(rate: int, rng: np.random.Generator) -> np.ndarray:
    """A drum played softly, 0.2 s."""
    t = np.arange(rate // 5) / rate
    return rng.standard_normal(len(t)) * np.exp(-t / 0.04) * np.minimum(1, t / 0.01)
