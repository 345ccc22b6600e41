# The features on real voices: an artifact at a known time changes the feature that was designed for it, at that time,
# and the values do not depend on the block boundaries of the stream.
from pathlib import Path

import numpy as np
import pytest
import soxr
from plosive_worker.failure import WorkerFailure
from plosive_worker.features import spec
from plosive_worker.features.file import FrameWriter, read_frames
from plosive_worker.features.stream import feature_blocks, loud_level
from voices.artifacts import clipping, dropout, hum, packet_loss, plosive
from voices.scene import Scene

RATE = 16_000


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """12 s of clean speech (N,)."""
    from voices.recordings import draw_speech, list_prompts
    from voices.takes import compose

    rng = np.random.default_rng(2)
    prompts = [p for p in list_prompts() if p.language == "fr"]
    return compose(draw_speech(prompts, 14, rng), rng)[: 12 * RATE]


def frames_of(samples: np.ndarray, rate: int = RATE, cut: int = 1 << 30) -> np.ndarray:
    samples = samples.reshape(len(samples), -1).astype(np.float32)
    chunks = [samples[i : i + cut] for i in range(0, len(samples), cut)]
    return np.concatenate(list(feature_blocks(chunks, rate))).astype(np.float32)


def column(frames: np.ndarray, name: str) -> np.ndarray:
    return frames[:, spec.NAMES.index(name)]


def normal(samples: np.ndarray, folder: Path) -> np.ndarray:
    """The frames as training and detection read them."""
    writer = FrameWriter(folder / "a")
    writer.write(frames_of(samples).astype(np.float16))
    writer.close()
    file = read_frames(folder / "a")
    return file.normal(0, len(file.frames))


@pytest.mark.parametrize("silence_s", [6, 40])
def test_digital_silence_does_not_change_the_features_of_a_voice(clean: np.ndarray, tmp_path: Path, silence_s: int) -> None:
    alone = normal(clean, tmp_path)[:1150]
    beside = normal(np.concatenate([clean, np.zeros(silence_s * RATE)]), tmp_path)[:1150]
    levels = np.abs(alone - beside)[:, spec.IS_LEVEL]
    assert np.median(levels) < 0.05 and levels.max(1).mean() < 0.6, "log10: a muted half would move them by 8"
    assert np.isfinite(normal(np.zeros(RATE), tmp_path)).all()


def test_a_dropout_on_one_of_two_channels_changes_the_features(clean: np.ndarray) -> None:
    both = np.stack([clean, clean * 0.9 + 0.001 * np.random.default_rng(1).standard_normal(len(clean))], 1)
    loud = int(np.abs(clean[RATE : 8 * RATE]).reshape(-1, RATE // 10).max(1).argmax()) * 10 + 100
    hit = both.copy()
    hit[loud * 160 : (loud + 10) * 160, 0] = 0
    for name in ("drop_from_before", "level_in_context"):
        assert column(frames_of(hit), name)[loud + 4] < -4 < column(frames_of(both), name)[loud + 4]


def test_one_row_for_every_10_ms_and_every_number_finite(clean: np.ndarray) -> None:
    for rate in (8_000, 11_025, 16_000, 44_100, 48_000):
        frames = frames_of(clean[: 3 * RATE], rate)
        assert frames.shape == (-(-3 * RATE * 100 // rate), spec.DIMS)
        assert np.isfinite(frames).all()


@pytest.mark.parametrize(
    "samples", [np.zeros(RATE), np.ones(RATE), np.zeros(1), np.full(37, 0.5), np.sign(np.sin(np.arange(RATE)))]
)
def test_degenerate_sound_gives_finite_frames(samples: np.ndarray) -> None:
    frames = frames_of(samples)
    assert len(frames) == -(-len(samples) // 160)
    assert np.isfinite(frames).all()


def test_frames_do_not_depend_on_the_blocks_of_the_decoder(clean: np.ndarray) -> None:
    long = np.tile(clean, 4)  # 48 s: three blocks
    assert np.array_equal(frames_of(long, cut=7_777), frames_of(long))


def test_a_block_boundary_leaves_no_trace(clean: np.ndarray) -> None:
    long = np.tile(clean, 4)
    whole, shifted = frames_of(long), frames_of(long[5 * RATE :])
    near = slice(1900, 2100)  # the first block boundary of `whole` is at 20 s
    difference = np.abs(whole[near] - shifted[1400:1600])
    assert np.quantile(difference, 0.99) < 0.06


@pytest.mark.parametrize(
    ("mixer", "name", "sign"),
    [
        (dropout, "rms", -1),
        (plosive, "low_peak", 1),
        (hum, "long_45_56", 1),
        (clipping, "top_share", 1),
        (packet_loss, "self_repeat", 1),
    ],
)
def test_an_artifact_moves_its_feature(clean: np.ndarray, mixer, name: str, sign: int) -> None:
    levels = np.sqrt((clean.reshape(-1, 160) ** 2).mean(1))
    at = int(np.argsort(levels[300:900])[-30] + 300) * 160
    moved = []
    for seed in range(6):
        dirty = clean.copy()
        scene = Scene(RATE, float(np.percentile(levels, 80)), seed % 3, np.random.default_rng(seed))
        start, end = mixer(dirty, at, scene)
        inside = slice(start // 160, max(start // 160 + 1, end // 160))
        before, after = column(frames_of(clean), name)[inside], column(frames_of(dirty), name)[inside]
        moved.append(sign * (after - before).mean())
    assert np.median(moved) > 0.05
    assert np.mean(np.array(moved) > 0) >= 0.8


def test_a_click_in_speech_raises_the_residual_peak_at_its_frame(clean: np.ndarray) -> None:
    for second in (3.217, 6.5, 9.001):
        dirty = clean.copy()
        at = int(second * RATE)
        dirty[at] += 0.5
        before, after = column(frames_of(clean), "residual_peak"), column(frames_of(dirty), "residual_peak")
        assert abs(int((after - before).argmax()) - at // 160) <= 1


@pytest.mark.parametrize("channel", [0, 1])
def test_a_gap_on_one_channel_changes_the_features(clean: np.ndarray, channel: int) -> None:
    stereo = np.stack([clean, clean * 0.7], 1)
    at = 5 * RATE
    stereo[at : at + 1600, channel] = 0  # a gap of 100 ms on one side
    zero_run = column(frames_of(stereo), "zero_run")
    assert zero_run[502:510].min() > 3 * max(0.1, np.median(zero_run))


def test_gain_does_not_change_the_normalized_levels(clean: np.ndarray, tmp_path: Path) -> None:
    normal = []
    for number, gain in enumerate((1.0, 0.25)):
        writer = FrameWriter(tmp_path / str(number))
        for block in feature_blocks([(clean * gain).reshape(-1, 1).astype(np.float32)], RATE):
            writer.write(block)
        writer.close()
        normal.append(read_frames(tmp_path / str(number)).normal(0, 10_000))
    levels = np.array(spec.IS_LEVEL)
    assert np.abs(normal[0] - normal[1])[:, levels].mean() < 0.05


def test_a_time_slice_of_the_stored_file_is_one_byte_range(clean: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "frames.safetensors"
    writer = FrameWriter(path)
    for block in feature_blocks([clean.reshape(-1, 1).astype(np.float32)], RATE):
        writer.write(block)
    rows = writer.close()
    from safetensors.numpy import load_file

    stored = load_file(path)
    assert stored["frames"].shape == (rows, spec.DIMS) and stored["frames"].dtype == np.float16
    first, last = 300, 420
    row = spec.DIMS * 2
    part = path.read_bytes()[8 + 1024 + first * row : 8 + 1024 + last * row]
    assert part == stored["frames"][first:last].tobytes()
    assert np.array_equal(read_frames(path).stats, stored["stats"])


def test_another_feature_spec_is_refused(tmp_path: Path, clean: np.ndarray) -> None:
    path = tmp_path / "frames.safetensors"
    writer = FrameWriter(path)
    writer.write(next(feature_blocks([clean.reshape(-1, 1).astype(np.float32)], RATE)))
    writer.close()
    path.write_bytes(path.read_bytes().replace(spec.own_spec().hash.encode(), b"0" * 32))  # its own and the base
    with pytest.raises(WorkerFailure) as failure:
        read_frames(path)
    assert failure.value.exit_code == 64


def spread(frames: np.ndarray) -> np.ndarray:
    """The usual deviation of each column, (F,)."""
    return np.maximum(frames.std(0), 0.05)


@pytest.mark.parametrize("noise", [0, 3e-5], ids=["silent", "dither"])
@pytest.mark.parametrize("others", [1, 3])
def test_silent_channels_do_not_change_the_features(clean: np.ndarray, others: int, noise: float) -> None:
    rng = np.random.default_rng(3)
    sides = [clean, *(noise * rng.standard_normal(len(clean)) for _ in range(others))]
    found, alone = frames_of(np.stack(sides, 1)), frames_of(clean)
    differing = (found != alone).any(1).mean()
    assert differing == 0 or (noise and differing < 0.1), "frames may differ only where all channels pause"


def test_a_silent_call_channel_shows_no_dropouts(clean: np.ndarray) -> None:
    talks = np.arange(len(clean)) // (4 * RATE) % 2 == 0
    left, right = np.where(talks, clean, 0), np.where(talks, 0, np.roll(clean, RATE))
    silent = column(frames_of(np.stack([left, right], 1)), "zero_run")
    mono = column(frames_of(left + right), "zero_run")
    inside = (np.arange(len(mono)) % 400 > 110) & (np.arange(len(mono)) % 400 < 290)  # a second from the changes
    assert np.abs(silent - mono)[inside].mean() < 0.2


def test_a_constant_offset_does_not_change_the_features(clean: np.ndarray) -> None:
    gap = clean.copy()
    gap[5 * RATE : 5 * RATE + 3200] = 0
    plain = frames_of(gap)
    for offset in (0.02, -0.2):
        moved = gap + offset
        moved[5 * RATE : 5 * RATE + 3200] = 0  # digital silence comes from the file, so it has no offset
        assert np.abs((frames_of(moved) - plain) / spread(plain)).mean() < 0.1


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000, 96_000])
def test_upsampling_hardly_changes_the_features(clean: np.ndarray, rate: int) -> None:
    wide, plain = frames_of(soxr.resample(clean, RATE, rate), rate)[:1200], frames_of(clean)
    off = np.abs((wide - plain) / spread(plain)).mean(0)
    names = ("prediction_gain", "residual_peak_to_signal", "jump", "slope_kurtosis", "exact_pitch")
    predicted = [spec.NAMES.index(n) for n in names]
    assert off[predicted].max() < 0.25 and np.median(off) < 0.1


@pytest.mark.parametrize("gain", [0.01, 0.001])
def test_a_quiet_recording_differs_only_in_its_levels(clean: np.ndarray, gain: float) -> None:
    quiet, plain = frames_of(clean * gain), frames_of(clean)
    levels = np.array(spec.IS_LEVEL)
    off = np.abs((quiet - plain) / spread(plain)).mean(0)
    # except the room tone between words, which is below the floor of the spectra in one of them
    room = np.array([name.startswith("steady_") or name == "zero_run" for name in spec.NAMES])
    assert off[~levels & ~room].max() < 0.4, "others than levels do not change"
    assert np.median((quiet - plain)[:, levels]) == pytest.approx(2 * np.log10(gain), abs=0.1)


def test_a_constant_offset_does_not_raise_the_level(clean: np.ndarray) -> None:
    quiet = (clean * 0.001)[:, None]
    assert loud_level(quiet + np.float32(0.05), RATE) == pytest.approx(loud_level(quiet, RATE), rel=0.01)
