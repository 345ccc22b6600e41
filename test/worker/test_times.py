# Sound in videos, WebM and Ogg is decoded at the times of its packets: late starts and gaps become silence, within the
# limits.
import struct
from pathlib import Path

import numpy as np
import pytest
from plosive_worker.audio.decoding import guarded, open_sound
from plosive_worker.audio.header import read_header
from plosive_worker.audio.sandbox import extract_safely
from plosive_worker.failure import ItemFailure

from worker.bombs import crc
from worker.mutants import ffmpeg

OGG = ["libopus", "libvorbis"]
CLICKS = "aevalsrc='0.8*lt(mod(t,1),0.01)*sin(2*PI*1000*t)':d={}:s=48000"  # one per second


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


def box(name: bytes, *inner: bytes) -> bytes:
    body = b"".join(inner)
    return struct.pack(">I", 8 + len(body)) + name + body


def tagged_by_itunes(data: bytes, delay: int) -> bytes:
    """An M4A file whose index is its last box, with a tag of iTunes for its encoder's delay."""
    at = data.rindex(b"moov") - 4
    assert at + struct.unpack_from(">I", data, at)[0] == len(data)
    text = f" 00000000 {delay:08X} 00000000 0000000000041000".encode() + 8 * b" 00000000"
    value = box(b"data", struct.pack(">II", 1, 0), text)
    tag = box(b"----", box(b"mean", bytes(4), b"com.apple.iTunes"), box(b"name", bytes(4), b"iTunSMPB"), value)
    meta = box(b"meta", bytes(4), box(b"hdlr", bytes(8), b"mdirappl", bytes(9)), box(b"ilst", tag))
    return data[:at] + box(b"moov", data[at + 8 :], box(b"udta", meta))


@pytest.mark.parametrize("delay", [1024, 2112, 3000])
@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_an_encoder_delay_in_the_tag_of_itunes_is_dropped_and_not_replaced_by_silence(
    tmp_path: Path, rate: int, delay: int
) -> None:
    ffmpeg("-f", "lavfi", "-i", CLICKS.format(6).replace("48000", str(rate)), "-c:a", "aac", str(tmp_path / "a.m4a"))
    data = (tmp_path / "a.m4a").read_bytes()
    heard = clicks_of(tmp_path / "b.m4a", tagged_by_itunes(data.replace(b"edts", b"free"), delay))
    # ffmpeg's encoder has a delay of 1024 samples; a longer one in the tag drops the first click
    first = 0 if delay == 1024 else 1
    assert len(heard) == 6 - first and np.abs(heard + (delay - 1024) / rate - np.arange(first, 6)).max() < 0.001


@pytest.mark.parametrize("late", [0, 0.07])
def test_a_start_that_is_a_little_late_by_its_edit_list_stays_late(tmp_path: Path, late: float) -> None:
    ffmpeg("-itsoffset", str(late), "-f", "lavfi", "-i", CLICKS.format(6), "-c:a", "aac", str(tmp_path / "a.m4a"))
    data = (tmp_path / "a.m4a").read_bytes()
    for each in (data, tagged_by_itunes(data, 1024)):
        heard = clicks_of(tmp_path / "b.m4a", each)
        assert np.abs(heard - late - np.arange(6)).max() < 0.002


@pytest.mark.parametrize("late", [3, 0.8])
def test_audio_that_starts_late_is_decoded_at_its_time(tmp_path: Path, late: float) -> None:
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
    # without a length, so that only the times of the packets show it
    tone(tmp_path / "a.webm", 6, "-af", times, "-c:a", "libopus", "-live", "1")
    if code is None:
        assert abs(seconds_of(tmp_path / "a.webm") - gap - 6) < 0.05
    else:
        assert failure_of(tmp_path / "a.webm").code == code


def test_restarting_timestamps_lose_no_audio(tmp_path: Path) -> None:
    joined = tone(tmp_path / "a.webm", 6, "-c:a", "libopus") + tone(tmp_path / "b.webm", 4, "-c:a", "libopus")
    assert abs(seconds_of(tmp_path / "ab.webm", joined) - 10) < 0.05


def clicking(path: Path, seconds: float, codec: str, page_ms: int, *options: str) -> tuple[bytes, list[bytes]]:
    """The header pages of an Ogg file, and its pages of sound."""
    coded = ["-c:a", codec, "-page_duration", str(page_ms * 1000), *options]
    ffmpeg("-f", "lavfi", "-i", CLICKS.format(seconds), *coded, str(path))
    pages = [b"OggS" + rest for rest in path.read_bytes().split(b"OggS")[1:]]
    sound = [page for page in pages if page[6:14] != bytes(8)]
    return b"".join(pages[: len(pages) - len(sound)]), sound


def clicks_of(path: Path, data: bytes) -> np.ndarray:
    samples, rate = decoded(path, data)
    loud = np.flatnonzero(np.abs(samples[:, 0]) > 0.3) / rate
    return loud[np.diff(loud, prepend=-1) > 0.1]


def moved(page: bytes, samples: int) -> bytes:
    page = page[:6] + struct.pack("<q", struct.unpack_from("<q", page, 6)[0] + samples) + page[14:22] + bytes(4) + page[26:]
    return page[:22] + struct.pack("<I", crc(page, 32, 0x04C11DB7)) + page[26:]


@pytest.mark.parametrize("page_ms", [20, 1000])
@pytest.mark.parametrize("codec", OGG)
def test_missing_ogg_pages_are_silence(tmp_path: Path, codec: str, page_ms: int) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 20.5, codec, page_ms)
    first, then = len(pages) // 3, len(pages) // 2
    heard = clicks_of(tmp_path / "b.ogg", head + b"".join(pages[:first] + pages[then:]))
    assert np.abs(heard - heard.round()).max() < 0.002, "samples must have the same times as in the intact file"
    assert set(heard.round()) >= {0, 1, 2, 3, 4, 5, 12, 13, 19, 20} and not set(heard.round()) & {8, 9}
    assert abs(seconds_of(tmp_path / "b.ogg") - 20.5) < 0.02


def test_untransmitted_silence_is_decoded_as_silence_in_opus(tmp_path: Path) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 20, "libopus", 20)
    for kept in (lambda i: i % 50 < 20, lambda i: i % 50 < 20 or i % 20 == 0, lambda i: i % 2 == 0 or i % 50 < 10):
        sent = [page for i, page in enumerate(pages[:-1]) if kept(i)]
        heard = clicks_of(tmp_path / "b.ogg", head + b"".join([*sent, pages[-1]]))
        assert len(heard) == 20 and np.abs(heard - np.arange(20)).max() < 0.002
        assert abs(seconds_of(tmp_path / "b.ogg") - 20) < 0.02, "the last page is a piece of its own"


@pytest.mark.parametrize("codec", OGG)
def test_an_excerpt_of_an_ogg_stream_starts_without_silence(tmp_path: Path, codec: str) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 20.5, codec, 100)
    middle = [moved(page, 48_000 * 36_000) for page in pages[len(pages) // 2 :]]
    assert abs(seconds_of(tmp_path / "b.ogg", head + b"".join(middle)) - 10.3) < 0.2
    holed = clicks_of(tmp_path / "b.ogg", head + b"".join(middle[:30] + middle[60:]))
    assert np.abs(np.diff(holed) - np.diff(holed).round()).max() < 0.002 and len(holed) < 9


@pytest.mark.parametrize(("gap", "code"), [(20_000, "decoder_bomb"), (50_000, "too_long")])
@pytest.mark.parametrize("codec", OGG)
def test_gaps_in_ogg_count_against_the_limits(tmp_path: Path, codec: str, gap: int, code: str) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 6, codec, 1000)
    far = [page if i < 3 else moved(page, gap * 48_000) for i, page in enumerate(pages)]
    assert failure_of(tmp_path / "b.ogg", head + b"".join(far)).code == code


@pytest.mark.parametrize("codec", OGG)
def test_each_of_many_joined_ogg_streams_starts_where_the_previous_one_ends(tmp_path: Path, codec: str) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 1, codec, 1000)
    heard = clicks_of(tmp_path / "b.ogg", (head + b"".join(pages)) * 40)
    assert len(heard) == 40 and np.abs(heard - np.arange(40)).max() < 0.002
    assert failure_of(tmp_path / "b.ogg", head * 3000).code == "empty_audio"


def test_joined_ogg_streams_keep_their_gaps(tmp_path: Path) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 10, "libopus", 20)
    link = head + b"".join(pages[:120] + pages[330:])
    heard = clicks_of(tmp_path / "b.ogg", link * 3)
    there = [at + second for at in (0, 10, 20) for second in (0, 1, 2, 7, 8, 9)]
    assert len(heard) == 18 and np.abs(heard - there).max() < 0.002


def test_opus_that_was_joined_page_by_page_is_decoded_completely(tmp_path: Path) -> None:
    clicking(tmp_path / "a.ogg", 3.7, "libopus", 1000)
    (tmp_path / "list").write_text("file a.ogg\n" * 3)
    ffmpeg("-f", "concat", "-i", str(tmp_path / "list"), "-c", "copy", str(tmp_path / "b.ogg"))
    assert abs(seconds_of(tmp_path / "b.ogg") - 3 * 3.7) < 0.1


def test_the_pre_skip_of_opus_may_be_longer_than_a_page(tmp_path: Path) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 3, "libopus", 20)
    first = head[: head.index(b"OggS", 4)]
    at = first.index(b"OpusHead") + 10
    skipped = moved(first[:at] + struct.pack("<H", 3840) + first[at + 2 :], 0)
    link = skipped + head[len(first) :] + b"".join(pages[:30])
    assert abs(seconds_of(tmp_path / "b.ogg", link * 60) - 60 * (0.6 - 0.08)) < 0.01


def test_many_short_pieces_need_no_more_memory_than_one(tmp_path: Path) -> None:
    head, pages = clicking(tmp_path / "a.ogg", 1, "libopus", 20, "-ac", "6")
    (tmp_path / "b.ogg").write_bytes((head + pages[0]) * 400)
    (tmp_path / "folder").mkdir()
    assert extract_safely(tmp_path / "b.ogg", tmp_path / "folder").channels == 6
