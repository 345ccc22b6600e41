# Where a WAV file's format may stand: the API walks through the chunks, and the worker has to find what it found.
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
