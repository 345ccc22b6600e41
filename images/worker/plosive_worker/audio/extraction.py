# Runs in the child process for one file: header check, decoding, features, peaks, facts. Communicates with the parent
# only through files in its folder, never through pickles. Started by sandbox.py.
import json
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import soxr

from ..failure import ItemFailure
from ..features.file import FrameWriter
from ..features.stream import feature_blocks
from .decoding import guarded, open_sound
from .facts import FRAMES, OUTCOME, PEAKS, PROGRESS, STALL_SECONDS, WAVE, Facts, Outputs
from .header import read_header
from .peaks import PeakWriter

CANCELS = 0.1  # see WaveWriter


class WaveWriter:
    """Writes the waveform for an encoder: all channels mixed to mono, at the encoder's rate. The mix is the mean of the
    channels. If they cancel each other out in a block (opposite polarity), it is a single channel instead: when the
    mean has less than a tenth (CANCELS) of the energy that the mean of uncorrelated channels would have. That channel
    is always the loudest one of the first such block, because switching channels would add a click."""

    def __init__(self, path: Path | int, rate: int, wanted: int):
        self.file, self.resampler = open(path, "wb"), soxr.ResampleStream(rate, wanted, 1, dtype="float32")
        self.channel: int | None = None

    def mixed(self, block: np.ndarray) -> np.ndarray:  # (n, C) -> (n,)
        mean, energies = block.mean(1), np.square(block, dtype=np.float64).sum(0)
        if np.square(mean, dtype=np.float64).sum() >= CANCELS * energies.sum() / block.shape[1] ** 2:
            return mean
        if self.channel is None:
            self.channel = int(energies.argmax())
        return block[:, self.channel]

    def write(self, block: np.ndarray, last: bool = False) -> None:  # (n, C)
        wave = self.resampler.resample_chunk(np.ascontiguousarray(self.mixed(block), np.float32), last=last)
        self.file.write(np.clip(np.rint(wave * 32767), -32768, 32767).astype("<i2").tobytes())

    def close(self, channels: int) -> None:
        self.write(np.zeros((0, channels), np.float32), last=True)
        self.file.close()


def extract(
    path: Path,
    outputs: Outputs,
    filename: str = "",
    watchdog: Callable[[bool], None] = lambda _: None,
    wave_rate: int | None = None,
) -> Facts:
    """Writes FRAMES and PEAKS, and WAVE if a rate is given. Raises ItemFailure with a reason for the user. Calls
    `watchdog` with True when a decoder starts to work and with False when it has returned a block."""
    header = read_header(path, filename)
    watchdog(True)
    sound = open_sound(path, header)
    writer, peaks, samples = FrameWriter(outputs[FRAMES]), PeakWriter(sound.rate), 0
    wave = WaveWriter(outputs[WAVE], sound.rate, wave_rate) if wave_rate else None

    def decoded_blocks() -> Iterator[np.ndarray]:
        nonlocal samples
        for block in guarded(sound, path.stat().st_size):
            watchdog(False)
            samples += len(block)
            peaks.write(block)
            if wave:
                wave.write(block)
            yield block
            watchdog(True)
        watchdog(False)

    for frames in feature_blocks(decoded_blocks(), sound.rate):
        writer.write(frames)
        share = samples / sound.expected if sound.expected else 0.0
        os.pwrite(outputs[PROGRESS], f"{samples} {share:.4f}".encode(), 0)  # never shorter than before
    rows = writer.close()
    peaks.save(outputs[PEAKS])
    if wave:
        wave.close(sound.channels)
    return Facts(round(samples * 1000 / sound.rate), sound.rate, sound.channels, header.codec, rows)


def alarm(decoding: bool) -> None:
    """Starts or stops the stall timer. SIGALRM has no handler, so it ends this process even if native code hangs."""
    signal.setitimer(signal.ITIMER_REAL, STALL_SECONDS if decoding else 0)


def extract_and_report(path: Path, outputs: Outputs, filename: str, wave_rate: int | None) -> None:
    """The child's main function: writes facts or an error to OUTCOME. A crash leaves it empty."""
    try:
        outcome = {"facts": asdict(extract(path, outputs, filename, alarm, wave_rate))}
    except ItemFailure as failure:
        outcome = {"error": {"code": failure.code, "message": failure.message[:1000]}}
    except MemoryError:
        outcome = {"error": {"code": "too_large", "message": "Decoding needs more memory than one file may use"}}
    except Exception:
        traceback.print_exc()  # a bug of the worker; only this file fails
        outcome = {"error": {"code": "decoder_crashed", "message": "The decoder stopped with an unexpected error"}}
    os.write(outputs[OUTCOME], json.dumps(outcome).encode())
