# The untouched set's generators, surroundings and channels on a voice made here: no recording and no detector is needed.
# The log of plays.
from pathlib import Path

import numpy as np
import pytest
from bench.detection.types import TYPES
from bench.detection.untouched import channels, plays, sets
from bench.detection.untouched.conditions import CONDITIONS, Surroundings
from bench.detection.untouched.plays import Play, Refused
from bench.detection.untouched.rooms import room_response
from bench.detection.untouched.transforms import imdct, mdct, recoded
from voices.recordings import Prompt
from voices.scene import Scene
from voices.takes import AUDIBLE_PART_S, GENERATORS, Placed, mix, speech_level

RATE = 16_000
RETURN_S = 0.35  # after a joint the sound comes back to the twin's within this time
MAKES = ("third", "fourth")


def voice(seconds: float, seed: int = 0, rate: int = RATE) -> np.ndarray:
    """Syllables of a harmonic tone with two formants and some hiss, in phrases of 1.5 s."""
    t = np.arange(int(seconds * rate)) / rate
    turns = 2 * np.pi * np.cumsum(115 * (1 + 0.15 * np.sin(2 * np.pi * 0.7 * t + seed))) / rate
    tone = sum(np.sin(k * turns) / (1 + ((k * 115 - 600) / 500) ** 2) for k in range(1, 30))
    hiss = np.random.default_rng(seed).standard_normal(len(t))
    phrase = np.clip(4 * np.sin(2 * np.pi * t / 3), 0, 1) * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * t))
    return 0.1 * phrase * (tone + 0.05 * hiss) + 1e-4 * hiss


CLEAN = voice(30)


def mixed(generator: str, kind: str, seed: int = 1) -> tuple[np.ndarray, list[Placed]]:
    return mix(CLEAN, [kind], 16, np.random.default_rng([seed, TYPES.index(kind)]), generator, RATE)


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str], tuple[np.ndarray, list[Placed]]]:
    return {(generator, kind): mixed(generator, kind) for generator in MAKES for kind in TYPES}


def test_both_generators_make_every_type_with_labels_inside_the_take(made: dict) -> None:
    for (generator, kind), (take, events) in made.items():
        assert len(events) >= 3, (generator, kind)
        assert np.isfinite(take).all() and np.abs(take).max() < 2, (generator, kind)
        assert all(0 <= start < end <= len(take) for _, start, end, _ in events), (generator, kind)
        assert {name for name, *_ in events} == {kind}


def test_a_take_is_its_twin_outside_its_labels(made: dict) -> None:
    for (generator, kind), (take, events) in made.items():
        if kind in AUDIBLE_PART_S:  # the label covers the audible part of these
            continue
        outside = np.ones(len(take), bool)
        for _, start, end, _ in events:
            outside[start - 2 : end + (int(RETURN_S * RATE) if kind == "tts_seam" else 2)] = False
        assert np.array_equal(take[outside], CLEAN[outside]), (generator, kind)


def test_the_energy_of_the_change_is_where_the_label_says(made: dict) -> None:
    for (generator, kind), (take, events) in made.items():
        change = (take - CLEAN) ** 2
        for _, start, end, severity in events:
            after = int(RETURN_S * RATE) if kind == "tts_seam" else 0
            inside = change[start : end + after].sum()
            near = change[max(0, start - RATE // 4) : end + RATE // 4].sum()
            assert inside > 0, (generator, kind, severity)
            # Speech hides a part of the types whose label covers what is audible.
            assert inside > (0.5 if kind in AUDIBLE_PART_S else 0.9) * near, (generator, kind, severity)


def test_stronger_events_change_more(made: dict) -> None:
    for generator in MAKES:
        for kind in ("click", "mouth_click", "pop", "plosive", "breath", "hum"):
            level, _ = speech_level(CLEAN, RATE)
            loud = []
            for band in range(3):
                quiet = np.zeros(RATE * 6)
                scene = Scene(RATE, level, band, np.random.default_rng(3))
                GENERATORS[generator][kind][0](quiet, RATE, scene)
                loud.append(np.abs(quiet).max())
            assert loud[0] < loud[1] < loud[2], (generator, kind)


@pytest.mark.parametrize("generator", MAKES)
def test_a_seed_gives_the_same_take_and_another_seed_another(generator: str) -> None:
    for kind in TYPES:
        (first, events), (again, same), (other, _) = mixed(generator, kind), mixed(generator, kind), mixed(generator, kind, 2)
        assert np.array_equal(first, again) and events == same, kind
        assert not np.array_equal(first, other), kind


def test_the_two_generators_and_the_first_two_share_no_effect() -> None:
    effects = [mixer for name in ("first", "second", *MAKES) for mixer, _ in GENERATORS[name].values()]
    assert len(set(effects)) == 4 * len(TYPES)


def test_effects_near_the_ends_of_a_take_stay_inside_it() -> None:
    level, _ = speech_level(CLEAN, RATE)
    for generator in MAKES:
        for kind, (mixer, _) in GENERATORS[generator].items():
            for at in (0, 150, len(CLEAN) - 400, len(CLEAN) - 2):
                take = CLEAN.copy()
                start, end = mixer(take, at, Scene(RATE, level, 2, np.random.default_rng(at)))
                assert len(take) == len(CLEAN) and np.isfinite(take).all(), (generator, kind, at)
                assert 0 <= start <= end <= len(CLEAN), (generator, kind, at)


def test_the_lapped_transform_restores_what_nobody_changed() -> None:
    x = np.random.default_rng(0).standard_normal(1280)
    assert np.allclose(imdct(mdct(x, 64))[64:-64], x[64:-64])
    take = x.copy()
    assert recoded(take, 300, 128, 64, lambda before, frames: frames) == (300, 492)
    assert np.allclose(take, x)


def surroundings(seed: int = 4) -> Surroundings:
    rng = np.random.default_rng(seed)
    return Surroundings(RATE, rng, lambda kind, length: rng.standard_normal(length))


def sentences() -> list[np.ndarray]:
    return [voice(1.5, seed) for seed in range(4)]


@pytest.mark.parametrize("name", CONDITIONS)
def test_surroundings_keep_the_voice_and_repeat_by_seed(name: str) -> None:
    speech, background = CONDITIONS[name](sentences(), surroundings())
    again = CONDITIONS[name](sentences(), surroundings())
    assert len(speech) == len(background) > 4 * RATE
    assert np.array_equal(speech, again[0]) and np.array_equal(background, again[1])
    assert np.isfinite(speech + background).all() and np.abs(speech).max() < 1


def test_the_pauses_of_a_gate_are_digital_silence_and_others_are_not() -> None:
    gated, other = (sum(CONDITIONS[name](sentences(), surroundings())) for name in ("silence", "plain"))
    assert (gated == 0).mean() > 0.1
    still = np.convolve(gated == 0, np.ones(RATE // 100))[: len(gated) - 1] > RATE // 100 - 0.5
    opens = 1 + np.flatnonzero(still & (gated[1:] != 0))
    assert len(opens) >= 3 and np.abs(gated[opens]).max() < 2e-4, "the gate must not click"
    assert (other == 0).mean() < 0.001


def test_a_room_begins_with_the_direct_sound_and_decays() -> None:
    walls = np.full((3, 2), 0.3)
    response = room_response(np.array([5.0, 4, 3]), np.array([2.0, 2, 1.5]), np.array([3.0, 2.5, 1.2]), walls, RATE)
    assert response[0] == pytest.approx(1)
    thirds = [np.abs(part).sum() for part in np.array_split(response, 3)]
    assert thirds[0] > thirds[1] > thirds[2] > 0


@pytest.mark.parametrize("name", ["none", "8khz", "line", *channels.CODECS])
def test_a_channel_keeps_the_time_of_the_sound(name: str) -> None:
    take = voice(3)
    heard, rate = channels.through(name, take, RATE)
    assert abs(len(heard) / rate - 3) < 0.01
    import soxr

    source = soxr.resample(take, RATE, rate) if rate != RATE else take
    assert abs(channels.delay_of(heard, source, rate)) <= rate // 1000
    assert np.corrcoef(heard, source[: len(heard)])[0, 1] > 0.6, "a line takes the lows away"


def test_a_label_is_kept_only_if_its_artifact_passes_the_channel() -> None:
    deep, high = (CLEAN + 0.05 * np.sin(2 * np.pi * hz * np.arange(len(CLEAN)) / RATE) * inside() for hz in (60, 1000))
    events: list[Placed] = [("hum", 2 * RATE, 3 * RATE, "strong")]
    for take, expected in ((deep, []), (high, events)):
        coded, rate = channels.through("line", CLEAN, RATE)
        damaged, _ = channels.through("line", take, RATE)
        assert sets.still_audible(coded, damaged, events, RATE, rate) == expected


def inside() -> np.ndarray:
    weight = np.zeros(len(CLEAN))
    weight[2 * RATE : 3 * RATE] = np.hanning(RATE)
    return weight


def test_clean_rows_have_no_events_and_last_two_hours() -> None:
    assert sum(row.minutes for row in sets.CLEAN_ROWS) >= 120
    for row in sets.CLEAN_ROWS:
        coded, damaged, _, events = sets.compose(row, sentences(), [], surroundings())
        assert events == [] and coded is damaged


def test_test_talkers_lend_their_voice_to_no_labels() -> None:
    sides = {side: {t.name for t in sets.TALKERS if t.side == side} for side in ("test", "label")}
    assert len(sides["test"]) >= 5 and sides["label"] and not sides["test"] & sides["label"]
    assert {row.side for rows in sets.TEST_ROWS.values() for row in rows} == {row.side for row in sets.CLEAN_ROWS} == {"test"}
    assert {row.side for row in sets.LABEL_ROWS.values()} == {"label"}


def test_a_training_of_the_untouched_makes_hears_no_talker_of_any_test(monkeypatch: pytest.MonkeyPatch) -> None:
    def prompt(speaker: str, language: str) -> Prompt:
        return Prompt(Path("x"), speaker, language, 2.0)

    known = (prompt("Allison", "en"), prompt("Carlo", "it"), prompt("June", "fr"), prompt("espeak", "de"))
    monkeypatch.setattr(sets.development, "prompts_of", lambda kind: known if kind == "recorded" else ())
    monkeypatch.setattr(sets, "prompts_of", lambda talker: [prompt(talker.name, talker.language)])
    labels = {talker.name for talker in sets.TALKERS if talker.side == "label"}
    assert set(sets.voices_of(sets.training_row("C", 0))) == labels | {"Allison-en", "June-fr"}
    assert set(sets.voices_of(sets.training_row("D", 2))) == labels | {"Allison-en", "Carlo-it"}
    assert set(sets.voices_of(sets.LABEL_ROWS["C"])) == labels
    assert not labels & set(sets.voices_of(sets.CLEAN_ROWS[0]))


def test_the_untouched_set_is_not_made_without_a_play(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr(sets, "once", lambda folder, fill: made.append(folder))
    for play in (None, Play("1.0.0", "a" * 40, "2026-01-01")):
        with pytest.raises(ValueError, match="logged play"):
            sets.takes_of(sets.CLEAN_ROWS[0], play)  # type: ignore[arg-type]
    assert not made


def test_a_release_plays_the_untouched_set_once(tmp_path: Path) -> None:
    log = tmp_path / "plays.json"
    play = plays.begin("1.0.0", "a" * 40, [], log)
    assert plays.read(log) == [play] and not play.finished, "a play is in the log before its first figure"
    assert plays.begin("1.0.0", "a" * 40, [], log) == play, "a play that was broken off goes on"
    with pytest.raises(Refused, match="check that commit out"):
        plays.begin("1.0.0", "b" * 40, [], log)
    done = plays.finish(play, {"macro": 0.5}, log)
    assert plays.read(log) == [done] and done.finished and done.figures == {"macro": 0.5}
    with pytest.raises(Refused, match="the next release"):
        plays.begin("1.0.0", "a" * 40, [], log)
    with pytest.raises(Refused, match="commit first"):
        plays.begin("1.1.0", "b" * 40, ["detector.py"], log)
    assert plays.begin("1.1.0", "b" * 40, [], log) != done
    assert [entry.release for entry in plays.read(log)] == ["1.0.0", "1.1.0"]


def test_the_committed_log_is_readable() -> None:
    assert all(isinstance(play, Play) and play.release and play.commit for play in plays.read())
