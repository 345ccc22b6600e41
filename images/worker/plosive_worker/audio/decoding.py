# A file -> its samples as a stream of float32 blocks, never whole in memory and never sized by what a header claims.
# WAV is read by ourselves, FLAC, Ogg and MP3 by libsndfile; ffmpeg (one demuxer, a few decoders, local files only) reads
# what libsndfile cannot. Called by extraction.py inside the sandboxed child.
#
# How long a file should be, for all formats alike:
# - All sound that a file stores is decoded, however little its header tells of; otherwise the file fails.
# - A file that stores less than its header promises (by more than a second and 2 %) breaks off, and fails.
# - No promise are lengths that live encoders leave (0, all ones, more than an upload can be), and the count of frames in
#   an MP3 whose last frame is whole: it was copied from another file. Ogg, AAC and G.722 promise nothing.
# - Where packets are missing between two times that a file tells (Ogg, MP4, Matroska), there is silence.
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from ..failure import ItemFailure
from .ebml import timed_packets
from .flac import walk_flac
from .header import MAX_HOURS, Header, check_facts, check_size
from .mpeg import Mp3, walk_mp3
from .ogg import Ogg, Piece, in_time, pieces_of, unended, walk_ogg
from .wav import wav_blocks

BLOCK_SAMPLES = 1 << 20  # of all channels together, at most 5 seconds
MOST_SECONDS = MAX_HOURS * 3600
FFMPEG_BYTES = 256 << 20  # of private memory; a plain file needs a tenth of it
SUBTYPES = {"flac": "PCM_", "mp3": "MPEG_LAYER_", "vorbis": "VORBIS", "opus": "OPUS"}
# container -> (demuxer, decoders that may run)
FFMPEG = {
    "mov": ("mov", "aac,alac,mp3,mp3float"),
    "aac": ("aac", "aac"),
    "matroska": ("matroska", "opus,libopus,vorbis,aac"),
    "asf": ("asf", "wmav1,wmav2,wmapro"),
    "g722": ("g722", "g722"),
    "mp3": ("mp3", "mp3,mp3float"),
    "ogg": ("ogg", "opus,libopus,vorbis,flac"),
    "flac": ("flac", "flac"),
}
# Containers that say when each packet is heard. A start later than 40 ms (Vorbis begins with a packet of no sound) and
# gaps longer than 100 ms (live recorders hand over late what they have) are filled with silence.
TIMED, LATE_SECONDS, GAP_SECONDS = ("mov", "matroska"), 0.04, 0.1
MP3_DELAY = 1105  # samples without sound that LAME and its kin begin with
MOST_SKIPPED = 1024  # bytes that are no MP3 frame and that libsndfile passes over, in the middle and at the end
GAPLESS = 8190  # samples at most that an MP3's first frame takes away at both ends


@dataclass
class Sound:
    """An open decoder: samples come block by block, (n, C) float32 in about -1..1."""

    rate: int
    channels: int
    blocks: Iterator[np.ndarray]
    expected: int | None  # samples that the container promises, None when it does not


class Forward(soundfile.SoundFile):
    """Is read from front to back. soundfile seeks to where it is after each block; an MP3 decoder loses what the last frames
    have left for the next ones by that, and a new fault is in the sound."""

    def seekable(self) -> bool:
        return False


class Parts:
    """Parts of a file (bytes from, to) and others as one, for libsndfile: it judges the same bytes as our own look at them."""

    def __init__(self, path: Path, *parts: tuple[int, int] | bytes):
        self.file, self.parts, self.at = path.open("rb"), parts, 0
        self.sizes = [len(part) if isinstance(part, bytes) else part[1] - part[0] for part in parts]

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset + (0, self.at, sum(self.sizes))[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def read(self, size: int) -> bytes:
        got, before = b"", 0
        for part, its in zip(self.parts, self.sizes):
            at, most = self.at - before, min(size - len(got), before + its - self.at)
            if at >= 0 and most > 0:
                data = part[at : at + most] if isinstance(part, bytes) else self.read_at(part[0] + at, most)
                got, self.at = got + data, self.at + len(data)
            before += its
        return got

    def read_at(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        return self.file.read(size)


def plain(error: Exception) -> str:
    """libsndfile's words, where they tell something, without the name of our scratch file."""
    words = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")[:120]
    tells = words and not re.search("unknown|unspecified|internal|system", words, re.I)
    return words if tells else "its data are damaged or break off"


def block_frames(rate: int, channels: int) -> int:
    return min(5 * rate, BLOCK_SAMPLES // channels)


def open_with_libsndfile(path: Path, header: Header, *parts: tuple[int, int] | bytes) -> Sound:
    if header.start:
        parts = ((header.start, path.stat().st_size),)
    file = Forward(Parts(path, *parts) if parts else path)
    if not file.subtype.startswith(SUBTYPES[header.codec]):
        raise ItemFailure("unsupported_format", f"The {header.container} file holds another coding than {header.codec}")
    check_facts(file.samplerate, file.channels)
    rate, expected = file.samplerate, file.frames

    def blocks() -> Iterator[np.ndarray]:
        with file:
            while True:
                block = file.read(block_frames(rate, file.channels), dtype="float32", always_2d=True)
                if not len(block):
                    return
                yield block

    # a stream of unknown length claims nearly 2^63 samples
    return Sound(rate, file.channels, blocks(), expected if 0 < expected < 1 << 40 else None)


def ffmpeg_command(path: Path, container: str, start: int, late: int) -> list[str]:
    demuxer, decoders = FFMPEG[container]
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1", "-max_streams", "40"]
    command += ["-protocol_whitelist", "file,pipe", "-format_whitelist", demuxer, "-codec_whitelist", decoders]
    command += ["-copyts", "-skip_initial_bytes", str(start), "-f", demuxer, "-i", f"file:{path}"]
    command += ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"]
    command += ["-af", f"atrim=start_sample={late}"] if late else []
    return [*command, "-fflags", "+bitexact", "-c:a", "pcm_f32le", "-f", "matroska", "pipe:1"]


def why_ended(process: subprocess.Popen, what: str) -> ItemFailure:
    """ffmpeg has closed its output: the reason by its exit status."""
    status = process.wait()
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "Decoding was ended: it went over its limit of time or memory")
    if status < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-status).name})")
    return ItemFailure("corrupt_audio", what)


def limit_ffmpeg() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = FFMPEG_BYTES if most == resource.RLIM_INFINITY else min(most, FFMPEG_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def open_with_ffmpeg(path: Path, header: Header, seconds: float | None, start: int = 0, late: int = 0) -> Sound:
    """From byte `start` on and without the first `late` samples; `seconds` are promised."""
    if shutil.which("ffmpeg") is None:
        raise ItemFailure("unsupported_format", f"This worker cannot decode {header.container} files")
    process = subprocess.Popen(
        ffmpeg_command(path, header.container, start, late),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit_ffmpeg,
    )
    try:
        rate, channels, packets = timed_packets(process.stdout)
    except EOFError:
        raise why_ended(process, "The file cannot be decoded: no sound came out of it") from None
    check_facts(rate, channels)
    most = block_frames(rate, channels)

    def silence_before(seconds: float, seen: int) -> int:
        """Samples that are missing up to a packet's time; they count against the limits before there are any."""
        missing = seconds - seen / rate
        if header.container not in TIMED or missing < (GAP_SECONDS if seen else LATE_SECONDS):
            return 0
        check_size(seconds, rate, channels, path.stat().st_size)
        return round(seconds * rate) - seen

    def blocks() -> Iterator[np.ndarray]:
        seen = 0
        with process.stdout:  # closed early, it ends ffmpeg too
            for seconds, data in packets:
                missing = silence_before(seconds, seen)
                for at in range(0, missing, most):
                    yield np.zeros((min(most, missing - at), channels), np.float32)
                block = np.frombuffer(data, "<f4").reshape(-1, channels)
                seen += missing + len(block)
                yield block
            if process.wait() != 0:
                raise why_ended(process, "The decoder stopped with an error before the end of the file")

    return Sound(rate, channels, joined(blocks(), most), seconds and round(seconds * rate))


def joined(blocks: Iterator[np.ndarray], most: int) -> Iterator[np.ndarray]:
    """The same samples in blocks of `most`, the last one shorter: packets are too short to be worked on one by one."""
    held, size = [], 0
    for block in blocks:
        held.append(block)
        size += len(block)
        while size >= most:
            whole = np.concatenate(held)
            yield whole[:most]
            held, size = [whole[most:]], size - most
    if size:
        yield np.concatenate(held)


def open_mp3(path: Path, header: Header) -> Sound:
    """By libsndfile where it gives all of it, else by ffmpeg from the first sound on. libsndfile goes by the first frame's
    count or by the file's size, and not over what lies between frames."""
    with path.open("rb") as file:
        mp3 = walk_mp3(file, header.start, MOST_SECONDS)
    if mp3 is None:
        return open_with_libsndfile(path, header)
    try:
        sound = open_with_libsndfile(path, header)
        if tells_all(mp3, sound):
            return replace(sound, expected=round(mp3.promised * sound.rate))
    except (soundfile.LibsndfileError, RuntimeError):
        pass
    return open_with_ffmpeg(path, header, mp3.promised, mp3.first, MP3_DELAY if mp3.informed else 0)


def tells_all(mp3: Mp3, sound: Sound) -> bool:
    """Whether libsndfile comes to the last frame and stops there."""
    slack = 1.5 * mp3.frame_seconds  # encoders count the frame that only informs, or do not
    told_end = mp3.told is not None and mp3.told < mp3.seconds + slack
    if mp3.kinds > 1 or mp3.gap >= MOST_SKIPPED or (mp3.rest >= MOST_SKIPPED and not told_end):
        return False
    if mp3.told is not None and mp3.told < mp3.seconds - slack:
        return False
    return (sound.expected or 0) / sound.rate > mp3.seconds - slack - (GAPLESS / sound.rate if mp3.informed else 0)


def open_ogg(path: Path, header: Header) -> Sound:
    """Streams that follow each other, and what is left of one that has gaps, are opened one by one: each Opus stream begins
    with samples that are none of its sound. ffmpeg takes those of the first alone away, and hears a page after a gap too
    early."""
    with path.open("rb") as file:
        ogg = walk_ogg(file, MOST_SECONDS)
    if len(ogg.kinds) > 1:
        raise ItemFailure("corrupt_audio", "The Ogg file joins sound of different codings, rates or channels")
    if ogg.anew or len(ogg.rates) > 1 or (ogg.pieces > 1 and header.codec == "flac"):
        return open_with_ffmpeg(path, header, ogg.seconds)
    return open_with_libsndfile(path, header) if ogg.pieces < 2 else open_pieces(path, header, ogg)


def open_pieces(path: Path, header: Header, ogg: Ogg) -> Sound:
    def open_one(piece: Piece) -> Sound:
        sound = open_with_libsndfile(path, header, piece.heads, last_page(piece) if piece.lone else piece.pages)
        return replace(sound, blocks=to_end(sound))

    def to_end(sound: Sound) -> Iterator[np.ndarray]:
        seen = 0
        for block in sound.blocks:
            seen += len(block)
            yield block.copy()  # it is a view of five seconds
        check_whole(seen, sound.expected, sound.rate)  # what is damaged is no gap

    def last_page(piece: Piece) -> bytes:
        return unended(Parts(path, piece.pages).read(piece.pages[1] - piece.pages[0]))

    def pieces() -> Iterator[Piece]:
        with path.open("rb") as file:
            yield from (piece for piece in pieces_of(file, MOST_SECONDS) if piece.pages[0] < piece.pages[1])

    first = next(pieces(), None)
    if first is None:
        raise ItemFailure("empty_audio", "The Ogg file holds no sound")
    sound = open_one(first)
    blocks = joined(in_time(pieces(), open_one), block_frames(sound.rate, sound.channels))
    return replace(sound, blocks=blocks, expected=round(ogg.seconds * sound.rate))


def open_flac(path: Path, header: Header) -> Sound:
    with path.open("rb") as file:
        flac = walk_flac(file, header.start, MOST_SECONDS * (header.rate or 1))
    if flac.joined:
        raise ItemFailure("corrupt_audio", "Another FLAC file follows the sound of the FLAC file; send them one by one")
    if flac.broken:
        raise ItemFailure("corrupt_audio", "Frames in the middle of the FLAC file are damaged or missing")
    stored = flac.frames / (header.rate or 1)
    if header.seconds is None or stored > header.seconds:
        return open_with_ffmpeg(path, header, stored or None, header.start)
    return open_with_libsndfile(path, header)


def check_whole(samples: int, expected: int | None, rate: int) -> None:
    """Raises ItemFailure when the file breaks off."""
    if expected is not None and samples < 0.98 * expected - rate:
        told = f"{samples / rate:.1f} s of {expected / rate:.1f} s can be decoded"
        raise ItemFailure("corrupt_audio", f"The file breaks off: {told}")


def guarded(sound: Sound, stored_bytes: int) -> Iterator[np.ndarray]:
    """The blocks under running limits: duration, decoded size against stored size, finite numbers, promised length."""
    seen, bad = 0, 0
    check_size((sound.expected or 0) / sound.rate, sound.rate, sound.channels, stored_bytes)
    try:
        for block in sound.blocks:
            seen += len(block)
            check_size(seen / sound.rate, sound.rate, sound.channels, stored_bytes)
            finite = np.isfinite(block)
            bad += block.size - int(finite.sum())
            if bad > 0.01 * seen * sound.channels + 1000:
                raise ItemFailure("corrupt_audio", "The samples are not numbers")
            yield np.clip(np.where(finite, block, 0), -16, 16)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        far = f"{seen / sound.rate:.1f} s" + (f" of {sound.expected / sound.rate:.1f} s" if sound.expected else "")
        raise ItemFailure("corrupt_audio", f"Decoding stopped after {far}: {plain(error)}") from error
    if seen == 0:
        raise ItemFailure("empty_audio", "The file holds no sound")
    check_whole(seen, sound.expected, sound.rate)


OPEN = {"flac": open_flac, "mp3": open_mp3, "ogg": open_ogg}


def open_sound(path: Path, header: Header) -> Sound:
    """Raises ItemFailure when nothing can decode the file."""
    if header.wav is not None:
        wav = header.wav
        check_whole(wav.frames, wav.frames_told, wav.rate)  # here: it grows by nothing, whatever it promises
        return Sound(wav.rate, wav.channels, wav_blocks(path, wav, block_frames(wav.rate, wav.channels)), wav.frames_told)
    if header.container not in OPEN:
        return open_with_ffmpeg(path, header, header.seconds)
    try:
        return OPEN[header.container](path, header)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        if header.container != "flac" and shutil.which("ffmpeg") is not None:
            return open_with_ffmpeg(path, header, None, header.start)
        raise ItemFailure("corrupt_audio", f"The {header.container} file cannot be opened: {plain(error)}") from error
