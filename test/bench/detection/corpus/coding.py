# Applies codecs, telephone coding and gain to a take. Writes the file that the detectors are given. Called by sets.py.
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr


def flac(samples: np.ndarray, rate: int, stem: Path, rng: np.random.Generator) -> Path:
    path = stem.with_suffix(".flac")
    soundfile.write(path, samples, rate, subtype="PCM_16")
    return path


def encoded(samples: np.ndarray, rate: int, target: Path, arguments: list[str]) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        source = flac(samples, rate, Path(folder) / "source", np.random.default_rng(0))
        command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", str(source), "-map_metadata", "-1", "-threads", "1"]
        subprocess.run([*command, *arguments, "-fflags", "+bitexact", "-flags", "+bitexact", str(target)], check=True)
    return target


def opus(samples: np.ndarray, rate: int, stem: Path, rng: np.random.Generator) -> Path:
    return encoded(samples, rate, stem.with_suffix(".opus"), ["-c:a", "libopus", "-b:a", f"{rng.choice([16, 24, 32])}k"])


def mp3(samples: np.ndarray, rate: int, stem: Path, rng: np.random.Generator) -> Path:
    return encoded(samples, rate, stem.with_suffix(".mp3"), ["-c:a", "libmp3lame", "-b:a", f"{rng.choice([24, 32, 48])}k"])


def telephone(samples: np.ndarray, rate: int, stem: Path, rng: np.random.Generator) -> Path:
    """8 kHz, mu-law: what a telephone line leaves."""
    path = stem.with_suffix(".wav")
    soundfile.write(path, np.clip(soxr.resample(samples, rate, 8_000), -1, 1), 8_000, subtype="ULAW")
    return path


def gain(samples: np.ndarray, rate: int, stem: Path, rng: np.random.Generator) -> Path:
    """12 dB up or down, as floating point: nothing is clipped by it."""
    path = stem.with_suffix(".wav")
    soundfile.write(path, samples * 10 ** (rng.choice([-12, 12]) / 20), rate, subtype="FLOAT")
    return path


CODINGS = {"flac": flac, "opus": opus, "mp3": mp3, "telephone": telephone, "gain": gain}
