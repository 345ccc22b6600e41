# `python3 -m plosive_worker embed|train|detect`: the pod's entry point. Runs the verb, writes the termination log, exits
# with the code that the operator reads. Nothing heavy is imported before the verb is known: children import this file too.
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path

VERBS = ("embed", "train", "detect")
# numpy and torch read these when they are imported; waiting threads must not spin on a shared core
for name, value in (("OPENBLAS_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive"), ("MKL_NUM_THREADS", "1")):
    os.environ.setdefault(name, value)


def write_termination(path: Path, document: dict) -> None:
    """At most 4096 bytes; a missing log is no reason to fail."""
    document = {**document, "message": document["message"][:1000], "hint": document["hint"] and document["hint"][:1000]}
    text = json.dumps(document)
    if len(text.encode()) > 4096:
        text = json.dumps({**document, "message": document["message"][:300], "hint": None})
    try:
        path.write_text(text)
    except OSError as error:
        print(f"cannot write {path}: {error}", file=sys.stderr)


def run(verb: str) -> int:
    from .failure import NothingToDo, WorkerFailure
    from .session import make_session

    code, message, hint, item, exit_code, session = "ok", "done", None, None, 0, None
    try:
        session = make_session(verb)
        message = importlib.import_module(f".{verb}", __package__).run(session)
    except NothingToDo as reason:
        message = str(reason)
    except WorkerFailure as failure:
        code, message, hint, item, exit_code = failure.code, failure.message, failure.hint, failure.item, failure.exit_code
    except MemoryError:
        code, message, exit_code = "out_of_memory", "The worker ran out of memory", 70
    except Exception as error:
        traceback.print_exc()
        code, message, exit_code = "internal", f"{type(error).__name__}: {error}", 70
    counts = {"items_done": None, "items_total": None, "items_failed": None}
    if session is not None:
        session.close()
        counts = session.counts()
    print(f"{verb}: {code}: {message}", file=sys.stderr)
    shard = os.environ.get("JOB_COMPLETION_INDEX", "")
    log = Path(os.environ.get("PLOSIVE_TERMINATION_LOG", "/dev/termination-log"))
    document = {"code": code, "message": message, "hint": hint, "shard": int(shard) if shard.isdigit() else None, "item": item}
    write_termination(log, {**document, **counts})
    return exit_code


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in VERBS:
        print(f"usage: python3 -m plosive_worker {'|'.join(VERBS)}", file=sys.stderr)
        sys.exit(64)
    # as PID 1 a process without a handler ignores SIGTERM; the trainer sets its own handler later
    signal.signal(signal.SIGTERM, lambda *_: os._exit(75))
    sys.exit(run(sys.argv[1]))


if __name__ == "__main__":
    main()
