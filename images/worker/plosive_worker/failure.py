# The failures of a worker: an exception with a code, a message and a hint, and the exit code of each code. The codes
# are the contract with the operator (src/schemas/worker.ts, exitCodes). Raised anywhere, caught in __main__.py.
import errno
import resource

EXIT_CODES = {
    "ok": 0,
    "bad_manifest": 64,
    "unusable_audio": 65,
    "input_missing": 66,
    "internal": 70,
    "decoder_unconfined": 70,
    "scratch_full": 70,
    "gpu_out_of_memory": 71,
    "temporary": 75,
    "interrupted": 75,
    "forbidden": 77,
}

LOCAL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EROFS)


class WorkerFailure(Exception):
    """Ends the pod with the exit code of `code`."""

    def __init__(self, code: str, message: str, hint: str | None = None, item: str | None = None):
        super().__init__(message)
        self.code, self.message, self.hint, self.item = code, message, hint, item

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.code]


class NothingToDo(Exception):
    """Ends the pod at once with exit code 0."""


class ItemFailure(Exception):
    """One audio file cannot be used; the shard continues with the others."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code, self.message = code, message


def local_failure(what: str, error: BaseException | None) -> WorkerFailure | None:
    """Returns the failure if this pod's own disk or limits caused the error, directly or as the cause of another one; trying
    again would not help. None for all others, such as those of the network."""
    while error is not None and (not isinstance(error, OSError) or error.errno not in LOCAL_ERRORS):
        error = error.__cause__ or error.__context__
    if error is None:
        return None
    match error.errno:
        case errno.EMFILE:
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            code, reason = "internal", f"the process has as many files open as its limit (RLIMIT_NOFILE) admits, {limit}"
            hint = "Raise the limit of open files in the container runtime of the node"
        case errno.ENFILE:
            code, reason = "internal", "the node has as many files open as its limit (fs.file-max) admits"
            hint = "Raise the limit on the node, or end what holds files open there"
        case errno.EROFS:
            code, reason = "internal", "the volume is read-only"
            hint = "The scratch volume (TMPDIR) must be writable: check the disk of the node"
        case _:
            code, reason = "scratch_full", f"the scratch volume is full ({error.strerror})"
            hint = "Raise scratchSize of the worker profile, or free space on the disk of the node"
    where = f" ({error.filename})" if error.filename else ""
    return WorkerFailure(code, f"{what}: {reason}{where}"[:1000], hint)
