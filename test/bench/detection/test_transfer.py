# Transfer: class-agnostic figures and confusion, a few labels of another make, the parts of development and of a play, and
# the reports, on small cases with known answers.
from pathlib import Path

import numpy as np
import pytest
import soundfile
from bench.detection import transfer, transfer_report
from bench.detection.few_labels import chosen, few, without
from bench.detection.metrics.agnostic import MISSED, NOTHING, compare, one_per_place
from bench.detection.metrics.events import Counts
from bench.detection.results import Part
from bench.detection.transfer import Training, planned, trainings
from bench.detection.types import TYPES, Detection, Event, Take
from bench.detection.untouched.plays import Play
from bench.detection.untouched.sets import CLEAN_ROWS, TEST_ROWS

PLAY = Play("1.0.0", "a" * 40, "2026-01-01", "digest")
RATE = 8_000


def take(name: str, *events: Event, clean: bool = True) -> Take:
    return Take(name, "a", "en", RATE, Path("x.flac"), 360.0, events, Path("y.flac") if clean else None)


def test_an_event_with_a_wrong_name_is_found_and_confused() -> None:
    takes = [take("one", Event("click", 1, 1.01), Event("hum", 3, 5), Event("pop", 8, 8.1))]
    found = {"one": [Detection("pop", 1.02, 1.1, 0.9), Detection("hum", 3.1, 5, 0.8), Detection("echo", 20, 21, 0.7)]}
    counts, confusion = compare(takes, found)
    assert counts == Counts(2, 1, 1)
    assert confusion == {("click", "pop"): 1, ("hum", "hum"): 1, ("pop", MISSED): 1, (NOTHING, "echo"): 1}


def test_two_names_for_one_sound_count_once_and_the_likelier_one_stays() -> None:
    found = [Detection("click", 1, 1.01, 0.6), Detection("pop", 1.01, 1.1, 0.9), Detection("click", 1.2, 1.21, 0.5)]
    assert one_per_place(found) == found[1:]
    apart = [Detection("click", 1, 1.01, 0.6), Detection("hum", 0.5, 3, 0.9)]
    assert one_per_place(apart) == sorted(apart, key=lambda d: d.onset_s), "a click within a hum is a second sound"
    same_type = [Detection("click", 1, 1.01, 0.6), Detection("click", 1.03, 1.04, 0.9)]
    assert one_per_place(same_type) == same_type


def test_a_detection_with_the_right_name_keeps_its_event() -> None:
    takes = [take("one", Event("click", 1, 1.01), Event("pop", 1.04, 1.1))]
    found = {"one": [Detection("pop", 0.995, 1.1, 0.9), Detection("click", 1.048, 1.06, 0.8)]}
    _, confusion = compare(takes, found)
    assert confusion == {("click", "click"): 1, ("pop", "pop"): 1}


def events_of(counts: dict[str, int], start: float = 1.0) -> tuple[Event, ...]:
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    return tuple(Event(kind, start + 2 * i, start + 2 * i + 0.5) for i, kind in enumerate(kinds))


def test_a_few_labels_are_exactly_so_many_of_each_type() -> None:
    takes = [take("one", *events_of({"click": 3, "hum": 1})), take("two"), take("three", *events_of({"click": 4, "hum": 2}))]
    kept = [event for _, events in chosen(takes, 3, ("click", "hum")) for event in events]
    assert sorted(event.type for event in kept) == ["click"] * 3 + ["hum"] * 3
    with pytest.raises(ValueError, match="fewer than 4 events of hum"):
        chosen(takes, 4, ("click", "hum"))


def test_the_other_artifacts_of_a_few_labels_are_gone(tmp_path: Path) -> None:
    clean = 0.1 * np.sin(np.arange(8 * RATE) / 9)
    events = (Event("click", 1, 1.1), Event("click", 3, 3.5), Event("click", 5, 5.2))
    damaged = clean.copy()
    for event in events:
        damaged[int(event.onset_s * RATE) : int(event.offset_s * RATE)] += 0.3
    out = without(damaged, clean, RATE, events, events[1:2])
    changed = np.flatnonzero(out != clean) / RATE
    assert 2.9 < changed[0] <= 3.0 and 3.5 - 1 / RATE <= changed[-1] < 3.6
    for name, samples in (("mixed", damaged), ("clean", clean)):
        soundfile.write(tmp_path / f"{name}.wav", samples, RATE, subtype="FLOAT")
    whole = Take("t", "a", "en", RATE, tmp_path / "mixed.wav", 8.0, events, tmp_path / "clean.wav")
    made = few([whole], 2, ("click",), tmp_path)
    assert [event.onset_s for event in made[0].events] == [1, 3]
    written = soundfile.read(made[0].path)[0]
    assert np.allclose(written[4 * RATE + 2 :], clean[4 * RATE + 2 :], atol=1e-4), "the third click is gone"
    assert np.allclose(written[: 4 * RATE - 20], damaged[: 4 * RATE - 20], atol=1e-4)


def test_development_never_names_the_untouched_makes() -> None:
    names = [training.name for training in trainings(None)]
    assert names == ["A", "B", "B+5A", "B+20A", "A+5B", "A+20B"]
    assert not any(make in name for name in names for make in transfer.UNTOUCHED)
    for call in (transfer.made_for_training, lambda *args: transfer.few_of("D", 5, *args[1:])):
        with pytest.raises(ValueError, match="--play-untouched"):
            call("C", 0, None)


def test_a_play_trains_on_all_makes_and_adds_few_labels_to_the_longest_training() -> None:
    names = [training.name for training in trainings(PLAY)]
    assert names[:4] == ["A", "B", "C", "D"] and {"A+5C", "A+20C", "A+5D", "A+20D"} <= set(names)
    parts = planned((0, 1), (60, 15), PLAY)
    assert len(parts) == 2 * (len(names) + 4)
    assert {m for training, m, _ in parts if training.few} == {60}
    assert Training("A", 5, "C").name == "A+5C"


def part(name: str, minutes: int, seed: int, takes: dict[str, list[Take]]) -> Part:
    """Finds every second event, names clicks pops, and raises one false alarm of a breath in each clean take."""
    found, clean = {}, {}
    for row, listed in takes.items():
        found[row] = {
            t.id: [Detection("pop" if e.type == "click" else e.type, e.onset_s, e.offset_s, 0.9) for e in t.events[::2]]
            + ([] if t.clean else [Detection("breath", 5, 6, 0.9)])
            for t in listed
        }
        if twins := {f"{t.id}~clean": [Detection("breath", 5, 6, 0.9)] for t in listed if t.clean}:
            clean[row] = twins
    return Part(name, minutes, seed, list(TYPES), {}, found, clean)


def rows(play: Play | None) -> dict[str, list[Take]]:
    names = ["A", "B", *(row.name for rows in TEST_ROWS.values() for row in rows)] if play else ["A", "B"]
    made = {name: [take(f"{name}-1", *events_of({"click": 2, "hum": 2}))] for name in names}
    return made | ({row.name: [take(f"{row.name}-1", clean=False)] for row in CLEAN_ROWS} if play else {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(transfer_report, "FOLDER", tmp_path)
    return tmp_path


def test_the_report_of_development_has_the_pairs_and_their_confusion(folder: Path) -> None:
    takes = rows(None)
    parts = [part(t.name, m, seed, takes) for t, m, seed in planned((0, 1), (60, 15), None)]
    transfer_report.write_development(parts, {0: takes, 1: takes})
    text = (folder / "transfer.md").read_text()
    # hum: one of two found; click: one of two found under another name
    assert "| A | 0.333 ± 0.000 | 0.333 ± 0.000 |" in text
    assert "| A | 0.667 ± 0.000 | 0.667 ± 0.000 |" in text, "class-agnostic: two of four found"
    assert "| B | 10.0 ± 0.0 | 10.0 ± 0.0 |" in text, "one false event in 0.1 h"
    assert "| click | 4 | 0.00 | 0.50 | pop 2 |" in text
    assert "| A | B | 0.333 ± 0.000 | 0.333 ± 0.000 | 0.333 ± 0.000 |" in text
    assert "nan" not in text and "tested on C" not in text


def test_the_report_of_a_play_has_the_rows_and_the_figures_of_acceptance(folder: Path) -> None:
    takes = rows(PLAY)
    parts = [part(t.name, m, seed, takes) for t, m, seed in planned((0,), (60, 15), PLAY)]
    by_seed = {0: takes}
    transfer_report.write_untouched(parts, by_seed, PLAY)
    text = (folder / "untouched.md").read_text()
    assert "| C: noise, 15 dB | 0.333 | 0.333 |" in text and "| D | 0.333" in text
    assert "| Soft breaths | 10 | 10.0 | 10.0 | 10.0 | 10.0 | breath |" in text
    assert "nan" not in text
    figures = transfer_report.figures(parts, by_seed)
    assert figures["60 min: A on B, C, D"] == pytest.approx(0.333)
    assert figures["60 min: A + 20 labels on B, C, D"] == pytest.approx(0.333)
    assert figures["60 min: false alarms an hour, other make"] == pytest.approx(10)
    assert figures["15 min: same make"] == pytest.approx(0.333)
    assert "15 min: A + 20 labels on B, C, D" not in figures
    transfer_report.write_development(parts, by_seed)
    assert "tested on C" not in (folder / "transfer.md").read_text(), "the report of development shows nothing of a play"
