# Reads WAV without a native decoder: PCM, float, A-law and mu-law need only a table or a division. libsndfile searches
# for chunk names byte by byte, and could therefore find another format than this code in a forged file. header.py takes
# the facts from here, decoding.py the samples. src/uploads/audio-header/wav.ts reads the same facts.
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..failure import ItemFailure

RIFF_WORDS = b"RIFF", b"RF64", b"BW64"  # the latter two may be longer than 4 GiB
MAX_CHUNKS = 64
CODINGS = {1: "pcm", 3: "float", 6: "alaw", 7: "mulaw"}
BITS = {"pcm": (8, 16, 24, 32), "float": (32, 64), "alaw": (8,), "mulaw": (8,)}
EXTENSIBLE = 0xFFFE
EXTENSIBLE_TAIL = bytes.fromhex("000000001000800000aa00389b71")
MOST_32 = 0xFFFFFFFF
LIVE_BYTES = 1 << 20  # writers to a pipe leave 0, or a size this close to 2^31, 2^32, 2^63 or 2^64
MOST_LEVEL = 16  # samples of a float file beyond it (24 dB over full scale) are clamped, in decoding.py
MOST_BEYOND, BEYOND_SHARE = 10, 0.001  # such samples in a usable file; in one that is not scaled to -1..1 nearly all are


@dataclass(frozen=True)
class Wav:
    """Location and encoding of the samples."""

    coding: str
    bits: int
    rate: int
    channels: int
    start: int  # byte of the first sample
    size: int  # bytes of complete frames in the file
    promised: int  # bytes that the header declares; those in the file if it declares none

    @property
    def frames(self) -> int:
        return self.size // self.frame_bytes

    @property
    def frames_promised(self) -> int:
        return self.promised // self.frame_bytes

    @property
    def frame_bytes(self) -> int:
        return self.channels * self.bits // 8


def read_format(body: bytes, size: int) -> tuple[str, int, int, int]:
    """Returns (coding, bits, rate, channels) of a format chunk. Raises ItemFailure."""
    if size < 16 or len(body) < min(size, 40):
        raise ItemFailure("corrupt_audio", "The WAV format chunk is truncated")
    tag, channels, rate, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", body)
    if tag == EXTENSIBLE:
        if size < 40 or body[26:40] != EXTENSIBLE_TAIL:
            raise ItemFailure("unsupported_format", "The WAV file has an unknown extensible coding")
        tag = struct.unpack_from("<H", body, 24)[0]
    if tag not in CODINGS:
        raise ItemFailure("unsupported_format", f"WAV coding {tag:#06x} is not accepted; send PCM or float")
    coding = CODINGS[tag]
    if bits not in BITS[coding]:
        raise ItemFailure("unsupported_format", f"WAV samples of {bits} bits ({coding}) are not accepted")
    if channels == 0 or rate == 0 or frame_bytes != channels * bits // 8:
        raise ItemFailure("corrupt_audio", "The format of the WAV file contradicts itself")
    return coding, bits, rate, channels


def is_chunk_name(name: bytes) -> bool:
    """Whether a chunk may have this name after the data. Samples hardly ever look like one."""
    return name not in (*RIFF_WORDS, b"data") and all(32 <= byte < 127 for byte in name)


def check_end(file: BinaryIO, at: int, end: int, second: int) -> None:
    """Raises ItemFailure if more than a second of bytes follows the data that are neither zeros nor another chunk: they
    are audio that the header does not declare. The next chunk may be at an odd offset if the writer did not pad the
    data."""
    if end - at <= second:
        return
    file.seek(at)
    while not (rest := file.read(1 << 16).lstrip(b"\0")):
        if file.tell() >= end:
            return
    if not is_chunk_name(rest[:4]):
        raise ItemFailure("corrupt_audio", "The WAV file continues after its audio: its sizes are wrong or files were joined")


def is_left_open(size: int, present: int) -> bool:
    """Whether a size is a placeholder, because the writer did not know the length yet."""
    return size == 0 or (size > present and any(abs(size - most) <= LIVE_BYTES for most in (1 << 31, 1 << 32, 1 << 63, 1 << 64)))


def only_chunks_follow(file: BinaryIO, at: int, end: int) -> bool:
    """Whether a chain of chunks leads from `at` exactly to the end of the file: what follows the empty data of a take
    without samples. Samples whose writer left the size at 0 do not form one."""
    for _ in range(MAX_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8 or not is_chunk_name(head[:4]):
            return False
        size = int.from_bytes(head[4:], "little")
        at += 8 + size + size % 2
        if at >= end:
            return at - size % 2 <= end  # the writer may not have padded the last chunk
    return False


def read_wav(file: BinaryIO) -> Wav:
    """Walks the chunks up to the data. Raises ItemFailure."""
    end = file.seek(0, 2)
    found, long_size, at = None, None, 12
    for _ in range(MAX_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            break
        name, size = struct.unpack("<4sI", head)
        if name == b"fmt ":
            found = read_format(file.read(min(size, 40)), size)
        elif name == b"ds64" and size >= 24:
            body = file.read(24)
            long_size = struct.unpack_from("<Q", body, 8)[0] if len(body) == 24 else None
        elif name == b"data":
            if found is None:
                break
            if size == MOST_32 and long_size is not None:
                size = long_size
            coding, bits, rate, channels = found
            frame_bytes = channels * bits // 8
            present = end - at - 8
            if size == 0 and only_chunks_follow(file, at + 8, end):
                present = 0
            promised = present if is_left_open(size, present) else size
            size = min(promised, present)
            check_end(file, at + 8 + size, end, frame_bytes * rate)
            whole, promised = (length // frame_bytes * frame_bytes for length in (size, promised))
            return Wav(coding, bits, rate, channels, at + 8, whole, promised)
        at += 8 + size + size % 2
    raise ItemFailure("corrupt_audio", f"The WAV file has no {'data' if found else 'format'} chunk")


def law_table(coding: str) -> np.ndarray:
    """Returns all 256 codes of G.711 as samples in -1..1, (256,) float32."""
    codes = np.arange(256)
    if coding == "alaw":
        codes ^= 0x55
        exponent, mantissa = codes >> 4 & 7, codes & 15
        size = np.where(exponent == 0, (mantissa << 4) + 8, ((mantissa << 4) + 0x108) << np.maximum(exponent - 1, 0))
        return (np.where(codes & 0x80, size, -size) / 32768).astype(np.float32)
    codes ^= 0xFF
    size = ((((codes & 15) << 3) + 0x84) << (codes >> 4 & 7)) - 0x84
    return (np.where(codes & 0x80, -size, size) / 32768).astype(np.float32)


def to_float(data: bytes, wav: Wav) -> np.ndarray:
    """Converts bytes to samples in -1..1 (those of float files unchanged), (n,) float32."""
    if wav.coding in ("alaw", "mulaw"):
        return law_table(wav.coding)[np.frombuffer(data, np.uint8)]
    if wav.coding == "float":
        with np.errstate(over="ignore", invalid="ignore"):
            return np.frombuffer(data, f"<f{wav.bits // 8}").astype(np.float32)
    if wav.bits == 8:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if wav.bits == 24:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return wide.view("<i4")[:, 0].astype(np.float32) / 2**31
    return np.frombuffer(data, f"<i{wav.bits // 8}").astype(np.float32) / 2 ** (wav.bits - 1)


def wav_blocks(path: Path, wav: Wav, frames: int) -> Iterator[np.ndarray]:
    """Yields the samples, `frames` at a time, (n, C). Raises ItemFailure if they are those of integers, stored as float
    without scaling: clamped, they would be a square wave."""
    left, beyond = wav.size, 0
    with path.open("rb") as file:
        file.seek(wav.start)
        while left and (data := file.read(min(left, frames * wav.frame_bytes))):
            left -= len(data)
            samples = to_float(data[: len(data) // wav.frame_bytes * wav.frame_bytes], wav)
            if wav.coding == "float":
                beyond += int(np.count_nonzero((np.abs(samples) > MOST_LEVEL) & np.isfinite(samples)))
            if beyond > MOST_BEYOND + BEYOND_SHARE * wav.frames * wav.channels:
                what = "The samples of this float file are not between -1 and 1; scale them and upload the file again"
                raise ItemFailure("corrupt_audio", what)
            yield samples.reshape(-1, wav.channels)
