"""`workflow.semantics`: set where a definition is made, printed, and read back."""

from typing import Any

import pytest
from tests.unit.definition.samples import Raw, flow, foreach, step

from stretto.definition import parse, to_json, to_yaml
from stretto.definition.forms.normalise import normalise
from stretto.flow.workflow import workflow
from stretto.model.problem import Problem
from stretto.model.workflow import Semantics, Workflow


def semantics_of(value: Raw) -> Any:
    problems: list[Problem] = []
    (made,) = normalise(value, {}, problems)
    assert problems == []
    return made["workflow"].get("semantics")


def test_a_definition_in_the_model_names_no_semantics_and_follows_maestro() -> None:
    assert semantics_of(flow(step("a", "b"), step("b"))) is None
    assert Workflow(id="w").follows_maestro
    assert Workflow(id="w", semantics=Semantics.MAESTRO).follows_maestro
    assert not Workflow(id="w", semantics=Semantics.STRETTO).follows_maestro


def on_failure(key: str = "on_failure") -> Raw:
    return {"step": {"id": "a", "type": "NoOp", key: "b"}}


UNDO: Raw = {"step": {"id": "undo", "type": "NoOp"}}
COMPENSATED: Raw = {"step": {"id": "a", "type": "NoOp", "compensation": UNDO}}
STAGE: Raw = {"id": "one", "steps": [step("a")]}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"workflow": {"id": "w", "stages": [STAGE]}}, id="stages"),
        pytest.param(flow(on_failure(), step("b")), id="on_failure"),
        pytest.param(flow(on_failure("on_success"), step("b")), id="on_success"),
        pytest.param(flow(COMPENSATED), id="compensation"),
        pytest.param(flow(foreach("loop", [COMPENSATED])), id="compensation inside a loop"),
        pytest.param(flow(step("a"), undo_on_stop=True), id="undo_on_stop"),
        pytest.param({"workflow": {"id": "w", "jobs": [{"job": on_failure()["step"]}]}}, id="Maestro's YAML"),
        pytest.param({"workflows": {"definitions": [{"workflow_id": "w"}]}}, id="task engine"),
    ],
)
def test_a_form_that_maestro_lacks_sets_the_semantics(value: Raw) -> None:
    assert semantics_of(value) == "STRETTO"


def test_a_definition_keeps_the_semantics_that_it_names() -> None:
    value = {"workflow": {"id": "w", "semantics": "maestro", "stages": [STAGE]}}
    assert semantics_of(value) == "maestro"


def test_python_workflows_have_semantics_of_their_own_in_every_form() -> None:
    @workflow
    def empty() -> None: ...

    definition = empty.definition
    assert definition.workflow.semantics is Semantics.STRETTO
    assert parse(to_yaml(definition)).workflow.semantics is Semantics.STRETTO
    assert parse(to_json(definition)).workflow.semantics is Semantics.STRETTO
