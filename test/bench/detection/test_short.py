# The regression gate of detection: a small training and three small rows, compared with short.json.
import json

import pytest
from bench.detection.short import LIMITS, faults, figures, measure

THEN = json.loads(LIMITS.read_text())


@pytest.fixture(scope="module")
def now() -> dict[str, dict[str, float]]:
    return figures(measure())


@pytest.mark.parametrize("row", THEN)
def test_detection_is_as_good_as_it_was(row: str, now: dict[str, dict[str, float]]) -> None:
    assert faults(now, {row: THEN[row]}) == []
