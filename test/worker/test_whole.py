# A recording is decoded completely or fails, for any length in its header, and for files that were joined or cut.
import io
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from plosive_worker.audio.flac import parse_frame_header
from plosive_worker.audio.header import read_header
from plosive_worker.audio.wav import is_left_open

from worker.bombs import flac as silent_flac
from worker.bombs import opus as silent_opus
from worker.bombs import wav
from worker.mutants import ffmpeg
from worker.test_times import decoded, failure_of, seconds_of, tone

MP3 = ["-c:a", "libmp3lame", "-q:a", "4"]
BARE_MP3 = ["-c:a", "libmp3lame", "-b:a", "64k", "-write_xing", "0", "-id3v2_version", "0"]


def noise(path: Path, seconds: float, *options: str) -> bytes:
    ffmpeg("-f", "lavfi", "-i", f"anoisesrc=d={seconds}:a=0.3:seed=1:r=16000", *options, str(path))
    return path.read_bytes()


def with_count(mp3: bytes, change) -> bytes:
    """The MP3 with another frame count in its first frame."""
    at = max(mp3.find(b"Xing"), mp3.find(b"Info")) + 8
    return mp3[:at] + change(int.from_bytes(mp3[at : at + 4], "big")).to_bytes(4, "big") + mp3[at + 4 :]


def with_total(flac: bytes, change) -> bytes:
    """The FLAC with another number of samples in its header."""
    packed = int.from_bytes(flac[18:26], "big")
    total = packed & (1 << 36) - 1
    return flac[:18] + (packed - total + change(total)).to_bytes(8, "big") + flac[26:]


def test_joined_mp3_files_are_decoded_completely(tmp_path: Path) -> None:
    first, second = tone(tmp_path / "a.mp3", 4, *MP3), tone(tmp_path / "b.mp3", 6, "-ac", "2", "-ar", "44100", *MP3)
    tag = b"ID3\x03\0\0\0\x01\0\0" + np.random.default_rng(1).bytes(1 << 14)
    for joint in (b"", bytes(20_000), tag):
        assert abs(seconds_of(tmp_path / "ab.mp3", first + joint + second) - 10) < 0.15


def test_mp3_with_changing_channels_is_decoded_completely(tmp_path: Path) -> None:
    mono = tone(tmp_path / "a.mp3", 6, "-ar", "44100", "-ac", "1", *BARE_MP3)
    stereo = tone(tmp_path / "b.mp3", 1, "-ar", "44100", "-ac", "2", *BARE_MP3)
    for data in (mono + stereo, stereo + mono):
        assert abs(seconds_of(tmp_path / "ab.mp3", data) - 7) < 0.15


@pytest.mark.parametrize("change", [lambda n: n // 3, lambda n: 0, lambda n: 3 * n])
def test_a_wrong_frame_count_does_not_shorten_a_whole_mp3(tmp_path: Path, change) -> None:
    mp3 = tone(tmp_path / "a.mp3", 4, *MP3)
    samples, rate = decoded(tmp_path / "wrong.mp3", with_count(mp3, change))
    whole, _ = decoded(tmp_path / "a.mp3")
    assert abs(len(samples) - len(whole)) < 0.15 * rate
    assert np.abs(samples[: len(whole), 0] - whole[:, 0]).max() < 1e-3, "samples must have the same times as in the intact file"


def test_an_mp3_of_changing_bit_rate_without_count_is_decoded_completely(tmp_path: Path) -> None:
    noise(tmp_path / "a.wav", 5), tone(tmp_path / "b.wav", 5)
    both = ["-i", str(tmp_path / "a.wav"), "-i", str(tmp_path / "b.wav")]
    ffmpeg(*both, "-filter_complex", "concat=n=2:v=0:a=1", *MP3, "-write_xing", "0", str(tmp_path / "ab.mp3"))
    assert abs(seconds_of(tmp_path / "ab.mp3") - 10) < 0.15


@pytest.mark.parametrize("options", [MP3, BARE_MP3])
@pytest.mark.parametrize("tag", [b"TAG" + bytes(125), b"APETAGEX" + bytes(range(1, 240)) * 1000])
def test_tags_at_the_end_of_an_mp3_are_not_decoded(tmp_path: Path, options: list[str], tag: bytes) -> None:
    whole = seconds_of(tmp_path / "a.mp3", tone(tmp_path / "a.mp3", 6, *options))
    assert abs(seconds_of(tmp_path / "tagged.mp3", (tmp_path / "a.mp3").read_bytes() + tag) - whole) < 0.15


def test_a_truncated_mp3_fails_if_it_declares_its_length(tmp_path: Path) -> None:
    mp3 = tone(tmp_path / "a.mp3", 8, *MP3)
    assert "is truncated" in failure_of(tmp_path / "cut.mp3", mp3[: len(mp3) // 2 + 1]).message
    bare = tone(tmp_path / "b.mp3", 8, *BARE_MP3)
    assert abs(seconds_of(tmp_path / "cut.mp3", bare[: len(bare) // 2 + 1]) - 4) < 0.15


def test_an_mp3_that_starts_in_the_middle_of_a_frame_is_decoded(tmp_path: Path) -> None:
    mp3 = tone(tmp_path / "a.mp3", 6, *BARE_MP3)
    for data in (mp3[1000:], bytes(2000) + mp3, bytes(700) + mp3[1000:]):
        assert abs(seconds_of(tmp_path / "b.mp3", data) - 6) < 0.3
    short_tag = b"ID3\x03\0\0\0\0\x01\0" + np.random.default_rng(1).bytes(5000)
    assert abs(seconds_of(tmp_path / "b.mp3", short_tag + mp3) - 6) < 0.3


def test_other_files_are_not_taken_for_mp3(tmp_path: Path) -> None:
    mp3, packed, tape = tone(tmp_path / "a.mp3", 2, *BARE_MP3), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.mp3", mp3)
    with tarfile.open(fileobj=tape, mode="w") as archive:
        archive.add(tmp_path / "a.mp3", "a.mp3")
    pdf = b"%PDF-1.7\n1 0 obj <</Length 9>> stream\n" + mp3
    text = Path(__file__).read_bytes() * 9
    random = [b"\x01" + np.random.default_rng(seed).bytes(70_000) for seed in range(40)]
    far = b"\x01" * 60_000 + mp3
    for data in (packed.getvalue(), tape.getvalue(), pdf, text, bytes(70_000), far, *random):
        assert failure_of(tmp_path / "other", data).code == "unsupported_format"


@pytest.mark.parametrize("codec", ["libopus", "libvorbis", "flac"])
def test_joined_ogg_streams_are_decoded_completely(tmp_path: Path, codec: str) -> None:
    first = tone(tmp_path / "a.ogg", 4, "-ar", "48000", "-c:a", codec)
    second = tone(tmp_path / "b.ogg", 6, "-ar", "48000", "-c:a", codec)
    assert abs(seconds_of(tmp_path / "ab.ogg", first + second) - 10) < 0.15
    assert abs(seconds_of(tmp_path / "ab.ogg", first + b"junk" * 999 + second) - 10) < 0.15


def test_ogg_streams_of_different_kinds_fail(tmp_path: Path) -> None:
    first, second = tone(tmp_path / "a.ogg", 2, "-c:a", "libopus"), tone(tmp_path / "b.ogg", 2, "-c:a", "libvorbis")
    assert "joins" in failure_of(tmp_path / "ab.ogg", first + second).message


@pytest.mark.parametrize("change", [lambda n: 0, lambda n: n // 3])
def test_flac_of_unknown_or_wrong_length_is_decoded_completely(tmp_path: Path, change) -> None:
    flac = tone(tmp_path / "a.flac", 12)
    samples, _ = decoded(tmp_path / "open.flac", with_total(flac, change))
    assert np.array_equal(samples, decoded(tmp_path / "a.flac")[0])


def test_joined_or_broken_flac_files_fail(tmp_path: Path) -> None:
    flac = tone(tmp_path / "a.flac", 6)
    assert "Another FLAC file" in failure_of(tmp_path / "b.flac", flac + flac).message
    assert "of 12.0 s" in failure_of(tmp_path / "b.flac", with_total(flac, lambda n: 2 * n)).message


@pytest.mark.parametrize("lost", [1, 20])
def test_flac_without_frames_in_its_middle_fails_even_if_its_length_is_unknown(tmp_path: Path, lost: int) -> None:
    flac = with_total(noise(tmp_path / "a.flac", 12), lambda n: 0)
    syncs = (m.start() for m in re.finditer(rb"\xff\xf8[\x10-\xff]", flac))
    starts = [at for at in syncs if parse_frame_header(flac[at : at + 32])]
    assert len(starts) > 40
    assert "in the middle" in failure_of(tmp_path / "b.flac", flac[: starts[15]] + flac[starts[15 + lost] :]).message
    damaged = bytearray(flac)
    damaged[starts[15] + 4] ^= 1
    assert "in the middle" in failure_of(tmp_path / "c.flac", bytes(damaged)).message
    from_middle = flac[: starts[0]] + flac[starts[15] :]
    assert seconds_of(tmp_path / "d.flac", from_middle) == pytest.approx(12 - 15 * 12 / len(starts), abs=0.3)


@pytest.mark.parametrize("name", ["a.wav", "a.mp3", "a.opus", "a.flac"])
def test_content_takes_precedence_over_the_file_name(tmp_path: Path, name: str) -> None:
    tone(tmp_path / name, 3)
    header = read_header(tmp_path / name, "call.g722")
    assert header.container != "g722"
    noise = np.random.default_rng(1).integers(0, 255, 8000, np.uint8).tobytes()
    (tmp_path / "none").write_bytes(noise)
    assert read_header(tmp_path / "none", "call.g722").seconds == 1


def test_a_wav_has_its_declared_length_unless_it_is_a_placeholder(tmp_path: Path) -> None:
    path, rate, size_at = tmp_path / "a.wav", 16_000, 40
    soundfile.write(path, np.random.default_rng(1).uniform(-0.3, 0.3, 6 * rate), rate)
    wav = path.read_bytes()
    assert wav[36:40] == b"data"
    for size in (0, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF - 36):
        assert seconds_of(path, wav[:size_at] + size.to_bytes(4, "little") + wav[44:]) == 6
    for size in (len(wav) // 2 * 4, 10**9, 0x7FE00000):
        assert "is truncated" in failure_of(path, wav[:size_at] + size.to_bytes(4, "little") + wav[44:]).message
    assert "is truncated" in failure_of(path, wav[: len(wav) // 2]).message
    half = wav[:size_at] + (3 * rate * 2).to_bytes(4, "little") + wav[44:]
    for data in (half, wav + wav):
        assert "continues after" in failure_of(path, data).message
    for tail in (bytes(70_000), b"LIST" + (50_000).to_bytes(4, "little") + b"INFO" * 12_500):
        assert seconds_of(path, wav + tail) == 6


def chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + bytes(len(body) % 2)


def test_an_empty_take_is_empty_although_chunks_follow_its_data(tmp_path: Path) -> None:
    notes, name = chunk(b"LIST", b"INFOISFT\x04\0\0\0take"), chunk(b"iXML", b"<BWFXML/>")
    for tail in (notes, chunk(b"bext", bytes(40_000)) + notes, notes + name, name[:-1]):
        assert failure_of(tmp_path / "empty.wav", wav(body=tail, size=0)).code == "empty_audio"
    samples = np.random.default_rng(1).bytes(40_000)
    for body in (samples, notes + b"\x01\0", notes[:-2], notes + samples, chunk(b"data", samples), chunk(b"\0\0\x01\0", samples)):
        assert seconds_of(tmp_path / "live.wav", wav(body=body, size=0)) == len(body) / 32_000


def test_plausible_sizes_are_used() -> None:
    two_gib, four_gib = 1 << 31, 1 << 32
    assert not any(is_left_open(size, size) for size in (two_gib - 1, two_gib + 1, four_gib - 1))
    left_open = (0, two_gib - 1, two_gib - 4096, two_gib, four_gib - 1, four_gib - 37, 2**64 - 1)
    assert all(is_left_open(size, 10**9) for size in left_open)
    assert not any(is_left_open(size, 10**9) for size in (10**9 + 2, 2 * 10**9, 3 * 10**9))


def test_undeclared_audio_counts_against_the_limits(tmp_path: Path) -> None:
    silent_frame = b"\xff\xf3\x14\xc4" + bytes(20)
    days = silent_frame * (13 * 3600 * 1000 // 24)
    for data, code in (
        (silent_flac(192_000, 1000, 1200), "decoder_bomb"),
        (silent_opus(13_000) * 2, "decoder_bomb"),
        (days, "too_long"),
    ):
        assert failure_of(tmp_path / "bomb", data).code == code
