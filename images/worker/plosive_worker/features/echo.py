# Feature group D: sound that repeats after 60 to 400 ms. The whitened autocorrelation of more than a second of speech
# is flat beyond the pitch lags; even a single reflection at -14 dB stands out. Called by block.py.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import irfft, rfft

from . import spec
from .spectrum import in_pairs

LONG_HOP, SHORT_HOP = 40, 20  # frames between two windows; values between them are interpolated
BAND_HZ = (60, 2900)
LOCAL_SECONDS = 0.12  # length of audio that is compared with the audio one echo lag earlier
WINDOWS_AT_ONCE = 16


def whitened(z: np.ndarray, starts: np.ndarray, window: int) -> np.ndarray:
    """Returns the autocorrelation of the whitened windows at `starts`, 1 at lag 0, (len(starts), window // 2 + 1)."""
    taper = np.hanning(window).astype(np.float32)
    hertz = np.arange(window // 2 + 1) * spec.REPEAT_RATE / window
    inside = ((hertz > BAND_HZ[0]) & (hertz < BAND_HZ[1])).astype(np.float32)
    views, parts = sliding_window_view(z, window), []
    for first in range(0, len(starts), WINDOWS_AT_ONCE):
        bins = rfft(views[starts[first : first + WINDOWS_AT_ONCE]] * taper, axis=1)
        power = bins.real**2
        power += bins.imag**2
        power += np.float32(1e-9)
        # The fourth root of the power whitens partly: exponent 1 would give the plain autocorrelation, exponent 0 a
        # single peak.
        np.sqrt(np.sqrt(power, out=power), out=power)
        power *= inside
        lags = irfft(power, window, axis=1)[:, : window // 2 + 1]
        parts.append(lags / lags[:, :1])
    return np.concatenate(parts)


def prominence(lags: np.ndarray, low_s: float, high_s: float) -> np.ndarray:
    """Returns the log ratio of the highest peak between two lags to the deviation there, (T,)."""
    part = lags[:, int(low_s * spec.REPEAT_RATE) : int(high_s * spec.REPEAT_RATE)]
    return np.log(np.maximum(part.max(1), 1e-6) / (part.std(1) + 1e-6))


def coherence(z: np.ndarray, starts: np.ndarray, lags: np.ndarray, size: int) -> np.ndarray:
    """Returns the normalized correlation of `size` samples from each start with those `lags` (T,) samples earlier,
    (T,)."""
    sharp = np.diff(z, prepend=z[:1])
    views = sliding_window_view(sharp, size)
    now, past = views[starts], views[starts - lags]
    energy = np.einsum("tn,tn->t", now, now) * np.einsum("tn,tn->t", past, past)
    return np.einsum("tn,tn->t", now, past) / np.sqrt(energy + 1e-12)


def every(z: np.ndarray, margin: int, frames: int, window: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the whitened autocorrelation every `step` frames, (W, lags), and the position of each frame among the
    windows, (T,)."""
    hop = spec.REPEAT_RATE // spec.FRAMES_PER_SECOND
    number = np.arange(-1, -(-frames // step) + 1)
    starts = margin + hop * step * number + hop * step // 2 - window // 2
    lags = whitened(z, np.clip(starts, 0, len(z) - window), window)
    return lags, (np.arange(frames) + 0.5) / step + 0.5


def echo_features(z: np.ndarray, margin: int, frames: int) -> dict[str, np.ndarray]:
    """Computes group D from the 6 kHz signal, values (T,)."""
    hop = spec.REPEAT_RATE // spec.FRAMES_PER_SECOND
    long, at_long = every(z, margin, frames, spec.ECHO_LONG, LONG_HOP)
    short, at_short = every(z, margin, frames, spec.ECHO_SHORT, SHORT_HOP)

    def along(values: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.interp(at, np.arange(len(values)), values).astype(np.float32)

    first = int(0.06 * spec.REPEAT_RATE)
    lag = first + long[:, first : int(0.41 * spec.REPEAT_RATE)].argmax(1)
    size = int(LOCAL_SECONDS * spec.REPEAT_RATE)
    at_pairs = at_long[:: spec.PAIR]
    starts = margin + spec.PAIR * hop * np.arange(len(at_pairs)) + hop - size // 2
    return {
        "echo_long": along(prominence(long, 0.06, 0.41), at_long),
        "echo_local": in_pairs(coherence(z, starts, lag[np.rint(at_pairs).astype(int)], size), frames),
        "echo_short": along(prominence(short, 0.06, 0.34), at_short),
        "steady_pitch": along(prominence(short, 0.004, 0.016), at_short),
        "steady_pitch_far": along(prominence(short, 0.016, 0.06), at_short),
    }
