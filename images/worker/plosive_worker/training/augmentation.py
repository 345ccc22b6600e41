# Augments standardized features with the differences between rooms, microphones and codecs. Training has only the
# stored features, not the audio. Called by loop.py with its random generator, so that a resumed run draws the same
# numbers.
import numpy as np

from ..features import spec

LEVELS = np.flatnonzero(spec.IS_LEVEL)
MEL = slice(0, spec.MEL_BANDS)
# drawn once: new noise for every batch would take longer than the rest of this file
NOISE = 0.1 * np.random.default_rng(0).standard_normal(1 << 20, dtype=np.float32)
SAMPLES = spec.DIMS - len(spec.SAMPLE_FEATURES)
GROUPS = (MEL, slice(spec.MEL_BANDS, SAMPLES), slice(SAMPLES, spec.DIMS))

# columns that a microphone's bass response and the pitch of a voice shift together
BASS = np.array(
    [
        index
        for index, name in enumerate(spec.NAMES)
        if name.startswith("long_")
        or name in ("low_peak", "infrasound", "low_ratio")
        or name in [f"mel_{band:02d}" for band in range(6)]
    ]
)


def smooth_curve(rng: np.random.Generator, points: int, size: int) -> np.ndarray:
    """Returns a random equalizer curve, (size,)."""
    return np.interp(np.linspace(0, points - 1, size), np.arange(points), rng.standard_normal(points))


def augment(frames: np.ndarray, labels: list[np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Augments standardized frames (B, T, F) and labels [(B, T, K)...]: presence, onset, offset, weight. Returns new
    arrays."""
    frames = frames.copy()
    batch, time, dims = frames.shape
    groups = GROUPS if dims == spec.DIMS else (*GROUPS, slice(spec.DIMS, dims))  # the last group is a plug-in encoder's
    for b in range(batch):
        x = frames[b]
        x[:, LEVELS] += rng.normal(0, 0.25)  # level relative to the file's own
        x[:, MEL] += 0.25 * smooth_curve(rng, 5, spec.MEL_BANDS)
        x[:, BASS] += rng.normal(0, 0.5) + 0.3 * smooth_curve(rng, 4, len(BASS))
        if rng.random() < 0.2:  # band limit: the upper mel bands fall to their floor
            cut = int(rng.integers(24, spec.MEL_BANDS))
            x[:, cut : spec.MEL_BANDS] = x[:, cut : spec.MEL_BANDS].min(0)
        if rng.random() < 0.3:  # masks a band of mel bands
            low = int(rng.integers(0, spec.MEL_BANDS - 8))
            x[:, low : low + int(rng.integers(2, 9))] = 0
        if rng.random() < 0.1:  # masks a group of features
            x[:, groups[int(rng.integers(len(groups)))]] = 0
        if rng.random() < 0.5:  # raises the noise floor
            floor = rng.uniform(-2.5, -0.5)
            x[:, MEL] = np.maximum(x[:, MEL], floor)
    frames += rng.normal(0, 0.1, (batch, 1, frames.shape[2])).astype(np.float32)
    first = rng.integers(NOISE.size - frames.size if frames.size < NOISE.size else NOISE.size // 2)
    frames += np.resize(NOISE[first:], frames.size).reshape(frames.shape)
    if rng.random() < 0.7:  # mixup in pairs
        share = np.float32(rng.beta(0.3, 0.3))
        share = max(share, 1 - share)
        frames = share * frames + (1 - share) * frames[::-1]
        labels = [share * a + (1 - share) * a[::-1] for a in labels[:-1]] + [np.minimum(labels[-1], labels[-1][::-1])]
    return frames, labels
