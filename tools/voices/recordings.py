# Reads the human voices: Debian's asterisk-core-sounds-*-g722 prompts (16 kHz), recorded by professional speakers.
# Called by takes.py. ffmpeg decodes them, because libsndfile cannot read G.722.
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfilt

SAMPLE_RATE = 16_000
ROOT = Path("/usr/share/asterisk/sounds")
BYTES_PER_SECOND = 8_000
# Some recordings contain plosives and rumble of their own. The filter removes them, so that the truth lists all
# plosives.
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
    """Returns all prompts of at least 0.8 s. A folder name such as en_US_f_Allison contains language and speaker; a
    speaker may have recorded several languages (en and es)."""
    prompts = []
    for folder in sorted(root.glob("??_??_?_*")):
        for path in sorted(folder.rglob("*.g722")):
            seconds = path.stat().st_size / BYTES_PER_SECOND
            if "silence" not in path.parts and seconds >= 0.8:
                prompts.append(Prompt(path, folder.name.split("_")[-1], folder.name[:2], seconds))
    if not prompts:
        raise SystemExit(f"no recordings found in {root}: run `apt-get install {PACKAGES}`")
    return prompts


def decode(prompt: Prompt) -> np.ndarray:
    """Returns samples in -1..1 at 16 kHz (N,), without leading and trailing silence."""
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "g722", "-i", str(prompt.path)]
    command += ["-f", "s16le", "-ac", "1", "-ar", str(SAMPLE_RATE), "-"]
    raw = subprocess.run(command, check=True, capture_output=True).stdout
    samples = sosfilt(HIGH_PASS, np.frombuffer(raw, "<i2") / 32768).astype(np.float32)
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[max(0, loud[0] - 400) : loud[-1] + 800] if loud.size else samples[:0]


def draw_speech(prompts: list[Prompt], seconds: float, rng: np.random.Generator) -> list[tuple[Prompt, np.ndarray]]:
    """Draws different prompts in random order, about `seconds` in total."""
    chosen, total = [], 0.0
    for index in rng.permutation(len(prompts)):
        if total >= seconds:
            break
        chosen.append(prompts[index])
        total += prompts[index].seconds
    with ThreadPoolExecutor(4) as pool:
        decoded = pool.map(decode, chosen)
        return [(p, s) for p, s in zip(chosen, decoded) if len(s) > 0.4 * SAMPLE_RATE]
