# Rooms: impulse responses of shoebox rooms by the image source method (Allen & Berkley, J. Acoust. Soc. Am. 65, 1979).
# Called by conditions.py.
import numpy as np
from scipy.signal import fftconvolve

SPEED = 343.0  # of sound, in m/s


def room_response(size: np.ndarray, source: np.ndarray, microphone: np.ndarray, absorption: np.ndarray, rate: int) -> np.ndarray:
    """The response (N,), the direct sound first with amplitude 1. `size`, `source`, `microphone` (3,) in metres;
    `absorption` (3, 2): the share of energy that each wall absorbs."""
    volume = size.prod()
    areas = np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
    decay_s = min(1.0, 0.161 * volume / (areas[:, None] * absorption).sum())  # Sabine
    reach = SPEED * decay_s * 0.7
    orders = [np.arange(-int(reach / (2 * edge)) - 1, int(reach / (2 * edge)) + 2) for edge in size]
    n = np.stack(np.meshgrid(*orders, indexing="ij"), -1).reshape(-1, 1, 3)
    mirrored = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), -1).reshape(1, -1, 3)
    images = (1 - 2 * mirrored) * source + 2 * n * size
    distance = np.sqrt(((images - microphone) ** 2).sum(-1))
    reflection = np.sqrt(1 - absorption)
    loss = np.prod(reflection[:, 0] ** np.abs(n - mirrored) * reflection[:, 1] ** np.abs(n), -1)
    direct = np.sqrt(((source - microphone) ** 2).sum())
    near = distance < reach
    place, strength = (distance[near] - direct) / SPEED * rate, (loss[near] / distance[near]) * direct
    out = np.zeros(int(place.max()) + 2)
    whole = place.astype(int)
    np.add.at(out, whole, strength * (1 - place + whole))  # a delay between two samples belongs to both
    np.add.at(out, whole + 1, strength * (place - whole))
    return out


def in_a_room(voice: np.ndarray, rate: int, rng: np.random.Generator) -> np.ndarray:
    """The voice in a random room: a booth to a hall, near or far from the microphone; as long and as loud as before, and
    not later."""
    size = rng.uniform((2.2, 2.5, 2.2), (9.0, 7.0, 3.6))
    microphone = size * rng.uniform(0.25, 0.75, 3)
    way = rng.standard_normal(3)
    source = microphone + way / np.linalg.norm(way) * rng.uniform(0.3, 2.0)
    source = np.clip(source, 0.15, size - 0.15)
    response = room_response(size, source, microphone, rng.uniform(0.08, 0.6, (3, 2)), rate)
    heard = fftconvolve(voice, response)[: len(voice)]
    return heard * np.abs(voice).max() / (np.abs(heard).max() + 1e-12)
