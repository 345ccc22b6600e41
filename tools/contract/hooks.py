"""Adapts schemathesis to Plosive: changes some generated requests and adds a check. Loaded through the settings that
schemathesis.ts writes."""

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

# id -> (index of its world, name of its parameter)
KNOWN = {id: (n, name) for n, world in enumerate(WORLDS) for name, ids in world.items() for id in ids}
numbers = itertools.count(1)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    protect_run(case)
    omit_wrong_types_of_text(case)
    if case.meta and case.meta.generation.mode.is_positive:
        if next(numbers) % 8 != 0:
            use_new_idempotency_key(case)
        if case.meta.phase.name != TestPhase.STATEFUL:
            use_one_world(case)
        shorten_wait(case)


def protect_run(case):
    """Replaces the id in two kinds of valid requests that would make the rest of the run useless.

    Revoking the run's own key: every later response would be 401. Deleting the first worlds: they must exist until the end,
    so that there is something to read and to change. The run may delete the resources that it creates itself.
    """
    for name, value in (case.path_parameters or {}).items():
        lasting = KNOWN.get(value, (LASTING_WORLDS,))[0] < LASTING_WORLDS
        if value == OWN_KEY_ID or (case.method == "DELETE" and lasting):
            case.path_parameters[name] = NOBODYS_ID


def omit_wrong_types_of_text(case):
    """Omits text bodies of a wrong type: serialized as text they would be valid. A missing body is invalid too."""
    takes_text = case.operation.path.endswith(("/import/csv", "/import/audacity"))
    if takes_text and not isinstance(case.body, (str, bytes)):
        case.body = NOT_SET


def use_new_idempotency_key(case):
    """Makes most idempotency keys unique: the generator often reuses one key for different bodies, which is always
    rejected."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key:
        case.headers["Idempotency-Key"] = f"{key[:200]}{next(numbers)}"


def use_one_world(case):
    """Makes the known ids of most requests belong together: schemathesis draws each of them independently."""
    places = [case.path_parameters, case.query, case.body]
    first = next((KNOWN[id][0] for place in places for id in texts(place) if id in KNOWN), None)
    if first is None or next(numbers) % 4 == 0:
        return
    for name in ("path_parameters", "query", "body"):
        old = getattr(case, name)
        new = moved(old, first)
        # Setting an absent member would make schemathesis treat the case as invalid.
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


def shorten_wait(case):
    """Shortens long waits for a change, so that they do not use up the time of the run."""
    if (case.query or {}).get("wait") in range(2, 61):
        case.query["wait"] = 1


@schemathesis.check
def only_rules_beyond_the_schema(ctx, response, case):
    """Data that matches the schema may be rejected with 422 only for rules that JSON Schema cannot express.

    Examples are a time in the past, an artifact type that the dataset lacks, and names that differ only in case. Their error
    type is value_error. Any other type (string_too_long, missing, ...) means that the schema allows too much.
    """
    if response.status_code != 422 or not case.meta or not case.meta.generation.mode.is_positive:
        return
    items = response.json()["detail"]
    # If an inferred link finds no value in a response, schemathesis sends the text "None" or nothing.
    if case.meta.phase.name == TestPhase.STATEFUL:
        items = [item for item in items if item["loc"][0] not in ("path", "query")]
    wrong = [item for item in items if item["type"] != "value_error"]
    assert not wrong, f"the schema allows data that the service rejects: {wrong}"
