# A file -> its samples as a stream of float32 blocks, never whole in memory and never sized by what a header claims.
# libsndfile first; ffmpeg (one demuxer, a few decoders, local files only) where libsndfile cannot. Called by extraction.py
# inside the sandboxed child.
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from ..failure import ItemFailure
from .header import Header, check_facts

BLOCK_SECONDS = 5
MAX_HOURS = 12
MAX_RATIO = 2000  # decoded bytes (16 bit) per stored byte, beyond the first FREE_BYTES
FREE_BYTES = 64 << 20
# container -> (demuxer, decoders that may run)
FFMPEG = {
    "mov": ("mov", "aac,alac,mp3,mp3float"),
    "aac": ("aac", "aac"),
    "matroska": ("matroska", "opus,libopus,vorbis,aac"),
    "asf": ("asf", "wmav1,wmav2,wmapro"),
    "mp3": ("mp3", "mp3,mp3float"),
    "ogg": ("ogg", "opus,libopus,vorbis,flac"),
}


@dataclass
class Sound:
    """An open decoder: samples come block by block, (n, C) float32 in about -1..1."""

    rate: int
    channels: int
    blocks: Iterator[np.ndarray]
    expected: int | None  # samples that the container promises, None when it does not


def open_with_libsndfile(path: Path) -> Sound:
    file = soundfile.SoundFile(path)
    check_facts(file.samplerate, file.channels)
    rate, expected = file.samplerate, file.frames

    def blocks() -> Iterator[np.ndarray]:
        with file:
            while True:
                block = file.read(rate * BLOCK_SECONDS, dtype="float32", always_2d=True)
                if not len(block):
                    return
                yield block

    # a stream of unknown length claims nearly 2^63 samples
    return Sound(rate, file.channels, blocks(), expected if 0 < expected < 1 << 40 else None)


def ffmpeg_command(path: Path, container: str) -> list[str]:
    demuxer, decoders = FFMPEG[container]
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1"]
    command += ["-protocol_whitelist", "file,pipe", "-format_whitelist", demuxer, "-codec_whitelist", decoders]
    command += ["-f", demuxer, "-i", f"file:{path}", "-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"]
    return [*command, "-t", str(MAX_HOURS * 3600 + 1), "-fflags", "+bitexact", "-c:a", "pcm_f32le", "-f", "wav", "pipe:1"]


def read_exactly(stream, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise ItemFailure("corrupt_audio", "The file cannot be decoded: no sound came out of it")
    return data


def open_with_ffmpeg(path: Path, container: str) -> Sound:
    if container not in FFMPEG or shutil.which("ffmpeg") is None:
        raise ItemFailure("unsupported_format", f"This worker cannot decode {container} files")
    process = subprocess.Popen(ffmpeg_command(path, container), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    stream = process.stdout
    read_exactly(stream, 12)
    rate = channels = 0
    while True:  # the WAV that ffmpeg writes: chunks up to `data`
        name, size = struct.unpack("<4sI", read_exactly(stream, 8))
        if name == b"data":
            break
        body = read_exactly(stream, min(size + size % 2, 1 << 16))
        if name == b"fmt ":
            channels, rate = struct.unpack_from("<HI", body, 2)
    check_facts(rate, channels)

    def blocks() -> Iterator[np.ndarray]:
        while data := stream.read(rate * BLOCK_SECONDS * channels * 4):
            usable = len(data) // (4 * channels) * 4 * channels
            yield np.frombuffer(data[:usable], "<f4").reshape(-1, channels)
        if process.wait() != 0:
            raise ItemFailure("corrupt_audio", "The decoder stopped with an error before the end of the file")

    return Sound(rate, channels, blocks(), None)


def guarded(sound: Sound, stored_bytes: int) -> Iterator[np.ndarray]:
    """The blocks under running limits: duration, decoded size against stored size, finite numbers, promised length."""
    seen, bad = 0, 0
    try:
        for block in sound.blocks:
            seen += len(block)
            if seen > sound.rate * 3600 * MAX_HOURS:
                raise ItemFailure("too_long", f"The audio is longer than {MAX_HOURS} hours")
            if seen * sound.channels * 2 > FREE_BYTES + MAX_RATIO * stored_bytes:
                raise ItemFailure("decoder_bomb", f"The file grows more than {MAX_RATIO} times when it is decoded")
            finite = np.isfinite(block)
            bad += block.size - int(finite.sum())
            if bad > 0.01 * seen * sound.channels + 1000:
                raise ItemFailure("corrupt_audio", "The samples are not numbers")
            yield np.clip(np.where(finite, block, 0), -16, 16)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise ItemFailure("corrupt_audio", f"Decoding stopped after {seen / sound.rate:.1f} s: {error}") from error
    if seen == 0:
        raise ItemFailure("empty_audio", "The file holds no sound")
    if sound.expected is not None and seen < 0.98 * sound.expected - sound.rate:
        promised = sound.expected / sound.rate
        raise ItemFailure("corrupt_audio", f"The file breaks off: {seen / sound.rate:.1f} s of {promised:.1f} s can be decoded")


def open_sound(path: Path, header: Header) -> Sound:
    """Raises ItemFailure when nothing can decode the file."""
    if header.container in ("mov", "aac", "matroska", "asf"):
        return open_with_ffmpeg(path, header.container)
    try:
        return open_with_libsndfile(path)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        if header.container in FFMPEG and shutil.which("ffmpeg") is not None:
            return open_with_ffmpeg(path, header.container)
        raise ItemFailure("corrupt_audio", f"The {header.container} file cannot be opened: {error}") from error
