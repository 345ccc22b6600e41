# Walks the pages of an Ogg file: finds chained streams (`cat` and web radio make such files) and missing pages, and
# measures the audio. libsndfile reads only the first stream, and plays packets without the gaps between them. Called by
# decoding.py.
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import numpy as np

CONTINUES, FIRST, LAST = 1, 2, 4  # flags of a page
WINDOW_BYTES = 1 << 16
HEADS = {"opus": 2, "vorbis": 3}  # header packets before the audio packets
# Less than a usual packet (20 ms). The positions of live recorders jitter; they are a gap only when the jitter adds up
# to this.
GAP_SECONDS = 0.015
# samples at 48 kHz of an Opus frame, by the upper five bits of a packet's first byte (RFC 6716, 3.1)
OPUS_FRAMES = (480, 960, 1920, 2880) * 3 + (480, 960) * 2 + (120, 240, 480, 960) * 4
MAX_OPUS = 5760  # samples of a packet
MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
OPUS_RATES = (8_000, 12_000, 16_000, 24_000)  # rates to which libsndfile decodes; otherwise 48 kHz


@dataclass(frozen=True)
class Page:
    at: int
    end: int
    flags: int
    position: int  # samples up to the end of the last packet that ends on it
    serial: int
    sizes: bytes
    body: bytes


@dataclass(frozen=True)
class Piece:
    """Consecutive pages of one stream, without a gap. A decoder needs the stream's header pages before them."""

    kind: tuple[str, int, int]  # (codec, rate of its positions, channels)
    rate: int  # rate to which libsndfile decodes
    link: int  # index of the chained stream
    heads: tuple[int, int]  # byte range of the header pages
    pages: tuple[int, int]  # byte range of the audio pages; empty if there is no audio
    lone: bool  # the piece is only the stream's last page
    skip: int  # pre-skip samples of the stream, which are not part of the audio
    position: int  # at the end of the last page
    seconds: float  # lower bound: the range of its positions, including the gap before it
    restarts: bool  # positions go back, or samples are missing before others: tools that join streams page by page do that


@dataclass(frozen=True)
class Ogg:
    seconds: float
    pieces: int
    restarts: bool
    kinds: set[tuple[str, int, int]]
    rates: set[int]


def kind_of(packet: bytes) -> tuple[str, int, int] | None:
    """Returns (codec, rate of its positions, channels) from a stream's first packet, or None if it is not audio."""
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


def pages_of(file: BinaryIO) -> Iterator[Page]:
    at = 0
    while True:
        file.seek(at)
        head = file.read(27)
        if head[:4] != b"OggS":
            place = find_page(file, at)
            if place is None:
                return
            at = place
            continue
        if len(head) < 27:
            return
        flags, position, serial = struct.unpack_from("<xBqI", head, 4)
        sizes = file.read(head[26])
        end = at + 27 + len(sizes) + sum(sizes)
        body = file.read(sum(sizes))
        if at + 27 + len(sizes) + len(body) < end:  # the file is truncated
            return
        yield Page(at, end, flags, position, serial, sizes, body)
        at = end


def opus_samples(begin: bytes) -> int:
    """Returns the samples of a packet from its first two bytes."""
    if not begin:
        return 0
    frames = (1, 2, 2, begin[1] & 63 if len(begin) > 1 else 0)[begin[0] & 3]
    return min(frames * OPUS_FRAMES[begin[0] >> 3], MAX_OPUS)


class Stream:
    """The state of an audio stream while its pages are read."""

    def __init__(self, kind: tuple[str, int, int], page: Page, link: int):
        self.kind, self.link, self.serial, self.skip, self.block = kind, link, page.serial, 0, 0
        self.codec, self.rate, _ = kind
        self.decoded_rate, self.timed = self.rate, self.codec in HEADS
        if self.codec == "opus":
            self.skip, input_rate = struct.unpack_from("<HI", page.body, 10)
            self.decoded_rate = input_rate if input_rate in OPUS_RATES else self.rate
        elif self.codec == "vorbis":
            self.block = 1 << (page.body[28] >> 4 if len(page.body) > 28 else 0)
        self.heads, self.heads_left = (page.at, page.end), HEADS.get(self.codec, 1) - 1
        self.begun: bytes | None = None  # first bytes of a packet that continues on the next page
        self.position, self.held, self.late, self.to_skip, self.cut = 0, 0, 0, self.skip, False
        self.begin(page.end, page.end)

    def begin(self, at: int, end: int, lone: bool = False) -> None:
        self.pages, self.lone, self.seconds, self.restarts = (at, end), lone, 0.0, False

    def piece(self) -> Piece:
        its = self.kind, self.decoded_rate, self.link, self.heads
        return Piece(*its, self.pages, self.lone, self.skip, self.position, self.seconds, self.restarts)

    def packets(self, page: Page) -> list[bytes]:
        """Returns the first two bytes of each packet that ends on a page; empty for a packet whose beginning is
        missing."""
        begun, at, ended = (self.begun or b"") if page.flags & CONTINUES else None, 0, []
        for size in page.sizes:
            begun = page.body[at : at + 2] if begun is None else begun
            at += size
            if size < 255:
                ended.append(begun)
                begun = None
        self.begun = begun
        return ended

    def add_page(self, page: Page) -> Piece | None:
        """Adds a page. If a gap precedes it, the page starts a new piece and the finished piece is returned."""
        packets, ended = self.packets(page), None
        if self.heads_left > 0:
            self.heads_left -= len(packets)
            self.heads = self.heads[0], page.end
            self.begin(page.end, page.end)
            return None
        self.held += sum(map(opus_samples, packets)) if self.codec == "opus" else len(packets) * self.block // 2
        if page.position > 0:
            step = self.step_to(page.position)
            if self.late > GAP_SECONDS * self.rate:
                ended, self.late = self.piece(), 0
                self.begin(page.at, page.end, page.flags & LAST != 0)
            skipped = min(max(step, 0), self.to_skip)
            self.to_skip -= skipped
            self.seconds += (max(step, 0) - skipped) / self.rate
            self.restarts = self.restarts or self.cut or step < 0
            self.cut = self.codec == "opus" and self.position > 0 and self.held > step
            self.position, self.held = page.position, 0
        self.pages = self.pages[0], page.end
        return ended

    def step_to(self, position: int) -> int:
        """Returns the samples since the previous page, and adds those that no packet contains to `late`."""
        if self.position == 0:  # a stream that was cut from a longer one begins at any position
            return min(position, self.held if self.timed else self.rate)
        step = position - self.position
        self.late = max(self.late + step - self.held, 0) if self.timed else 0
        return step


def pieces_of(file: BinaryIO, most_seconds: float) -> Iterator[Piece]:
    """Yields the pieces up to the end of the file, or until they exceed `most_seconds`; at least one for each
    stream."""
    stream: Stream | None = None
    link, in_heads, seconds = 0, True, 0.0
    for page in pages_of(file):
        if page.flags & FIRST:
            if stream and not in_heads:
                yield stream.piece()
                link, seconds, stream = link + 1, seconds + stream.seconds, None
            in_heads, kind = True, kind_of(page.body[:64])
            if kind and kind[1] and stream is None:
                stream = Stream(kind, page, link)
            continue
        in_heads = False
        ended = stream.add_page(page) if stream and stream.serial == page.serial else None
        if ended:
            yield ended
            seconds += ended.seconds
        if stream and seconds + stream.seconds > most_seconds:
            break
    if stream:
        yield stream.piece()


def walk_ogg(file: BinaryIO, most_seconds: float) -> Ogg:
    seconds, pieces, restarts, kinds, rates = 0.0, 0, False, set(), set()
    for piece in pieces_of(file, most_seconds):
        seconds, pieces, restarts = seconds + piece.seconds, pieces + 1, restarts or piece.restarts
        kinds.add(piece.kind)
        rates.add(piece.rate)
    return Ogg(seconds, pieces, restarts, kinds, rates)


def without_end_flag(page: bytes) -> bytes:
    """Clears the end-of-stream flag of a stream's last page: with that flag, libsndfile would treat a single page as
    the whole stream. Ogg's CRC is zlib's with reversed bits."""
    page = page[:5] + bytes([page[5] & ~LAST]) + page[6:22] + bytes(4) + page[26:]
    crc = zlib.crc32(page.translate(MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return page[:22] + crc.to_bytes(4, "big").translate(MIRRORED) + page[26:]


class Opened(Protocol):
    rate: int
    channels: int
    blocks: Iterator[np.ndarray]
    expected: int | None


def silence(samples: int, sound: Opened) -> Iterator[np.ndarray]:
    for at in range(0, samples, sound.rate):
        yield np.zeros((min(sound.rate, samples - at), sound.channels), np.float32)


def with_gaps_filled(pieces: Iterable[Piece], open_one: Callable[[Piece], Opened]) -> Iterator[np.ndarray]:
    """Yields the samples of all pieces, opened one at a time. Streams follow each other directly; within a stream,
    silence fills the gap before a piece. The piece's last position and its length tell where it begins. libsndfile
    drops the pre-skip samples at the beginning of a stream, but at the end of a later piece."""
    link = None
    for piece in pieces:
        sound = open_one(piece)
        skip, ends = (samples * sound.rate // piece.kind[1] for samples in (piece.skip, piece.position))
        begins = max(ends - (sound.expected or 0) - skip, skip)
        if piece.link != link:
            link, seen, origin = piece.link, 0, begins
        missing = max(begins - origin - seen, 0)
        yield from silence(missing, sound)
        seen += missing
        for block in sound.blocks:
            seen += len(block)
            yield block
        missing = min(max(ends - origin - seen, 0), skip)
        yield from silence(missing, sound)
        seen += missing
