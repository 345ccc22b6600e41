# FLAC with samples of each size that its encoders write: decoded to their exact values, or refused with advice.
from pathlib import Path

import numpy as np
import pytest

from worker.bombs import crc
from worker.test_times import decoded, failure_of

RATE, BLOCK = 16_000, 4096
SIZE_CODES = {8: 1, 12: 2, 16: 4, 20: 5, 24: 6, 32: 7}  # in the header of a frame


def voice(bits: int, blocks: int) -> np.ndarray:
    """A tone in noise, whole numbers of `bits` bits, (n,)."""
    rng, time = np.random.default_rng(1), np.arange(blocks * BLOCK) / RATE
    return np.rint((0.5 * np.sin(2 * np.pi * 440 * time) + rng.normal(0, 0.05, len(time))) * 2 ** (bits - 1)).astype(np.int64)


def flac_of(samples: np.ndarray, bits: int) -> bytes:
    """One channel, not compressed (verbatim subframes). No encoder at hand writes 12, 20 and 32 bits."""
    facts = RATE << 44 | bits - 1 << 36 | len(samples)
    out = b"fLaC\x80\0\0\x22" + 2 * BLOCK.to_bytes(2, "big") + bytes(6) + facts.to_bytes(8, "big") + bytes(16)
    for number, block in enumerate(samples.reshape(-1, BLOCK)):
        head = b"\xff\xf8\x70" + bytes([SIZE_CODES[bits] << 1, number]) + (BLOCK - 1).to_bytes(2, "big")
        packed = "".join(f"{value & (1 << bits) - 1:0{bits}b}" for value in block.tolist())
        frame = head + bytes([crc(head, 8, 0x07), 0b10]) + int(packed, 2).to_bytes(BLOCK * bits // 8, "big")
        out += frame + crc(frame, 16, 0x8005).to_bytes(2, "big")
    return out


@pytest.mark.parametrize("bits", [8, 12, 16, 20, 24])
def test_flac_of_each_sample_size_is_decoded_to_its_values(tmp_path: Path, bits: int) -> None:
    samples = voice(bits, 4)
    found, rate = decoded(tmp_path / "a.flac", flac_of(samples, bits))
    assert rate == RATE
    assert np.array_equal(found[:, 0], (samples / 2 ** (bits - 1)).astype(np.float32))


def test_a_truncated_flac_of_20_bits_fails(tmp_path: Path) -> None:
    flac = flac_of(voice(20, 12), 20)
    assert "is truncated" in failure_of(tmp_path / "a.flac", flac[: len(flac) // 2]).message


def test_flac_of_32_bits_is_refused_with_advice(tmp_path: Path) -> None:
    failure = failure_of(tmp_path / "a.flac", flac_of(voice(32, 1), 32))
    assert failure.code == "unsupported_format"
    assert failure.message == "FLAC with 32 bits per sample is not supported; convert the file to 24 bits"
