# The voices: recordings that Debian's packages hold and the development set has never used. `tools/deps.sh untouched-voices`
# fetches the packages and unpacks them into the cache, without installing them. Called by sets.py.
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
import soxr
from voices.recordings import Prompt

from ..cache import CACHE, folder_of, key_of
from ..corpus.voices import once, prompts_in

PACKAGES = CACHE.parent / "untouched-voices" / "usr" / "share"
SOUNDS = "asterisk/sounds"
SHORTEST_S = 0.8
CLIPPED = 8  # so many samples at one maximum: the recording itself is clipped, and its truth would be wrong


@dataclass(frozen=True)
class Talker:
    """A talker of one package. `side`: "label" lends its voice to trainings and few labels, "test" to the test."""

    name: str
    language: str
    side: str
    folder: str
    pattern: str
    rate: int


TALKERS = (
    Talker("CsSmallFish", "cs", "test", "games/fillets-ng/sound", "*/cs/*-m-*.ogg", 22_050),
    Talker("CsBigFish", "cs", "test", "games/fillets-ng/sound", "*/cs/*-v-*.ogg", 22_050),
    Talker("NlSmallFish", "nl", "test", "games/fillets-ng/sound", "*/nl/*-m-*.ogg", 22_050),
    Talker("Menardi", "it", "test", f"{SOUNDS}/it_IT_f_Menardi", "**/*.wav", 8_000),
    Talker("Armelle", "fr", "test", f"{SOUNDS}/fr", "**/*.gsm", 8_000),
    Talker("Reader", "en", "test", "pocketsphinx/test/data/librivox", "*.wav", 16_000),
    Talker("NlBigFish", "nl", "label", "games/fillets-ng/sound", "*/nl/*-v-*.ogg", 22_050),
    Talker("EsCo", "es", "label", f"{SOUNDS}/es", "**/*.gsm", 8_000),
)
MUSIC = PACKAGES / "asterisk" / "moh"


def decoded(path: Path, rate: int, form: tuple[str, ...] = ()) -> np.ndarray:
    """(N,) at `rate`. Nothing is cut off: breaths and mouth noise before and after a sentence belong to a recording."""
    if path.suffix in (".gsm", ".g722"):
        source, target = [*form, "-i", str(path)], ["-f", "f32le", "-ac", "1", "-ar", str(rate), "-"]
        raw = subprocess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", *source, *target], check=True, capture_output=True
        ).stdout
        return np.frombuffer(raw, "<f4").astype(np.float64)
    samples, own = soundfile.read(path, always_2d=True)
    # One side: the two of a stereo recording in a room would cancel each other in part.
    return samples[:, 0] if own == rate else soxr.resample(samples[:, 0], own, rate)


def is_usable(samples: np.ndarray, rate: int) -> bool:
    peak = np.abs(samples).max(initial=0)
    return len(samples) >= SHORTEST_S * rate and peak > 0.02 and (np.abs(samples) > 0.9995 * peak).sum() < CLIPPED


def write_prompts(talker: Talker, folder: Path) -> None:
    for index, path in enumerate(sorted((PACKAGES / talker.folder).glob(talker.pattern))):
        samples = decoded(path, talker.rate)
        if is_usable(samples, talker.rate):
            soundfile.write(folder / f"{index:04d}.flac", samples / max(1, np.abs(samples).max()), talker.rate, subtype="PCM_16")


def prompts_of(talker: Talker) -> list[Prompt]:
    key = key_of("test/bench/detection/untouched/talkers.py")
    folder = once(folder_of("untouched-voices") / f"{key}-{talker.name}", partial(write_prompts, talker))
    found = prompts_in(folder, talker.name, talker.language)
    if not found:
        raise SystemExit(f"no recordings of {talker.name} in {PACKAGES / talker.folder}: run `tools/deps.sh untouched-voices`")
    return found


def some_music(length: int, rate: int, rng: np.random.Generator) -> np.ndarray:
    """A part of a recorded piece (music on hold of Debian's asterisk-moh-opsound-g722)."""
    pieces = sorted(MUSIC.glob("*.g722"))
    piece = decoded(pieces[int(rng.integers(len(pieces)))], rate, ("-f", "g722"))
    start = int(rng.integers(max(1, len(piece) - length)))
    return np.resize(piece[start : start + length], length)
