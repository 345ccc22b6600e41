# The synthetic voices: espeak-ng, flite and festival with Debian's festvox voices, each a speaker of its own. A voice speaks
# once, into the cache. Called by voices.py. Packages: tools/deps.sh bench-detection.
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from .sentences import sentences

PROMPTS = 80  # of each voice, about four minutes
RATES = {"flite": 16_000, "espeak": 22_050, "festival": 16_000}


@dataclass(frozen=True)
class Synthesizer:
    """One voice of one program."""

    program: str  # espeak, flite, festival
    voice: str
    speaker: str
    language: str

    @property
    def rate(self) -> int:
        return RATES[self.program]


def espeak(language: str, voice: str, *variants: str) -> list[Synthesizer]:
    return [Synthesizer("espeak", f"{voice}+{variant}", f"espeak{variant.title()}", language) for variant in variants]


VOICES: tuple[Synthesizer, ...] = (
    *espeak("en", "en-us", "m3", "f2"), *espeak("en", "en-gb", "m7"), *espeak("es", "es-419", "f3", "m4", "m1"),
    *espeak("fr", "fr", "m1", "f4"), *espeak("it", "it", "m2", "f5"), *espeak("ru", "ru", "m5", "f1"),
    *espeak("de", "de", "m6", "f2"), *espeak("pt", "pt", "m8", "f3"),
    Synthesizer("flite", "slt", "fliteSlt", "en"), Synthesizer("flite", "rms", "fliteRms", "en"),
    Synthesizer("flite", "awb", "fliteAwb", "en"),
    Synthesizer("festival", "kal_diphone", "festvoxKal", "en"), Synthesizer("festival", "ked_diphone", "festvoxKed", "en"),
    Synthesizer("festival", "cmu_us_slt_arctic_hts", "festvoxSlt", "en"),
    Synthesizer("festival", "lp_diphone", "festvoxLp", "it"),
    Synthesizer("festival", "pc_diphone", "festvoxPc", "it"), Synthesizer("festival", "upc_ca_ona_hts", "festvoxOna", "ca"),
)  # fmt: skip


def command(voice: Synthesizer, source: Path, target: Path) -> list[str]:
    if voice.program == "espeak":
        return ["espeak-ng", "-v", voice.voice, "-s", "150", "-w", str(target), "-f", str(source)]
    if voice.program == "flite":
        return ["flite", "-voice", voice.voice, "-f", str(source), "-o", str(target)]
    return ["text2wave", "-eval", f"(voice_{voice.voice})", str(source), "-o", str(target)]


def speak(voice: Synthesizer, text: str, folder: Path) -> np.ndarray:
    """One sentence, (N,) float32 at the voice's rate."""
    source, target = folder / "sentence.txt", folder / "sentence.wav"
    # festival does not support UTF-8
    source.write_bytes((text + "\n").encode("iso-8859-15" if voice.program == "festival" else "utf-8"))
    done = subprocess.run(command(voice, source, target), capture_output=True)
    if done.returncode != 0 or not target.exists():
        tail = done.stderr.decode(errors="replace")[-300:]
        raise SystemExit(f"{voice.speaker} does not speak: {tail}. Run `make bench-detection-deps`.")
    samples, rate = soundfile.read(target, dtype="float32", always_2d=True)
    target.unlink()
    return samples[:, 0] if rate == voice.rate else soxr.resample(samples[:, 0], rate, voice.rate).astype(np.float32)


def speak_all(voice: Synthesizer, folder: Path) -> None:
    """All sentences of a voice as 000.flac and so on in `folder`; the same every time."""
    rng = np.random.default_rng(list(f"{voice.speaker}-{voice.language}".encode()))
    for index, text in enumerate(sentences(voice.language, PROMPTS, rng)):
        samples = speak(voice, text, folder)
        loud = np.flatnonzero(np.abs(samples) > 0.01)
        if loud.size:
            samples = samples[max(0, loud[0] - voice.rate // 40) : loud[-1] + voice.rate // 20]
        soundfile.write(folder / f"{index:03d}.flac", np.clip(samples, -1, 1), voice.rate, subtype="PCM_16")
    (folder / "sentence.txt").unlink()
