# Reads the Matroska stream that ffmpeg writes to a pipe: each packet has a timestamp. Called by decoding.py. This
# parser trusts ffmpeg; containers.py checks the Matroska files of users.
import struct
from collections.abc import Iterator
from typing import IO

SEGMENT, TRACKS, TRACK, AUDIO, CLUSTER, GROUP = 0x18538067, 0x1654AE6B, 0xAE, 0xE1, 0x1F43B675, 0xA0
RATE, CHANNELS, CLUSTER_MS, SIMPLE_BLOCK, BLOCK = 0xB5, 0x9F, 0xE7, 0xA3, 0xA1
OUTER = (SEGMENT, TRACKS, TRACK, AUDIO, CLUSTER, GROUP)
MAX_BYTES = 64 << 20  # of one element; an audio packet has a thousandth of it


def read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def read_number(stream: IO[bytes], marked: bool) -> int:
    """Reads a number of variable length: as many leading zero bits as further bytes, then a marker bit. The marker is
    part of an id (`marked`) but not of a size."""
    first = read_exactly(stream, 1)
    length = 8 - first[0].bit_length()
    value = int.from_bytes(first + read_exactly(stream, length), "big")
    return value if marked else value & (1 << 7 * (length + 1)) - 1


def elements(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yields (id, body) of all elements up to the end; the body of an element that contains others is empty."""
    while True:
        try:
            name, size = read_number(stream, True), read_number(stream, False)
            if name not in OUTER and size > MAX_BYTES:
                return
            body = b"" if name in OUTER else read_exactly(stream, size)
        except EOFError:
            return
        yield name, body


def timed_packets(stream: IO[bytes]) -> tuple[int, int, Iterator[tuple[float, bytes]]]:
    """Returns (rate, channels, iterator of (seconds, samples) per packet). Raises EOFError if the stream has no
    packet."""
    found, rate, channels = elements(stream), 0, 0
    for name, body in found:
        if name == RATE:
            rate = round(struct.unpack(">d" if len(body) == 8 else ">f", body)[0])
        elif name == CHANNELS:
            channels = int.from_bytes(body, "big")
        elif name == CLUSTER:
            return rate, channels, packets(found)
    raise EOFError


def packets(found: Iterator[tuple[int, bytes]]) -> Iterator[tuple[float, bytes]]:
    cluster_ms = 0
    for name, body in found:
        if name == CLUSTER_MS:
            cluster_ms = int.from_bytes(body, "big")
        elif name in (SIMPLE_BLOCK, BLOCK):
            yield (cluster_ms + int.from_bytes(body[1:3], "big", signed=True)) / 1000, body[4:]
