# Finds the first audio track of MP4, Matroska (WebM) and ASF (WMA) files and reads its codec and declared length,
# before ffmpeg parses the file. All loops are bounded, so forged sizes, cycles and nesting end with a readable reason.
# Called by header.py.
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..failure import ItemFailure

MAX_ELEMENTS = 4096
MAX_TRACKS = 32


@dataclass(frozen=True)
class Track:
    """A member is None if the container does not declare it, or if only the decoder can determine it."""

    codec: str
    rate: int | None
    channels: int | None
    seconds: float | None
    delay: int = 0  # samples of the encoder that the decoder drops, without moving the times of the others


def damaged(kind: str, why: str) -> ItemFailure:
    return ItemFailure("corrupt_audio", f"The {kind} file is damaged: {why}")


def unsupported_codec(kind: str, coding: str) -> ItemFailure:
    shown = "".join(c if c.isalnum() or c in "_/. -" else "?" for c in coding)[:24].strip()
    return ItemFailure("unsupported_format", f"The {kind} file contains audio with the codec {shown!r}, which is not accepted")


def no_audio_track(kind: str) -> ItemFailure:
    return ItemFailure("corrupt_audio", f"The {kind} file contains no audio track")


class Budget:
    """Limits how many elements of one file are read, whatever their nesting."""

    def __init__(self, kind: str, file: BinaryIO):
        self.kind, self.left, self.file = kind, MAX_ELEMENTS, file
        self.end = file.seek(0, 2)

    def read(self, at: int, size: int) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise damaged(self.kind, f"it has more than {MAX_ELEMENTS} elements before its audio")
        self.file.seek(at)
        return self.file.read(max(size, 0))  # size is negative if an element extends beyond its parent


# --- MP4: boxes of size and name
# ---------------------------------------------------------------------------------------

MP4_CODECS = {b"mp4a": "aac", b"alac": "alac", b".mp3": "mp3"}
MP4 = "MP4"
# the tag iTunSMPB: its text has the delay as the second hexadecimal number
ITUNES_DELAY, MAX_TAG_BYTES, MAX_DELAY = (
    re.compile(rb"iTunSMPB.{4}data.{8} *[0-9A-Fa-f]+ +([0-9A-Fa-f]{1,8})", re.S),
    1024,
    16_384,
)


def mp4_boxes(budget: Budget, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yields (name, first byte of the body, one past its last) of each box between two offsets."""
    while at + 8 <= end:
        head = budget.read(at, 16)
        size, name = struct.unpack_from(">I4s", head.ljust(8, b"\0"))
        body = at + 8
        if size == 1:
            size, body = struct.unpack_from(">Q", head.ljust(16, b"\0"), 8)[0], at + 16
        elif size == 0:
            size = end - at
        if size < body - at:
            raise damaged(MP4, "a box is smaller than its own header")
        yield name, body, min(end, at + size)
        at += size


def mp4_inside(budget: Budget, at: int, end: int, *names: bytes) -> tuple[int, int] | None:
    """Returns the body of the first box at a path of names, or None."""
    for name, first, last in mp4_boxes(budget, at, end):
        if name == names[0]:
            return (first, last) if len(names) == 1 else mp4_inside(budget, first, last, *names[1:])
    return None


def mp4_length(track_head: bytes) -> int:
    """Returns the duration in a track header of version 0 or 1; 0 if it is unknown."""
    kind, at = (">Q", 28) if track_head[:1] == b"\x01" else (">I", 20)
    value = struct.unpack_from(kind, track_head.ljust(40, b"\0"), at)[0]
    return 0 if value in (0xFFFFFFFF, (1 << 64) - 1) else value


def mp4_delay(budget: Budget, movie: tuple[int, int]) -> int:
    """Returns the samples of encoder delay in the tag of iTunes; 0 if there is none, or one that ffmpeg ignores."""
    for name, first, last in mp4_boxes(budget, *movie):
        meta = mp4_inside(budget, first, last, b"meta") if name == b"udta" else None
        tags = mp4_inside(budget, meta[0] + 4, meta[1], b"ilst") if meta else None
        for kind, begin, end in mp4_boxes(budget, *tags) if tags else ():
            if kind == b"----" and (found := ITUNES_DELAY.search(budget.read(begin, min(MAX_TAG_BYTES, end - begin)))):
                delay = int(found[1], 16)
                return delay if delay < MAX_DELAY else 0
    return 0


def mp4_sound(budget: Budget, scale: int, movie: tuple[int, int], first: int, last: int) -> Track | None:
    """Reads a `trak` box of the movie. Returns None if it is not an audio track."""
    media = mp4_inside(budget, first, last, b"mdia")
    handler = media and mp4_inside(budget, *media, b"hdlr")
    if media is None or handler is None or budget.read(handler[0] + 8, 4) != b"soun":
        return None
    table = mp4_inside(budget, *media, b"minf", b"stbl", b"stsd")
    entry = budget.read(table[0], 16) if table else b""
    if len(entry) < 16:
        raise damaged(MP4, "its audio track has no description")
    if entry[12:16] not in MP4_CODECS:
        raise unsupported_codec(MP4, entry[12:16].decode("latin1"))
    sizes = mp4_inside(budget, *media, b"minf", b"stbl", b"stsz")
    _, size, count = struct.unpack(">III", budget.read(sizes[0], 12).ljust(12, b"\0")) if sizes else (0, 0, 0)
    if count * (size or 4) > budget.end:  # one size for each sample, or one for all
        raise damaged(MP4, "its index lists more audio than the file contains")
    # the duration in tkhd, not the one in mdhd: parts that an edit list removes are not played
    head = mp4_inside(budget, first, last, b"tkhd")
    length = mp4_length(budget.read(head[0], 40)) if head else 0
    delay = 0 if mp4_inside(budget, first, last, b"edts") else mp4_delay(budget, movie)  # an edit list moves the times itself
    return Track(MP4_CODECS[entry[12:16]], None, None, length / scale if length and scale else None, delay)


def mp4_track(file: BinaryIO) -> Track:
    budget, tracks = Budget(MP4, file), 0
    movie = mp4_inside(budget, 0, budget.end, b"moov")
    if movie is None:
        raise damaged(MP4, "its index (moov) is missing, for example because the upload was incomplete")
    head = mp4_inside(budget, *movie, b"mvhd")
    # the time scale has 32 bits in both versions of the header
    body = budget.read(head[0], 24) if head else b""
    scale = struct.unpack_from(">I", body.ljust(24, b"\0"), 20 if body[:1] == b"\x01" else 12)[0]
    for name, first, last in mp4_boxes(budget, *movie):
        if name != b"trak":
            continue
        tracks += 1
        if tracks > MAX_TRACKS:
            raise damaged(MP4, f"it has more than {MAX_TRACKS} tracks")
        if found := mp4_sound(budget, scale, movie, first, last):
            return found
    raise no_audio_track(MP4)


# --- Matroska: elements of an id and a size, both of variable length
# ---------------------------------------------------

MATROSKA = "WebM"
SEGMENT, INFO, TRACKS, CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
SCALE, DURATION, ENTRY, KIND, CODEC, AUDIO = 0x2AD7B1, 0x4489, 0xAE, 0x83, 0x86, 0xE1
RATE, CHANNELS = 0xB5, 0x9F
MATROSKA_CODECS = {"A_OPUS": "opus", "A_VORBIS": "vorbis", "A_AAC": "aac"}


def matroska_elements(budget: Budget, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yields (id, first byte of the body, one past its last). An element of unknown size extends to `end`."""
    while at + 2 <= end:
        head = budget.read(at, 12).ljust(12, b"\0")
        id_bytes, size_bytes = 9 - head[0].bit_length(), 0
        if id_bytes <= 4:
            size_bytes = 9 - head[id_bytes].bit_length()
        if not 1 <= size_bytes <= 8:
            raise damaged(MATROSKA, "an element has no valid size")
        body = at + id_bytes + size_bytes
        size = int.from_bytes(head[id_bytes : id_bytes + size_bytes], "big") & (1 << 7 * size_bytes) - 1
        last = end if size == (1 << 7 * size_bytes) - 1 else min(end, body + size)
        yield int.from_bytes(head[:id_bytes], "big"), body, last
        at = max(last, body)


def matroska_number(budget: Budget, first: int, last: int) -> float:
    """Returns the value of a float element of 4 or 8 bytes; 0 if it is not a finite float."""
    body = budget.read(first, min(8, last - first))
    if last - first in (4, 8) and len(body) == last - first:
        value = struct.unpack(">f" if len(body) == 4 else ">d", body)[0]
        return value if math.isfinite(value) else 0.0
    return 0.0


def matroska_sound(budget: Budget, first: int, last: int) -> Track | None:
    kind, codec, rate, channels = 0, "", None, 1
    for name, begin, end in matroska_elements(budget, first, last):
        if name == KIND:
            kind = int.from_bytes(budget.read(begin, min(8, end - begin)), "big")
        elif name == CODEC:
            codec = budget.read(begin, min(64, end - begin)).rstrip(b"\0").decode("latin1")
        elif name == AUDIO:
            for inner, at, stop in matroska_elements(budget, begin, end):
                if inner == CHANNELS:
                    channels = int.from_bytes(budget.read(at, min(8, stop - at)), "big")
                elif inner == RATE:
                    rate = round(matroska_number(budget, at, stop)) or None
    if kind != 2:
        return None
    known = MATROSKA_CODECS.get(codec.split("/")[0])
    if known is None:
        raise unsupported_codec(MATROSKA, codec)
    # Opus always decodes to 48 kHz, and an AAC decoder may double the declared rate
    return Track(known, rate if known == "vorbis" else None, channels, None)


def matroska_track(file: BinaryIO) -> Track:
    budget, tracks, scale, length, found = Budget(MATROSKA, file), 0, 1_000_000, 0.0, None
    top = [e for e in matroska_elements(budget, 0, min(budget.end, 4096)) if e[0] == SEGMENT][:1]
    if not top:
        raise damaged(MATROSKA, "it has no segment")
    for name, first, last in matroska_elements(budget, top[0][1], budget.end):
        if name == CLUSTER:
            break
        if name == INFO:
            for inner, at, stop in matroska_elements(budget, first, last):
                if inner == SCALE:
                    scale = int.from_bytes(budget.read(at, min(8, stop - at)), "big")
                elif inner == DURATION:
                    length = matroska_number(budget, at, stop)
        elif name == TRACKS and found is None:
            for inner, at, stop in matroska_elements(budget, first, last):
                tracks += inner == ENTRY
                if tracks > MAX_TRACKS:
                    raise damaged(MATROSKA, f"it has more than {MAX_TRACKS} tracks")
                if inner == ENTRY and found is None:
                    found = matroska_sound(budget, at, stop)
    if found is None:
        raise no_audio_track(MATROSKA)
    # The duration is that of the longest track, so it is the audio's length only if there is a single track.
    seconds = min(length * scale / 1e9, 1e9) if tracks == 1 else 0
    return Track(found.codec, found.rate, found.channels, seconds if seconds > 0 else None)


# --- ASF: objects of a GUID and a size
# -----------------------------------------------------------------------------------

ASF = "WMA"
ASF_STREAM = bytes.fromhex("9107dcb7b7a9cf118ee600c00c205365")
ASF_FILE = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
ASF_AUDIO = bytes.fromhex("409e69f84d5bcf11a8fd00805f5c442b")
ASF_CODECS = {0x160: "wma", 0x161: "wma", 0x162: "wma"}


def asf_track(file: BinaryIO) -> Track:
    budget = Budget(ASF, file)
    size = struct.unpack_from("<Q", budget.read(0, 24).ljust(24, b"\0"), 16)[0]
    at, end, found, seconds, streams = 30, min(size, budget.end), None, 0.0, 0
    while at + 24 <= end:
        head = budget.read(at, 24).ljust(24, b"\0")
        length = struct.unpack_from("<Q", head, 16)[0]
        if length < 24:
            raise damaged(ASF, "an object is smaller than its own header")
        body = budget.read(at + 24, 80)
        streams += head[:16] == ASF_STREAM
        if head[:16] == ASF_FILE and len(body) == 80:
            play, _, lead = struct.unpack_from("<QQQ", body, 40)
            seconds = play / 1e7 - lead / 1e3
        elif head[:16] == ASF_STREAM and body[:16] == ASF_AUDIO and len(body) >= 62 and found is None:
            tag, channels, rate = struct.unpack_from("<HHI", body, 54)
            if tag not in ASF_CODECS:
                raise unsupported_codec(ASF, f"{tag:#06x}")
            found = Track(ASF_CODECS[tag], rate, channels, None)
        at += length
    if found is None:
        raise no_audio_track(ASF)
    return Track(found.codec, found.rate, found.channels, seconds if seconds > 0 and streams == 1 else None)
