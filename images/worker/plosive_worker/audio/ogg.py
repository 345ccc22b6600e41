# The pages of an Ogg file: whether streams follow one another in it (`cat` and web radio make such files), and how much
# sound they hold. libsndfile reads the first one only. Called by decoding.py.
import struct
from dataclasses import dataclass
from typing import BinaryIO

CONTINUES, FIRST = 1, 2  # flags of a page
WINDOW_BYTES = 1 << 16


@dataclass(frozen=True)
class Ogg:
    seconds: float  # at least so much sound: what the positions of its pages pass through
    joined: bool  # more than one stream, or positions that begin anew
    kinds: set[tuple[str, int, int]]  # (codec, rate, channels) of the streams of sound


def kind_of(packet: bytes) -> tuple[str, int, int] | None:
    """(codec, rate of its positions, channels) by a stream's first packet; None when it is not one of sound."""
    if packet.startswith(b"OpusHead") and len(packet) >= 16:
        return "opus", 48_000, packet[9]
    if packet.startswith(b"\x01vorbis") and len(packet) >= 16:
        return "vorbis", struct.unpack_from("<I", packet, 12)[0], packet[11]
    if packet.startswith(b"\x7fFLAC") and len(packet) >= 35:
        packed = int.from_bytes(packet[27:35], "big")
        return "flac", packed >> 44, (packed >> 41 & 7) + 1
    return None


def find_page(file: BinaryIO, at: int) -> int | None:
    while True:
        file.seek(at)
        window = file.read(WINDOW_BYTES)
        found = window.find(b"OggS")
        if found >= 0:
            return at + found
        if len(window) < WINDOW_BYTES:
            return None
        at += WINDOW_BYTES - 3


def walk_ogg(file: BinaryIO, most_seconds: float) -> Ogg:
    """From page to page to the end of the file, or until they are more than `most_seconds`."""
    at, seconds, joined, in_heads, kinds = 0, 0.0, False, True, set()
    serial = rate = last = None  # of the stream of sound that is being read
    while seconds <= most_seconds:
        file.seek(at)
        head = file.read(27)
        if head[:4] != b"OggS":
            place = find_page(file, at)
            if place is None:
                break
            at = place
            continue
        if len(head) < 27:
            break
        flags, position, its_serial = struct.unpack_from("<xBqI", head, 4)
        sizes = file.read(head[26])
        if flags & FIRST:
            if not in_heads:
                joined, in_heads, serial = True, True, None
            kind = kind_of(file.read(min(sum(sizes), 64)))
            if kind and kind[1] and serial is None:
                kinds.add(kind)
                serial, rate, last = its_serial, kind[1], None
        else:
            in_heads = False
            if its_serial == serial and position > 0:
                # a stream that was cut out of a longer one begins at any position
                step = min(position, rate) if last is None else position - last
                joined = joined or step < 0
                seconds, last = seconds + max(step, 0) / rate, position
        at += 27 + len(sizes) + sum(sizes)
    return Ogg(seconds, joined, kinds)
