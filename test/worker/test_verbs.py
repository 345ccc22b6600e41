# The three verbs as pods run them, one after the other, against a server that implements the contract: the input is
# real voices, the output is events of unseen speakers.
import hashlib
import json
import signal
import time
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest

from worker.contract import check
from worker.platform import Platform, new_run, target

TYPES = ["click", "dropout", "hum", "plosive"]
CONFIG = {
    "artifact_types": TYPES,
    "epochs": 4,
    "validation_split": 0.2,
    "learning_rate": 0.001,
    "batch_size": 8,
    "chunk_size_ms": 500,
    "stride_ms": 1000,
}


def common(kind: str, run: str) -> dict:
    return {"version": 1, "kind": kind, "run": run, "shard": 0, "result": target(f"{run}/result.json")}


def audio_items(platform: Platform, paths: list[Path], outputs: bool) -> list[dict]:
    items = []
    for path in paths:
        name = str(uuid.uuid4())
        item = {"id": name, "filename": path.name, "audio": platform.put(f"audio/{name}", path.read_bytes())}
        if outputs:
            item["outputs"] = {"embedding": target(f"embedding/{name}"), "peaks": target(f"peaks/{name}")}
        items.append(item)
    return items


def result_of(platform: Platform, run: str) -> dict:
    result = json.loads(platform.get(f"{run}/result.json"))
    check("result", result)
    for report in platform.progress.get(run, []):
        check("progress", report)
    return result


def training_work(platform: Platform, run: str, embedded: dict, truth: list[dict], **config) -> dict:
    files = []
    for item, path in zip(embedded["items"], embedded["paths"]):
        stored = {"url": f"embedding/{item['id']}", **item["embedding"]}
        labels = [{k: t[k] for k in ("artifact_type", "start_ms", "end_ms")} for t in truth if t["file"] == path.name]
        files.append(
            {"id": item["id"], "duration_ms": item["duration_ms"], "embedding": stored, "reviewed": True, "annotations": labels}
        )
    outputs = {name: target(f"{run}/{name}") for name in ("model", "weights", "card", "sums", "checkpoint")}
    spec = {name: embedded["feature_spec"][name] for name in ("id", "hash")}
    return common("train", run) | {
        "config": CONFIG | config,
        "seed": 11,
        "feature_spec": spec,
        "files": files,
        "outputs": outputs,
        "checkpoint": None,
    }


@pytest.fixture(scope="module")
def embedded(platform: Platform, voices: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The training takes and a corrupt file, embedded by the embed verb."""
    paths = sorted([*(voices / "train").glob("*.wav"), *(voices / "train").glob("*.flac")])
    run, scratch = new_run(), tmp_path_factory.mktemp("pod") / "embed"
    broken = scratch.parent / "broken.wav"
    broken.write_bytes(b"RIFF\x10\0\0\0WAVEnothing")
    platform.works[run] = common("embed", run) | {"items": audio_items(platform, [*paths, broken], True)}
    check("work", platform.presigned(platform.works[run]))
    code, ending = platform.run("embed", run, scratch)
    result = result_of(platform, run)
    return {
        "code": code,
        "ending": ending,
        "run": run,
        "paths": paths,
        "broken": result["items"][-1],
        "scratch": scratch,
        "items": result["items"][:-1],
        "feature_spec": result["feature_spec"],
    }


@pytest.fixture(scope="module")
def trained(platform: Platform, embedded: dict, truth: dict, tmp_path_factory: pytest.TempPathFactory) -> dict:
    run, scratch = new_run(), tmp_path_factory.mktemp("pod") / "train"
    platform.works[run] = training_work(platform, run, embedded, truth["train"])
    away = {"url": "embedding/away", "size_bytes": 1, "sha256": "0" * 64}
    silent = {"id": str(uuid.uuid4()), "duration_ms": 9000, "embedding": away, "reviewed": False, "annotations": []}
    platform.works[run]["files"].append(silent)  # has no label and no review mark, so the worker does not fetch it
    check("work", platform.presigned(platform.works[run]))
    code, ending = platform.run("train", run, scratch)
    return {"code": code, "ending": ending, "run": run, "result": result_of(platform, run)}


def test_embed_completes_with_one_failed_item_for_a_corrupt_file(platform: Platform, embedded: dict) -> None:
    assert (embedded["code"], embedded["ending"]["code"]) == (0, "ok")
    assert embedded["broken"]["status"] == "failed"
    assert embedded["broken"]["error"]["code"] == "corrupt_audio"
    assert embedded["ending"]["items_failed"] == 1
    for item in embedded["items"]:
        assert item["status"] == "completed"
        # every started frame counts; the duration is rounded to whole milliseconds
        assert 0 <= item["frames"] * 10 - item["duration_ms"] <= 10
        assert len(platform.get(f"embedding/{item['id']}")) == item["embedding"]["size_bytes"]
        peaks = json.loads(platform.get(f"peaks/{item['id']}"))
        assert peaks["bits"] == 8 and len(peaks["data"]) == 2 * peaks["length"]
    assert platform.progress[embedded["run"]][-1]["fraction"] == 1
    assert not list(embedded["scratch"].glob("item-*")), "scratch is emptied as items finish"


def test_train_reports_curves_and_stores_a_model_with_correct_checksums(platform: Platform, trained: dict) -> None:
    assert (trained["code"], trained["ending"]["code"]) == (0, "ok")
    points = [p for report in platform.progress[trained["run"]] for p in report["metrics"]]
    names = {"train_loss", "val_loss", "val_f1", "learning_rate"}
    assert {(p["step"], p["name"]) for p in points} == {(e, n) for e in range(1, 5) for n in names}
    fractions = [r["fraction"] for r in platform.progress[trained["run"]]]
    assert fractions == sorted(fractions) and len(set(fractions)) >= 5
    result = trained["result"]
    assert set(result["metrics"]["per_type"]) == set(TYPES)
    assert result["metrics"]["split"]["mode"] == "files"
    keys = {"model.onnx": "model", "weights.safetensors": "weights", "card.json": "card"}
    sums = dict(reversed(line.split("  ")) for line in platform.get(f"{trained['run']}/sums").decode().splitlines())
    for artifact in result["artifacts"]:
        if artifact["name"] in keys:
            data = platform.get(f"{trained['run']}/{keys[artifact['name']]}")
            assert hashlib.sha256(data).hexdigest() == artifact["sha256"] == sums[artifact["name"]]


# With so few labels there are two trainings: one without the validation files, one with all files. Each is interrupted once.
def test_twice_interrupted_training_resumes_to_the_same_model(
    platform: Platform, trained: dict, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert trained["result"]["metrics"]["split"]["learned_again_from_all_files"]
    run = new_run()
    platform.works[run] = json.loads(json.dumps(platform.works[trained["run"]]).replace(trained["run"], run))
    for share in (0.2, 0.65):
        scratch = tmp_path / str(share)
        process = platform.start("train", run, scratch)
        deadline = time.monotonic() + 300
        while not any(r["fraction"] > share for r in platform.progress.get(run, [])):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 75
        assert platform.termination(scratch)["code"] == "interrupted"
        told = platform.progress[run][-1]["checkpoint_step"]
        assert f"at step {told};" in platform.termination(scratch)["message"], "the last report names the checkpoint"
        data = platform.get(f"{run}/checkpoint")
        platform.works[run]["checkpoint"] = {"url": f"{run}/checkpoint", "size_bytes": len(data), "sha256": None}
        platform.progress[run].clear()
    code, _ = platform.run("train", run, tmp_path / "last")
    assert code == 0
    assert f"resuming at step {told}\n" in capfd.readouterr().out, "steps count through both trainings"
    assert min(r["fraction"] for r in platform.progress[run] if r["fraction"]) > share - 0.05, "it did not start over"
    for name in ("model", "card"):
        assert platform.get(f"{run}/{name}") == platform.get(f"{trained['run']}/{name}")


def test_an_out_of_memory_gpu_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from plosive_worker import __main__ as main

    def full(verb: str) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")  # the error of a full GPU; the test needs no GPU

    monkeypatch.setattr("plosive_worker.session.make_session", full)
    monkeypatch.setenv("PLOSIVE_TERMINATION_LOG", str(tmp_path / "log"))
    assert main.run("train") == 71
    told = json.loads((tmp_path / "log").read_text())
    assert told["code"] == "gpu_out_of_memory" and "batch_size" in told["hint"]


# numpy cannot be imported without the CPU instructions it was built for: an error that the worker does not expect
BROKEN = {"NPY_DISABLE_CPU_FEATURES": "X86_V2 NEON"}


def test_an_unexpected_error_exits_with_70(platform: Platform, tmp_path: Path, monkeypatch) -> None:
    run, original = new_run(), platform.environment
    platform.works[run] = common("embed", run) | {"items": []}
    platform.odd.add(run)
    monkeypatch.setattr(platform, "environment", lambda *place: original(*place) | BROKEN)
    code, ending = platform.run("embed", run, tmp_path / "scratch")
    assert (code, ending["code"]) == (70, "internal")
    assert ending["message"].startswith("RuntimeError: During parsing environment variable: 'NPY_DISABLE_CPU_FEATURES'")


def test_an_unreachable_run_endpoint_exits_with_75_after_a_minute_and_a_half(tmp_path: Path, monkeypatch) -> None:
    from plosive_worker import __main__ as main
    from plosive_worker import web

    waits: list[float] = []
    monkeypatch.setattr(web, "time", SimpleNamespace(sleep=waits.append, monotonic=time.monotonic))
    (tmp_path / "token").write_text("x")
    environment = {"PLOSIVE_RUN_URL": "https://nowhere.invalid/v1/runs/x", "JOB_COMPLETION_INDEX": "0", "TMPDIR": str(tmp_path)}
    environment |= {"PLOSIVE_TOKEN_FILE": str(tmp_path / "token"), "PLOSIVE_TERMINATION_LOG": str(tmp_path / "log")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main.run("embed") == 75
    told = json.loads((tmp_path / "log").read_text())
    check("termination", told)
    assert told["code"] == "temporary"
    assert told["message"].startswith("Fetching the work failed 9 times, the last time: NameResolutionError")
    assert [round(wait / min(30, 0.5 * 2**number)) for number, wait in enumerate(waits)] == [1] * 8
    assert 60 < sum(waits) < 120


def test_a_shard_of_unusable_audio_succeeds_with_each_file_failed(platform: Platform, tmp_path: Path) -> None:
    run, paths = new_run(), [tmp_path / "noise.mp3", tmp_path / "empty.wav"]
    paths[0].write_bytes(b"hello, this is no audio at all" * 9)
    paths[1].write_bytes(b"")
    platform.works[run] = common("embed", run) | {"items": audio_items(platform, paths, True)}
    code, ending = platform.run("embed", run, tmp_path / "scratch")
    assert (code, ending["code"], ending["items_done"], ending["items_failed"]) == (0, "ok", 2, 2)
    items = result_of(platform, run)["items"]
    assert [item["error"]["code"] for item in items] == ["unsupported_format", "empty_file"]


def test_an_interrupted_pod_reports_the_interruption(platform: Platform, embedded: dict, tmp_path: Path) -> None:
    run = new_run()
    platform.works[run] = common("embed", run) | {"items": audio_items(platform, embedded["paths"], True)}
    process = platform.start("embed", run, tmp_path / "pod")
    deadline = time.monotonic() + 60
    while not platform.progress.get(run):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 75
    assert platform.termination(tmp_path / "pod")["code"] == "interrupted"


def test_a_shard_that_an_earlier_run_completed_ends_at_once(platform: Platform, tmp_path: Path) -> None:
    run = new_run()
    platform.works[run] = {"version": 1, "kind": "done", "run": run, "shard": 0, "items": 7}
    check("work", platform.works[run])
    code, ending = platform.run("embed", run, tmp_path / "pod")
    assert (code, ending["code"], ending["items_done"], ending["items_total"]) == (0, "ok", 7, 7)
    assert not platform.has(f"{run}/result.json")


def detect_work(platform: Platform, run: str, trained: dict, paths: list[Path], **config) -> dict:
    def model_source(key: str, name: str) -> dict:
        stored = next(a for a in trained["result"]["artifacts"] if a["name"] == name)
        return {"url": f"{trained['run']}/{key}", "size_bytes": stored["size_bytes"], "sha256": stored["sha256"]}

    names = ("threshold", "artifact_types", "min_duration_ms", "merge_gap_ms", "chunk_size_ms", "stride_ms")
    empty = dict.fromkeys((*names, "max_false_alarms_per_hour"))
    model = {"onnx": model_source("model", "model.onnx"), "card": model_source("card", "card.json")}
    return common("detect", run) | {
        "config": empty | {"thresholds": {}} | config,
        "model": model,
        "items": audio_items(platform, paths, False),
    }


def test_detect_finds_artifacts_of_unseen_speakers(
    platform: Platform, trained: dict, voices: Path, truth: dict, tmp_path: Path
) -> None:
    paths = sorted([*(voices / "test").glob("*.wav"), *(voices / "test").glob("*.flac")])
    broken = tmp_path / "cut.flac"
    broken.write_bytes((voices / "train" / next(p.name for p in (voices / "train").glob("*.flac"))).read_bytes()[:40_000])
    run = new_run()
    platform.works[run] = detect_work(platform, run, trained, [*paths, broken])
    check("work", platform.presigned(platform.works[run]))
    code, ending = platform.run("detect", run, tmp_path / "scratch")
    assert (code, ending["items_failed"]) == (0, 1)
    items = result_of(platform, run)["items"]
    assert items[-1]["error"]["code"] == "corrupt_audio"
    hits = found = 0
    for item, path in zip(items, paths):
        wanted = [t for t in truth["test"] if t["file"] == path.name]
        found += len(item["detections"])
        for t in wanted:
            hits += any(
                d["artifact_type"] == t["artifact_type"] and abs(d["start_ms"] - t["start_ms"]) <= 200 for d in item["detections"]
            )
    total = len(truth["test"])
    assert hits >= 0.6 * total, f"recall {hits}/{total}"
    assert hits >= 0.45 * found, f"precision {hits}/{found}"

    again = new_run()
    platform.works[again] = platform.works[run] | {"run": again, "result": target(f"{again}/result.json")}
    platform.run("detect", again, tmp_path / "again")
    told = (platform.get(f"{one}/result.json").replace(one.encode(), b"") for one in (run, again))
    assert next(told) == next(told), "the same job must give the same bytes"


def test_detect_follows_its_config(platform: Platform, trained: dict, voices: Path, tmp_path: Path) -> None:
    path = sorted((voices / "test").glob("*.wav"))[0]
    results = {}
    for name, config in {
        "all": {"threshold": 0.05},
        "sure": {"threshold": 0.99},
        "hum": {"threshold": 0.05, "artifact_types": ["hum"]},
        "long": {"threshold": 0.05, "min_duration_ms": 400},
        "one": {"threshold": 1.0, "thresholds": {"dropout": 0.05}},
        "usual": {},
        "strict": {"max_false_alarms_per_hour": 0.1},
        "lax": {"max_false_alarms_per_hour": 100_000.0},
        "named": {"max_false_alarms_per_hour": 0.1, "thresholds": {"hum": 0.05}},
    }.items():
        run = new_run()
        platform.works[run] = detect_work(platform, run, trained, [path], **config)
        assert platform.run("detect", run, tmp_path / name)[0] == 0
        results[name] = result_of(platform, run)["items"][0]["detections"]
    assert len(results["all"]) > len(results["sure"])
    assert {d["artifact_type"] for d in results["hum"]} == {"hum"}
    assert results["long"] and all(d["end_ms"] - d["start_ms"] >= 400 for d in results["long"])
    assert {d["artifact_type"] for d in results["one"]} == {"dropout"}
    assert len(results["strict"]) < len(results["usual"]) and all(d in results["usual"] for d in results["strict"])
    assert results["lax"] == results["usual"], "a budget raises thresholds and never lowers them"
    assert [d for d in results["named"] if d["artifact_type"] == "hum"] == results["hum"]


def test_a_budget_that_the_model_cannot_follow_is_reported(
    platform: Platform, trained: dict, voices: Path, tmp_path: Path
) -> None:
    path, told = sorted((voices / "test").glob("*.wav"))[0], {}
    card = json.loads(platform.get(f"{trained['run']}/card"))
    for profile in card["profiles"]:
        del profile["alarms"]
    for budget in (None, 0.1):
        run = new_run()
        work = detect_work(platform, run, trained, [path], max_false_alarms_per_hour=budget)
        work["model"]["card"] = platform.put(f"{run}/old-card", json.dumps(card).encode())
        platform.works[run] = work
        code, ending = platform.run("detect", run, tmp_path / str(budget))
        assert code == 0
        told[budget] = ending["message"]
    assert "max_false_alarms_per_hour has no effect" in told[0.1]
    assert "max_false_alarms_per_hour" not in told[None]


def test_a_changed_model_is_refused(platform: Platform, trained: dict, voices: Path, tmp_path: Path) -> None:
    run, path = new_run(), sorted((voices / "test").glob("*.wav"))[0]
    work = detect_work(platform, run, trained, [path])
    data = bytearray(platform.get(f"{trained['run']}/model"))
    data[len(data) // 2] ^= 1
    work["model"]["onnx"] = platform.put(f"{run}/other-model", bytes(data))
    platform.works[run] = work
    code, ending = platform.run("detect", run, tmp_path / "scratch")
    assert (code, ending["code"]) == (64, "bad_manifest")
    assert not platform.has(f"{run}/result.json")


def test_a_model_of_another_feature_spec_is_refused(platform: Platform, trained: dict, voices: Path, tmp_path: Path) -> None:
    run, path = new_run(), sorted((voices / "test").glob("*.wav"))[0]
    work = detect_work(platform, run, trained, [path])
    card = json.loads(platform.get(f"{trained['run']}/card"))
    card["embedder"]["hash"] = "0" * 32
    work["model"]["card"] = platform.put(f"{run}/other-card", json.dumps(card).encode())
    platform.works[run] = work
    code, ending = platform.run("detect", run, tmp_path / "scratch")
    assert (code, ending["code"]) == (64, "bad_manifest")
    assert "features" in ending["message"]


def test_expired_urls_and_store_errors_are_retried(platform: Platform, voices: Path, tmp_path: Path) -> None:
    run, path = new_run(), sorted((voices / "test").glob("*.wav"))[0]
    platform.works[run] = common("embed", run) | {"items": audio_items(platform, [path], True)}
    platform.faults[:] = [503, None, 500, "cut", "changed"]  # None: the store itself refuses the expired URL
    platform.expired_fetches, platform.through_proxy, platform.progress_lost = 1, True, True
    try:
        code, ending = platform.run("embed", run, tmp_path / "scratch")
    finally:
        platform.through_proxy = platform.progress_lost = False
    assert (code, ending["code"]) == (0, "ok")
    assert platform.faults == []
    assert platform.fetches[run] == 2, "the work was fetched again after the 403"
    assert result_of(platform, run)["items"][0]["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"version": 2}, 64, "bad_manifest"),
        ({"kind": "train"}, 64, "bad_manifest"),
        ({"items": [{"id": "x"}]}, 64, "bad_manifest"),
    ],
)
def test_invalid_work_exits_with_64(platform: Platform, tmp_path: Path, change: dict, code: int, word: str) -> None:
    run = new_run()
    platform.works[run] = common("embed", run) | {"items": []} | change
    platform.odd.add(run)
    got, ending = platform.run("embed", run, tmp_path / "scratch")
    assert (got, ending["code"]) == (code, word)


def test_a_shard_whose_files_were_deleted_exits_with_66(platform: Platform, tmp_path: Path) -> None:
    run = new_run()
    platform.works[run] = None
    code, said = platform.run("embed", run, tmp_path / "scratch")
    assert (code, said["code"]) == (66, "input_missing")
    assert "No file of this shard" in said["message"]


def test_an_unknown_run_exits_with_64_and_a_wrong_token_with_77(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert platform.run("embed", new_run(), tmp_path / "scratch")[0] == 64
    monkeypatch.setattr("worker.platform.TOKEN", "another")
    original = platform.environment

    def other_token(run: str, scratch: Path) -> dict[str, str]:
        env = original(run, scratch)
        Path(env["PLOSIVE_TOKEN_FILE"]).write_text("wrong")
        return env

    monkeypatch.setattr(platform, "environment", other_token)
    code, ending = platform.run("embed", new_run(), tmp_path / "other")
    assert (code, ending["code"]) == (77, "forbidden")
