# Expected calibration error: the distance between the scores of detections and the share of correct ones, in ten bins
# of equal width, weighted by the detections of each bin. Called by judge.py.
import numpy as np

BINS = 10


def bins(scores: np.ndarray, right: np.ndarray) -> list[tuple[float, float, int]]:
    """(mean score, share of correct detections, number of detections) of each bin that is not empty."""
    which = np.minimum((scores * BINS).astype(int), BINS - 1)
    return [
        (float(scores[which == b].mean()), float(right[which == b].mean()), int((which == b).sum()))
        for b in range(BINS)
        if (which == b).any()
    ]


def ece(scores: np.ndarray, right: np.ndarray) -> float:
    if not len(scores):
        return 0.0
    return float(sum(abs(score - true) * size for score, true, size in bins(scores, right)) / len(scores))
