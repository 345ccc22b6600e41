# Checkpoints while the object store is unavailable, on a simulated clock: the training goes on, and the last save ends within
# the grace period of the pod.
from pathlib import Path
from types import SimpleNamespace

import pytest
import urllib3
from plosive_worker import session, store, train, web
from plosive_worker.failure import WorkerFailure
from plosive_worker.manifest import Target
from plosive_worker.session import Environment, Session
from plosive_worker.store import Store
from plosive_worker.train import CHECKPOINT_SECONDS, Checkpoints, TrainingPasses

GRACE_SECONDS, REPORT_SECONDS = 60, 6  # controllers/job/child.ts; Session.close


class Clock:
    """The time of all modules that wait, and an object store that answers 200, 403 or 503, refuses connections, or hangs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.now, self.answer, self.tries = 1000.0, "", 0
        for module in (web, train):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep))
        monkeypatch.setattr(train.signal, "signal", lambda *_: None)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def request(self, method: str, url: str, timeout: urllib3.Timeout | None = None, **_: object) -> SimpleNamespace:
        self.tries += 1
        if self.answer == "hangs":
            self.now += timeout.read_timeout if timeout else 60
            raise urllib3.exceptions.ReadTimeoutError(None, url, "read timed out")
        if self.answer == "refuses":
            raise ConnectionRefusedError(111, "Connection refused")
        return SimpleNamespace(status=int(self.answer), data=b"", drain_conn=lambda: None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def checkpoints_of(clock: Clock, folder: Path) -> Checkpoints:
    (folder / "token").write_text("x")
    environment = Environment("https://runs", 0, folder / "token", None, None, folder, None, False)
    own = object.__new__(Session)  # without its thread, which would report to nobody
    own.env, own.base, own.pool, own.verb = environment, "https://runs/shards/0", clock, "train"
    outputs = SimpleNamespace(checkpoint=Target("https://store/checkpoint", {}))
    own.work = SimpleNamespace(checkpoint=None, outputs=outputs)
    own.heartbeat, own.checkpointed = lambda: None, lambda step: None
    kept = object.__new__(Store)
    kept.session, kept.pool = own, clock
    return Checkpoints(kept, folder, [])


def trainer_at(step: int) -> SimpleNamespace:
    return SimpleNamespace(step=step, state_bytes=lambda note: b"state")


@pytest.mark.parametrize("answer", ["503", "refuses", "hangs", "403"])
def test_a_training_goes_on_while_the_object_store_is_unavailable(clock: Clock, tmp_path: Path, answer: str) -> None:
    checkpoints, clock.answer = checkpoints_of(clock, tmp_path), answer
    spent = 0.0
    for step in range(600):  # of a second each
        clock.now += 1
        before = clock.now
        checkpoints.after_step(trainer_at(step))
        assert clock.now - before <= 15
        spent += clock.now - before
    assert clock.tries >= 600 // CHECKPOINT_SECONDS - 1, "it goes on trying"
    assert spent <= 300, "most of the time goes to steps"


def test_a_checkpoint_is_written_after_half_a_minute_of_training(clock: Clock, tmp_path: Path) -> None:
    checkpoints, clock.answer, saved = checkpoints_of(clock, tmp_path), "200", []
    checkpoints.store.session.checkpointed = saved.append
    for step in range(95):
        clock.now += 1
        checkpoints.after_step(trainer_at(step))
    assert saved == [29, 59, 89]


@pytest.mark.parametrize("answer", ["503", "refuses", "hangs", "403"])
@pytest.mark.parametrize("is_due", [False, True])
def test_the_save_at_the_end_of_the_pod_fits_its_grace_period(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, is_due: bool
) -> None:
    checkpoints, clock.answer = checkpoints_of(clock, tmp_path), answer
    if is_due:  # SIGTERM arrives just after a periodic attempt has begun
        clock.now += CHECKPOINT_SECONDS
        monkeypatch.setattr(checkpoints.path.__class__, "write_bytes", lambda path, data: checkpoints.on_term() or len(data))
        checkpoints.path.touch()
    else:
        checkpoints.on_term()
    begin = clock.now
    with pytest.raises(WorkerFailure, match="no checkpoint could be written") as failure:
        checkpoints.after_step(trainer_at(7))
    assert failure.value.code == "interrupted" and clock.tries >= (3 if answer in ("503", "refuses") else 1)
    assert clock.now - begin < GRACE_SECONDS - REPORT_SECONDS - 5, "a step must fit too"


def test_a_periodic_checkpoint_that_ends_after_sigterm_is_the_last_one(clock: Clock, tmp_path: Path) -> None:
    checkpoints, clock.answer = checkpoints_of(clock, tmp_path), "200"
    clock.now += CHECKPOINT_SECONDS
    checkpoints.store.session.checkpointed = lambda step: checkpoints.on_term()
    with pytest.raises(WorkerFailure, match="at step 7; a checkpoint was written"):
        checkpoints.after_step(trainer_at(7))
    assert clock.tries == 1


def test_a_request_waits_no_longer_than_its_deadline(clock: Clock) -> None:
    assert web.timeout_until().read_timeout == web.READ_SECONDS
    within = web.timeout_until(clock.now + 3)
    assert within.connect_timeout == within.read_timeout == 3
    assert web.timeout_until(clock.now - 5).read_timeout > 0
    assert store.timeout_until is session.timeout_until is web.timeout_until


@pytest.mark.parametrize(("number", "wanted"), [(0, [3, 3, 4, 4]), (1, [5, 5, 5, 5])])
def test_the_finished_epochs_are_reported_after_a_resume(monkeypatch: pytest.MonkeyPatch, number: int, wanted: list[int]) -> None:
    """A resumed pod is a new one: it has reported no epoch."""

    class Trainer:
        total_steps, steps_per_epoch, step = 500, 100, 0

        def __init__(self, *_: object):
            pass

        def run(self, after_step, after_epoch) -> str:
            for self.step in (380, 399, 400, 420):
                after_step(self)
            return "head"

    def restore(trainer: Trainer) -> None:
        trainer.step = 370

    monkeypatch.setattr(train, "Trainer", Trainer)
    told: list[int] = []
    own = SimpleNamespace(
        work=SimpleNamespace(config=SimpleNamespace(artifact_types=["hum"])),
        report={"message": None},
        heartbeat=lambda: None,
        progress=lambda fraction, message, items_done=0: told.append(items_done),
    )
    kept = SimpleNamespace(restore=restore, after_step=lambda trainer: None, steps_before=0)
    TrainingPasses(own, kept, [], SimpleNamespace(epochs=5), 2).train(number, [], lambda *_: None)
    assert told == wanted
