# Checks a file before any native decoder reads it: its container and codec, its declared length, and whether it is
# accepted. The check finds the same format as the decoder: it skips leading tags exactly as libsndfile does, so that no
# other format can hide behind them (libsndfile before 1.2.3 has a heap overflow in IMA-ADPCM, CVE-2026-37555). Called
# by extraction.py.
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..failure import ItemFailure
from .containers import Track, asf_track, matroska_track, mp4_track
from .mpeg import find_run, is_mpeg_sync
from .wav import RIFF_WORDS, Wav, read_wav

HEAD_BYTES = 64 * 1024
MAX_TAGS = 16
MAX_FLAC_BITS = 24  # of a sample; the ffmpeg of Debian 12 (5.1) cannot decode more. src/uploads/audio-header/flac.ts has it too
MAX_HOURS = 12
MAX_RATIO = 2000  # decoded bytes (16 bit) per stored byte, after the first FREE_BYTES
FREE_BYTES = 64 << 20
RATES, CHANNELS = (8_000, 192_000), (1, 8)
ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
# Files that may contain MP3 frames but are not MP3 files: archives, videos, documents
FOREIGN = re.compile(rb"PK|Rar!|7z\xbc|RIFF|FORM|FLV|FWS|MZ|\x7fELF|\x1f\x8b|%|#|<|.{257}ustar", re.DOTALL)
MAX_FRAME_BYTES = 2881


@dataclass(frozen=True)
class Header:
    """What the file declares. A member is None if only the decoder can determine it."""

    container: str  # wav: wav.py; flac, ogg, mp3: libsndfile; mov, aac, matroska, asf, g722: ffmpeg
    codec: str
    rate: int | None = None
    channels: int | None = None
    seconds: float | None = None  # declared length
    start: int = 0  # bytes of tags before the audio
    bits: int | None = None  # of a sample of a FLAC file
    delay: int = 0  # samples of an MP4 file's encoder by which the times of its packets are late
    wav: Wav | None = None


def unsupported(what: str) -> ItemFailure:
    return ItemFailure("unsupported_format", f"{what}; send WAV (PCM or float), FLAC, MP3, Ogg Vorbis or Opus")


def wav_header(file: BinaryIO) -> Header:
    wav = read_wav(file)
    return Header("wav", wav.coding, wav.rate, wav.channels, wav.frames / wav.rate, wav=wav)


def flac_header(head: bytes, start: int) -> Header:
    if len(head) < 42 or head[4] & 0x7F != 0:
        raise ItemFailure("corrupt_audio", "The FLAC file does not begin with its stream information")
    packed = int.from_bytes(head[18:26], "big")
    rate, bits, frames = packed >> 44, (packed >> 36 & 31) + 1, packed & (1 << 36) - 1
    if bits > MAX_FLAC_BITS:
        what = f"FLAC with {bits} bits per sample is not supported; convert the file to {MAX_FLAC_BITS} bits"
        raise ItemFailure("unsupported_format", what)
    return Header("flac", "flac", rate, (packed >> 41 & 7) + 1, frames / rate if rate and frames else None, start, bits)


def ogg_header(head: bytes) -> Header:
    if len(head) < 28:
        raise ItemFailure("corrupt_audio", "The Ogg file ends within its first page")
    packet = head[27 + head[26] :]
    if packet.startswith(b"OpusHead") and len(packet) >= 16:
        return Header("ogg", "opus", 48_000, packet[9])
    if packet.startswith(b"\x01vorbis") and len(packet) >= 16:
        return Header("ogg", "vorbis", struct.unpack_from("<I", packet, 12)[0], packet[11])
    if packet.startswith(b"\x7fFLAC"):
        return Header("ogg", "flac")
    raise unsupported("The Ogg file contains neither Vorbis nor Opus nor FLAC")


def is_adts_sync(head: bytes) -> bool:
    return len(head) >= 7 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0 and head[2] >> 2 & 15 < 13


def after_tags(file: BinaryIO) -> int:
    """Returns the offset of the audio after ID3v2 tags. libsndfile and ffmpeg skip them in the same way."""
    at = 0
    for _ in range(MAX_TAGS):
        file.seek(at)
        tag = file.read(10)
        if len(tag) < 10 or tag[:3] != b"ID3":
            return at
        at += 10 + (tag[6] & 127) * 2**21 + (tag[7] & 127) * 2**14 + (tag[8] & 127) * 2**7 + (tag[9] & 127)
    raise ItemFailure("corrupt_audio", f"The file begins with more than {MAX_TAGS} tags")


def may_precede_mp3(prefix: bytes, tagged: bool) -> bool:
    """Whether MPEG frames after these bytes make an MP3. They do after zeros or the rest of a frame, as in a stream
    that was recorded from its middle on, and after a tag that is longer than it declares."""
    rest = prefix.lstrip(b"\0")
    return tagged or not rest or (len(rest) < MAX_FRAME_BYTES and not FOREIGN.match(prefix))


def with_track(container: str, track: Track) -> Header:
    return Header(container, track.codec, track.rate, track.channels, track.seconds, delay=track.delay)


def known_header(file: BinaryIO) -> Header | None:
    """Detects the format from the first bytes. Returns None if they match no container."""
    file.seek(0)
    head = file.read(16)
    if head[:4] in RIFF_WORDS and head[8:12] == b"WAVE":
        return wav_header(file)
    if head[4:8] == b"ftyp":
        return with_track("mov", mp4_track(file))
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return with_track("matroska", matroska_track(file))
    if head == ASF:
        return with_track("asf", asf_track(file))
    start = after_tags(file)
    file.seek(start)
    head = file.read(HEAD_BYTES)
    if head[:4] == b"fLaC":
        return flac_header(head, start)
    if head[:4] == b"OggS" and start == 0:
        return ogg_header(head)
    if is_mpeg_sync(head):
        return Header("mp3", "mp3", start=start)
    if is_adts_sync(head):
        return Header("aac", "aac", start=start)
    frames = find_run(file, start, start + len(head))
    if frames is not None and may_precede_mp3(head[: frames - start], start > 0):
        return Header("mp3", "mp3", start=frames)
    if start:
        raise ItemFailure("corrupt_audio", "No audio follows the tags at the beginning of the file")
    return None


def check_facts(rate: int, channels: int) -> None:
    """Raises ItemFailure if the sample rate or the number of channels is not supported."""
    if not RATES[0] <= rate <= RATES[1]:
        raise ItemFailure("unsupported_format", f"Sample rate {rate} Hz is outside {RATES[0]} to {RATES[1]} Hz")
    if not CHANNELS[0] <= channels <= CHANNELS[1]:
        raise ItemFailure("unsupported_format", f"The file has {channels} channels; 1 to {CHANNELS[1]} are supported")


def check_size(seconds: float, rate: int, channels: int, stored_bytes: int) -> None:
    """Raises ItemFailure if this amount of audio, declared or decoded, is over the limits."""
    if seconds > MAX_HOURS * 3600:
        raise ItemFailure("too_long", f"The audio is longer than {MAX_HOURS} hours")
    if seconds * rate * channels * 2 > FREE_BYTES + MAX_RATIO * stored_bytes:
        raise ItemFailure("decoder_bomb", f"Decoding would expand the file more than {MAX_RATIO} times")


def read_header(path: Path, filename: str = "") -> Header:
    """Reads the header. Raises ItemFailure with a reason for the user if the file is empty, unknown or not allowed.
    G.722 has no header: a file of no other format is G.722 if its upload name ends in .g722."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if not file.read(1):
            raise ItemFailure("empty_file", "The file is empty")
        header = known_header(file)
    if header is None and filename.lower().endswith(".g722"):
        header = Header("g722", "g722", 16_000, 1, size / 8000)
    if header is None:
        raise unsupported("The file is not a known audio format")
    if header.rate is not None and header.channels is not None:
        check_facts(header.rate, header.channels)
        check_size(header.seconds or 0.0, header.rate, header.channels, size)
    return header
