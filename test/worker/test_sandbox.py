# The sandbox of a decoder: limits, and the validation of all output, which a compromised decoder may have forged.
# test_jail.py tries to leave it.
import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from plosive_worker.audio import extraction, sandbox
from plosive_worker.audio.facts import WAVE
from plosive_worker.audio.sandbox import FRAMES, PEAKS, extract_safely, read_result
from plosive_worker.failure import ItemFailure
from plosive_worker.features.spec import DIMS, STATS

from worker.mutants import ffmpeg


def is_killed(status: str) -> bool:
    """Whether /proc/PID/status shows SIGKILL, which takes effect only when the process gets a processor, or the end."""
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    pending = int(fields.get("SigPnd", "0"), 16) | int(fields.get("ShdPnd", "0"), 16)
    return fields.get("State", "Z")[0] in "ZX" or bool(pending & 1 << signal.SIGKILL - 1)


def _status(process: Path) -> str:
    try:
        return (process / "status").read_text()
    except OSError:
        return ""  # it has ended


def left_processes(folder: Path) -> list[str]:
    """Command lines of processes that still use a file under `folder`, except those that have been killed."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in words and not is_killed(_status(entry.parent)):
            found.append(words)
    return found


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """A minute of noise in a folder of its own."""
    path = tmp_path / "noise.wav"
    soundfile.write(path, np.random.default_rng(1).uniform(-0.3, 0.3, 60 * 16_000), 16_000)
    return path


@pytest.mark.parametrize("name", ["long.wav", "long.m4a"])
def test_memory_beyond_the_limit_fails_the_file(tmp_path: Path, noise: Path, name: str) -> None:
    path = noise if name.endswith("wav") else tmp_path / name
    if path != noise:
        ffmpeg("-i", str(noise), "-c:a", "aac", str(path))
    with pytest.raises(ItemFailure) as failure:
        extract_safely(path, tmp_path, memory_bytes=60 << 20)
    assert failure.value.code in ("too_large", "decoder_limit", "decoder_crashed")


def test_child_processes_of_a_decoder_end_with_it(tmp_path: Path, noise: Path) -> None:
    path = tmp_path / "noise.m4a"
    ffmpeg("-stream_loop", "10", "-i", str(noise), "-c:a", "aac", str(path))
    with pytest.raises(ItemFailure, match="took longer"):
        extract_safely(path, tmp_path, wall_seconds=1)
    assert left_processes(path) == []


def test_a_stalled_decoder_is_stopped(tmp_path: Path) -> None:
    pipe = tmp_path / "audio"
    os.mkfifo(pipe)
    script = (
        "import sys; from pathlib import Path; from plosive_worker.audio import extraction;"
        "extraction.STALL_SECONDS = 0.5; extraction.alarm(True); Path(sys.argv[1]).read_bytes()"
    )
    done = subprocess.run([sys.executable, "-c", script, pipe], timeout=60)
    assert sandbox.exit_failure(done.returncode).message == "The decoder was stopped because it made no progress for 60 s"


FACTS = {"duration_ms": 1000, "sample_rate_hz": 16_000, "channels": 1, "codec": "pcm", "frames": 100}


def leave(folder: Path, outcome: object = None, rows: int = 100) -> None:
    """Writes the output of a valid child into its folder, with another outcome if one is given."""
    writer = extraction.FrameWriter(folder / FRAMES)
    writer.write(np.zeros((rows, DIMS), np.float16))
    writer.close()
    (folder / PEAKS).write_text("{}")
    text = outcome if isinstance(outcome, str) else json.dumps({"facts": FACTS} if outcome is None else outcome)
    (folder / extraction.OUTCOME).write_text(text)


def test_a_valid_result_is_accepted(tmp_path: Path) -> None:
    leave(tmp_path)
    assert read_result(tmp_path, 0).frames == 100


@pytest.mark.parametrize(
    "outcome",
    [
        "", "no json", "[" * 15_000, "7", "[]", "{}", "x" * 20_000,
        {"facts": []}, {"facts": {}}, {"facts": {**FACTS, "more": 1}}, {"facts": {**FACTS, "frames": "100"}},
        {"facts": {**FACTS, "frames": 99}}, {"facts": {**FACTS, "frames": 10**12}}, {"facts": {**FACTS, "duration_ms": -1}},
        {"facts": {**FACTS, "duration_ms": 10**15}}, {"facts": {**FACTS, "channels": True}},
        {"facts": {**FACTS, "sample_rate_hz": 1.5}}, {"facts": {**FACTS, "codec": "x" * 99}},
        {"facts": {**FACTS, "codec": "a\0"}}, {"facts": {**FACTS, "codec": 7}},
        '{"facts": {"duration_ms": 1000, "sample_rate_hz": 16000, "channels": 1, "codec": "pcm", "frames": ' + "9" * 4299 + "}}",
        {"error": None}, {"error": {"code": "x"}}, {"error": {"code": "A code", "message": "m"}},
        {"error": {"code": "corrupt_audio", "message": "\x1b[2J"}}, {"error": {"code": 7, "message": []}},
    ],
)  # fmt: skip
def test_a_forged_outcome_fails_only_its_own_file(tmp_path: Path, outcome: object) -> None:
    leave(tmp_path, outcome)
    with pytest.raises(ItemFailure) as failure:
        read_result(tmp_path, 0)
    assert failure.value.code == "decoder_crashed"


@pytest.mark.parametrize("size", [None, 0, 31_999, 32_000 * 2, 16_000])
def test_a_forged_waveform_fails_only_its_own_file(tmp_path: Path, size: int | None) -> None:
    leave(tmp_path)
    if size is not None:
        (tmp_path / WAVE).write_bytes(bytes(size))
    with pytest.raises(ItemFailure) as failure:
        read_result(tmp_path, 0, 16_000)
    assert failure.value.code == "decoder_crashed"
    (tmp_path / WAVE).write_bytes(bytes(32_000))
    assert read_result(tmp_path, 0, 16_000).frames == 100
    link_to_secret(tmp_path, WAVE)
    with pytest.raises(ItemFailure) as failure:
        read_result(tmp_path, 0, 16_000)
    assert failure.value.code == "decoder_crashed"


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def link_to_secret(folder: Path, name: str) -> None:
    (folder / "secret").write_bytes((folder / name).read_bytes())
    (folder / name).unlink()
    (folder / name).symlink_to(folder / "secret")


@pytest.mark.parametrize(
    "forge",
    [
        lambda folder: link_to_secret(folder, FRAMES),
        lambda folder: link_to_secret(folder, PEAKS),
        lambda folder: link_to_secret(folder, extraction.OUTCOME),
        lambda folder: (folder / PEAKS).write_bytes(bytes(5 << 20)),
        lambda folder: (folder / PEAKS).unlink(),
        lambda folder: os.truncate(folder / FRAMES, 1032 + 100 * DIMS * 2 + len(STATS) * DIMS * 4 - 1),
        lambda folder: (folder / FRAMES).open("r+b").write(struct.pack("<Q", 1 << 62)),
        lambda folder: leave(folder, None, 101),
        lambda folder: overwrite(folder / FRAMES, 1032 + 4242 * 2, struct.pack("<e", float("nan"))),
        lambda folder: overwrite(folder / FRAMES, 1032, struct.pack("<e", float("-inf"))),
        lambda folder: overwrite(folder / FRAMES, 1032 + 100 * DIMS * 2, struct.pack("<f", float("nan"))),
    ],
)
def test_forged_files_fail_only_their_own_file(tmp_path: Path, forge) -> None:
    leave(tmp_path)
    forge(tmp_path)
    with pytest.raises(ItemFailure) as failure:
        read_result(tmp_path, 0)
    assert failure.value.code == "decoder_crashed"
