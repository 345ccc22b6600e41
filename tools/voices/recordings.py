# The human voices: Debian's asterisk-core-sounds-*-g722 prompts (16 kHz), read by professional speakers.
# Called by takes.py. libsndfile cannot read G.722, so ffmpeg decodes.
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfilt

SAMPLE_RATE = 16_000
ROOT = Path("/usr/share/asterisk/sounds")
BYTES_PER_SECOND = 8_000
# Some of the recordings pop and rumble by themselves. That is cut off, so that the truth is all there is of plosives.
HIGH_PASS = butter(4, 75, "highpass", fs=SAMPLE_RATE, output="sos")
PACKAGES = "asterisk-core-sounds-{en,es,fr,it,ru}-g722"


@dataclass(frozen=True)
class Prompt:
    """One recorded sentence or word."""

    path: Path
    speaker: str
    language: str
    seconds: float
    rate: int = SAMPLE_RATE


def list_prompts(root: Path = ROOT) -> list[Prompt]:
    """All prompts of at least 0.8 s. A folder like en_US_f_Allison names language and talker: en and es are one talker."""
    prompts = []
    for folder in sorted(root.glob("??_??_?_*")):
        for path in sorted(folder.rglob("*.g722")):
            seconds = path.stat().st_size / BYTES_PER_SECOND
            if "silence" not in path.parts and seconds >= 0.8:
                prompts.append(Prompt(path, folder.name.split("_")[-1], folder.name[:2], seconds))
    if not prompts:
        raise SystemExit(f"no voices under {root}: apt-get install {PACKAGES}")
    return prompts


def decode(prompt: Prompt) -> np.ndarray:
    """Samples in -1..1 at 16 kHz (N,), leading and trailing silence trimmed."""
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "g722", "-i", str(prompt.path)]
    command += ["-f", "s16le", "-ac", "1", "-ar", str(SAMPLE_RATE), "-"]
    raw = subprocess.run(command, check=True, capture_output=True).stdout
    samples = sosfilt(HIGH_PASS, np.frombuffer(raw, "<i2") / 32768).astype(np.float32)
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[max(0, loud[0] - 400) : loud[-1] + 800] if loud.size else samples[:0]


def draw_speech(prompts: list[Prompt], seconds: float, rng: np.random.Generator) -> list[tuple[Prompt, np.ndarray]]:
    """Different prompts in random order, about `seconds` in all."""
    chosen, total = [], 0.0
    for index in rng.permutation(len(prompts)):
        if total >= seconds:
            break
        chosen.append(prompts[index])
        total += prompts[index].seconds
    with ThreadPoolExecutor(4) as pool:
        decoded = pool.map(decode, chosen)
        return [(p, s) for p, s in zip(chosen, decoded) if len(s) > 0.4 * SAMPLE_RATE]
