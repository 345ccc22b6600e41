# The lapped transform of audio codecs (MDCT with a sine window), for effects that happen inside a codec. Called by
# third_damage.py and fourth_damage.py.
import numpy as np
from scipy.fft import dct


def mdct(x: np.ndarray, hop: int) -> np.ndarray:
    """Coefficients (frames, hop) of windows of 2 * hop samples, each hop samples after the last."""
    frames = np.lib.stride_tricks.sliding_window_view(x, 2 * hop)[::hop] * np.sin(np.pi * (np.arange(2 * hop) + 0.5) / (2 * hop))
    a, b, c, d = np.split(frames, 4, axis=1)
    return dct(np.concatenate((-c[:, ::-1] - d, a - b[:, ::-1]), 1), type=4, norm="ortho")


def imdct(coefficients: np.ndarray) -> np.ndarray:
    """The samples again, (hop * (frames + 1),); the first and the last hop are incomplete."""
    frames, hop = coefficients.shape
    folded = dct(coefficients, type=4, norm="ortho")
    right, left = np.split(folded, 2, axis=1)
    windows = np.concatenate((left, -left[:, ::-1], -right[:, ::-1], -right), 1)
    windows = windows * np.sin(np.pi * (np.arange(2 * hop) + 0.5) / (2 * hop))
    out = np.zeros(hop * (frames + 1))
    for index, window in enumerate(windows):
        out[index * hop : (index + 2) * hop] += window
    return out


def recoded(take: np.ndarray, at: int, length: int, hop: int, change) -> tuple[int, int]:
    """Passes the coefficients (frames, hop) of a stretch through `change`, in place; returns the stretch that can differ.
    Two frames before and after it stay as they are, so that the joints are seamless."""
    frames = max(1, length // hop)
    first, last = at - 2 * hop, at + (frames + 3) * hop
    if first < 0 or last > len(take):
        return 0, 0
    coefficients = mdct(take[first:last], hop)
    changed = coefficients.copy()
    changed[2 : 2 + frames] = change(coefficients[1], coefficients[2 : 2 + frames])
    take[at : at + (frames + 1) * hop] = imdct(changed)[2 * hop : (frames + 3) * hop]
    return at, at + (frames + 1) * hop
