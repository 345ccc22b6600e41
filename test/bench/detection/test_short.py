# The regression gate of detection: a small training and three small rows, compared with short.json.
import json
import os

import pytest
from bench.detection.short import LIMITS, faults, figures, measure

FORM = "whole" if os.environ.get("PLOSIVE_TRIALS") == "full" else "slice"
THEN = json.loads(LIMITS.read_text())[FORM]


@pytest.fixture(scope="module")
def now() -> dict[str, dict[str, float]]:
    return figures(measure(FORM))


@pytest.mark.parametrize("row", THEN)
def test_macro_f1_and_false_alarms_stay_within_their_margins(row: str, now: dict[str, dict[str, float]]) -> None:
    assert faults(now, {row: THEN[row]}) == []
