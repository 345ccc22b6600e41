# Channels: what a take passes on its way to the file that the detectors are given. ffmpeg encodes and decodes; the delay of
# a codec is measured and removed, so that the truth keeps its times. Called by sets.py.
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr
from scipy.signal import butter, fftconvolve, sosfilt

# name: rate (0: the take's own), file suffix, ffmpeg's arguments. None of them is in the rows of the development set but
# Opus and 8 kHz, which the acceptance table names.
CODECS: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "gsm": (8_000, "gsm", ("-c:a", "libgsm")),
    "g726": (8_000, "wav", ("-c:a", "g726", "-b:a", "32k")),
    "speex": (16_000, "ogg", ("-c:a", "libspeex", "-b:a", "20k")),
    "aac": (0, "m4a", ("-c:a", "aac", "-b:a", "40k")),
    "vorbis": (0, "ogg", ("-c:a", "libvorbis", "-q:a", "0")),
    "adpcm": (0, "wav", ("-c:a", "adpcm_ima_wav")),
    "opus": (48_000, "opus", ("-c:a", "libopus", "-b:a", "24k")),
}
LOSSY = ("line", "gsm", "g726", "speex", "aac", "vorbis", "adpcm")
LONGEST_DELAY_S = 0.15


def line(samples: np.ndarray, rate: int) -> tuple[np.ndarray, int]:
    """An analogue telephone line: 300 to 3,400 Hz, then A-law at 8 kHz."""
    narrow = soxr.resample(samples, rate, 8_000)
    narrow = sosfilt(butter(3, [300, 3400], "bandpass", fs=8_000, output="sos"), narrow)
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        soundfile.write(file.name, np.clip(narrow, -1, 1), 8_000, subtype="ALAW")
        return soundfile.read(file.name)[0], 8_000


def delay_of(coded: np.ndarray, source: np.ndarray, rate: int) -> int:
    """By how many samples `coded` is late, by the maximum of the cross-correlation."""
    reach, size = int(LONGEST_DELAY_S * rate), min(len(coded), len(source))
    likeness = fftconvolve(coded[:size], source[:size][::-1])
    return int(np.argmax(likeness[size - 1 - reach : size + reach])) - reach


def through(name: str, samples: np.ndarray, rate: int) -> tuple[np.ndarray, int]:
    """The take (N,) after the channel, at the channel's rate, as long as before. "none" and "8khz" change no sample beyond
    the rate."""
    if name == "none":
        return samples, rate
    if name == "8khz":
        return soxr.resample(samples, rate, 8_000), 8_000
    if name == "line":
        coded, new = line(samples, rate)
    else:
        own, suffix, arguments = CODECS[name]
        new = own or rate
        source = soxr.resample(samples, rate, new) if new != rate else samples
        with tempfile.TemporaryDirectory() as folder:
            before, file, after = (Path(folder) / part for part in ("before.wav", f"coded.{suffix}", "after.wav"))
            soundfile.write(before, np.clip(source, -1, 1), new, subtype="PCM_16")
            bitexact = ["-map_metadata", "-1", "-threads", "1", "-fflags", "+bitexact", "-flags", "+bitexact"]
            ffmpeg = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i"]
            subprocess.run([*ffmpeg, str(before), *arguments, *bitexact, str(file)], check=True)
            subprocess.run([*ffmpeg, str(file), "-ac", "1", "-ar", str(new), *bitexact, str(after)], check=True)
            coded = soundfile.read(after)[0]
    source = soxr.resample(samples, rate, new) if new != rate else samples
    late = delay_of(coded, source, new)
    coded = coded[late:] if late >= 0 else np.concatenate((np.zeros(-late), coded))
    return np.concatenate((coded, np.zeros(max(0, len(source) - len(coded)))))[: len(source)], new
