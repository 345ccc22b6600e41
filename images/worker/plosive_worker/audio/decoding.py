# A file -> its samples as a stream of float32 blocks, never whole in memory and never sized by what a header claims.
# WAV is read by ourselves, FLAC, Ogg and MP3 by libsndfile; ffmpeg (one demuxer, a few decoders, local files only) reads
# what libsndfile cannot. Called by extraction.py inside the sandboxed child.
import re
import resource
import shutil
import signal
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from ..failure import ItemFailure
from .header import MAX_HOURS, Header, check_facts, check_size
from .wav import wav_blocks

BLOCK_SAMPLES = 1 << 20  # of all channels together, at most 5 seconds
FFMPEG_BYTES = 256 << 20  # of private memory; a plain file needs a tenth of it
SUBTYPES = {"flac": "PCM_", "mp3": "MPEG_LAYER_", "vorbis": "VORBIS", "opus": "OPUS"}
# container -> (demuxer, decoders that may run)
FFMPEG = {
    "mov": ("mov", "aac,alac,mp3,mp3float"),
    "aac": ("aac", "aac"),
    "matroska": ("matroska", "opus,libopus,vorbis,aac"),
    "asf": ("asf", "wmav1,wmav2,wmapro"),
    "g722": ("g722", "g722"),
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


class WithoutTags:
    """A file from a place on, for libsndfile: it judges the same bytes as our own look at the header."""

    def __init__(self, path: Path, start: int):
        self.file, self.start = path.open("rb"), start
        self.seek(0)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset + (self.start if whence == 0 else 0), whence) - self.start

    def tell(self) -> int:
        return self.file.tell() - self.start

    def readinto(self, buffer) -> int:
        return self.file.readinto(buffer)


def plain(error: Exception) -> str:
    """libsndfile's words, where they tell something, without the name of our scratch file."""
    words = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")[:120]
    return "its data are damaged" if re.search("unknown|unspecified|internal|system", words, re.I) or not words else words


def block_frames(rate: int, channels: int) -> int:
    return min(5 * rate, BLOCK_SAMPLES // channels)


def open_with_libsndfile(path: Path, header: Header) -> Sound:
    file = soundfile.SoundFile(WithoutTags(path, header.start) if header.start else path)
    if not file.subtype.startswith(SUBTYPES[header.codec]):
        raise ItemFailure("unsupported_format", f"The {header.container} file holds another coding than {header.codec}")
    check_facts(file.samplerate, file.channels)
    rate, expected = file.samplerate, file.frames

    def blocks() -> Iterator[np.ndarray]:
        with file:
            while True:
                block = file.read(block_frames(rate, file.channels), dtype="float32", always_2d=True)
                if not len(block):
                    return
                yield block

    # a stream of unknown length claims nearly 2^63 samples
    return Sound(rate, file.channels, blocks(), expected if 0 < expected < 1 << 40 else None)


def ffmpeg_command(path: Path, container: str) -> list[str]:
    demuxer, decoders = FFMPEG[container]
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1", "-max_streams", "40"]
    command += ["-protocol_whitelist", "file,pipe", "-format_whitelist", demuxer, "-codec_whitelist", decoders]
    command += ["-f", demuxer, "-i", f"file:{path}", "-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"]
    return [*command, "-t", str(MAX_HOURS * 3600 + 1), "-fflags", "+bitexact", "-c:a", "pcm_f32le", "-f", "wav", "pipe:1"]


def why_ended(process: subprocess.Popen, what: str) -> ItemFailure:
    """ffmpeg has closed its output: the reason by its exit status."""
    status = process.wait()
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "Decoding was ended: it went over its limit of time or memory")
    if status < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-status).name})")
    return ItemFailure("corrupt_audio", what)


def limit_ffmpeg() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = FFMPEG_BYTES if most == resource.RLIM_INFINITY else min(most, FFMPEG_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def open_with_ffmpeg(path: Path, header: Header) -> Sound:
    if shutil.which("ffmpeg") is None:
        raise ItemFailure("unsupported_format", f"This worker cannot decode {header.container} files")
    process = subprocess.Popen(
        ffmpeg_command(path, header.container),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit_ffmpeg,
    )
    stream = process.stdout

    def read_exactly(size: int) -> bytes:
        data = stream.read(size)
        if len(data) < size:
            raise why_ended(process, "The file cannot be decoded: no sound came out of it")
        return data

    read_exactly(12)
    rate = channels = 0
    while True:  # the WAV that ffmpeg writes: chunks up to `data`
        name, size = struct.unpack("<4sI", read_exactly(8))
        if name == b"data":
            break
        body = read_exactly(min(size + size % 2, 1 << 16))
        if name == b"fmt ":
            channels, rate = struct.unpack_from("<HI", body, 2)
    check_facts(rate, channels)

    def blocks() -> Iterator[np.ndarray]:
        with stream:  # closed early, it ends ffmpeg too
            while data := stream.read(block_frames(rate, channels) * channels * 4):
                usable = len(data) // (4 * channels) * 4 * channels
                yield np.frombuffer(data[:usable], "<f4").reshape(-1, channels)
            if process.wait() != 0:
                raise why_ended(process, "The decoder stopped with an error before the end of the file")

    return Sound(rate, channels, blocks(), header.seconds and round(header.seconds * rate))


def guarded(sound: Sound, stored_bytes: int) -> Iterator[np.ndarray]:
    """The blocks under running limits: duration, decoded size against stored size, finite numbers, promised length."""
    seen, bad = 0, 0
    check_size((sound.expected or 0) / sound.rate, sound.rate, sound.channels, stored_bytes)
    try:
        for block in sound.blocks:
            seen += len(block)
            check_size(seen / sound.rate, sound.rate, sound.channels, stored_bytes)
            finite = np.isfinite(block)
            bad += block.size - int(finite.sum())
            if bad > 0.01 * seen * sound.channels + 1000:
                raise ItemFailure("corrupt_audio", "The samples are not numbers")
            yield np.clip(np.where(finite, block, 0), -16, 16)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise ItemFailure("corrupt_audio", f"Decoding stopped after {seen / sound.rate:.1f} s: {plain(error)}") from error
    if seen == 0:
        raise ItemFailure("empty_audio", "The file holds no sound")
    if sound.expected is not None and seen < 0.98 * sound.expected - sound.rate:
        promised = sound.expected / sound.rate
        raise ItemFailure("corrupt_audio", f"The file breaks off: {seen / sound.rate:.1f} s of {promised:.1f} s can be decoded")


def open_sound(path: Path, header: Header) -> Sound:
    """Raises ItemFailure when nothing can decode the file."""
    if header.wav is not None:
        wav = header.wav
        return Sound(wav.rate, wav.channels, wav_blocks(path, wav, block_frames(wav.rate, wav.channels)), wav.frames)
    if header.container not in ("flac", "mp3", "ogg"):
        return open_with_ffmpeg(path, header)
    try:
        return open_with_libsndfile(path, header)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        if header.container in FFMPEG and shutil.which("ffmpeg") is not None:
            return open_with_ffmpeg(path, header)
        raise ItemFailure("corrupt_audio", f"The {header.container} file cannot be opened: {plain(error)}") from error
