# Decodes a file into a stream of float32 blocks. Memory does not depend on the file's length or on sizes in its header.
# wav.py reads WAV; libsndfile reads FLAC, Ogg and MP3; ffmpeg (one demuxer, a few decoders, local files only) reads
# what libsndfile cannot. Called by extraction.py inside the sandboxed child.
#
# Rules for the length of a file, the same for all formats:
# - All audio that the file stores is decoded, even if the header declares less; otherwise the file fails.
# - A file fails as truncated if it stores less than its header declares, by more than one second plus 2 %.
# - Some declared lengths are ignored: the placeholders of live encoders (0, all ones, more than an upload can have),
#   and the frame count of an MP3 whose last frame is complete, because it was copied from another file. Ogg, AAC and
#   G.722 declare no length.
# - Packets that are missing between two timestamps of the file (Ogg, MP4, Matroska) become silence.
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
from .ogg import Ogg, Piece, pieces_of, walk_ogg, with_gaps_filled, without_end_flag
from .wav import MOST_LEVEL, wav_blocks

BLOCK_SAMPLES = 1 << 20  # of all channels together, at most 5 seconds
MAX_SECONDS = MAX_HOURS * 3600
FFMPEG_BYTES = 256 << 20  # private memory; a typical file needs a tenth of it
FLAC_BITS = 8, 16, 24  # of a sample, that libsndfile can decode
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
# Containers with a timestamp for each packet. A start later than 40 ms (Vorbis begins with a packet without samples)
# and gaps longer than 100 ms (live recorders deliver packets late) are filled with silence.
TIMED, LATE_SECONDS, GAP_SECONDS = ("mov", "matroska"), 0.04, 0.1
MP3_DELAY = 1105  # samples of encoder delay that LAME and similar encoders put first
MAX_SKIPPED = 1024  # bytes between or after MP3 frames that libsndfile skips
GAPLESS = 8190  # upper bound of the samples that an MP3's first frame trims at both ends


@dataclass
class Sound:
    """An open decoder. Yields samples block by block, (n, C) float32 in about -1..1."""

    rate: int
    channels: int
    blocks: Iterator[np.ndarray]
    expected: int | None  # samples that the container declares, None if it declares no length


class ForwardOnlyFile(soundfile.SoundFile):
    """A sound file that is only read forward. soundfile seeks to its current position after each block. That seek makes
    an MP3 decoder drop its bit reservoir, which adds an audible fault."""

    def seekable(self) -> bool:
        return False


class ByteRanges:
    """Presents byte ranges of a file (from, to) and byte strings as one file to libsndfile, so that it reads exactly
    the bytes that header.py and ogg.py checked."""

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


def libsndfile_reason(error: Exception) -> str:
    """Returns libsndfile's error text if it is specific, without the path of the scratch file."""
    text = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")[:120]
    is_specific = text and not re.search("unknown|unspecified|internal|system", text, re.I)
    return text if is_specific else "its data is damaged or incomplete"


def samples_per_block(rate: int, channels: int) -> int:
    return min(5 * rate, BLOCK_SAMPLES // channels)


def open_with_libsndfile(path: Path, header: Header, *parts: tuple[int, int] | bytes) -> Sound:
    if header.start:
        parts = ((header.start, path.stat().st_size),)
    file = ForwardOnlyFile(ByteRanges(path, *parts) if parts else path)
    if not file.subtype.startswith(SUBTYPES[header.codec]):
        raise ItemFailure("unsupported_format", f"The codec of the {header.container} file is not {header.codec}")
    check_facts(file.samplerate, file.channels)
    rate, expected = file.samplerate, file.frames

    def blocks() -> Iterator[np.ndarray]:
        with file:
            while True:
                block = file.read(samples_per_block(rate, file.channels), dtype="float32", always_2d=True)
                if not len(block):
                    return
                yield block

    # libsndfile reports nearly 2^63 samples for a stream of unknown length
    return Sound(rate, file.channels, blocks(), expected if 0 < expected < 1 << 40 else None)


def ffmpeg_command(path: Path, container: str, start: int, late: int) -> list[str]:
    demuxer, decoders = FFMPEG[container]
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1", "-max_streams", "40"]
    command += ["-protocol_whitelist", "file,pipe", "-format_whitelist", demuxer, "-codec_whitelist", decoders]
    command += ["-copyts", "-skip_initial_bytes", str(start), "-f", demuxer, "-i", f"file:{path}"]
    command += ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"]
    command += ["-af", f"atrim=start_sample={late}"] if late else []
    return [*command, "-fflags", "+bitexact", "-c:a", "pcm_f32le", "-f", "matroska", "pipe:1"]


def ffmpeg_failure(process: subprocess.Popen, what: str) -> ItemFailure:
    """Returns the failure by the exit status of ffmpeg, which has closed its output; `what` is the message for an
    error."""
    status = process.wait()
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return ItemFailure("decoder_limit", "The decoder exceeded its time or memory limit")
    if status < 0:
        return ItemFailure("decoder_crashed", f"The decoder crashed on this file ({signal.Signals(-status).name})")
    return ItemFailure("corrupt_audio", what)


def limit_ffmpeg() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = FFMPEG_BYTES if most == resource.RLIM_INFINITY else min(most, FFMPEG_BYTES)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def open_with_ffmpeg(path: Path, header: Header, seconds: float | None, start: int = 0, late: int = 0) -> Sound:
    """Decodes from byte `start` on and drops the first `late` samples. `seconds` is the declared length."""
    if shutil.which("ffmpeg") is None:
        raise ItemFailure("unsupported_format", f"This worker cannot decode {header.container} files")
    # stdin and stderr are /dev/null already: a confined process cannot open it for writing, as DEVNULL does
    command = ffmpeg_command(path, header.container, start, late)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=limit_ffmpeg)
    output = process.stdout
    assert output is not None  # Popen opens it for stdout=PIPE
    try:
        rate, channels, packets = timed_packets(output)
    except EOFError:
        raise ffmpeg_failure(process, "The file cannot be decoded: the decoder produced no samples") from None
    check_facts(rate, channels)
    most = samples_per_block(rate, channels)

    def silence_before(seconds: float, seen: int) -> int:
        """Returns how many samples are missing before a packet's timestamp. Checks the limits before it creates
        silence."""
        missing = seconds - seen / rate
        if header.container not in TIMED or missing < (GAP_SECONDS if seen else LATE_SECONDS):
            return 0
        check_size(seconds, rate, channels, path.stat().st_size)
        return round(seconds * rate) - seen

    def blocks() -> Iterator[np.ndarray]:
        seen = 0
        with output:  # closing it early ends ffmpeg too
            for seconds, data in packets:
                missing = silence_before(seconds - header.delay / rate, seen)
                for at in range(0, missing, most):
                    yield np.zeros((min(most, missing - at), channels), np.float32)
                block = np.frombuffer(data, "<f4").reshape(-1, channels)
                seen += missing + len(block)
                yield block
            if process.wait() != 0:
                raise ffmpeg_failure(process, "The decoder stopped with an error before the end of the file")

    return Sound(rate, channels, rebatched(blocks(), most), None if seconds is None else round(seconds * rate))


def rebatched(blocks: Iterator[np.ndarray], most: int) -> Iterator[np.ndarray]:
    """Yields the same samples in blocks of `most`, the last one shorter: single packets are too short to process
    efficiently."""
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
    """Opens the file with libsndfile if that reads all frames, otherwise with ffmpeg from the first audio frame on.
    libsndfile takes the length from the first frame's count or from the file's size, and stops at data between
    frames."""
    with path.open("rb") as file:
        mp3 = walk_mp3(file, header.start, MAX_SECONDS)
    if mp3 is None:
        return open_with_libsndfile(path, header)
    try:
        sound = open_with_libsndfile(path, header)
        if reads_all_frames(mp3, sound):
            return replace(sound, expected=round(mp3.promised * sound.rate))
    except (soundfile.LibsndfileError, RuntimeError):
        pass
    return open_with_ffmpeg(path, header, mp3.promised, mp3.first, MP3_DELAY if mp3.has_info_frame else 0)


def reads_all_frames(mp3: Mp3, sound: Sound) -> bool:
    """Whether libsndfile reads up to the last frame and stops there."""
    slack = 1.5 * mp3.frame_seconds  # some encoders count the info frame, others do not
    declares_end = mp3.declared is not None and mp3.declared < mp3.seconds + slack
    if mp3.kinds > 1 or mp3.gap >= MAX_SKIPPED or (mp3.rest >= MAX_SKIPPED and not declares_end):
        return False
    if mp3.declared is not None and mp3.declared < mp3.seconds - slack:
        return False
    return (sound.expected or 0) / sound.rate > mp3.seconds - slack - (GAPLESS / sound.rate if mp3.has_info_frame else 0)


def open_ogg(path: Path, header: Header) -> Sound:
    """Opens chained streams, and the pieces of a stream with gaps, one by one, because each Opus stream begins with
    pre-skip samples. ffmpeg would drop only those of the first stream, and would play a page after a gap too early."""
    with path.open("rb") as file:
        ogg = walk_ogg(file, MAX_SECONDS)
    if len(ogg.kinds) > 1:
        raise ItemFailure("corrupt_audio", "The Ogg file joins streams with different codecs, sample rates or channels")
    if ogg.restarts or len(ogg.rates) > 1 or (ogg.pieces > 1 and header.codec == "flac"):
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
            yield block.copy()  # the block is a view that would keep five seconds in memory
        check_whole(seen, sound.expected, sound.rate)  # damaged data must fail, not become silence

    def last_page(piece: Piece) -> bytes:
        return without_end_flag(ByteRanges(path, piece.pages).read(piece.pages[1] - piece.pages[0]))

    def pieces() -> Iterator[Piece]:
        with path.open("rb") as file:
            yield from (piece for piece in pieces_of(file, MAX_SECONDS) if piece.pages[0] < piece.pages[1])

    first = next(pieces(), None)
    if first is None:
        raise ItemFailure("empty_audio", "The Ogg file contains no audio")
    sound = open_one(first)
    blocks = rebatched(with_gaps_filled(pieces(), open_one), samples_per_block(sound.rate, sound.channels))
    return replace(sound, blocks=blocks, expected=round(ogg.seconds * sound.rate))


def open_flac(path: Path, header: Header) -> Sound:
    with path.open("rb") as file:
        flac = walk_flac(file, header.start, MAX_SECONDS * (header.rate or 1))
    if flac.joined:
        raise ItemFailure("corrupt_audio", "Another FLAC file follows the audio of this FLAC file; upload them separately")
    if flac.broken:
        raise ItemFailure("corrupt_audio", "Frames in the middle of the FLAC file are damaged or missing")
    stored = flac.frames / (header.rate or 1)
    if header.seconds is None or stored > header.seconds or header.bits not in FLAC_BITS:
        return open_with_ffmpeg(path, header, max(stored, header.seconds or 0.0) or None, header.start)
    return open_with_libsndfile(path, header)


def check_whole(samples: int, expected: int | None, rate: int) -> None:
    """Raises ItemFailure if the file is truncated."""
    if expected is not None and samples < 0.98 * expected - rate:
        part = f"{samples / rate:.1f} s of {expected / rate:.1f} s can be decoded"
        raise ItemFailure("corrupt_audio", f"The file is truncated: {part}")


def guarded(sound: Sound, stored_bytes: int) -> Iterator[np.ndarray]:
    """Yields the blocks and checks them: duration, ratio of decoded to stored size, finite samples, declared length."""
    seen, bad = 0, 0
    check_size((sound.expected or 0) / sound.rate, sound.rate, sound.channels, stored_bytes)
    try:
        for block in sound.blocks:
            seen += len(block)
            check_size(seen / sound.rate, sound.rate, sound.channels, stored_bytes)
            finite = np.isfinite(block)
            bad += block.size - int(finite.sum())
            if bad > 0.01 * seen * sound.channels + 1000:
                raise ItemFailure("corrupt_audio", "Too many samples are not finite numbers")
            yield np.clip(np.where(finite, block, 0), -MOST_LEVEL, MOST_LEVEL)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        far = f"{seen / sound.rate:.1f} s" + (f" of {sound.expected / sound.rate:.1f} s" if sound.expected else "")
        raise ItemFailure("corrupt_audio", f"Decoding stopped after {far}: {libsndfile_reason(error)}") from error
    if seen == 0:
        raise ItemFailure("empty_audio", "The file contains no audio")
    check_whole(seen, sound.expected, sound.rate)


OPEN = {"flac": open_flac, "mp3": open_mp3, "ogg": open_ogg}


def open_sound(path: Path, header: Header) -> Sound:
    """Opens a decoder for the file. Raises ItemFailure if no decoder can read it."""
    if header.wav is not None:
        wav = header.wav
        # Checked before decoding: guarded() would report a forged length as a decoder bomb, but a WAV file cannot
        # expand.
        check_whole(wav.frames, wav.frames_promised, wav.rate)
        blocks = wav_blocks(path, wav, samples_per_block(wav.rate, wav.channels))
        return Sound(wav.rate, wav.channels, blocks, wav.frames_promised)
    if header.container not in OPEN:
        return open_with_ffmpeg(path, header, header.seconds)
    try:
        return OPEN[header.container](path, header)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        if header.container != "flac" and shutil.which("ffmpeg") is not None:
            return open_with_ffmpeg(path, header, None, header.start)
        raise ItemFailure("corrupt_audio", f"The {header.container} file cannot be opened: {libsndfile_reason(error)}") from error
