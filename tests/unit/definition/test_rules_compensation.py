"""Steps that undo others: what can not be carried out is refused when the workflow is made."""

import json

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, found, model, step, while_

from stretto.definition import check


def undo(inner: Raw) -> Raw:
    return flow(step("a", compensation=inner), properties={"owner": "ann"})


CHILD = {"subworkflow_id": {"value": "x", "type": "STRING"}}
DETACHED: Raw = {"subworkflow": {"id": "u", "sync": False, "params": CHILD}}
AT = "workflow.steps[0].step.compensation"


def test_a_step_may_be_undone_by_any_kind_of_step_that_is_waited_for() -> None:
    waited = {"subworkflow": {"id": "u", "params": CHILD}}
    for inner in (step("u"), foreach("u", [step("v")]), while_("u", [step("v")]), waited):
        assert found(undo(inner)) == []


@pytest.mark.parametrize(
    "inner",
    [
        pytest.param(step("u", compensation=step("v")), id="an undo of an undo"),
        pytest.param(foreach("u", [step("w", compensation=step("v"))]), id="inside a loop"),
        pytest.param(DETACHED, id="a workflow that nobody waits for"),
        pytest.param(
            while_("u", [DETACHED | {"subworkflow": {**DETACHED["subworkflow"], "id": "v"}}]), id="in a while"
        ),
    ],
)
def test_an_undo_that_can_not_be_carried_out_is_refused(inner: Raw) -> None:
    assert found(undo(inner)) == [("conflict", AT)]


def test_the_refusal_says_what_to_do() -> None:

    (problem,) = check(json.dumps(undo(step("u", compensation=step("v"))))).problems
    assert problem.message == "`u` undoes `a`, and nothing undoes an undo"
    assert problem.hint == "remove the compensation of `u`"


@pytest.mark.parametrize("kind", ["foreach", "subworkflow", "while", "template"])
def test_only_steps_that_do_work_have_a_compensation(kind: str) -> None:
    """What is inside the others is undone by itself."""
    bad = {"id": "a", "compensation": step("u"), **({"condition": "true"} if kind == "while" else {})}
    assert ("unknown-field", f"workflow.steps[0].{kind}.compensation") in found(flow({kind: bad}))


def test_undo_on_stop_is_printed() -> None:
    assert model(flow(step("a"), undo_on_stop=True))["workflow"]["undo_on_stop"] is True
    assert "undo_on_stop" not in model(flow(step("a")))["workflow"]
