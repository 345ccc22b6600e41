# All voices as prompts that are decoded already: the recorded ones of tools/voices and the synthetic ones, each once, as
# FLAC in the cache. Called by sets.py.
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from voices.recordings import SAMPLE_RATE, Prompt, decode, list_prompts

from ..cache import folder_of, key_of
from .synthetic import VOICES, speak_all

SHORTEST_S = 0.8


def once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Fills `folder`. Writes to a temporary folder first, so that an interrupted run does not look complete."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".filling-", dir=folder.parent))
        try:
            fill(temporary)
            os.rename(temporary, folder)
        except OSError:
            if not folder.exists():  # another run was first
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def decode_all(prompts: list[Prompt], folder: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        for index, samples in enumerate(pool.map(decode, prompts)):
            if len(samples) > 0.4 * SAMPLE_RATE:
                soundfile.write(folder / f"{index:04d}.flac", np.clip(samples, -1, 1), SAMPLE_RATE, subtype="PCM_16")


def prompts_in(folder: Path, speaker: str, language: str) -> list[Prompt]:
    found = []
    for path in sorted(folder.glob("*.flac")):
        info = soundfile.info(path)
        found.append(Prompt(path, speaker, language, info.duration, info.samplerate))
    return [prompt for prompt in found if prompt.seconds >= SHORTEST_S]


def recorded() -> list[Prompt]:
    """The human voices."""
    key, out = key_of("tools/voices/recordings.py", "test/bench/detection/corpus/voices.py"), []
    everything = list_prompts()
    for speaker, language in sorted({(p.speaker, p.language) for p in everything}):
        mine = [p for p in everything if (p.speaker, p.language) == (speaker, language)]
        folder = once(folder_of("voices") / f"{key}-{language}-{speaker}", partial(decode_all, mine))
        out += prompts_in(folder, speaker, language)
    return out


def synthetic() -> list[Prompt]:
    key, out = key_of("test/bench/detection/corpus/sentences.py", "test/bench/detection/corpus/synthetic.py"), []
    for voice in VOICES:
        name = f"{voice.speaker}{voice.language.title()}" if voice.program == "espeak" else voice.speaker
        folder = once(folder_of("voices") / f"{key}-{voice.language}-{name}", partial(speak_all, voice))
        out += prompts_in(folder, name, voice.language)
    return out


def read(prompt: Prompt) -> np.ndarray:
    return soundfile.read(prompt.path, dtype="float32")[0]


def draw(prompts: list[Prompt], seconds: float, rng: np.random.Generator) -> list[tuple[Prompt, np.ndarray]]:
    """Different prompts in random order, about `seconds` in all; prompts repeat if there are too few."""
    chosen: list[Prompt] = []
    total = 0.0
    while total < seconds:
        for index in rng.permutation(len(prompts)):
            chosen.append(prompts[index])
            total += prompts[index].seconds
            if total >= seconds:
                break
    return [(prompt, read(prompt)) for prompt in chosen]
