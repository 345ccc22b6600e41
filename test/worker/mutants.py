# Damaged uploads: valid files of every format, and random mutants of them. Used by test_fuzz.py. The number of a mutant
# alone determines its bytes, so that a failure can be reproduced.
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from voices.recordings import list_prompts

SEED = 20_261
SECONDS = "1.2"
# Name of the upload -> options of ffmpeg: all supported formats, in the variants whose structure differs.
FORMATS = {
    "pcm16.wav": ["-c:a", "pcm_s16le"],
    "pcm24.wav": ["-ac", "2", "-ar", "44100", "-c:a", "pcm_s24le"],
    "float.wav": ["-c:a", "pcm_f32le"],
    "alaw.wav": ["-ar", "8000", "-c:a", "pcm_alaw"],
    "long.wav": ["-rf64", "always", "-c:a", "pcm_s16le"],
    "mono.flac": [],
    "stereo.flac": ["-ac", "2", "-ar", "48000"],
    "vorbis.ogg": ["-c:a", "libvorbis"],
    "flac.ogg": ["-c:a", "flac"],
    "voice.opus": ["-c:a", "libopus"],
    "plain.mp3": ["-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0"],
    "tagged.mp3": ["-c:a", "libmp3lame", "-metadata", "title=A voice"],
    "aac.m4a": ["-c:a", "aac"],
    "fast.m4a": ["-c:a", "aac", "-ac", "2", "-ar", "44100", "-movflags", "+faststart"],
    "pieces.m4a": ["-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov"],
    "alac.m4a": ["-c:a", "alac"],
    "voice.aac": ["-c:a", "aac"],
    "opus.webm": ["-c:a", "libopus"],
    "vorbis.webm": ["-c:a", "libvorbis"],
    "voice.wma": ["-c:a", "wmav2"],
    "old.wma": ["-c:a", "wmav1"],
}
COVERED = ("cover.mp3", "cover.m4a")  # the same formats with a picture
EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
NAMES = (
    b"fmt ", b"data", b"ds64", b"LIST", b"moov", b"mvhd", b"tkhd", b"elst", b"mdhd", b"stsd", b"esds", b"stts", b"stsc", b"stsz",
    b"stco", b"trun", b"tfhd", b"mdat", b"alac", b"OpusHead", b"OpusTags", b"vorbis", b"fLaC", b"OggS", b"ID3", b"APIC", b"Xing",
    b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67", b"\x16\x54\xae\x6b", b"\x1f\x43\xb6\x75", b"\xa3", b"webm",
)  # fmt: skip


@dataclass(frozen=True)
class Upload:
    """Bytes and the name of their upload; `story` describes how they were made."""

    filename: str
    data: bytes
    story: str


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-loglevel", "error", *arguments], check=True)


def make_seeds(folder: Path) -> dict[str, bytes]:
    """A second of a real voice in each format."""
    prompt = next(p for p in list_prompts() if p.path.stat().st_size > 16_000)
    source = ["-t", SECONDS, "-f", "g722", "-i", str(prompt.path)]
    for name, options in FORMATS.items():
        ffmpeg(*source, *options, str(folder / name))
    picture = ["-f", "lavfi", "-i", "testsrc=size=64x64:duration=0.1", "-map", "0:a", "-map", "1:v", "-frames:v", "1"]
    for name in COVERED:
        ffmpeg(*source, *picture, "-c:v", "png", "-disposition:v", "attached_pic", str(folder / name))
    seeds = {name: (folder / name).read_bytes() for name in (*FORMATS, *COVERED)}
    return seeds | {"voice.g722": prompt.path.read_bytes()[:10_000]}


# --- damage: (random numbers, bytes, another file's bytes) -> bytes ------------------------------------------------------


def place(rng: np.random.Generator, size: int) -> int:
    """A random place in a file, in half of the cases near its beginning, where the headers are."""
    return int(rng.integers(0, max(1, size if rng.random() < 0.5 else min(size, 600))))


def flip_bits(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    for _ in range(int(rng.integers(1, 60))):
        data[place(rng, len(data))] ^= 1 << int(rng.integers(8))
    return data


def write_noise(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    at, size = place(rng, len(data)), int(rng.integers(1, 400))
    data[at : at + size] = rng.bytes(min(size, len(data) - at))
    return data


def write_constant(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    at, size = place(rng, len(data)), int(rng.integers(1, 4000))
    data[at : at + size] = bytes([int(rng.choice([0, 0xFF]))]) * min(size, len(data) - at)
    return data


def cut_end(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    return data[: place(rng, len(data))]


def cut_middle(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    at = place(rng, len(data))
    del data[at : at + int(rng.integers(1, 3000))]
    return data


def insert_noise(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    at = place(rng, len(data))
    data[at:at] = rng.bytes(int(rng.integers(1, 300)))
    return data


def repeat_stretch(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    at = place(rng, len(data))
    stretch = data[at : at + int(rng.integers(8, 2000))]
    data[at:at] = stretch * int(rng.integers(1, 40))
    return data


def forge_number(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    """Replaces a length, a count or a rate near a name that decoders look for with an extreme value."""
    known = [at for name in NAMES if (at := data.find(name)) >= 0]
    at = int(rng.choice(known)) + int(rng.integers(-8, 40)) if known and rng.random() < 0.7 else place(rng, len(data))
    at = max(0, min(at, len(data) - 8))
    size, order = int(rng.choice([1, 2, 4, 8])), str(rng.choice(["little", "big"]))
    value = int(rng.choice(EXTREMES)) & (1 << 8 * size) - 1
    data[at : at + size] = value.to_bytes(size, order)
    return data


def splice(rng: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    return data[: place(rng, len(data))] + other[place(rng, len(other)) :]


def put_in_front(rng: np.random.Generator, data: bytearray, other: bytes) -> bytearray:
    return bytearray(other[: int(rng.integers(4, 64))]) + data


def hide_behind_tag(rng: np.random.Generator, data: bytearray, _: bytes) -> bytearray:
    size = int(rng.integers(0, 200))
    told = size if rng.random() < 0.7 else int(rng.integers(0, 1 << 28))
    digits = bytes(told >> shift & 127 for shift in (21, 14, 7, 0))
    return bytearray(b"ID3" + bytes([int(rng.integers(2, 6)), 0, 0]) + digits + bytes(size)) + data


DAMAGE: tuple[Callable[[np.random.Generator, bytearray, bytes], bytearray], ...] = (
    flip_bits, write_noise, write_constant, cut_end, cut_middle, insert_noise, repeat_stretch, forge_number, forge_number,
    splice, put_in_front, hide_behind_tag,
)  # fmt: skip


def make_mutant(number: int, seeds: dict[str, bytes]) -> Upload:
    """One to three kinds of damage, one after the other."""
    rng, names = np.random.default_rng([SEED, number]), sorted(seeds)
    name = names[number % len(names)]
    data, done = bytearray(seeds[name]), []
    for _ in range(int(rng.integers(1, 4))):
        damage = DAMAGE[int(rng.integers(len(DAMAGE)))]
        if len(data) > 16:
            data = damage(rng, data, seeds[names[int(rng.integers(len(names)))]])
            done.append(damage.__name__)
    return Upload(name, bytes(data), f"{number}: {name}, {', '.join(done)}")
