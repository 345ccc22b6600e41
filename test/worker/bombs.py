# Uploads that attack a decoder: small files that expand or declare days, loops, forged containers, other formats. Used
# by test_fuzz.py; each has its permitted endings.
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .mutants import Upload, ffmpeg

REFUSED, DAMAGED, DECODED = "unsupported_format", "corrupt_audio", "decoded"
DAY = 86_400


@dataclass(frozen=True)
class Bomb:
    upload: Upload
    endings: frozenset[str]  # codes of failures; DECODED if its sound may be decoded


def bomb(filename: str, data: bytes, story: str, *endings: str) -> Bomb:
    return Bomb(Upload(filename, data, story), frozenset(endings))


def crc(data: bytes, bits: int, polynomial: int) -> int:
    """A plain CRC, as in FLAC (8 and 16 bits) and Ogg (32 bits)."""
    value, top, mask = 0, 1 << bits - 1, (1 << bits) - 1
    for byte in data:
        value ^= byte << bits - 8
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & mask
    return value


def flac(rate: int, claimed: int, frames: int) -> bytes:
    """Silence in frames of 65,535 samples and about 16 bytes each; the header can declare any length."""
    facts = rate << 44 | 0 << 41 | 15 << 36 | claimed
    info = struct.pack(">HH6x", 65_535, 65_535) + facts.to_bytes(8, "big") + bytes(16)
    out = [b"fLaC\x80", len(info).to_bytes(3, "big"), info]
    for number in range(frames):
        head = b"\xff\xf8\x70\x08" + chr(number).encode() + b"\xff\xfe"
        frame = head + bytes([crc(head, 8, 0x07)]) + b"\0\0\0"
        out.append(frame + crc(frame, 16, 0x8005).to_bytes(2, "big"))
    return b"".join(out)


def ogg_page(packets: list[bytes], granule: int, number: int, flags: int) -> bytes:
    head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 7, number, 0) + bytes([len(packets), *map(len, packets)])
    page = head + b"".join(packets)
    return page[:22] + struct.pack("<I", crc(page, 32, 0x04C11DB7)) + page[26:]


def opus(packets: int) -> bytes:
    """Packets of two bytes that each decode to 120 ms of silence."""
    head = b"OpusHead" + struct.pack("<BBHIHB", 1, 1, 0, 48_000, 0, 0)
    pages = [ogg_page([head], 0, 0, 2), ogg_page([b"OpusTags" + struct.pack("<II", 0, 0)], 0, 1, 0)]
    for number in range(0, packets, 255):
        count = min(255, packets - number)
        pages.append(ogg_page([b"\x1b\x02"] * count, (number + count) * 5760, 2 + number // 255, 4 * (number + 255 >= packets)))
    return b"".join(pages)


def wav(tag: int = 1, channels: int = 1, rate: int = 16_000, bits: int = 16, body: bytes = bytes(32_000), **told: int) -> bytes:
    block = told.get("block", channels * bits // 8)
    form = struct.pack("<HHIIHH", tag, channels & 0xFFFF, rate, rate * block & 0xFFFFFFFF, block & 0xFFFF, bits)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", told.get("size", len(body))) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks) & 0xFFFFFFFF) + b"WAVE" + chunks


def id3(told: int, body: bytes = b"") -> bytes:
    return b"ID3\x03\0\0" + bytes(told >> shift & 127 for shift in (21, 14, 7, 0)) + body


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), name) + body


def replaced(data: bytes, name: bytes, offset: int, new: bytes) -> bytes:
    at = data.index(name) + offset
    return data[:at] + new + data[at + len(new) :]


def growing() -> Iterator[Bomb]:
    yield bomb("grows.flac", flac(192_000, 0, 1200), "20 KB of FLAC that become 150 MB", "decoder_bomb")
    yield bomb("days.flac", flac(16_000, 3 * DAY * 16_000, 4), "FLAC that claims three days", "too_long")
    yield bomb("hours.flac", flac(16_000, 10 * 3600 * 16_000, 4), "68 bytes of FLAC that claim ten hours", "decoder_bomb")
    yield bomb("most.flac", flac(8_000, (1 << 36) - 1, 4), "FLAC that claims 99 days", "too_long")
    yield bomb("grows.opus", opus(13_000), "40 KB of Opus that become 150 MB", "decoder_bomb")


def forged_wav() -> Iterator[Bomb]:
    yield bomb("rate.wav", wav(rate=0xFFFFFFFF), "4 GHz", REFUSED)
    yield bomb("rate.wav", wav(rate=0), "no rate", DAMAGED)
    yield bomb("slow.wav", wav(rate=1), "1 Hz", REFUSED)
    yield bomb("channels.wav", wav(channels=65_535, bits=8), "65,535 channels", REFUSED)
    yield bomb("channels.wav", wav(channels=0), "no channel", DAMAGED)
    yield bomb("block.wav", wav(block=0), "blocks of 0 bytes", DAMAGED)
    yield bomb("bits.wav", wav(bits=0), "samples of 0 bits", REFUSED)
    yield bomb("bits.wav", wav(bits=64), "PCM of 64 bits", REFUSED)
    yield bomb("silent.wav", wav(body=b""), "no samples", "empty_audio")
    yield bomb("sizes.wav", wav(size=0xFFFFFFFF), "data of 4 GB that are not there", DECODED)
    yield bomb("nan.wav", wav(tag=3, bits=32, body=b"\xff" * 64_000), "samples that are no numbers", DAMAGED)
    yield bomb("loud.wav", wav(tag=3, bits=64, body=struct.pack("<d", 1e300) * 8_000), "samples of 1e300", DAMAGED)
    yield bomb("chunks.wav", b"RIFF\xff\xff\xff\xffWAVE" + b"JUNK\0\0\0\0" * 100_000, "chunks without end", DAMAGED)
    sizes = b"ds64" + struct.pack("<IQQQI", 28, *[1 << 63] * 3, 0)
    long = replaced(wav(), b"data", 4, b"\xff" * 4).replace(b"RIFF", b"RF64", 1).replace(b"fmt ", sizes + b"fmt ", 1)
    yield bomb("long.wav", long, "RF64 that claims 8 EiB", DECODED)
    for tag in (0x02, 0x11, 0x31, 0x50, 0x55, 0x161, 0x2000):
        yield bomb("coding.wav", wav(tag=tag, bits=4, block=512), f"WAV coding {tag:#06x}", REFUSED)


def forged_tags(seeds: dict[str, bytes]) -> Iterator[Bomb]:
    adpcm = wav(tag=0x11, bits=4, block=512)
    yield bomb("hidden.mp3", id3(0) + adpcm, "a refused WAV behind a tag", DAMAGED)
    yield bomb("hidden.mp3", id3(20, bytes(20)) + id3(0) + wav(), "a WAV behind two tags", DAMAGED)
    yield bomb("tags.mp3", id3(0) * 50_000 + seeds["plain.mp3"], "50,000 tags", DAMAGED)
    yield bomb("tag.mp3", id3((1 << 28) - 1) + seeds["plain.mp3"], "a tag of 256 MB that is not there", DAMAGED)
    yield bomb("tag.mp3", id3(4_000_000, bytes(4_000_000)) + seeds["plain.mp3"], "a tag of 4 MB", DECODED)
    yield bomb("tag.flac", id3(10, bytes(10)) + seeds["mono.flac"], "FLAC behind a tag", DECODED)
    for name in (b"Xing", b"Info"):
        if name in seeds["tagged.mp3"]:
            lies = replaced(seeds["tagged.mp3"], name, 8, b"\xff" * 4)
            yield bomb("frames.mp3", lies, "MP3 that claims four billion frames", "too_long", "decoder_bomb", DAMAGED, DECODED)


def forged_containers(seeds: dict[str, bytes]) -> Iterator[Bomb]:
    m4a, webm, wma = seeds["aac.m4a"], seeds["opus.webm"], seeds["voice.wma"]
    start = box(b"ftyp", b"M4A \0\0\0\0")
    yield bomb("years.m4a", replaced(m4a, b"tkhd", 24, b"\x7f\xff\xff\xff"), "MP4 that claims 24 days", "too_long")
    counts = replaced(m4a, b"stsz", 12, b"\xff\xff\xff\xf0")
    yield bomb("counts.m4a", counts, "four billion samples in a table", DAMAGED)
    times = replaced(m4a, b"stts", 12, b"\x7f\xff\xff\xff")
    yield bomb("times.m4a", times, "a sample that lasts two billion ticks", DAMAGED, DECODED)
    yield bomb("tracks.m4a", start + box(b"moov", box(b"trak", b"") * 60_000), "60,000 tracks", DAMAGED)
    deep = b""
    for _ in range(3_000):
        deep = struct.pack(">I4s", min(8 + len(deep), 0xFFFFFFFF), b"moov") + deep
    yield bomb("deep.m4a", start + deep, "3,000 boxes in each other", DAMAGED)
    yield bomb("loop.m4a", start + struct.pack(">I4sQ", 1, b"free", 0) * 50, "a box of no size", DAMAGED)
    yield bomb("huge.m4a", start + struct.pack(">I4sQ", 1, b"free", 1 << 63), "a box of 8 EiB", DAMAGED)
    away = m4a.replace(b"url \0\0\0\x01", b"url \0\0\0\0", 1)
    yield bomb("away.m4a", away, "sound that lies in another file", DAMAGED, DECODED)
    first = webm.index(b"\x1f\x43\xb6\x75")
    yield bomb("many.webm", webm[:first] + webm[first:] * 300, "300 times the same clusters", DAMAGED, DECODED)
    name = b"\x15\x49\xa9\x66"  # occurs first in the seek head, then at its own place
    start_of_list = webm.index(name) + len(name)
    endless = webm[:start_of_list] + replaced(webm[start_of_list:], name, 4, b"\x01" + b"\xff" * 7)
    yield bomb("endless.webm", endless, "an element without end", DAMAGED)
    yield bomb("small.webm", webm[:48] + b"\xec\x80" * 50_000, "50,000 empty elements", DAMAGED)
    rate = webm.find(b"\x44\x89")
    lies = webm[: rate + 3] + struct.pack(">d", 1e300) + webm[rate + 11 :]
    yield bomb("long.webm", lies, "WebM that claims to go on for ever", "too_long")
    head = wma[:16] + struct.pack("<QI", 1 << 62, 1 << 31) + wma[28:30]
    yield bomb("objects.wma", head + (bytes(16) + struct.pack("<Q", 24)) * 9_000, "9,000 empty objects", DAMAGED)
    yield bomb("object.wma", wma[:30] + bytes(24) + wma[54:], "an object of no size", DAMAGED)
    yield bomb("chain.opus", seeds["voice.opus"] * 40, "40 streams one after the other", DAMAGED, DECODED)
    chain = seeds["vorbis.ogg"] + seeds["voice.opus"] + seeds["flac.ogg"]
    yield bomb("chain.ogg", chain, "three codings one after the other", DAMAGED, DECODED)
    yield bomb("endless.aac", seeds["voice.aac"] * 30, "frames without end", DECODED)


def foreign(folder: Path) -> Iterator[Bomb]:
    texts = {
        "list.m3u8": b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.wav\n",
        "list.ffconcat": b"ffconcat version 1.0\nfile '/etc/hostname'\n",
        "call.sdp": b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n",
        "list.mpd": b"<?xml version='1.0'?><MPD><BaseURL>file:///etc/hostname</BaseURL></MPD>",
        "image.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "page.pdf": b"%PDF-1.7\n" + bytes(2000),
        "program": b"\x7fELF\x02\x01\x01" + bytes(2000),
        "packed.gz": b"\x1f\x8b\x08\0" + bytes(2000),
        "packed.zip": b"PK\x03\x04" + bytes(2000),
        "film.avi": b"RIFF\xff\xff\0\0AVI LIST" + bytes(2000),
        "voice.au": b".snd\0\0\0\x18" + bytes(2000),
        "voice.aiff": b"FORM\0\0\x10\0AIFFCOMM" + bytes(2000),
        "noise": bytes(range(256)) * 8,
    }
    for name, data in texts.items():
        yield bomb(name, data, "no audio that we take", REFUSED)
    ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x64:duration=0.2", "-c:v", "mpeg4", str(folder / "silent.mp4"))
    ffmpeg("-f", "lavfi", "-i", "sine=duration=0.5", "-c:a", "ac3", str(folder / "ac3.mp4"))
    ffmpeg("-f", "lavfi", "-i", "sine=duration=0.5", "-c:a", "pcm_s16le", str(folder / "pcm.mka"))
    yield bomb("silent.mp4", (folder / "silent.mp4").read_bytes(), "a film without sound", DAMAGED)
    yield bomb("ac3.mp4", (folder / "ac3.mp4").read_bytes(), "a coding that we do not take", REFUSED)
    yield bomb("pcm.mka", (folder / "pcm.mka").read_bytes(), "a coding that we do not take", REFUSED)


def short_ones(seeds: dict[str, bytes]) -> Iterator[Bomb]:
    for name, data in seeds.items():
        yield bomb(name, b"", "nothing at all", "empty_file")
        for size in (1, 4, 12, 28, 44):
            decoded = [DECODED] if name.endswith(".g722") else []
            yield bomb(name, data[:size], f"the first {size} bytes", REFUSED, DAMAGED, "empty_audio", *decoded)


def make_bombs(seeds: dict[str, bytes], folder: Path) -> list[Bomb]:
    parts = (growing(), forged_wav(), forged_tags(seeds), forged_containers(seeds), foreign(folder), short_ones(seeds))
    return [one for part in parts for one in part]
