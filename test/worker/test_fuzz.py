# Decoding under attack: every upload ends in time, with its sound or with a clear reason, and the worker continues.
# `make test` tries 200 mutants, which the commit determines; `make trials` tries 2,000 others.
import os
import re
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from plosive_worker.audio.sandbox import extract_safely
from plosive_worker.failure import ItemFailure
from plosive_worker.pool import usable_cpus

from worker.bombs import DECODED, Bomb, make_bombs
from worker.contract import check
from worker.mutants import Upload, make_mutant, make_seeds
from worker.platform import Platform, new_run, target
from worker.test_sandbox import left_processes
from worker.test_verbs import result_of

MUTANTS = 2000 if os.environ.get("PLOSIVE_TRIALS") == "full" else 200
FIRST = int(os.environ.get("PLOSIVE_TEST_SEED", "1")) * 2000  # the numbers of mutants are their seeds
WALL_SECONDS = 240.0  # on a busy machine, bombs that are decoded up to a limit take a minute
REASONS = {
    "empty_file", "unsupported_format", "corrupt_audio", "empty_audio", "too_long", "too_large", "decoder_bomb",
    "decoder_limit", "decoder_crashed",
}  # fmt: skip
# internals that a message to a user must not contain: code, folders, addresses
FOREIGN_WORDS = re.compile(
    r"Traceback|\w(Error|Exception)\b|0x[0-9a-f]{6}|/tmp|/scratch|/usr|\.py\b|numpy|\bNone\b|[Ee]rrno|nspecified|nknown error"
)


@dataclass(frozen=True)
class Ending:
    """The ending of one upload: the code of a failure with its message, or DECODED."""

    code: str
    message: str
    seconds: float


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.fixture(scope="module")
def bombs(seeds: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> list[Bomb]:
    return make_bombs(seeds, tmp_path_factory.mktemp("films"))


def try_one(upload: Upload, folder: Path) -> Ending:
    folder.mkdir()
    (folder / "audio").write_bytes(upload.data)
    began = time.monotonic()
    try:
        extract_safely(folder / "audio", folder, filename=upload.filename, wall_seconds=WALL_SECONDS)
        code, message = DECODED, ""
    except ItemFailure as failure:
        code, message = failure.code, failure.message
    seconds = time.monotonic() - began
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return Ending(code, message, seconds)


def try_all(uploads: list[Upload], folder: Path) -> list[Ending]:
    with ThreadPoolExecutor(usable_cpus()) as pool:
        return list(pool.map(lambda pair: try_one(pair[1], folder / str(pair[0])), enumerate(uploads)))


def faults_of(ending: Ending) -> list[str]:
    """The fault of an ending; empty if there is none."""
    faults = []
    if ending.seconds > WALL_SECONDS + 10:
        faults.append(f"took {ending.seconds:.0f} s")
    if ending.code != DECODED:
        words = ending.message
        if ending.code not in REASONS:
            faults.append(f"has no known reason: {ending.code}")
        plain = 15 <= len(words) <= 250 and words.isprintable() and (words[0].isupper() or words[0].isdigit())
        if not plain or FOREIGN_WORDS.search(words):
            faults.append(f"has an unclear message: {words}")
        if "unexpected error" in words:
            faults.append("ran into an error of ours")
    return faults


def test_every_valid_file_is_decoded(seeds: dict[str, bytes], tmp_path: Path) -> None:
    uploads = [Upload(name, data, name) for name, data in seeds.items()]
    endings = try_all(uploads, tmp_path)
    assert {u.filename: e for u, e in zip(uploads, endings) if e.code != DECODED} == {}


def test_mutants_are_decoded_or_fail_in_time_with_a_clear_reason(seeds: dict[str, bytes], tmp_path: Path) -> None:
    mutants = [make_mutant(number, seeds) for number in range(FIRST, FIRST + MUTANTS)]
    endings = try_all(mutants, tmp_path)
    faults = {m.story: found for m, e in zip(mutants, endings) if (found := faults_of(e))}
    print(MUTANTS, "mutants:", dict(Counter(e.code for e in endings)), f"slowest {max(e.seconds for e in endings):.1f} s")
    assert faults == {}
    kinds = Counter(e.code == DECODED for e in endings)
    assert min(kinds[True], kinds[False]) > MUTANTS / 10, "too few mutants decode, or too few fail"
    assert left_processes(tmp_path) == []


def test_bombs_end_with_their_permitted_codes(bombs: list[Bomb], tmp_path: Path) -> None:
    endings = try_all([b.upload for b in bombs], tmp_path)
    print(len(bombs), "bombs:", dict(Counter(e.code for e in endings)), f"slowest {max(e.seconds for e in endings):.1f} s")
    wrong = {
        f"{b.upload.filename}, {b.upload.story}": (e.code, e.message, *faults_of(e))
        for b, e in zip(bombs, endings)
        if e.code not in b.endings or faults_of(e)
    }
    assert wrong == {}
    assert left_processes(tmp_path) == []


def test_a_worker_completes_a_shard_of_mutants_and_bombs(
    platform: Platform, seeds: dict[str, bytes], bombs: list[Bomb], tmp_path: Path
) -> None:
    """The embed verb as the pod runs it: it succeeds, and embeds the valid files of the shard."""
    uploads = [make_mutant(number, seeds) for number in range(FIRST, FIRST + MUTANTS, 8)]
    uploads += [b.upload for b in bombs if "grows" not in b.upload.filename][::4]
    good = [Upload(name, seeds[name], name) for name in ("pcm16.wav", "aac.m4a", "voice.opus", "voice.g722")]
    run, items = new_run(), []
    for upload in [*uploads, *good]:
        name = str(uuid.uuid4())
        outputs = {"embedding": target(f"{run}/{name}/embedding"), "peaks": target(f"{run}/{name}/peaks")}
        audio = platform.put(f"{run}/{name}/audio", upload.data)
        items.append({"id": name, "filename": upload.filename, "audio": audio, "outputs": outputs})
    common = {"version": 1, "kind": "embed", "run": run, "shard": 0, "result": target(f"{run}/result.json")}
    platform.works[run] = common | {"items": items}
    check("work", platform.presigned(platform.works[run]))
    code, ending = platform.run("embed", run, tmp_path / "embed")
    assert (code, ending["code"]) == (0, "ok")
    told = result_of(platform, run)["items"]
    assert [item["id"] for item in told] == [item["id"] for item in items]
    assert [item["status"] for item in told[-len(good) :]] == ["completed"] * len(good)
    failed = [item["error"] for item in told if item["status"] == "failed"]
    assert ending["items_failed"] == len(failed) > len(uploads) / 3
    assert [e for e in failed if faults_of(Ending(e["code"], e["message"], 0))] == []
