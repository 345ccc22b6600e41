# Validates documents with the JSON Schema that `make gen` writes from src/schemas/worker.ts. Used by the platform, for
# all documents of its run endpoint, and by the tests of the verbs.
import json
from functools import lru_cache
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).resolve().parents[2] / "images" / "worker" / "contract.schema.json"


@lru_cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    return Draft202012Validator(schema | {"$ref": f"#/$defs/{name}"})


def breaches_of(name: str, document: object) -> list:
    """The first faults of `document` as work, progress, result or termination, with their places."""
    errors = sorted(validator(name).iter_errors(document), key=lambda e: list(e.path))
    return [
        (name, list(e.path), e.message[:200], [(list(c.path), c.message[:100]) for c in e.context or []][:6]) for e in errors[:3]
    ]


def check(name: str, document: object) -> None:
    """Asserts that `document` is a valid work, progress, result or termination."""
    assert breaches_of(name, document) == []
