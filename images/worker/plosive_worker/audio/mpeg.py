# Parses MPEG audio frames (MP3). header.py looks for the first frames; decoding.py measures the audio of all frames,
# because the frame count in an MP3's first frame is often wrong (files that were cut or joined keep the old one).
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

# kbit/s by (is MPEG 1, layer), from index 1 on; index 0 (free format) is left to the decoder
BITRATES = {
    (True, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
RATES = (44_100, 48_000, 32_000)
SYNC = re.compile(rb"\xff(?=[\xe2-\xff])")
RUN = 3  # this many consecutive headers, each where the previous frame ends, are not a coincidence
WINDOW_BYTES = 1 << 16


@dataclass(frozen=True)
class Frame:
    size: int
    seconds: float
    kind: tuple[int, int, int, bool]  # version, layer, rate, mono: the same in all frames of a stream


@dataclass(frozen=True)
class Mp3:
    """The frames of a file."""

    seconds: float  # duration of all frames
    first: int  # offset of the first audio frame, after an info frame
    has_info_frame: bool  # whether the first frame is a Xing, Info or VBRI frame, without audio
    declared: float | None  # seconds by the count in the info frame
    frame_seconds: float  # duration of one frame
    kinds: int  # number of different frame kinds
    gap: int  # largest number of other bytes between two frames
    rest: int  # bytes after the last frame
    cut: bool  # the last frame extends beyond the end of the file

    @property
    def promised(self) -> float:
        """The expected duration in seconds. If the last frame is complete, a different count was copied from another
        file and is ignored."""
        return max(self.seconds, self.declared or 0) if self.cut else self.seconds


def is_mpeg_sync(head: bytes) -> bool:
    """Whether the bytes begin an MPEG audio frame, layers 1 to 3, without reserved version or rate."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    return head[1] & 0x06 != 0 and head[1] & 0x18 != 0x08 and head[2] & 0xF0 != 0xF0 and head[2] & 0x0C != 0x0C


@lru_cache(maxsize=4096)
def parse_frame_header(head: bytes) -> Frame | None:
    """Parses the first four bytes of a frame. Returns None if they are no frame header, or one of free format."""
    if not is_mpeg_sync(head) or head[2] >> 4 == 0:
        return None
    version, layer = head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3)
    first = version == 3
    rate = RATES[head[2] >> 2 & 3] // {3: 1, 2: 2, 0: 4}[version]
    bitrate, padding = BITRATES[first, layer][(head[2] >> 4) - 1] * 1000, head[2] >> 1 & 1
    samples = 384 if layer == 1 else 576 if layer == 3 and not first else 1152
    size = (12 * bitrate // rate + padding) * 4 if layer == 1 else samples // 8 * bitrate // rate + padding
    return Frame(size, samples / rate, (version, layer, rate, head[3] >> 6 == 3))


def frame_at(file: BinaryIO, at: int) -> Frame | None:
    file.seek(at)
    return parse_frame_header(file.read(4))


def is_run(file: BinaryIO, at: int) -> bool:
    """Whether RUN consecutive frames of one kind begin at `at`."""
    kinds = set()
    for _ in range(RUN):
        frame = frame_at(file, at)
        if frame is None:
            return False
        kinds.add(frame.kind)
        at += frame.size
    return len(kinds) == 1


def find_run(file: BinaryIO, at: int, end: int) -> int | None:
    """Returns the first offset in `at`..`end` where a run of frames begins, or None."""
    while at < end:
        file.seek(at)
        window = file.read(min(WINDOW_BYTES, end - at))
        for match in SYNC.finditer(window):
            if is_run(file, at + match.start()):
                return at + match.start()
        at += max(len(window) - 1, 1)  # a sync takes two bytes
    return None


def count_in(first: bytes) -> tuple[bool, int]:
    """Returns (whether the first frame is an info frame, the number of frames that it declares; 0 if none)."""
    for name in (b"Xing", b"Info"):
        at = first.find(name, 4, 44)
        if at >= 0:
            has_count = int.from_bytes(first[at + 4 : at + 8], "big") & 1
            return True, int.from_bytes(first[at + 8 : at + 12], "big") if has_count else 0
    return first[36:40] == b"VBRI", int.from_bytes(first[50:54], "big") if first[36:40] == b"VBRI" else 0


def walk_mp3(file: BinaryIO, start: int, most_seconds: float) -> Mp3 | None:
    """Walks the frames up to the end of the file, or until they exceed `most_seconds`. Tags are skipped, because they
    contain no run of frames. Returns None if the first frame cannot be parsed (free format)."""
    end = file.seek(0, 2)
    began = frame_at(file, start)
    if began is None:
        return None
    file.seek(start)
    has_info_frame, count = count_in(file.read(64))
    first = start + began.size * has_info_frame
    at, kind, seconds, gap, cut = first, began.kind, 0.0, 0, False
    kinds = {kind}
    while at + 4 <= end and seconds <= most_seconds:
        frame = frame_at(file, at)
        if frame is None or frame.kind != kind:
            place = find_run(file, at, end)
            if place is None:
                break
            run = frame_at(file, place)
            assert run is not None  # find_run has parsed it
            at, gap, kind = place, max(gap, place - at), run.kind
            kinds.add(kind)
            continue
        if at + frame.size > end:
            cut = True
            break
        seconds, at = seconds + frame.seconds, at + frame.size
    declared = count * began.seconds if count else None
    return Mp3(seconds, first, has_info_frame, declared, began.seconds, len(kinds), gap, end - at, cut or 0 < end - at < 4)
