# The takes: both generators can place every type, the truth is where the sound differs, and a seed gives the same
# bytes.
from pathlib import Path

import numpy as np
import pytest
import soundfile
from bench.detection.corpus import coding
from bench.detection.corpus.sets import HELD_OUT, NEVER_TRAINED, ROWS, make_one, same_side
from bench.detection.types import TYPES
from voices.recordings import Prompt, decode, list_prompts
from voices.takes import AUDIBLE_PART_S, Take, make_take


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> list[Prompt]:
    """About a minute of one talker, decoded."""
    folder, out = tmp_path_factory.mktemp("prompts"), []
    for index, prompt in enumerate([p for p in list_prompts() if p.language == "it" and 2 < p.seconds < 5][:16]):
        samples = decode(prompt)
        path = folder / f"{index}.flac"
        soundfile.write(path, np.clip(samples, -1, 1), prompt.rate, subtype="PCM_16")
        out.append(Prompt(path, "Carlo", "it", len(samples) / prompt.rate))
    return out


def speech(prompts: list[Prompt]) -> list[tuple[Prompt, np.ndarray]]:
    return [(p, soundfile.read(p.path)[0]) for p in prompts]


@pytest.fixture(scope="module", params=("first", "second"))
def made(request: pytest.FixtureRequest, prompts: list[Prompt]) -> list[Take]:
    """Takes of one type each, so that every difference belongs to that type."""
    return [make_take(speech(prompts), [kind], 8, np.random.default_rng([3, i]), request.param) for i, kind in enumerate(TYPES)]


def test_both_generators_produce_every_type(made: list[Take]) -> None:
    for kind, take in zip(TYPES, made):
        assert len(take.events) >= 3, kind
        assert {name for name, *_ in take.events} == {kind}
        assert np.isfinite(take.mixed).all() and np.abs(take.mixed).max() <= 1


def test_a_take_differs_from_its_twin_only_at_its_events(made: list[Take]) -> None:
    for kind, take in zip(TYPES, made):
        changed = np.abs(take.mixed - take.clean)
        inside = np.zeros(len(changed), bool)
        for _, start, end, _ in take.events:
            # A joint is a point; the audio after it returns to the twin's within 0.35 s.
            inside[max(0, start - take.rate // 50) : end + int(0.35 * take.rate)] = True
            near = slice(max(0, start - take.rate // 100), max(end, start + take.rate // 20))
            assert changed[near].max() > 1e-3 * np.abs(take.clean).max(), kind
        if kind not in AUDIBLE_PART_S:  # for these only the audible part is marked
            assert changed[~inside].max(initial=0) < 1e-9, kind


def test_events_of_all_severities_are_drawn(made: list[Take]) -> None:
    assert {severity for take in made for *_, severity in take.events} == {"faint", "medium", "strong"}


def test_no_two_artifacts_are_nearer_than_a_third_of_a_second(prompts: list[Prompt]) -> None:
    take = make_take(speech(prompts), list(TYPES), 3, np.random.default_rng(1))
    assert len({kind for kind, *_ in take.events}) >= 8
    for (_, _, end, _), (_, start, _, _) in zip(take.events, take.events[1:]):
        assert start - end > 0.3 * take.rate


def bytes_of(path: Path) -> bytes:
    """libsndfile writes the time into the chunk PEAK of WAV files with floating point samples: that is left out."""
    data = path.read_bytes()
    peak = data.find(b"PEAK")
    return data if peak < 0 or data[:4] != b"RIFF" else data[: peak + 12] + data[peak + 16 :]


@pytest.mark.parametrize("name", ["unseen", "opus", "mp3", "telephone", "noise", "music", "gain", "second"])
def test_a_seed_gives_the_same_bytes(name: str, prompts: list[Prompt], tmp_path: Path) -> None:
    row = next(row for row in ROWS if row.name == name)
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        take = make_one(row, 5, folder, 0, prompts[:6])
        written.append([bytes_of(folder / take[side]) for side in ("path", "clean")])
    assert written[0] == written[1]
    assert written[0][0] != written[0][1]


@pytest.mark.parametrize("name", coding.CODINGS)
def test_codings_keep_the_time_of_the_audio(name: str, prompts: list[Prompt], tmp_path: Path) -> None:
    samples = np.concatenate([s for _, s in speech(prompts)[:4]])
    path = coding.CODINGS[name](samples * 0.2, 16_000, tmp_path / "take", np.random.default_rng(0))
    coded, rate = soundfile.read(path)
    import soxr

    coded = soxr.resample(coded, rate, 16_000) if rate != 16_000 else coded
    size = min(len(coded), len(samples))
    spectrum = np.fft.rfft(coded[:size]) * np.conj(np.fft.rfft(samples[:size]))
    lag = int(np.fft.irfft(spectrum).argmax())
    assert min(lag, size - lag) <= 16, "more than a millisecond"


@pytest.mark.parametrize("seed", range(3))
def test_a_held_out_language_occurs_only_in_the_test_rows(seed: int) -> None:
    talker, language = HELD_OUT[seed]
    for other in ("en", "es", "fr", "it", "ru", "de", "pt", "ca"):
        prompt = Prompt(Path("x"), talker if other == language else "Somebody", other, 1.0)
        held = other == language or other in NEVER_TRAINED
        assert same_side(prompt, seed, training=True) is not held
        assert same_side(prompt, seed, training=False) is held
