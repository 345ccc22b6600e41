# The frames of a FLAC file: how much sound they add up to, for the length in its head may be left open (encoders that write
# to a pipe) or wrong, and libsndfile stops where it says. Called by decoding.py.
import re
from dataclasses import dataclass
from typing import BinaryIO

# 14 bits of sync, a reserved one, and whether blocks vary in size; then their size and rate, channels and bits
FRAME = re.compile(rb"\xff(?=[\xf8\xf9][\x10-\xff])")
STREAM = re.compile(rb"fLaC[\0\x80]\0\0\x22")  # how a file begins
WINDOW_BYTES, OVERLAP_BYTES = 1 << 20, 32
RUN, MOST_OTHERS = 3, 100_000
CRC_POLYNOMIAL = 0x07


@dataclass(frozen=True)
class Flac:
    frames: int  # samples for each channel in frames that follow each other
    joined: bool  # another FLAC file begins behind the first frames
    broken: bool  # frames are missing between others


def crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value << 1 ^ CRC_POLYNOMIAL if value & 0x80 else value << 1) & 0xFF
        table.append(value)
    return table


CRC = crc_table()


def crc8(data: bytes) -> int:
    value = 0
    for byte in data:
        value = CRC[value ^ byte]
    return value


def frame_of(head: bytes) -> tuple[int, int, bool] | None:
    """(number, samples, whether the number counts samples) of a frame's header; None where it is none. A frame's own
    number is written as UTF-8 writes a character."""
    if len(head) < OVERLAP_BYTES or head[3] & 1:
        return None
    ones = 8 - (head[4] ^ 0xFF).bit_length()
    if ones in (1, 8):
        return None
    length = max(ones, 1)
    number = head[4] & 0x7F >> ones
    for byte in head[5 : 4 + length]:
        number = number << 6 | byte & 0x3F
    at, size = 4 + length, head[2] >> 4
    if size in (6, 7):
        extra = size - 5
        samples, at = int.from_bytes(head[at : at + extra], "big") + 1, at + extra
    else:
        samples = 192 if size == 1 else 576 << size - 2 if size < 6 else 256 << size - 8
    at += {12: 1, 13: 2, 14: 2}.get(head[2] & 15, 0)
    return (number, samples, bool(head[1] & 1)) if crc8(head[:at]) == head[at] else None


def walk_flac(file: BinaryIO, start: int, most_frames: int) -> Flac:
    """From frame to frame to the end of the file, or until they are more than `most_frames`. A header counts when its check
    sum is right and its number is the next one, or when RUN of them follow each other: then those before them are lost, or
    the file was cut out of the middle of a stream."""
    end, at, frames, following, broken = file.seek(0, 2), start, 0, 0, False
    others: dict[int, int] = {}  # number that would follow a header out of order -> how many have led to it
    while at < end and frames <= most_frames:
        file.seek(at)
        window = file.read(WINDOW_BYTES + OVERLAP_BYTES) + (b"" if at + WINDOW_BYTES < end else bytes(OVERLAP_BYTES))
        for match in FRAME.finditer(window, 0, WINDOW_BYTES + 2):
            found = frame_of(window[match.start() : match.start() + OVERLAP_BYTES])
            if found is None:
                continue
            number, samples, in_samples = found
            run = others.pop(number, 0) + 1
            following_it = number + (samples if in_samples else 1)
            if number != following and run < RUN:
                others = others if len(others) < MOST_OTHERS else {}
                others[following_it] = run
                continue
            broken = broken or (number != following and frames > 0)
            frames += samples
            following = following_it
        if following and STREAM.search(window, 0 if at > start else 4):
            return Flac(frames, True, broken)
        at += WINDOW_BYTES
    return Flac(frames, False, broken)
