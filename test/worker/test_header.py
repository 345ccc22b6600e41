# Places of the format chunk in a WAV file: the API scans the chunks, and the worker must find the same format.
import io
import struct

import numpy as np
import pytest
import soundfile
from plosive_worker.audio.header import read_header
from plosive_worker.failure import ItemFailure


def wav_with(tmp_path, chunk: bytes):
    """A WAV file with another chunk before its format."""
    plain = io.BytesIO()
    soundfile.write(plain, np.zeros(16_000, np.int16), 16_000, format="WAV")
    data = plain.getvalue()
    path = tmp_path / "take.wav"
    path.write_bytes(data[:12] + chunk + data[12:])
    return path


@pytest.mark.parametrize("size", [0, 27, 600, 65_000, 100_001, 3_000_000])
def test_format_behind_another_chunk(tmp_path, size):
    chunk = b"JUNK" + struct.pack("<I", size) + bytes(size + size % 2)
    header = read_header(wav_with(tmp_path, chunk))
    assert (header.container, header.codec, header.rate, header.channels) == ("wav", "pcm", 16_000, 1)


def test_chunk_that_claims_more_than_the_file_holds(tmp_path):
    with pytest.raises(ItemFailure, match="no format chunk"):
        read_header(wav_with(tmp_path, b"JUNK" + struct.pack("<I", 0xFFFFFFF0)))


@pytest.mark.parametrize("word", [b"RF64", b"BW64"])
def test_length_in_a_chunk_before_the_format(tmp_path, word):
    """Files that can be longer than 4 GiB have all bits set in the 32-bit length."""
    sizes = b"ds64" + struct.pack("<IQQQI", 28, 0, 32_000, 16_000, 0)
    path = wav_with(tmp_path, sizes)
    data = path.read_bytes().replace(b"RIFF", word, 1)
    at = data.index(b"data", 12 + len(sizes)) + 4
    path.write_bytes(data[:at] + b"\xff" * 4 + data[at + 4 :] + b"LIST" + struct.pack("<I", 60_000) + b"INFO" * 15_000)
    header = read_header(path)
    assert (header.container, header.codec, header.rate, header.channels) == ("wav", "pcm", 16_000, 1)
    assert (header.wav.size, header.wav.promised) == (32_000, 32_000)
