"""Numbers that Maestro's parameters do not have: definitions with the semantics STRETTO hold them."""

import json
from typing import Any

import pytest

from stretto.definition import check, parse, to_json, to_yaml

BIG = 2**70
PARAMS: dict[str, dict[str, Any]] = {
    "a": {"type": "LONG", "value": BIG},
    "b": {"type": "DOUBLE", "value": "NaN"},
    "c": {"type": "LONG_ARRAY", "value": [1, -BIG]},
    "d": {"type": "DOUBLE_ARRAY", "value": [0.5, "-Infinity"]},
    "e": {"type": "MAP", "value": {"f": {"type": "DOUBLE", "value": "Infinity"}}},
}


def text_of(**fields: Any) -> str:
    step = {"step": {"id": "s", "type": "NoOp", "params": PARAMS}}
    return json.dumps({"workflow": {"id": "w", "params": PARAMS, "steps": [step], **fields}})


def test_stretto_prints_and_reads_them() -> None:
    made = parse(text_of(semantics="STRETTO"))
    assert parse(to_yaml(made)) == parse(to_json(made)) == made
    printed = json.loads(to_json(made), parse_constant=lambda word: pytest.fail(f"bare {word}"))
    assert printed["workflow"]["params"] == PARAMS


def test_maestro_refuses_each_at_its_place() -> None:
    found = {(each.path, each.message) for each in check(text_of()).problems}
    wide, open_ = "the whole number does not fit into 64 bits", "the number is not finite"
    places = {
        "a.value": wide,
        "b.value": open_,
        "c.value[1]": wide,
        "d.value[1]": open_,
        "e.value.f.value": open_,
    }
    wanted = {
        (f"workflow.{place}{name}", message)
        for place in ("params.", "steps[0].step.params.")
        for name, message in places.items()
    }
    assert found == wanted
