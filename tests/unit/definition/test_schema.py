"""The JSON Schema: it knows every form, and refuses nothing that is read."""

from typing import Any

import jsonschema_rs
import pytest
from tests.unit.definition.samples import flow, foreach, found, step, text_of, while_

from stretto.definition.limits import Limits
from stretto.definition.reading.read import Source
from stretto.definition.schema import definition_schema
from stretto.definition.schema.records import SchemaMaker

SCHEMA = definition_schema()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)


def fits(value: Any) -> bool:
    [document] = Source(text_of(value), Limits()).documents
    return bool(VALIDATOR.is_valid(plain(document)))


def plain(value: Any) -> Any:
    """Decimals as the floats that other tools read."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int) else float(value)


def test_it_is_a_schema() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema")


GOOD = [
    flow(),
    flow(step("a"), foreach("f", [while_("w", [step("b")])])),
    {"Workflow": {"id": "a"}},
    {"workflow": {"id": "a", "steps": [{"STEP": {"id": "a", "type": "nOOp"}}]}},
    flow(step("a", timeout="1h", failure_mode="ignore_failure", tags=["x", {"name": "y", "free": 1}])),
    flow(step("a", on_success="b", on_failure=["c"]), step("b"), step("c")),
    flow(params={"p": {"type": "double", "value": "1.5"}, "q": {"type": "Double_Array", "value": [1, "2"]}}),
    flow(
        params={"p": {"type": "LONG", "value": None, "expression": "1", "internal_mode": "odd", "free": []}}
    ),
    flow(params={"m": {"type": "MAP", "value": {"p": {"type": "STRING", "value": "x", "mode": "constant"}}}}),
    flow(
        {"while": {"id": "w", "condition": {"expression": True}, "steps": [step("a")], "loop_params": None}}
    ),
    flow({"subworkflow": {"id": "s", "workflow_id": 5, "version": 1}}),
    flow(
        time_triggers=[{"type": "cron", "cron": "0 0 * * *"}, {"type": "Predefined", "expression": "daily"}]
    ),
    flow(properties={"owner": {"name": "me", "free": 1}, "run_strategy": 5}),
    flow(properties={"owner": "me", "run_strategy": "Parallel", "alerting": {"type_configs": {}}}),
    {"workflow": {"id": "a", "stages": [{"id": "s", "steps": [step("a")]}]}},
    {**flow(), "is_active": False, "git_info": {"sha": "x"}, "mine": {"free": True}},
    "workflow: {id: a, jobs: [], dag: SeQuential, free: [1]}",
    "workflow: {id: a, jobs: ~, dag: ~, tags: ~, owner: {name: x}, workflow_params: ~}",
    "workflow: {id: a, jobs: [Job: {id: j, type: noop, transition: IF x THEN b}, job: {id: b, type: noop}]}",
    "workflow: {id: a, jobs: [while: {id: j, condition: true, jobs: [job: {id: b, type: noop}]}]}",
    "workflow: {id: a, jobs: [foreach: {id: j, ranges: {i: {to: n}}, jobs: [job: {id: b, type: noop}]}]}",
    "workflow: {id: a, stages: [{id: s, jobs: [subworkflow: {id: w, version: 1, sync: false}]}]}",
    "workflows: {definitions: [{workflow_id: a, tasks: ~}]}",
    """
    workflows:
      jobs: [{job_id: j, func_key: f, timeout: ~}]
      definitions:
        - workflow_id: a
          tasks: [{task_id: t, job_id: j, callbacks: [{state: FAILED, func_key: g}], dependencies: ~}]
    """,
]


@pytest.mark.parametrize("value", GOOD)
def test_what_is_read_fits(value: Any) -> None:
    assert found(value) == []
    assert fits(value)


BAD = [
    {},
    [],
    {"workflow": {}},
    {"workflow": {"id": 5}},
    {"workflow": {"id": "a", "odd": 1}},
    {"workflow": {"id": "a", "steps": [{}]}},
    {"workflow": {"id": "a", "steps": [{"step": {"id": "a", "type": "x"}, "while": {}}]}},
    {"workflow": {"id": "a", "steps": [{"stop": {"id": "a"}}]}},
    flow(step("a", retry_policy={"odd": 1})),
    flow(params={"p": {"value": "x"}}),
    flow(params={"p": {"type": "LONG", "value": "x"}}),
    flow(params={"p": {"type": "odd", "value": "x"}}),
    flow(time_triggers=[{"type": "CRON"}]),
    "workflow: {id: a, jobs: [{step: {id: a}}]}",
    "workflow: {id: a, jobs: [], dag: circle}",
    "workflow: {id: a, jobs: [foreach: {id: j, ranges: {i: {from: 1}}}]}",
    "workflows: {}",
    "workflows: {definitions: [{workflow_id: a, odd: 1}]}",
    "workflows: {definitions: [{workflow_id: a, tasks: [{task_id: t, job_id: j, callbacks: [{state: x}]}]}]}",
]


@pytest.mark.parametrize("value", BAD)
def test_what_has_the_wrong_shape_does_not(value: Any) -> None:
    assert found(value) != []
    assert not fits(value)


def test_a_type_without_a_schema() -> None:
    with pytest.raises(TypeError, match="no schema"):
        SchemaMaker().of(set[str])
