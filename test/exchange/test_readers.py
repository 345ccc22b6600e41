# Independent readers of the golden files, which are our exports: they must read the values of marks.ts. Run by pytest
# with the workers' tests.
import csv
import json
from html import unescape
from pathlib import Path

import pytest
import webvtt

GOLDEN = Path(__file__).parent / "golden"
NAMES = [
    "plain.wav",
    "with, comma.wav",
    'with "quotes".wav',
    '"quoted from the start',
    "tab\tin it.wav",
    "line\nbreak.wav",
    "carriage\r\nreturn.wav",
    "=HYPERLINK(A1)",
    "+1.wav",
    "-1.wav",
    "@sum.wav",
    "\t=1+1",
    "'=already guarded",
    "'just an apostrophe",
    "\uff1dfull width",
    " spaces around ",
    "überlänge – 録音 🎙️.wav",
    "<b>&amp;</b> --> x",
    "semi;colon.wav",
    "\u2028line separator",
]
GUARDED = {7, 8, 9, 10, 11, 12, 14}
STARTS = [i * 3_723_001 for i in range(len(NAMES))]
ENDS = [start + (0 if i % 5 == 0 else 57 + i) for i, start in enumerate(STARTS)]
LABELS = ["click" if i % 2 == 0 else "mouth noise" for i in range(len(NAMES))]


def rows(name: str, dialect: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, dialect=dialect, strict=True))


def test_csv_has_every_name_time_and_label():
    found = rows("odd.csv", "excel")
    assert [row["filename"] for row in found] == ["'" + name if i in GUARDED else name for i, name in enumerate(NAMES)]
    assert [int(row["start_ms"]) for row in found] == STARTS
    assert [int(row["end_ms"]) for row in found] == ENDS
    assert [row["artifact_type"] for row in found] == LABELS
    extra = [json.loads(row["extra_data"]) if row["extra_data"] else {} for row in found]
    assert extra == [{} if i % 3 == 0 else {"note": name, "n": i} for i, name in enumerate(NAMES)]
    annotators = ["'" + name if i in GUARDED else name for i, name in enumerate(NAMES)]
    assert [row["annotator"] for row in found] == [name if i % 4 == 1 else "" for i, name in enumerate(annotators)]


def test_csv_ends_every_line_as_rfc_4180_requires():
    assert (GOLDEN / "odd.csv").read_bytes().endswith(b"\r\n")


def test_dcase_list_has_exact_names_and_seconds():
    found = rows("odd.tsv", "excel-tab")
    assert list(found[0]) == ["filename", "onset", "offset", "event_label"]
    assert [row["filename"] for row in found] == NAMES
    assert [round(float(row["onset"]) * 1000) for row in found] == STARTS
    assert [round(float(row["offset"]) * 1000) for row in found] == ENDS
    assert [row["event_label"] for row in found] == LABELS


def test_label_track_has_three_cells_per_line():
    lines = (GOLDEN / "odd.txt").read_text("utf-8").split("\n")
    assert lines.pop() == ""
    cells = [line.split("\t") for line in lines]
    assert [(round(float(a) * 1000), round(float(b) * 1000), label) for a, b, label in cells] == list(
        zip(STARTS, ENDS, LABELS, strict=True)
    )


def test_captions_have_times_and_labels_and_points_last_a_millisecond():
    found = webvtt.read(GOLDEN / "odd.vtt").captions
    assert [caption.identifier[-2:] for caption in found] == [f"{i:02}" for i in range(len(NAMES))]
    assert [unescape(caption.text) for caption in found] == LABELS
    assert [round(caption.start_in_seconds * 1000) for caption in found] == [s // 1000 * 1000 for s in STARTS]
    milliseconds = [(int(c.start[-3:]), int(c.end[-3:])) for c in found]
    assert milliseconds == [(s % 1000, max(e, s + 1) % 1000) for s, e in zip(STARTS, ENDS, strict=True)]


@pytest.mark.parametrize("i", range(len(NAMES)))
def test_label_tool_document_has_times_to_the_millisecond(i: int):
    task = json.loads((GOLDEN / "odd.json").read_text("utf-8"))["tasks"][i]
    (result,) = task["annotations"][0]["result"]
    assert task["data"]["filename"] == NAMES[i]
    assert result["value"] == {
        "start": STARTS[i] / 1000,
        "end": ENDS[i] / 1000,
        "channel": 0,
        "labels": [LABELS[i]],
    }
