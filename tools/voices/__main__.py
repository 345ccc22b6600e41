# `python3 -m voices --out DIR --train-minutes 14 --test-minutes 4 --seed 7`: takes for the demo and the tests.
# Writes DIR/train/, DIR/test/ (held-out speakers), each with truth.json, and DIR/index.json with all files.
import argparse
import json
from pathlib import Path

import numpy as np
import soundfile

from .artifacts import ARTIFACTS
from .recordings import list_prompts
from .takes import as_json, make_takes, write_takes

DEFAULT_TYPES = "click,plosive,hum,dropout,clipping,mouth_click"


def split_speakers(speakers: list[str], rng: np.random.Generator) -> tuple[set[str], set[str]]:
    """Splits the speakers into two disjoint halves (train, test)."""
    order = [speakers[i] for i in rng.permutation(len(speakers))]
    half = max(1, len(order) // 2)
    return set(order[half:]), set(order[:half])


def main() -> None:
    parser = argparse.ArgumentParser(prog="voices", description="Real voices with artifacts inserted at known times")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--train-minutes", type=float, default=14)
    parser.add_argument("--test-minutes", type=float, default=4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--types", default=DEFAULT_TYPES, help=f"comma-separated, from {','.join(ARTIFACTS)}")
    parser.add_argument("--per-minute", type=float, default=4.0, help="events of each type per minute")
    parser.add_argument("--generator", choices=("first", "second"), default="first", help="which generator makes the artifacts")
    parser.add_argument("--twins", action="store_true", help="also write each take without its artifacts")
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    prompts = list_prompts()
    train, test = split_speakers(sorted({p.speaker for p in prompts}), rng)
    index = []
    for name, speakers, minutes in (("train", train, options.train_minutes), ("test", test, options.test_minutes)):
        folder = options.out / name
        mine = [p for p in prompts if p.speaker in speakers]
        takes = make_takes(mine, minutes, options.types.split(","), options.per_minute, rng, options.generator)
        truth = as_json(write_takes(takes, folder, name, options.twins))
        (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
        for path in sorted([*folder.glob("*.wav"), *folder.glob("*.flac")]):
            if path.stem.endswith("-clean"):
                continue
            seconds = soundfile.info(path).duration
            language, speaker = path.stem.split("-")[2:4]
            index.append(
                {
                    "file": f"{name}/{path.name}",
                    "part": name,
                    "speaker": speaker,
                    "language": language,
                    "duration_ms": round(seconds * 1000),
                    "size_bytes": path.stat().st_size,
                }
            )
        total = sum(len(t.mixed) / t.rate for t in takes) / 60
        print(f"{name}: {len(takes)} takes, {total:.1f} min, {len(truth)} artifacts, speakers {', '.join(sorted(speakers))}")
    (options.out / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
