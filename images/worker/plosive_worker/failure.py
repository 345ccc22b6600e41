# The failures of a worker: an exception with a code, a message and a hint, and the exit code of each code. The codes
# are the contract with the operator (src/schemas/worker.ts, exitCodes). Raised anywhere, caught in __main__.py.
EXIT_CODES = {
    "ok": 0,
    "bad_manifest": 64,
    "unusable_audio": 65,
    "input_missing": 66,
    "internal": 70,
    "decoder_unconfined": 70,
    "gpu_out_of_memory": 71,
    "temporary": 75,
    "interrupted": 75,
    "forbidden": 77,
}


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
