# Walks the frames of a FLAC file to measure its audio. The length in the header may be unknown (encoders that write to
# a pipe) or wrong, and libsndfile stops at that length. Called by decoding.py.
import re
from dataclasses import dataclass
from typing import BinaryIO

# 14 sync bits, a reserved bit and the blocking-strategy bit; then block size and sample rate, channels and sample size
FRAME = re.compile(rb"\xff(?=[\xf8\xf9][\x10-\xff])")
STREAM = re.compile(rb"fLaC[\0\x80]\0\0\x22")  # the first bytes of a FLAC file
WINDOW_BYTES, OVERLAP_BYTES = 1 << 20, 32
RUN, MAX_OTHERS = 3, 100_000
CRC_POLYNOMIAL = 0x07


@dataclass(frozen=True)
class Flac:
    frames: int  # samples per channel of all accepted frames
    joined: bool  # another FLAC file begins after the first frames
    broken: bool  # frames are missing in the middle


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


def parse_frame_header(head: bytes) -> tuple[int, int, bool] | None:
    """Returns (number, samples, whether the number counts samples) of a frame header, or None if it is not one. The
    frame number is encoded like a UTF-8 character."""
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
    """Walks the frames up to the end of the file, or until they exceed `most_frames`. A header is accepted if its
    checksum is correct and its number is the next one. It is also accepted after RUN consecutive headers: then the
    frames before them are lost, or the file was cut from the middle of a stream."""
    end, at, frames, following, broken = file.seek(0, 2), start, 0, 0, False
    others: dict[int, int] = {}  # number expected after an out-of-order header -> length of the run that leads to it
    while at < end and frames <= most_frames:
        file.seek(at)
        window = file.read(WINDOW_BYTES + OVERLAP_BYTES) + (b"" if at + WINDOW_BYTES < end else bytes(OVERLAP_BYTES))
        for match in FRAME.finditer(window, 0, WINDOW_BYTES + 2):
            found = parse_frame_header(window[match.start() : match.start() + OVERLAP_BYTES])
            if found is None:
                continue
            number, samples, in_samples = found
            run = others.pop(number, 0) + 1
            following_it = number + (samples if in_samples else 1)
            if number != following and run < RUN:
                others = others if len(others) < MAX_OTHERS else {}
                others[following_it] = run
                continue
            broken = broken or (number != following and frames > 0)
            frames += samples
            following = following_it
        if following and STREAM.search(window, 0 if at > start else 4):
            return Flac(frames, True, broken)
        at += WINDOW_BYTES
    return Flac(frames, False, broken)
