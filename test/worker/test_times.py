# Sound in films and WebM is heard at the times of its packets: late starts and gaps become silence, within the limits.
from pathlib import Path

import numpy as np
import pytest
from plosive_worker.audio.decoding import guarded, open_sound
from plosive_worker.audio.header import read_header
from plosive_worker.failure import ItemFailure

from worker.mutants import ffmpeg


def tone(path: Path, seconds: float, *options: str) -> bytes:
    ffmpeg("-f", "lavfi", "-i", f"sine=440:duration={seconds}:sample_rate=16000", *options, str(path))
    return path.read_bytes()


def decoded(path: Path, data: bytes | None = None) -> tuple[np.ndarray, int]:
    if data is not None:
        path.write_bytes(data)
    sound = open_sound(path, read_header(path))
    return np.concatenate(list(guarded(sound, path.stat().st_size))), sound.rate


def seconds_of(path: Path, data: bytes | None = None) -> float:
    samples, rate = decoded(path, data)
    return len(samples) / rate


def heard_from(path: Path) -> float:
    samples, rate = decoded(path)
    return np.flatnonzero(np.abs(samples).max(1) > 1e-2)[0] / rate


def failure_of(path: Path, data: bytes | None = None) -> ItemFailure:
    with pytest.raises(ItemFailure) as failure:
        decoded(path, data)
    return failure.value


def video(path: Path, late: float, *codecs: str) -> None:
    picture = ["-f", "lavfi", "-i", f"testsrc=duration={late + 6}:size=64x64:rate=10"]
    ffmpeg(*picture, "-itsoffset", str(late), "-f", "lavfi", "-i", "sine=440:duration=6", *codecs, str(path))


@pytest.mark.parametrize("late", [3, 0.8])
def test_sound_that_begins_late_is_heard_when_it_begins(tmp_path: Path, late: float) -> None:
    video(tmp_path / "a.mp4", late, "-c:v", "mpeg4", "-c:a", "aac")
    video(tmp_path / "a.webm", late, "-c:v", "libvpx", "-c:a", "libopus")
    ffmpeg("-itsoffset", str(late), "-f", "lavfi", "-i", "sine=440:duration=6", "-c:a", "aac", str(tmp_path / "a.m4a"))
    for name in ("a.mp4", "a.webm", "a.m4a"):
        assert abs(heard_from(tmp_path / name) - late) < 0.02, name
        assert abs(seconds_of(tmp_path / name) - late - 6) < 0.05, name


def test_a_gap_in_time_is_silence(tmp_path: Path) -> None:
    tone(tmp_path / "a.webm", 10, "-af", "aselect='not(between(t,3,6))'", "-c:a", "libopus")
    samples, rate = decoded(tmp_path / "a.webm")
    silent = np.abs(samples[:, 0]) < 1e-4
    assert abs(len(samples) / rate - 10) < 0.05
    assert silent[int(3.1 * rate) : int(5.9 * rate)].all() and not silent[int(6.1 * rate) :].all()


@pytest.mark.parametrize(("gap", "code"), [(600, None), (20_000, "decoder_bomb"), (50_000, "too_long")])
@pytest.mark.parametrize("late", [False, True])
def test_the_silence_of_gaps_counts_against_the_limits(tmp_path: Path, gap: int, code: str | None, late: bool) -> None:
    begins = 0 if late else 3
    times = f"asetpts=PTS+gte(T\\,{begins})*{gap}/TB"
    # of unknown length, so that only the packets' times tell
    tone(tmp_path / "a.webm", 6, "-af", times, "-c:a", "libopus", "-live", "1")
    if code is None:
        assert abs(seconds_of(tmp_path / "a.webm") - gap - 6) < 0.05
    else:
        assert failure_of(tmp_path / "a.webm").code == code


def test_times_that_begin_anew_take_nothing_away(tmp_path: Path) -> None:
    joined = tone(tmp_path / "a.webm", 6, "-c:a", "libopus") + tone(tmp_path / "b.webm", 4, "-c:a", "libopus")
    assert abs(seconds_of(tmp_path / "ab.webm", joined) - 10) < 0.05
