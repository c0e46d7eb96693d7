"""Short forms that documents about Maestro print."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, found, model, place, spots, step, steps_of

from stretto.model.problem import Code

LOOP = {"i": {"value": [1], "type": "LONG_ARRAY"}}


def params_of(body: Raw) -> Raw:
    made: Raw = steps_of(flow(body))[0]["params"]
    return made


class TestLoopParams:
    def test_beside_the_steps(self) -> None:
        assert params_of({"foreach": {"id": "f", "loop_params": LOOP, "steps": [step("a")]}}) == {
            "loop_params": {"value": LOOP, "type": "MAP"}
        }
        assert "loop_params" in params_of({"While": {"id": "f", "condition": "x", "loop_params": LOOP}})

    def test_as_a_whole_parameter(self) -> None:
        whole = {"value": LOOP, "type": "MAP"}
        assert params_of({"foreach": {"id": "f", "loop_params": whole}}) == {"loop_params": whole}

    def test_beside_other_params(self) -> None:
        other = {"p": {"value": 1, "type": "LONG"}}
        assert params_of({"foreach": {"id": "f", "loop_params": LOOP, "params": other}}).keys() == {
            "loop_params",
            "p",
        }

    def test_null_is_not_there(self) -> None:
        assert "params" in steps_of(flow({"while": {"id": "w", "condition": "x", "loop_params": None}}))[0]

    def test_given_twice(self) -> None:
        body = foreach("f", [step("a")], loop_params=LOOP)
        assert found(flow(body)) == [(Code.CONFLICT, "workflow.steps[0].foreach.loop_params")]

    def test_of_the_wrong_type(self) -> None:
        steps = "[step: {id: a, type: noop}]"
        text = f"workflow:\n  id: a\n  steps:\n    - foreach: {{id: f, loop_params: [5], steps: {steps}}}\n"
        assert spots(text) == [(Code.WRONG_TYPE, *place(text, "[5]"))]

    def test_params_that_are_no_object(self) -> None:
        value = flow({"foreach": {"id": "f", "loop_params": LOOP, "params": 5, "steps": [step("a")]}})
        assert (Code.WRONG_TYPE, "workflow.steps[0].foreach.params") in found(value)
        assert (Code.UNKNOWN_FIELD, "workflow.steps[0].foreach.loop_params") not in found(value)

    def test_not_on_other_kinds(self) -> None:
        assert found(flow(step("a", loop_params=LOOP))) == [
            (Code.UNKNOWN_FIELD, "workflow.steps[0].step.loop_params")
        ]


class TestSubworkflow:
    @pytest.mark.parametrize(
        "fields",
        [
            {"workflow_id": "w", "version": "2"},
            {"subworkflow_id": "w", "subworkflow_version": 2},
            {"workflow_id": "w", "version": 2, "params": {}},
        ],
    )
    def test_fields_become_params(self, fields: Raw) -> None:
        assert params_of({"subworkflow": {"id": "s", **fields}}) == {
            "subworkflow_id": {"value": "w", "type": "STRING"},
            "subworkflow_version": {"value": "2", "type": "STRING"},
        }

    def test_given_twice(self) -> None:
        params = {"subworkflow_id": {"value": "w", "type": "STRING"}}
        value = flow({"subworkflow": {"id": "s", "workflow_id": "v", "params": params}})
        assert found(value) == [(Code.CONFLICT, "workflow.steps[0].subworkflow.workflow_id")]
        value = flow({"subworkflow": {"id": "s", "workflow_id": "v", "subworkflow_id": "w"}})
        assert found(value) == [(Code.CONFLICT, "workflow.steps[0].subworkflow.workflow_id")]

    def test_of_the_wrong_type_at_its_place(self) -> None:
        text = "workflow:\n  id: a\n  steps:\n    - subworkflow: {id: s, workflow_id: [x]}\n"
        assert spots(text) == [(Code.WRONG_TYPE, *place(text, "[x]"))]


class TestListExpressions:
    @pytest.mark.parametrize(
        ("kind", "text", "value"),
        [
            ("LONG_ARRAY", "[1, 2, 3]", [1, 2, 3]),
            ("long_array", " [1] ; ", [1]),
            ("STRING_ARRAY", '["a", "b]"]', ["a", "b]"]),
            ("DOUBLE_ARRAY", "[1.50]", [Decimal("1.50")]),
            ("BOOLEAN_ARRAY", "[true]", [True]),
            ("LONG_ARRAY", "[]", []),
        ],
    )
    def test_become_literals(self, kind: str, text: str, value: list[Any]) -> None:
        param = {"expression": text, "type": kind, "mode": "CONSTANT"}
        made = model(flow(params={"p": param}))["workflow"]["params"]["p"]
        assert made == {"value": value, "type": kind.upper(), "mode": "CONSTANT"}

    def test_inside_maps_and_steps(self) -> None:
        param = {"expression": "[1]", "type": "LONG_ARRAY"}
        outer = {"value": {"inner": {"value": {"p": param}, "type": "MAP"}}, "type": "map"}
        value = flow(step("a", params={"p": param, "m": outer}), params={"q": param})
        made = steps_of(value)[0]["params"]
        assert made["m"]["value"]["inner"]["value"]["p"]["value"] == made["p"]["value"] == [1]

    @pytest.mark.parametrize(
        ("kind", "text"),
        [
            ("LONG_ARRAY", "x[1]"),
            ("LONG_ARRAY", "[1"),
            ("LONG_ARRAY", "[x]"),
            ("LONG_ARRAY", "[1] + [2]"),
            ("STRING", "[1]"),
            ("DOUBLE_ARRAY", "[1e99999999999999999999999]"),
            ("LONG_ARRAY", "[" * 100_000 + "]" * 100_000),
        ],
    )
    def test_anything_else_stays_an_expression(self, kind: str, text: str) -> None:
        made = model(flow(params={"p": {"expression": text, "type": kind}}))["workflow"]["params"]["p"]
        assert made["expression"] == text

    def test_the_conflict_with_a_value_stays(self) -> None:
        param = {"expression": "[1]", "value": [2], "type": "LONG_ARRAY"}
        assert found(flow(params={"p": param})) == [(Code.CONFLICT, "workflow.params.p")]

    def test_a_bad_item_is_shown_at_the_expression(self) -> None:
        text = 'workflow:\n  id: a\n  steps: []\n  params: {p: {type: LONG_ARRAY, expression: "[1.5]"}}\n'
        assert spots(text) == [(Code.WRONG_TYPE, *place(text, '"[1.5]"'))]

    @pytest.mark.parametrize("param", [5, {}, {"type": 5, "expression": "[1]"}, {"type": "MAP", "value": 5}])
    def test_what_is_no_parameter_is_left_to_the_decoder(self, param: Any) -> None:
        assert found(flow(params={"p": param})) != []


class TestTags:
    def test_permit_count(self) -> None:
        tags = [{"name": "gpu", "permit_count": 5}, "x", {"name": "y"}]
        made = model(flow(step("a", tags=tags), tags=tags))["workflow"]
        assert made["tags"] == made["steps"][0]["step"]["tags"]
        assert made["tags"] == [{"name": "gpu", "permit": 5}, {"name": "x"}, {"name": "y"}]

    def test_beside_permit_it_is_an_attribute(self) -> None:
        tag = {"name": "gpu", "permit": 1, "permit_count": 5}
        assert model(flow(tags=[tag]))["workflow"]["tags"] == [tag]

    def test_of_the_wrong_type_at_its_place(self) -> None:
        text = "workflow:\n  id: a\n  tags:\n    - x\n    - {name: y, permit_count: many}\n"
        assert spots(text) == [(Code.WRONG_TYPE, *place(text, "many"))]


@pytest.mark.parametrize(
    "condition", [True, {"expression": "true", "type": "BOOLEAN"}, {"expression": True}, "true"]
)
def test_conditions(condition: Any) -> None:
    value = flow(
        {"step": {"id": "a", "type": "Titus", "transition": {"successors": {"b": condition}}}}, step("b")
    )
    assert steps_of(value)[0]["transition"]["successors"] == {"b": "true"}
    assert steps_of(flow({"while": {"id": "w", "condition": condition}}))[0]["condition"] == "true"
