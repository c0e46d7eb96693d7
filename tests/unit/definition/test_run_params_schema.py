"""The form of a start: a schema of `run_params` that says who may set what."""

from typing import Any

import jsonschema_rs
import pytest

from stretto.definition import parse
from stretto.definition.schema.run_params import run_params_schema
from stretto.model.param import InternalParamMode, ParamDefinition, ParamMode, ParamType
from stretto.params import ParamLimits

TEXT = """
workflow:
  id: w
  params:
    region: {type: STRING, value: eu, description: where to, choices: [eu, us]}
    count: {type: LONG, expression: return 1 + 1;, validator: "@count > 0"}
    half: {type: DOUBLE, value: 0.5}
    days: {type: STRING_ARRAY, value: [a]}
    flag: {type: BOOLEAN, value: true}
    names: {type: STRING_MAP, value: {a: b}}
    fixed: {type: STRING, value: same, mode: CONSTANT}
    late: {type: MAP, expression: "return new HashMap();"}
    inner:
      type: MAP
      value:
        size: {type: LONG, value: 3, description: how many}
        locked: {type: LONG, value: 3, mode: IMMUTABLE}
  steps: [{step: {id: a, type: NoOp}}]
"""
PARAMS = parse(TEXT).workflow.params or {}
SCHEMA = run_params_schema(PARAMS, ParamLimits(entries=20))


def accepts(params: dict[str, Any], schema: dict[str, Any] = SCHEMA) -> bool:
    return bool(jsonschema_rs.Draft202012Validator(schema).is_valid(params))


def test_it_is_a_schema_and_the_own_ones_come_first() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    names = list(SCHEMA["properties"])
    assert names[: len(PARAMS)] == list(PARAMS)
    assert "RUN_ID" in names or len(names) > len(PARAMS)
    assert "required" not in SCHEMA


@pytest.mark.parametrize("name", [name for name in SCHEMA["properties"] if name != "job_template_version"])
def test_every_default_that_may_be_changed_fits(name: str) -> None:
    found = SCHEMA["properties"][name]
    default = found["default"]
    if name == "inner":
        default["value"] = {"size": default["value"]["size"]}  # the other one can not be changed
    assert accepts({name: default}) is ("readOnly" not in found)


def test_what_a_form_shows() -> None:
    region = SCHEMA["properties"]["region"]
    assert region["default"] == {"type": "STRING", "value": "eu"}
    assert (region["x-type"], region["x-mode"], region["x-source"]) == ("STRING", "MUTABLE", "DEFINITION")
    assert region["description"] == "where to"
    assert region["properties"]["value"]["examples"] == ["eu", "us"]
    count = SCHEMA["properties"]["count"]
    assert count["default"] == {"type": "LONG", "expression": "return 1 + 1;"}
    assert count["x-validator"] == "@count > 0"
    fixed = SCHEMA["properties"]["fixed"]
    assert (fixed["readOnly"], fixed["x-mode"]) == (True, "CONSTANT")
    inner = SCHEMA["properties"]["inner"]["properties"]["value"]["properties"]
    assert inner["size"]["description"] == "how many"
    assert inner["locked"]["readOnly"] is True


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"region": {"type": "string", "value": "us"}},
        {"region": {"type": "STRING", "expression": "return 'a';"}},
        {"half": {"type": "DOUBLE", "value": "0.25"}},
        {"days": {"type": "STRING_ARRAY", "value": []}},
        {"inner": {"type": "MAP", "value": {"size": {"type": "LONG", "value": 4}}}},
        {"inner": {"type": "MAP", "value": {"other": {"type": "LONG", "value": 4}}}},
        {"other": {"type": "LONG", "value": 4, "mode": "CONSTANT"}},
    ],
)
def test_what_may_be_sent(params: dict[str, Any]) -> None:
    assert accepts(params)


@pytest.mark.parametrize(
    "params",
    [
        {"region": "us"},
        {"region": {"value": "us"}},
        {"region": {"type": "LONG", "value": 1}},
        {"region": {"type": "STRING", "value": 1}},
        {"region": {"type": "STRING"}},
        {"region": {"type": "STRING", "value": "us", "expression": "return 1;"}},
        {"fixed": {"type": "STRING", "value": "other"}},
        {"inner": {"type": "MAP", "value": {"locked": {"type": "LONG", "value": 4}}}},
        {"inner": {"type": "MAP", "value": {"size": 4}}},
        {"params": {"type": "STRING", "value": "reserved"}},
        {"other": 4},
        {f"p{number}": {"type": "LONG", "value": 1} for number in range(21)},
    ],
)
def test_what_may_not_be_sent(params: dict[str, Any]) -> None:
    assert not accepts(params)


def test_what_somebody_must_give() -> None:
    needed = ParamDefinition(type=ParamType.LONG, internal_mode=InternalParamMode.REQUIRED)
    given = ParamDefinition(type=ParamType.LONG, value=1, internal_mode=InternalParamMode.REQUIRED)
    inside = ParamDefinition(type=ParamType.MAP, value={"deep": needed}, mode=ParamMode.MUTABLE_ON_START)
    schema = run_params_schema({"needed": needed, "given": given, "inside": inside}, ParamLimits())
    assert schema["required"] == ["needed"]
    assert "default" not in schema["properties"]["needed"]
    assert schema["properties"]["inside"]["properties"]["value"]["required"] == ["deep"]
    assert not accepts({}, schema)
    assert accepts({"needed": {"type": "LONG", "value": 1}}, schema)
