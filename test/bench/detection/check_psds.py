# Compares our PSDS with psds_eval, the reference implementation, which only the benchmark's own environment has:
# `detection-venv/bin/python -m pytest test/bench/detection/check_psds.py`. Run by `make bench-detection`.
import numpy as np
import pandas as pd
import pytest
from bench.detection.metrics.psds import INSTABILITY, MOST_PER_HOUR, TOLERANCE, Judged, of_kind, psds, rates, thresholds
from bench.detection.types import Detection, Event
from psds_eval import PSDSEval

TYPES = ["hum", "echo", "robotic"]


def takes_of(seed: int) -> list[Judged]:
    """Twelve takes of a minute: most events are detected with random errors of their edges, and there are some false
    detections."""
    rng, takes = np.random.default_rng(seed), []
    for _ in range(12):
        events, found = [], []
        for kind in TYPES:
            for start in np.arange(2, 55, 9) + rng.uniform(0, 3, 6):
                end = start + rng.uniform(0.5, 4)
                if rng.random() < 0.6:
                    events.append(Event(kind, start, end))
                    if rng.random() < 0.85:
                        shaken = rng.normal(0, 0.25, 2)
                        found.append(Detection(kind, start + shaken[0], end + max(0.2, shaken[1]), rng.beta(4, 2)))
                elif rng.random() < 0.3:
                    found.append(Detection(kind, start, end, rng.beta(2, 4)))
        takes.append(Judged(events, found, 60.0))
    return takes


def frame(items: list[tuple[int, Event | Detection]]) -> pd.DataFrame:
    rows = [(f"{take}.wav", item.onset_s, item.offset_s, item.type) for take, item in items]
    return pd.DataFrame(rows, columns=["filename", "onset", "offset", "event_label"])


@pytest.mark.parametrize("seed", range(3))
def test_psds_equals_psds_eval(seed: int) -> None:
    takes = takes_of(seed)
    lengths = pd.DataFrame([(f"{i}.wav", take.duration_s) for i, take in enumerate(takes)], columns=["filename", "duration"])
    truth = frame([(i, event) for i, take in enumerate(takes) for event in take.events])
    reference = PSDSEval(
        dtc_threshold=TOLERANCE, gtc_threshold=TOLERANCE, cttc_threshold=0.3, ground_truth=truth, metadata=lengths
    )
    for threshold in thresholds(takes):
        detections = [(i, d) for i, take in enumerate(takes) for d in take.found if d.score >= threshold]
        reference.add_operating_point(frame(detections))
    # The reference fails with today's numpy if no point of the curve lies at its end.
    hours = sum(take.duration_s for take in takes) / 3600
    steps = [rates(of_kind(takes, kind), threshold, hours)[1] for kind in TYPES for threshold in thresholds(takes)]
    most = max(step for step in steps if step <= MOST_PER_HOUR)
    wanted = reference.psds(alpha_ct=0, alpha_st=INSTABILITY, max_efpr=most).value
    assert 0.1 < wanted < 0.95
    assert psds(takes, TYPES, most) == pytest.approx(wanted, abs=1e-6)
