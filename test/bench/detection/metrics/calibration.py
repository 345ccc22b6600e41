# Expected calibration error: how far the scores of the detections are from the share of them that is right, in ten bins of
# equal width, each weighted by its detections. Called by judge.py.
import numpy as np

BINS = 10


def bins(scores: np.ndarray, right: np.ndarray) -> list[tuple[float, float, int]]:
    """(mean score, share that is right, detections) of each bin that is not empty."""
    which = np.minimum((scores * BINS).astype(int), BINS - 1)
    return [
        (float(scores[which == b].mean()), float(right[which == b].mean()), int((which == b).sum()))
        for b in range(BINS)
        if (which == b).any()
    ]


def ece(scores: np.ndarray, right: np.ndarray) -> float:
    if not len(scores):
        return 0.0
    return float(sum(abs(said - true) * size for said, true, size in bins(scores, right)) / len(scores))
