"""What schemathesis has to know about Plosive. Loaded by schemathesis.ts through schemathesis.toml."""

import itertools
import os

import schemathesis
from schemathesis.generation.meta import TestPhase

OWN_KEY_ID = os.environ["CONTRACT_OWN_KEY_ID"]
LASTING_IDS = set(os.environ["CONTRACT_LASTING_IDS"].split())
NOBODYS_ID = "0198b0de-0000-7000-8000-000000000000"


numbers = itertools.count(1)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    keep_alive(case)
    if case.meta and case.meta.generation.mode.is_positive and next(numbers) % 8 != 0:
        use_new_idempotency_key(case)


def keep_alive(case):
    """Changes two requests that the service would rightly carry out, and that would end what the run can find.

    Revoking the key that the run uses: every later answer would be 401. Deleting what was there at the start: some of
    it stays, so that there is something to read and to change until the end. What the run makes itself may go.
    """
    for name, value in (case.path_parameters or {}).items():
        if value == OWN_KEY_ID or (case.method == "DELETE" and value in LASTING_IDS):
            case.path_parameters[name] = NOBODYS_ID


def use_new_idempotency_key(case):
    """The generator likes to use one key for many bodies, which is refused each time; some requests still do."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key:
        case.headers["Idempotency-Key"] = f"{key[:200]}{next(numbers)}"


@schemathesis.check
def only_rules_beyond_the_schema(ctx, response, case):
    """Data that fits the schema may be refused with 422 only for rules that JSON Schema cannot tell.

    A time that has passed, an artifact type that the dataset does not have, names that differ in case only: their
    type is value_error. Any other type (string_too_long, missing, ...) means that the schema allows too much.
    """
    if response.status_code != 422 or not case.meta or not case.meta.generation.mode.is_positive:
        return
    items = response.json()["detail"]
    # What an inferred link did not find in an answer is sent as the word None, or not at all.
    if case.meta.phase.name == TestPhase.STATEFUL:
        items = [item for item in items if item["loc"][0] not in ("path", "query")]
    wrong = [item for item in items if item["type"] != "value_error"]
    assert not wrong, f"the schema allows what the service refuses: {wrong}"
