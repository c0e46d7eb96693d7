"""`on_success` and `on_failure` -> conditions on edges."""

from typing import Any

import pytest
from tests.unit.definition.samples import Raw, edges_of, flow, found, place, spots, step, steps_of

from stretto.definition.forms.outcomes import failed_condition
from stretto.model.problem import Code
from stretto.sel import compile_expression, sanitize

FAILED = failed_condition("a")
WELL = f"!({FAILED})"


def outcome(**fields: Any) -> Raw:
    return flow({"step": {"id": "a", "type": "NoOp", **fields}}, step("b"), step("c"), step("d"))


def edges(**fields: Any) -> Raw:
    made: Raw = edges_of(outcome(**fields))["a"]
    return made


def test_success_alone_is_an_ordinary_edge() -> None:
    assert edges(on_success="b") == {"b": "true"}
    assert "failure_mode" not in steps_of(outcome(on_success=["b"]))[0]


def test_failure_is_handled() -> None:
    assert edges(on_failure="b") == {"b": FAILED}
    assert steps_of(outcome(on_failure=["b"]))[0]["failure_mode"] == "IGNORE_FAILURE"


def test_both_and_lists() -> None:
    assert edges(on_success="b", on_failure=["c", "d"]) == {"b": WELL, "c": FAILED, "d": FAILED}


@pytest.mark.parametrize(
    ("condition", "made"),
    [
        ("true", WELL),
        (True, WELL),
        ("x > 1;", f"{WELL} && (x > 1)"),
        (False, f"{WELL} && (false)"),
        ({"expression": "x > 1", "type": "BOOLEAN"}, f"{WELL} && (x > 1)"),
        ({"expression": True}, WELL),
    ],
)
def test_edges_that_are_there_are_for_success(condition: Any, made: str) -> None:
    transition = {"successors": {"b": condition}}
    assert edges(on_failure="c", transition=transition) == {"b": made, "c": FAILED}


def test_predecessors_are_kept() -> None:
    body = steps_of(outcome(on_success="b", transition={"predecessors": ["d"]}))[0]
    assert body["transition"] == {"predecessors": ["d"], "successors": {"b": "true"}}


def test_nothing_given() -> None:
    assert edges(on_success=None, on_failure=None) == {}
    assert edges(on_success=[], on_failure=[]) == {}
    assert edges(transition=None, on_success="b") == {"b": "true"}
    assert edges(transition={"successors": None}, on_success="b") == {"b": "true"}


def test_every_condition_compiles_whatever_the_id() -> None:
    for step_id in ("a", "it's", "back\\slash", "'"):
        compile_expression(sanitize(failed_condition(step_id)))


def test_an_id_with_a_quote_is_only_a_bad_name() -> None:
    value = flow({"step": {"id": "it's", "type": "NoOp", "on_failure": "b"}}, step("b"))
    assert found(value) == [(Code.BAD_NAME, "workflow.steps[0].step.id")]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"on_success": "b", "on_failure": "b"}, Code.CONFLICT, "on_failure"),
        ({"on_success": ["b", "b"]}, Code.CONFLICT, "on_success"),
        ({"on_success": "b", "transition": {"successors": {"b": "true"}}}, Code.CONFLICT, "on_success"),
        ({"on_failure": "b", "failure_mode": "FAIL_IMMEDIATELY"}, Code.CONFLICT, "failure_mode"),
        ({"on_success": 5}, Code.WRONG_TYPE, "on_success"),
        ({"on_failure": ["b", 5]}, Code.WRONG_TYPE, "on_failure"),
        ({"on_success": {"b": "true"}}, Code.WRONG_TYPE, "on_success"),
        ({"on_success": "b", "transition": ["x"]}, Code.WRONG_TYPE, "transition"),
        ({"on_success": "b", "transition": {"successors": 5}}, Code.WRONG_TYPE, "transition.successors"),
        (
            {"on_failure": "c", "transition": {"successors": {"b": 5}}},
            Code.WRONG_TYPE,
            "transition.successors.b",
        ),
        ({"on_failure": "x"}, Code.UNKNOWN_STEP, "transition.successors.x"),
    ],
)
def test_problems(fields: Raw, code: str, field: str) -> None:
    assert found(outcome(**fields)) == [(code, f"workflow.steps[0].step.{field}")]


def test_the_same_mode_may_be_said() -> None:
    assert found(outcome(on_failure="b", failure_mode="ignore_failure")) == []


def test_places() -> None:
    text = (
        "workflow:\n  id: w\n  steps:\n    - step: {id: b, type: noop}\n"
        "    - step: {id: a, type: noop, on_success: [b, x], on_failure: y}\n"
    )
    assert spots(text) == [
        (Code.UNKNOWN_STEP, *place(text, "x]")),
        (Code.UNKNOWN_STEP, *place(text, "on_failure")),
    ]
