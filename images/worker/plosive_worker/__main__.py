# `python3 -m plosive_worker embed|train|detect`: the pod's entry point. Runs the verb, writes the termination log and
# exits with the code that the operator reads. Imports heavy modules only when it knows the verb, because the decoding
# child processes import this file too.
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path

VERBS = ("embed", "train", "detect")
# numpy and torch read these variables when they are imported. Idle threads must not spin on a shared core.
for name, value in (("OPENBLAS_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive"), ("MKL_NUM_THREADS", "1")):
    os.environ.setdefault(name, value)


def write_termination(
    code: str, message: str, hint: str | None = None, item: str | None = None, counts: dict[str, int] | None = None
) -> None:
    """Writes the termination log, at most 4096 bytes. If the log cannot be written, prints the error and goes on."""
    path = Path(os.environ.get("PLOSIVE_TERMINATION_LOG", "/dev/termination-log"))
    shard = os.environ.get("JOB_COMPLETION_INDEX", "")
    document: dict[str, str | int | None] = {"code": code, "message": message[:1000]}
    document |= {"hint": hint and hint[:1000], "item": item}
    document |= {"shard": int(shard) if shard.isdigit() else None}
    document |= {name: (counts or {}).get(name) for name in ("items_done", "items_total", "items_failed")}
    text = json.dumps(document)
    if len(text.encode()) > 4096:
        text = json.dumps({**document, "message": message[:300], "hint": None})
    try:
        path.write_text(text)
    except OSError as error:
        print(f"cannot write {path}: {error}", file=sys.stderr)


def run(verb: str) -> int:
    from .failure import NothingToDo, WorkerFailure, local_failure
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
        if type(error).__name__ == "OutOfMemoryError":  # torch's exception; torch is not imported here
            code, message = "gpu_out_of_memory", f"The GPU ran out of memory: {error}"
            hint, exit_code = "Give the job a GPU with more memory, or a smaller batch_size or chunk_size_ms", 71
        elif local := local_failure("The worker cannot go on", error):
            code, message, hint, exit_code = local.code, local.message, local.hint, local.exit_code
        else:
            code, message, exit_code = "internal", f"{type(error).__name__}: {error}", 70
    if session is not None:
        session.close()
    print(f"{verb}: {code}: {message}", file=sys.stderr)
    write_termination(code, message, hint, item, None if session is None else session.counts())
    return exit_code


def on_term(*_: object) -> None:
    """Ends the pod on SIGTERM: a process with PID 1 ignores SIGTERM unless it sets a handler. The trainer replaces this
    handler by one that writes a checkpoint."""
    write_termination("interrupted", "The cluster ended this pod before its work was done")
    os._exit(75)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in VERBS:
        print(f"usage: python3 -m plosive_worker {'|'.join(VERBS)}", file=sys.stderr)
        sys.exit(64)
    signal.signal(signal.SIGTERM, on_term)
    sys.exit(run(sys.argv[1]))


if __name__ == "__main__":
    main()
