# Our own detector as pods run it: the verbs embed, train and detect of plosive_worker as processes, with the run
# endpoint and object store of the worker tests (test/worker/platform.py). Called by runner.py and short.py.
import ctypes
import fcntl
import hashlib
import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from worker.platform import Platform, new_run, start_platform, target

from .cache import REPO, folder_of, key_of
from .types import Detection, Take

# The parts that a figure can depend on, without the parts that fetch, store and report.
FOLDERS = ("features", "audio", "training", "model", "events")
PARTS = (*FOLDERS, "train.py", "detect.py", "embed.py", "extract.py", "pool.py", "runtime.py")
TRUNK = hashlib.sha256((REPO / "images/worker/plosive_worker/training/trunk.safetensors").read_bytes()).hexdigest()
CODE = key_of(*(f"images/worker/plosive_worker/{part}" for part in PARTS), extra=TRUNK)
FEATURES = key_of("images/worker/plosive_worker/features", "images/worker/plosive_worker/audio")
AT_ONCE = 100  # files of one shard
EVERYTHING = 0.02  # the lowest confidence of requested detections; the model's own thresholds are applied when scoring
# the service's own defaults (src/schemas/training-config.ts)
CONFIG = {"epochs": 20, "validation_split": 0.2, "learning_rate": 0.001, "batch_size": 32, "chunk_size_ms": 500, "stride_ms": 250}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


PR_SET_CHILD_SUBREAPER = 36


def children() -> set[int]:
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


def reap(before: set[int]) -> None:
    """Waits for child processes of a verb (the server that forks its decoding children), so that their processor time
    counts."""
    for pid in children() - before:
        os.waitpid(pid, 0)


@cache
def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Spent:
    """Of one verb: wall clock, processor seconds including children, seconds of processed sound."""

    wall: float = 0.0
    cpu: float = 0.0
    sound: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.wall + other.wall, self.cpu + other.cpu, self.sound + other.sound)


@dataclass(frozen=True)
class Model:
    """A trained model in the platform's store; `result` is the train verb's result."""

    run: str
    result: dict
    thresholds: dict[str, float]
    spent: Spent


class Product:
    """The platform with a persistent store, so that nothing is embedded twice; with `folder` one with an empty store."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or folder_of("platform")
        self.lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run of the benchmark uses {self.folder}") from None
        for folder in (self.folder / "store" / "embedding", self.folder / "embedded"):
            for old in folder.glob("*") if folder.exists() else ():
                if not old.name.startswith(FEATURES):  # of features that this code no longer computes
                    old.unlink()
        self.platform: Platform = start_platform(self.folder)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphaned processes of a verb become our children

    def close(self) -> None:
        self.platform.stop()
        self.lock.close()

    def verb(self, name: str, run: str, work: dict, sound: float) -> tuple[dict, Spent]:
        """Runs a verb to its end; returns its result and its cost."""
        common = {"version": 1, "kind": name, "run": run, "shard": 0, "result": target(f"{run}/result.json")}
        self.platform.works[run] = common | work
        scratch = self.folder / "scratch" / run
        running = children()
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        code, ending = self.platform.run(name, run, scratch, timeout=7200)
        wall = time.monotonic() - began
        reap(running)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        shutil.rmtree(scratch, ignore_errors=True)
        if code != 0:
            raise RuntimeError(f"{name} ended with {code}: {ending['code']}: {ending['message']}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(self.platform.get(f"{run}/result.json")), Spent(wall, cpu, sound)

    def keep(self, path: Path) -> dict:
        """An audio file in the store: a hard link, or a copy where linking fails."""
        digest = digest_of(path)
        stored = self.folder / "store" / "audio" / digest
        stored.parent.mkdir(parents=True, exist_ok=True)
        if not stored.exists():
            try:
                os.link(path, stored)
            except OSError:
                shutil.copyfile(path, stored)
        return {"url": f"audio/{digest}", "size_bytes": path.stat().st_size, "sha256": digest}

    def embed(self, takes: Sequence[Take]) -> tuple[dict[str, dict], Spent]:
        """By take: the result of the embed verb and the place of its embedding."""
        notes = self.folder / "embedded"
        notes.mkdir(exist_ok=True)
        sources = {take.id: self.keep(take.path) for take in takes}
        note = {take.id: notes / f"{FEATURES}-{sources[take.id]['sha256']}.json" for take in takes}
        wanted, spent = [take for take in takes if not note[take.id].exists()], Spent()
        for first in range(0, len(wanted), AT_ONCE):
            part, items = wanted[first : first + AT_ONCE], []
            for take in part:
                key = f"embedding/{FEATURES}-{sources[take.id]['sha256']}"
                outputs = {"embedding": target(key), "peaks": target(f"peaks/{sources[take.id]['sha256']}")}
                items.append({"id": take.id, "filename": take.path.name, "audio": sources[take.id], "outputs": outputs})
            result, cost = self.verb("embed", new_run(), {"items": items}, sum(take.duration_s for take in part))
            spent += cost
            for take, item in zip(part, result["items"]):
                if item["status"] != "completed":
                    raise RuntimeError(f"{take.path}: {item['error']}")
                note[take.id].write_text(json.dumps({**item, "feature_spec": result["feature_spec"]}))
            say(f"embedded {first + len(part)} of {len(wanted)} takes")
        return {take.id: json.loads(note[take.id].read_text()) for take in takes}, spent

    def train(self, takes: Sequence[Take], seed: int, **config: object) -> Model:
        """A model of all types with events in the takes."""
        embedded, _ = self.embed(takes)
        run, files = new_run(), []
        for take in takes:
            item = embedded[take.id]
            stored = {"url": f"embedding/{FEATURES}-{digest_of(take.path)}", **item["embedding"]}
            labels = [
                {"artifact_type": e.type, "start_ms": int(e.onset_s * 1000), "end_ms": round(e.offset_s * 1000 + 0.5)}
                for e in take.events
            ]
            spec = {name: item["feature_spec"][name] for name in ("id", "hash")}
            file = {"id": take.id, "duration_ms": item["duration_ms"], "embedding": stored, "reviewed": True}
            files.append({**file, "annotations": labels})
        types = sorted({label["artifact_type"] for file in files for label in file["annotations"]})
        outputs = {name: target(f"{run}/{name}") for name in ("model", "weights", "card", "sums", "checkpoint")}
        work = {"config": {"artifact_types": types, **CONFIG, **config}, "seed": seed, "feature_spec": spec, "files": files}
        sound = sum(take.duration_s for take in takes)
        result, spent = self.verb("train", run, {**work, "outputs": outputs, "checkpoint": None}, sound)
        card = json.loads(self.platform.get(f"{run}/card"))
        return Model(run, result, {p["name"]: p["threshold"] for p in card["profiles"]}, spent)

    def detect(
        self, model: Model, takes: Sequence[Take], least: float | None = EVERYTHING
    ) -> tuple[dict[str, list[Detection]], Spent]:
        """By take id: all detections of at least this confidence; `least` None: the model's own thresholds."""
        sizes = {a["name"]: {"size_bytes": a["size_bytes"], "sha256": a["sha256"]} for a in model.result["artifacts"]}
        sources = {
            "onnx": {"url": f"{model.run}/model", **sizes["model.onnx"]},
            "card": {"url": f"{model.run}/card", **sizes["card.json"]},
        }
        names = ("artifact_types", "min_duration_ms", "merge_gap_ms", "chunk_size_ms", "stride_ms")
        config = {"threshold": least, "thresholds": {}, **dict.fromkeys(names)}
        found: dict[str, list[Detection]] = {}
        spent = Spent()
        for first in range(0, len(takes), AT_ONCE):
            part = takes[first : first + AT_ONCE]
            items = [{"id": t.id, "filename": t.path.name, "audio": self.keep(t.path)} for t in part]
            sound = sum(take.duration_s for take in part)
            result, cost = self.verb("detect", new_run(), {"config": config, "model": sources, "items": items}, sound)
            spent += cost
            for item in result["items"]:
                if item["status"] != "completed":
                    raise RuntimeError(f"{item['id']}: {item['error']}")
                found[item["id"]] = [
                    Detection(d["artifact_type"], d["start_ms"] / 1000, d["end_ms"] / 1000, d["confidence"])
                    for d in item["detections"]
                ]
        return found, spent
