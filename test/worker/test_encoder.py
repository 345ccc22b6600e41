# The plug-in encoder, with a small one that this file builds: four bands of loudness of a 16 kHz waveform, a frame
# every 20 ms.
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import soundfile
from onnx import TensorProto, helper, numpy_helper
from plosive_worker.audio.extraction import extract
from plosive_worker.audio.facts import FRAMES, WAVE, open_outputs
from plosive_worker.audio.sandbox import extract_safely
from plosive_worker.failure import ItemFailure, WorkerFailure
from plosive_worker.features import spec
from plosive_worker.features.encoder import Encoder, EncoderManifest, read_manifest, spec_with
from plosive_worker.features.file import FrameFile, read_frames
from plosive_worker.model.detector import open_session

from worker.contract import check
from worker.platform import Platform, new_run
from worker.test_verbs import audio_items, common, result_of, training_work

RATE, HOP, WINDOW, DIMS = 16_000, 320, 400, 4
TYPES = ["click", "dropout", "hum", "plosive"]


def built(dims: int = DIMS, hop: int = HOP, least: float | None = None, window: int = WINDOW) -> bytes:
    """Loudness after four filters: the absolute value of a strided convolution with windowed sines. With `least`
    the square root of the difference to it: NaN where a recording is louder."""
    t = np.arange(window) / RATE
    filters = np.stack([np.hanning(window) * np.sin(2 * np.pi * hz * t) for hz in np.geomspace(120, 3000, dims)]) / 40
    nodes = [
        helper.make_node("Unsqueeze", ["wave", "axis"], ["channel"]),
        helper.make_node("Conv", ["channel", "filters"], ["bands"], strides=[hop]),
        helper.make_node("Abs", ["bands"], ["loud"]),
        helper.make_node("Transpose", ["loud"], ["frames" if least is None else "turned"], perm=[0, 2, 1]),
    ]
    if least is not None:
        nodes += [helper.make_node("Sub", ["least", "turned"], ["rest"]), helper.make_node("Sqrt", ["rest"], ["frames"])]
    constants = [
        numpy_helper.from_array(filters[:, None].astype(np.float32), "filters"),
        numpy_helper.from_array(np.array([1]), "axis"),
        *([] if least is None else [numpy_helper.from_array(np.float32(least), "least")]),
    ]
    graph = helper.make_graph(
        nodes,
        "bands",
        [helper.make_tensor_value_info("wave", TensorProto.FLOAT, [1, "samples"])],
        [helper.make_tensor_value_info("frames", TensorProto.FLOAT, [1, "count", dims])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model.SerializeToString()


def manifest_of(model: bytes, **other: object) -> dict:
    return {
        "id": "bands",
        "version": "1",
        "sha256": hashlib.sha256(model).hexdigest(),
        "sample_rate": RATE,
        "frame_hop_ms": 20,
        "first_frame_offset_ms": 12.5,
        "dims": DIMS,
        "max_input_s": 20,
        "normalise": "none",
        **other,
    }


def encoder_of(folder: Path, model: bytes | None = None, **other: object) -> Encoder:
    model = model or built()
    (folder / "model.onnx").write_bytes(model)
    return Encoder(folder / "model.onnx", EncoderManifest(**manifest_of(model, **other)), 1)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"sample_rate": 16_000.5}, "sample_rate"), ({"sample_rate": 4_000}, "sample_rate"), ({"dims": 0}, "dims"),
        ({"frame_hop_ms": "20"}, "not a number"), ({"frame_hop_ms": 0}, "frame_hop_ms"), ({"max_input_s": 1}, "max_input_s"),
        ({"normalise": "batch"}, "normalise"), ({"id": "a b"}, "id and version"), ({"weights": 1}, "cannot be read"),
        ({"id": "a" * 50, "version": "b" * 20}, "characters together"), ({"first_frame_offset_ms": True}, "not a number"),
        ({"dims": float("nan")}, "dims"),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_refused_with_the_reason(tmp_path: Path, other: dict, why: str) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest_of(b"", **other)))
    with pytest.raises(WorkerFailure, match=why):
        read_manifest(tmp_path / "manifest.json")


@pytest.mark.parametrize(
    ("model", "other", "why"),
    [
        (b"no model", {}, "ONNX Runtime"),
        (built(dims=3), {}, "shape"),
        (built(hop=160), {}, "hop"),
    ],
)
def test_an_encoder_that_contradicts_its_manifest_is_refused(tmp_path: Path, model: bytes, other: dict, why: str) -> None:
    with pytest.raises(WorkerFailure, match=why):
        encoder_of(tmp_path, model, **other)


def test_weights_in_other_files_are_not_found(tmp_path: Path) -> None:
    model = onnx.load_from_string(built())
    onnx.save_model(model, tmp_path / "away.onnx", save_as_external_data=True, size_threshold=0, location="weights")
    with pytest.raises(WorkerFailure, match="ONNX Runtime"):
        encoder_of(tmp_path, (tmp_path / "away.onnx").read_bytes())


def burst(at_s: float, seconds: float) -> np.ndarray:
    wave = 0.001 * np.random.default_rng(2).standard_normal(int(seconds * RATE))
    wave[int(at_s * RATE) : int((at_s + 0.2) * RATE)] += 0.5 * np.sin(2 * np.pi * 600 * np.arange(int(0.2 * RATE)) / RATE)
    return wave


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_encoder_columns_follow_the_built_in_columns_on_the_10_ms_grid(tmp_path: Path, rate: int) -> None:
    import soxr

    soundfile.write(tmp_path / "a.wav", soxr.resample(burst(30.5, 47.33), RATE, rate), rate)
    encoder = encoder_of(tmp_path)
    facts = extract(tmp_path / "a.wav", open_outputs(tmp_path), wave_rate=RATE)
    own = read_frames(tmp_path / FRAMES)
    beats: list[int] = []
    encoder.fuse(own, tmp_path / WAVE, tmp_path / "fused", lambda: beats.append(1))
    assert len(beats) == 3, "one for each stretch of 19 s"
    fused = read_frames(tmp_path / "fused", encoder.spec.id, encoder.spec.hash)
    assert fused.frames.shape == (facts.frames, spec.DIMS + DIMS)
    assert np.array_equal(fused.frames[:][:, : spec.DIMS], own.frames[:])
    loud = fused.frames[:][:, spec.DIMS :].astype(np.float32).max(1)
    heard = np.flatnonzero(loud > loud.max() / 2)
    assert abs(heard[0] - 3050) <= 2 and abs(heard[-1] - 3069) <= 2, "a burst must keep its time"


def test_the_length_of_the_pieces_does_not_change_the_columns(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", burst(7.0, 31.0), RATE)
    extract(tmp_path / "a.wav", open_outputs(tmp_path), wave_rate=RATE)
    columns = []
    for seconds in (3, 40):
        encoder = encoder_of(tmp_path, max_input_s=seconds)
        encoder.fuse(read_frames(tmp_path / FRAMES), tmp_path / WAVE, tmp_path / f"{seconds}")
        columns.append(read_frames(tmp_path / f"{seconds}").frames[:][:, spec.DIMS :].astype(np.float32))
    # windows begin at other samples and see other phases of a sine, but the envelope is the same
    smooth = [np.convolve(c.max(1), np.ones(9) / 9, "same") for c in columns]
    assert np.abs(smooth[0] - smooth[1]).max() < 0.15 * smooth[1].max()


def test_an_encoder_is_checked_with_its_shortest_and_longest_input(tmp_path: Path) -> None:
    # a quarter of a percent off the true hop: detectable in a minute, not in a second
    with pytest.raises(WorkerFailure, match="it returns .* frames, the frame_hop_ms of its manifest requires"):
        encoder_of(tmp_path, frame_hop_ms=20.05, max_input_s=60)
    with pytest.raises(WorkerFailure, match="ONNX Runtime reports"):
        encoder_of(tmp_path, built(window=RATE))


def test_the_last_piece_is_encoded_with_its_context(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", burst(5.0, 19.06), RATE)
    facts = extract(tmp_path / "a.wav", open_outputs(tmp_path), wave_rate=RATE)
    encoder, heard = encoder_of(tmp_path), []
    encode = encoder.encode
    encoder.encode = lambda wave: heard.append(len(wave) / RATE) or encode(wave)
    encoder.fuse(read_frames(tmp_path / FRAMES), tmp_path / WAVE, tmp_path / "fused")
    assert len(read_frames(tmp_path / "fused").frames) == facts.frames
    assert len(heard) == 2 and 1 <= heard[1] < 1.1


def test_a_recording_of_one_sample_has_encoder_columns(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(1, 0.5), 48_000)
    facts = extract_safely(tmp_path / "a.wav", tmp_path, filename="a.wav", wave_rate=RATE)
    encoder_of(tmp_path).fuse(read_frames(tmp_path / FRAMES), tmp_path / WAVE, tmp_path / "fused")
    assert facts.frames == 1 == len(read_frames(tmp_path / "fused").frames)


def test_a_recording_whose_embedding_would_be_too_large_is_refused_before_encoding(tmp_path: Path) -> None:
    encoder = encoder_of(tmp_path)
    hours = 12 * 3600 * spec.FRAMES_PER_SECOND
    encoder.spec = replace(encoder.spec, dims=2048 + spec.DIMS)
    own = FrameFile(np.zeros((hours, 1), np.float16), np.zeros((3, 1), np.float32))
    with pytest.raises(ItemFailure, match="may last 3.2 hours at most"):
        encoder.fuse(own, tmp_path / WAVE, tmp_path / "fused")


def test_a_recording_that_the_encoder_rejects_fails_alone(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", burst(20.3, 31.0), RATE)
    extract(tmp_path / "a.wav", open_outputs(tmp_path), wave_rate=RATE)
    encoder = encoder_of(tmp_path, built(least=0.005))
    with pytest.raises(ItemFailure, match="bands 1 failed at 19 s: it returns numbers that are not finite") as failed:
        encoder.fuse(read_frames(tmp_path / FRAMES), tmp_path / WAVE, tmp_path / "fused")
    assert failed.value.code == "encoder_failed"


def test_another_manifest_changes_the_hash_of_the_feature_spec() -> None:
    model = built()
    one, two = (spec_with(EncoderManifest(**manifest_of(model, first_frame_offset_ms=offset))) for offset in (12.5, 10))
    assert one.id == two.id == "dsp-mr1+bands@1" and one.hash != two.hash and one.base == spec.own_spec().hash


def test_the_verbs_use_the_encoder(platform: Platform, voices: Path, truth: dict, tmp_path: Path) -> None:
    model = built()
    sources = {
        "onnx": platform.put("encoders/bands/1/model.onnx", model),
        "manifest": platform.put("encoders/bands/1/manifest.json", json.dumps(manifest_of(model)).encode()),
    }
    paths = sorted([*(voices / "test").glob("*.wav"), *(voices / "test").glob("*.flac")])
    run = new_run()
    platform.works[run] = common("embed", run) | {"encoder": sources, "items": audio_items(platform, paths, True)}
    check("work", platform.presigned(platform.works[run]))
    assert platform.run("embed", run, tmp_path / "embed")[0] == 0
    embedded = result_of(platform, run) | {"paths": paths}
    assert embedded["feature_spec"]["id"] == "dsp-mr1+bands@1"
    assert embedded["feature_spec"]["dims"] == spec.DIMS + DIMS

    train = new_run()
    platform.works[train] = training_work(platform, train, embedded, truth["test"], epochs=1)
    assert platform.run("train", train, tmp_path / "train")[0] == 0
    result = result_of(platform, train)
    assert result["architecture"]["encoder"] == {"id": "dsp-mr1+bands@1", "dims": spec.DIMS + DIMS}

    sizes = {a["name"]: {"size_bytes": a["size_bytes"], "sha256": a["sha256"]} for a in result["artifacts"]}
    parts = {
        "onnx": {"url": f"{train}/model", **sizes["model.onnx"]},
        "card": {"url": f"{train}/card", **sizes["card.json"]},
    }
    names = ("artifact_types", "min_duration_ms", "merge_gap_ms", "chunk_size_ms", "stride_ms", "max_false_alarms_per_hour")
    work = {"config": {"threshold": 0.02, "thresholds": {}, **dict.fromkeys(names)}, "model": parts}
    detect = new_run()
    items = audio_items(platform, paths[:2], False)
    platform.works[detect] = common("detect", detect) | work | {"encoder": sources, "items": items}
    check("work", platform.presigned(platform.works[detect]))
    assert platform.run("detect", detect, tmp_path / "detect")[0] == 0
    assert sum(len(item["detections"]) for item in result_of(platform, detect)["items"]) > 0

    embedding = read_frames(platform.folder / "store" / f"embedding/{embedded['items'][0]['id']}")
    session = open_session(platform.get(f"{train}/model"), 1)
    whole = np.array(embedding.normal(0, 500))
    without = whole.copy()
    without[:, spec.DIMS :] = 0
    told, told_without = (session.run(None, {"frames": x[None]})[0] for x in (whole, without))
    assert np.abs(told - told_without).max() > 0.01, "the model must use the encoder's columns"

    plain = new_run()
    platform.works[plain] = common("detect", plain) | work | {"items": items}
    code, ending = platform.run("detect", plain, tmp_path / "plain")
    assert code == 64 and "dsp-mr1+bands@1" in ending["message"], "a model needs the encoder that it was trained with"
