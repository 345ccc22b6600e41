# Untrusted audio: every accepted format is decoded to its true length, any other file is one failed item with a clear
# reason, and no byte sequence crashes the worker.
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile
from plosive_worker.audio.decoding import guarded, open_sound
from plosive_worker.audio.extraction import WaveWriter, extract
from plosive_worker.audio.facts import open_outputs
from plosive_worker.audio.header import read_header
from plosive_worker.audio.sandbox import FRAMES, PEAKS, extract_safely
from plosive_worker.failure import ItemFailure
from plosive_worker.features.file import read_frames

SECONDS = 6


@pytest.fixture(scope="module")
def voice(voices: Path) -> tuple[np.ndarray, int]:
    samples, rate = soundfile.read(sorted((voices / "test").glob("*.wav"))[0], dtype="float32")
    return samples[: SECONDS * rate], rate


def samples_of(path: Path) -> tuple[np.ndarray, int]:
    sound = open_sound(path, read_header(path))
    return np.concatenate(list(guarded(sound, path.stat().st_size))), sound.rate


@pytest.mark.parametrize(
    ("suffix", "format", "subtype", "rate", "codec", "slack"),
    [
        ("wav", "WAV", "PCM_16", 16_000, "pcm", 0),
        ("wav", "WAV", "PCM_24", 44_100, "pcm", 0),
        ("wav", "WAV", "FLOAT", 48_000, "float", 0),
        ("wav", "WAV", "ALAW", 8_000, "alaw", 0),
        ("wav", "WAVEX", "PCM_16", 16_000, "pcm", 0),
        ("flac", "FLAC", "PCM_16", 22_050, "flac", 0),
        ("ogg", "OGG", "VORBIS", 16_000, "vorbis", 0),
        ("opus", "OGG", "OPUS", 16_000, "opus", 0),
        ("mp3", "MP3", "MPEG_LAYER_III", 16_000, "mp3", 4000),
    ],
)
def test_each_accepted_format_decodes_to_its_length(
    tmp_path: Path, voice, suffix: str, format: str, subtype: str, rate: int, codec: str, slack: int
) -> None:
    path = tmp_path / f"voice.{suffix}"
    length = SECONDS * rate
    t = np.linspace(0, len(voice[0]) - 1, length)
    resampled = np.interp(t, np.arange(len(voice[0])), voice[0]).astype(np.float32)
    soundfile.write(path, resampled, rate, subtype=subtype, format=format)
    assert read_header(path).codec == codec
    decoded, found_rate = samples_of(path)
    assert abs(len(decoded) / found_rate - SECONDS) <= slack / found_rate + 0.001
    facts = extract_safely(path, tmp_path)
    assert abs(facts.duration_ms - SECONDS * 1000) <= 300
    assert read_frames(tmp_path / FRAMES).frames.shape[0] == facts.frames
    assert (tmp_path / PEAKS).stat().st_size > 500


@pytest.mark.parametrize(("name", "codec"), [("voice.m4a", "aac"), ("voice.webm", "opus"), ("voice.aac", "aac")])
def test_ffmpeg_decodes_what_libsndfile_cannot(tmp_path: Path, voice, name: str, codec: str) -> None:
    wav, path = tmp_path / "voice.wav", tmp_path / name
    soundfile.write(wav, *voice)
    encoder = "libopus" if name.endswith("webm") else "aac"
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", wav, "-c:a", encoder, path], check=True)
    facts = extract_safely(path, tmp_path)
    assert facts.codec == codec
    assert abs(facts.duration_ms - SECONDS * 1000) < 150


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"hello, this is no audio at all" * 9, "unsupported_format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "unsupported_format"),
        (b"RIFF\xff\xff\xff\xffWAVE", "corrupt_audio"),
        (b"fLaC\0\0\0\x22" + bytes(34), "unsupported_format"),
        (b"OggS" + bytes(60), "unsupported_format"),
        (b"\xff\xfb\x90\x64" + bytes(2000), "corrupt_audio"),
        (b"ID3\x04\0\0\0\0\0\0" + bytes(500), "corrupt_audio"),
    ],
)
def test_a_file_without_audio_fails_with_a_clear_reason(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    with pytest.raises(ItemFailure) as failure:
        extract_safely(path, tmp_path)
    assert failure.value.code == code
    assert failure.value.message[0].isupper() and "Traceback" not in failure.value.message


@pytest.mark.parametrize("tag", [0x0002, 0x0011, 0x0031, 0x0050, 0x0161])
def test_wav_codings_with_dangerous_decoders_are_refused_by_the_header_alone(tmp_path: Path, tag: int) -> None:
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, 1, 16_000, 16_000, 512, 4)
    path = tmp_path / "adpcm.wav"
    path.write_bytes(
        b"RIFF" + struct.pack("<I", 4 + len(fmt) + 8 + 1024) + b"WAVE" + fmt + b"data" + struct.pack("<I", 1024) + bytes(1024)
    )
    with pytest.raises(ItemFailure, match="is not accepted"):
        read_header(path)


def test_an_extensible_wav_cannot_smuggle_adpcm(tmp_path: Path, voice) -> None:
    path = tmp_path / "x.wav"
    soundfile.write(path, *voice, format="WAVEX", subtype="PCM_16")
    data = bytearray(path.read_bytes())
    at = data.index(bytes.fromhex("0100000000001000800000aa00389b71"))
    data[at] = 0x11
    path.write_bytes(data)
    with pytest.raises(ItemFailure, match="0x0011"):
        read_header(path)


@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_float_samples_that_are_not_scaled_fail_and_isolated_loud_ones_are_clamped(tmp_path: Path, voice, subtype: str) -> None:
    path = tmp_path / "float.wav"
    for factor in (2**15, 2**31):
        soundfile.write(path, factor * voice[0], voice[1], subtype=subtype)
        with pytest.raises(ItemFailure, match="not between -1 and 1; scale them") as failure:
            samples_of(path)
        assert failure.value.code == "corrupt_audio"
    loud = 4 * voice[0]
    loud[: len(loud) // 1000] = 1000
    soundfile.write(path, loud, voice[1], subtype=subtype)
    assert np.array_equal(samples_of(path)[0][:, 0], np.clip(loud, -16, 16))
    loud[: len(loud) // 1000 + 11] = 1000
    soundfile.write(path, loud, voice[1], subtype=subtype)
    with pytest.raises(ItemFailure, match="scale them"):
        samples_of(path)


def first_third(tmp_path: Path, voice, suffix: str) -> Path:
    whole, cut = tmp_path / f"whole.{suffix}", tmp_path / f"cut.{suffix}"
    soundfile.write(whole, *voice)
    data = whole.read_bytes()
    cut.write_bytes(data[: len(data) // 3])
    return cut


def test_a_truncated_flac_fails_with_the_decoded_length(tmp_path: Path, voice) -> None:
    with pytest.raises(ItemFailure, match=r"after \d\.\d s of 6\.0 s") as failure:
        extract_safely(first_third(tmp_path, voice, "flac"), tmp_path)
    assert failure.value.code == "corrupt_audio"


def test_a_truncated_ogg_is_decoded_to_its_end_because_it_declares_no_length(tmp_path: Path, voice) -> None:
    facts = extract_safely(first_third(tmp_path, voice, "ogg"), tmp_path)
    assert 500 < facts.duration_ms < 0.6 * SECONDS * 1000


def endings_of(suffix: str, mutant: bytes, original: bytes) -> set[str]:
    """The permitted endings of a damaged and shortened file: its codec if it still has sound, or codes of failures."""
    if suffix == "mp3":  # no checksums: a decoder skips damaged frames; the frame count shows if too many are lost
        return {"mp3", "corrupt_audio"}
    if mutant[:4] != original[:4] or (suffix == "wav" and mutant[8:12] != b"WAVE"):
        return {"unsupported_format"}
    if suffix == "wav":
        # the header without the file size and the byte rate, which follow from the rest
        is_readable = all(mutant[part] == original[part] for part in (slice(12, 28), slice(32, 44)))
        return {"pcm"} if is_readable else {"corrupt_audio", "unsupported_format"}
    # every frame and every page has a checksum
    return {"corrupt_audio"} if suffix == "flac" else {"corrupt_audio", "empty_audio"}


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_mutated_files_are_decoded_or_fail_with_the_code_of_their_damage(tmp_path: Path, voice, suffix: str) -> None:
    rng = np.random.default_rng(5)
    path = tmp_path / f"voice.{suffix}"
    soundfile.write(path, voice[0][: 2 * voice[1]], voice[1])
    original = np.frombuffer(path.read_bytes(), np.uint8)
    outcomes = []
    for index in range(12):
        data = original.copy()
        places = rng.integers(0, 200 if index % 2 else len(data), 1 + index * 4)
        data[places] = rng.integers(0, 256, len(places))
        mutant = tmp_path / f"mutant-{index}.{suffix}"
        mutant.write_bytes(data[: rng.integers(len(data) // 2, len(data) + 1)].tobytes())
        try:
            facts = extract_safely(mutant, tmp_path, wall_seconds=20)
            outcomes.append(facts.codec)
            if suffix == "wav":
                assert facts.duration_ms == round((mutant.stat().st_size - 44) // 2 * 1000 / voice[1])
            else:
                assert 500 < facts.duration_ms < 2200
        except ItemFailure as failure:
            assert failure.message[0].isupper() and "Traceback" not in failure.message
            outcomes.append(failure.code)
        assert outcomes[-1] in endings_of(suffix, mutant.read_bytes(), original.tobytes()), f"mutant {index}"
    usual, least = {"wav": ("pcm", 5), "flac": ("corrupt_audio", 6), "ogg": ("corrupt_audio", 6), "mp3": ("mp3", 6)}[suffix]
    assert outcomes.count(usual) >= least, outcomes


def test_decoding_that_takes_too_long_is_stopped(tmp_path: Path, voice) -> None:
    path = tmp_path / "long.wav"
    soundfile.write(path, np.tile(voice[0], 200), voice[1])
    with pytest.raises(ItemFailure) as failure:
        extract_safely(path, tmp_path, wall_seconds=0.5)
    assert failure.value.code == "decoder_limit"


def test_memory_does_not_grow_with_the_length(tmp_path: Path, voice) -> None:
    def peak_mib(minutes: int) -> float:
        path = tmp_path / f"{minutes}.wav"
        with soundfile.SoundFile(path, "w", voice[1], 2, "PCM_16") as file:
            for _ in range(minutes * 60 // SECONDS):
                file.write(np.stack([voice[0], voice[0]], 1))
        script = (
            "import sys; from pathlib import Path; from plosive_worker.audio.extraction import extract;"
            "from plosive_worker.audio.facts import open_outputs; extract(Path(sys.argv[1]), open_outputs(Path(sys.argv[2])));"
            # Not ru_maxrss: a process inherits the peak of the process that started it, here one with torch loaded.
            "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1])"
        )
        import os
        import sys

        env = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "images" / "worker")}
        out = subprocess.run([sys.executable, "-c", script, path, tmp_path], check=True, capture_output=True, env=env)
        return int(out.stdout) / 1024

    short, long = peak_mib(2), peak_mib(10)
    assert long < 600
    # The 8 minutes more are 29 MiB of 16-bit samples.
    assert long - short < 26, f"{short:.0f} MiB for 2 minutes, {long:.0f} MiB for 10"


def test_peaks_follow_the_samples(tmp_path: Path) -> None:
    import json

    rate = 16_000
    samples = np.zeros((rate * 2, 2), np.float32)
    samples[rate, 1] = 0.9  # one spike on one channel, at one second
    soundfile.write(tmp_path / "spike.wav", samples, rate, subtype="FLOAT")
    extract(tmp_path / "spike.wav", open_outputs(tmp_path))
    peaks = json.loads((tmp_path / PEAKS).read_text())
    highs = np.array(peaks["data"][1::2])
    assert highs.argmax() * peaks["samples_per_pixel"] == rate
    assert highs.max() == int(0.9 * 128)


def test_the_encoder_waveform_keeps_channels_that_cancel_each_other_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    voice, other = rng.normal(0, 0.1, (2, 16_000)).astype(np.float32)

    def heard(*blocks: np.ndarray) -> np.ndarray:
        writer = WaveWriter(tmp_path / "wave", 16_000, 16_000)
        for block in blocks:
            writer.write(block)
        writer.close(blocks[0].shape[1])
        return np.fromfile(tmp_path / "wave", "<i2") / 32767

    inverted = np.stack([voice, -voice], 1)
    assert np.abs(heard(inverted, -0.9 * inverted) - np.concatenate([voice, -0.9 * voice])).max() < 1e-3
    assert np.abs(heard(np.stack([-0.5 * voice, voice], 1)) - voice).max() > 0.1, "channels that cancel in part give their mean"
    for plain in (np.stack([voice, other], 1), np.stack([voice] + [0 * voice] * 7, 1), voice[:, None], np.zeros((99, 2), "f4")):
        assert np.abs(heard(plain) - plain.mean(1)).max() < 1e-3


def test_an_mp3_that_is_read_block_by_block_has_no_seams(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    soundfile.write(path, 0.3 * np.sin(np.cumsum(np.linspace(0.01, 2, 12 * 16_000))), 16_000, format="MP3")
    whole, _ = soundfile.read(path, dtype="float32", always_2d=True)
    decoded = np.concatenate(list(guarded(open_sound(path, read_header(path, "a.mp3")), path.stat().st_size)))
    assert np.abs(decoded - whole).max() < 1e-6
