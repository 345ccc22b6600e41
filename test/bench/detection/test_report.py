# The report: the document contains every measured figure and names those that are missing, and the plots are XML.
from xml.etree import ElementTree

from bench.detection import ablation, plots, results
from bench.detection.goals import Scores
from bench.detection.metrics.events import Counts
from bench.detection.metrics.judge import Score
from bench.detection.report import render
from bench.detection.results import Part
from bench.detection.short import MARGIN, faults
from bench.detection.types import SEVERITIES, TYPES, Detection


def score(hits: int, types: tuple[str, ...] = TYPES) -> Score:
    counts = {kind: Counts(hits, 100 - hits, 100 - hits) for kind in types}
    recall, alarms = dict.fromkeys(SEVERITIES, 0.7), dict.fromkeys(types, 0.5)
    return Score(counts, hits / 100, 0.9, 0.4, 6.5, (4.0, 21.0), 0.03, 0.02, recall, alarms, [(0.5, 0.6, 9)])


def measured() -> tuple[Scores, list[Part]]:
    scores = {("plosive", 60, seed, "unseen"): score(80 + seed) for seed in (0, 2)}
    scores |= {("peer", 15, seed, "unseen"): score(75, ("click", "hum")) for seed in (0, 2)}
    spent = {"train_cpu": 600.0, "detect_cpu": 10.0, "detect_sound": 1500.0, "embed_cpu": 10.0, "embed_sound": 2500.0}
    parts = [Part("plosive", 60, seed, list(TYPES), {}, {}, {}, spent) for seed in (0, 2)]
    return scores, [*parts, Part("peer", 15, 0, ["click", "hum"], {}, {}, {}, {"detect_cpu": 3.0, "detect_sound": 600.0})]


def test_the_document_has_the_figures_and_names_missing_ones() -> None:
    text = render(*measured(), [], {})
    assert "| macro event-F1 after 60 min of training audio | >= 0.85 | 0.810 ± 0.014 | **missed** |" in text
    assert "| macro event-F1 after 5 min of training audio | >= 0.65 | not measured | not measured |" in text
    assert "| embed, one core, times real time | >= 200 | 250 ± 0 | met |" in text
    assert "| click | 0.81 ± 0.01 |" in text and "0.75 peer | +0.06 |" in text
    assert "nan" not in text
    timed = render(*measured(), [], {"embed": [190.0, 200.0], "detect": [160.0, 160.0]})
    assert "| embed, one core, times real time | >= 200 | 195 ± 7 | **missed** |" in timed


def test_plots_are_xml_and_deterministic() -> None:
    series = {"ours": [0.5, None, 1.0], "a <peer>": [0.1, 0.2, None]}
    drawn = plots.bars("F1 & more", ["click", "hum", "echo"], series)
    ElementTree.fromstring(drawn)
    assert drawn == plots.bars("F1 & more", ["click", "hum", "echo"], series)
    assert drawn.count("<rect") == 1 + 2 + 4
    ElementTree.fromstring(plots.reliability("Honest?", {"seed 0": [(0.1, 0.2, 3), (0.9, 0.8, 5)]}))


def test_results_are_read_as_they_were_written(tmp_path) -> None:
    found = {"unseen": {"take-1": [Detection("click", 1.2345, 1.25, 0.5)], "take-2": []}}
    part = Part("plosive", 5, 1, ["click"], {"click": 0.4}, found, {}, {"train_wall": 1.0}, {"x": [1]})
    results.write(tmp_path / "part.json.gz", part)
    assert results.read(tmp_path / "part.json.gz") == part
    assert [path.name for path in tmp_path.iterdir()] == ["part.json.gz"]


def test_the_short_form_fails_only_beyond_its_margin() -> None:
    then = {"short-unseen": {"macro_f1": 0.5, "false_per_hour": 100.0}}

    def wrong(f1: float, alarms: float) -> int:
        return len(faults({"short-unseen": {"macro_f1": f1, "false_per_hour": alarms}}, then))

    inside = (0.5 - MARGIN["macro_f1"] + 0.001, 100 + MARGIN["false_per_hour"] - 1)
    assert wrong(*inside) == 0 and wrong(0.9, 0) == 0
    assert wrong(inside[0] - 0.002, 0) == 1 and wrong(0.9, inside[1] + 2) == 1
    assert wrong(float("nan"), float("nan")) == 2


def test_each_change_of_the_ablation_finds_its_line() -> None:
    for variant in ablation.VARIANTS:
        if variant.file:
            text = (ablation.PACKAGE / "plosive_worker" / variant.file).read_text()
            assert text.count(variant.old) == 1, variant.title
