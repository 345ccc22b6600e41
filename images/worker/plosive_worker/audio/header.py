# Our own look at the first bytes, before any native decoder sees the file: which container and codec it is, and whether we
# let it in. libsndfile before 1.2.3 has a heap overflow in IMA-ADPCM (CVE-2026-37555), so only plain WAV codings pass.
# Called by extraction.py.
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..failure import ItemFailure

HEAD_BYTES = 64 * 1024
MAX_CHUNKS = 64
RATES, CHANNELS = (8_000, 192_000), (1, 8)
WAV_TAGS = {1: "pcm", 3: "float", 6: "alaw", 7: "mulaw"}
EXTENSIBLE = 0xFFFE
EXTENSIBLE_TAIL = bytes.fromhex("000000001000800000aa00389b71")
ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")


@dataclass(frozen=True)
class Header:
    """What the file says it is. `rate` and `channels` are None where only the decoder can tell."""

    container: str  # wav, flac, ogg, mp3: libsndfile; mov, aac, matroska, asf: ffmpeg
    codec: str
    rate: int | None = None
    channels: int | None = None


def unsupported(what: str) -> ItemFailure:
    return ItemFailure("unsupported_format", f"{what}; send WAV (PCM or float), FLAC, MP3, Ogg Vorbis or Opus")


def wav_header(head: bytes) -> Header:
    at = 12
    while at + 8 <= len(head):
        name, size = head[at : at + 4], struct.unpack_from("<I", head, at + 4)[0]
        if name == b"fmt ":
            if size < 16 or at + 8 + min(size, 40) > len(head):
                raise ItemFailure("corrupt_audio", "The WAV format chunk is cut off")
            tag, channels, rate = struct.unpack_from("<HHI", head, at + 8)
            if tag == EXTENSIBLE:
                if size < 40 or head[at + 34 : at + 48] != EXTENSIBLE_TAIL:
                    raise unsupported("The WAV file has an unknown extensible coding")
                tag = struct.unpack_from("<H", head, at + 32)[0]
            if tag not in WAV_TAGS:
                raise unsupported(f"WAV coding {tag:#06x} is not accepted")
            return Header("wav", WAV_TAGS[tag], rate, channels)
        at += 8 + size + size % 2
    raise ItemFailure("corrupt_audio", "The WAV file has no format chunk")


def flac_header(head: bytes) -> Header:
    if len(head) < 42 or head[4] & 0x7F != 0:
        raise ItemFailure("corrupt_audio", "The FLAC file does not begin with its stream information")
    packed = int.from_bytes(head[18:22], "big")
    return Header("flac", "flac", packed >> 12, (packed >> 9 & 7) + 1)


def ogg_header(head: bytes) -> Header:
    if len(head) < 28:
        raise ItemFailure("corrupt_audio", "The Ogg file is cut off in its first page")
    packet = head[27 + head[26] :]
    if packet.startswith(b"OpusHead") and len(packet) >= 16:
        return Header("ogg", "opus", 48_000, packet[9])
    if packet.startswith(b"\x01vorbis") and len(packet) >= 16:
        return Header("ogg", "vorbis", struct.unpack_from("<I", packet, 12)[0], packet[11])
    if packet.startswith(b"\x7fFLAC"):
        return Header("ogg", "flac")
    raise unsupported("The Ogg file holds neither Vorbis nor Opus")


def is_mpeg_sync(head: bytes) -> bool:
    return len(head) > 2 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 != 0 and head[1] & 0x18 != 0x08


def container_of(head: bytes) -> Header:
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return wav_header(head)
    if head[:4] == b"fLaC":
        return flac_header(head)
    if head[:4] == b"OggS":
        return ogg_header(head)
    if head[:3] == b"ID3" or is_mpeg_sync(head):
        return Header("mp3", "mp3")
    if head[4:8] == b"ftyp":
        return Header("mov", "aac")
    if len(head) > 2 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return Header("aac", "aac")
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return Header("matroska", "opus")
    if head[:16] == ASF:
        return Header("asf", "wma")
    raise unsupported("The file is not a known audio format")


def check_facts(rate: int, channels: int) -> None:
    """Raises ItemFailure when the rate or the number of channels is out of what we handle."""
    if not RATES[0] <= rate <= RATES[1]:
        raise ItemFailure("unsupported_format", f"Sample rate {rate} Hz is outside {RATES[0]} to {RATES[1]} Hz")
    if not CHANNELS[0] <= channels <= CHANNELS[1]:
        raise ItemFailure("unsupported_format", f"{channels} channels; 1 to {CHANNELS[1]} are handled")


def wav_head(file: BinaryIO, head: bytes) -> bytes:
    """`head` with the format chunk near its beginning: recorders put chunks of any size before it."""
    at = 12
    for _ in range(MAX_CHUNKS):
        file.seek(at)
        chunk = file.read(48)
        if len(chunk) < 8:
            break
        if chunk[:4] == b"fmt ":
            return head[:12] + chunk
        size = struct.unpack_from("<I", chunk, 4)[0]
        at += 8 + size + size % 2
    return head


def read_header(path: Path) -> Header:
    """Raises ItemFailure with a plain reason when the file is empty, unknown or not allowed."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if head[:4] in (b"RIFF", b"RF64"):
            head = wav_head(file, head)
    if not head:
        raise ItemFailure("empty_file", "The file has no bytes")
    header = container_of(head)
    if header.rate is not None and header.channels is not None:
        check_facts(header.rate, header.channels)
    return header
