"""What schemathesis has to know about Plosive. Loaded by schemathesis.ts through schemathesis.toml."""

import itertools
import json
import os

import schemathesis
from schemathesis.core import NOT_SET
from schemathesis.generation.meta import TestPhase

OWN_KEY_ID = os.environ["CONTRACT_OWN_KEY_ID"]
WORLDS = json.loads(os.environ["CONTRACT_WORLDS"])
LASTING_WORLDS = int(os.environ["CONTRACT_LASTING_WORLDS"])
NOBODYS_ID = "0198b0de-0000-7000-8000-000000000000"

# id -> its world and what it is an id of
KNOWN = {id: (n, name) for n, world in enumerate(WORLDS) for name, ids in world.items() for id in ids}
numbers = itertools.count(1)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    keep_alive(case)
    send_no_text_for_objects(case)
    if case.meta and case.meta.generation.mode.is_positive:
        if next(numbers) % 8 != 0:
            use_new_idempotency_key(case)
        if case.meta.phase.name != TestPhase.STATEFUL:
            use_one_world(case)
        be_impatient(case)


def keep_alive(case):
    """Changes two requests that the service would rightly carry out, and that would end what the run can find.

    Revoking the key that the run uses: every later answer would be 401. Deleting what was there at the start: some of
    it stays, so that there is something to read and to change until the end. What the run makes itself may go.
    """
    for name, value in (case.path_parameters or {}).items():
        lasting = KNOWN.get(value, (LASTING_WORLDS,))[0] < LASTING_WORLDS
        if value == OWN_KEY_ID or (case.method == "DELETE" and lasting):
            case.path_parameters[name] = NOBODYS_ID


def send_no_text_for_objects(case):
    """Whatever is written as text is valid text. Wrong types of text bodies are left out, which is as wrong."""
    takes_text = case.operation.path.endswith(("/import/csv", "/import/audacity"))
    if takes_text and not isinstance(case.body, (str, bytes)):
        case.body = NOT_SET


def use_new_idempotency_key(case):
    """The generator likes to use one key for many bodies, which is refused each time; some requests still do."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key:
        case.headers["Idempotency-Key"] = f"{key[:200]}{next(numbers)}"


def use_one_world(case):
    """Known ids are drawn one by one, a set of one dataset with another's: makes most of them belong together."""
    places = [case.path_parameters, case.query, case.body]
    first = next((KNOWN[id][0] for place in places for id in texts(place) if id in KNOWN), None)
    if first is None or next(numbers) % 4 == 0:
        return
    for name in ("path_parameters", "query", "body"):
        old = getattr(case, name)
        new = moved(old, first)
        # Setting what was not there would make the case count as an invalid one.
        if new != old:
            setattr(case, name, new)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts(member)


def moved(value, world):
    if isinstance(value, str) and value in KNOWN and KNOWN[value][0] != world:
        return WORLDS[world][KNOWN[value][1]][0]
    if isinstance(value, dict):
        return {name: moved(member, world) for name, member in value.items()}
    if isinstance(value, list):
        return [moved(member, world) for member in value]
    return value


def be_impatient(case):
    """A run has better things to do than to wait a minute for a change."""
    if (case.query or {}).get("wait") in range(2, 61):
        case.query["wait"] = 1


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
