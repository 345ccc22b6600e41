# One peer, tuned and run in its own process and environment: `python3 -m bench.detection.peer_child REQUEST ANSWER`.
# REQUEST: {peer, types, seed, train: [take], test: [take]} (test takes have neither truth nor twins). ANSWER:
# {tune_seconds, seconds, detections: {take id: [detection]}}, written atomically at the end. Started by others.py.
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from .peers import PEERS
from .types import Take


def answer(request: dict) -> dict:
    peer = PEERS[request["peer"]]()
    began = time.process_time()
    peer.tune([Take.from_json(take) for take in request["train"]], request["types"], request["seed"])
    tuned = time.process_time() - began
    found = {}
    for index, value in enumerate(request["test"]):
        take = replace(Take.from_json(value), events=(), clean=None)
        found[take.id] = [asdict(d) for d in sorted(peer.detect(take), key=lambda d: (d.onset_s, d.type))]
        print(f"{peer.name}: {index + 1} of {len(request['test'])} takes", file=sys.stderr, flush=True)
    return {"tune_seconds": tuned, "seconds": peer.seconds, "detections": found}


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    partial = target.with_suffix(".partial")
    partial.write_text(json.dumps(answer(json.loads(source.read_text()))))
    partial.rename(target)


if __name__ == "__main__":
    main()
