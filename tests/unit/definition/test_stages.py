"""Stages -> ordinary steps, with the edges between them."""

from typing import Any

import pytest
from tests.unit.definition.samples import Raw, edges_of, flow, foreach, found, place, spots, step, steps_of

from stretto.definition.forms.outcomes import failed_condition
from stretto.model.problem import Code


def staged(*stages: Any, **more: Any) -> Raw:
    return {"workflow": {"id": "wf", "stages": list(stages), **more}}


def stage(stage_id: str, *steps: Raw) -> Raw:
    return {"id": stage_id, "steps": list(steps)}


def test_one_after_the_other() -> None:
    value = staged(stage("one", step("a")), stage("two", step("b"), step("c")), stage("three", step("d")))
    assert edges_of(value) == {
        "a": {"b": "true", "c": "true"},
        "b": {"d": "true"},
        "c": {"d": "true"},
        "d": {},
    }
    assert [body["stage"] for body in steps_of(value)] == ["one", "two", "two", "three"]
    assert found(value) == []


def test_a_join_between_many_and_many() -> None:
    value = staged(stage("one", step("a"), step("b")), stage("two", step("c"), step("d")))
    assert edges_of(value) == {
        "a": {"one.done": "true"},
        "b": {"one.done": "true"},
        "one.done": {"c": "true", "d": "true"},
        "c": {},
        "d": {},
    }
    assert steps_of(value)[2]["type"] == "Join"
    assert found(value) == []


def test_each_stage_has_its_own_graph() -> None:
    value = staged(stage("one", step("a", "b"), step("b")), stage("two", step("c", "d"), step("d")))
    assert edges_of(value) == {"a": {"b": "true"}, "b": {"c": "true"}, "c": {"d": "true"}, "d": {}}


def test_with_branches_the_beginnings_count_as_ends() -> None:
    """Else the next stage would not run if no branch was taken."""
    branch = {"step": {"id": "a", "type": "NoOp", "transition": {"successors": {"b": "x > 1"}}}}
    value = staged(stage("one", branch, step("b")), stage("two", step("c")))
    assert edges_of(value) == {"a": {"b": "x > 1", "c": "true"}, "b": {"c": "true"}, "c": {}}


def test_a_failure_that_is_handled_inside_a_stage() -> None:
    handled = {"step": {"id": "a", "type": "NoOp", "on_failure": "fix"}}
    value = staged(stage("one", handled, step("fix")), stage("two", step("c")))
    assert edges_of(value)["a"] == {"fix": failed_condition("a"), "c": "true"}
    assert found(value) == []


def test_stages_without_steps_are_passed_over() -> None:
    value = staged(
        stage("one", step("a")), {"id": "none"}, {"id": "null", "steps": None}, stage("two", step("b"))
    )
    assert edges_of(value) == {"a": {"b": "true"}, "b": {}}
    assert steps_of(staged()) == steps_of(staged(stage("x"))) == []


def test_inside_loops_joins_have_ids_of_their_own() -> None:
    def loop(name: str) -> Raw:
        stages = [
            stage("one", step(f"{name}a"), step(f"{name}b")),
            stage("two", step(f"{name}c"), step(f"{name}d")),
        ]
        body: Raw = foreach(name, [], {f"{name}_i": {"value": [1], "type": "LONG_ARRAY"}})["foreach"]
        return {"foreach": {**{key: body[key] for key in ("id", "params")}, "stages": stages}}

    value = flow(loop("f"), loop("g"))
    ids = [each["step"]["id"] for body in steps_of(value) for each in body["steps"]]
    assert [each for each in ids if each.endswith(".done")] == ["f.one.done", "g.one.done"]
    assert found(value) == []


@pytest.mark.parametrize(
    ("name", "join"),
    [
        ("one", "one.done"),
        ("Build & Test", "Build-Test.done"),
        ("a__b", "a_b.done"),
        ("_x", "stage-_x.done"),
        ("1st", "stage-1st.done"),
        ("maestro_x", "stage-maestro_x.done"),
        ("阶段", "stage-.done"),
        ("x" * 300, "x" * 100 + ".done"),
        ("...", "stage-.done"),
    ],
)
def test_the_id_of_a_join_is_always_valid(name: str, join: str) -> None:
    value = staged(stage(name, step("a"), step("b")), stage("two", step("c"), step("d")))
    assert steps_of(value)[2]["id"] == join
    assert found(value) == []


def test_the_id_of_a_join_is_free() -> None:
    value = staged(
        stage("one", step("one.done"), step("one.done.2")),
        stage("two", step("c"), step("d")),
        stage("one ", step("e"), step("f")),
    )
    assert [body["id"] for body in steps_of(value) if body["type"] == "Join"] == ["one.done.3", "two.done"]
    assert found(value) == []


def test_edges_stay_in_their_stage() -> None:
    value = staged(stage("one", step("a", "b")), stage("two", step("b")))
    path = "workflow.stages[0].steps[0].step.transition.successors.b"
    assert found(value) == [(Code.CONFLICT, path)]


@pytest.mark.parametrize(
    ("stages", "code", "path"),
    [
        ({"one": []}, Code.WRONG_TYPE, "workflow.stages"),
        (["one"], Code.WRONG_TYPE, "workflow.stages[0]"),
        ([{"steps": []}], Code.MISSING_FIELD, "workflow.stages[0].id"),
        ([{"id": "", "steps": []}], Code.MISSING_FIELD, "workflow.stages[0].id"),
        ([{"id": 5, "steps": []}], Code.WRONG_TYPE, "workflow.stages[0].id"),
        ([{"name": 5, "steps": []}], Code.WRONG_TYPE, "workflow.stages[0].name"),
        ([{"id": "a"}, {"id": "a"}], Code.DUPLICATE_ID, "workflow.stages[1].id"),
        ([{"id": "a", "step": []}], Code.UNKNOWN_FIELD, "workflow.stages[0].step"),
        ([{"id": "a", "steps": {}}], Code.WRONG_TYPE, "workflow.stages[0].steps"),
        ([{"id": "a", "steps": ["x"]}], Code.WRONG_TYPE, "workflow.stages[0].steps[0]"),
        ([{"id": "a", "steps": [{"step": 5}]}], Code.WRONG_TYPE, "workflow.stages[0].steps[0]"),
        ([{"id": "a", "steps": [{}]}], Code.WRONG_TYPE, "workflow.stages[0].steps[0]"),
    ],
)
def test_problems(stages: Any, code: str, path: str) -> None:
    assert found({"workflow": {"id": "wf", "stages": stages}}) == [(code, path)]


def test_not_beside_steps() -> None:
    value: Raw = {"workflow": {"id": "wf", "stages": [stage("s", step("a"))], "steps": [step("b")]}}
    assert found(value) == [(Code.CONFLICT, "workflow.stages")]
    value["workflow"]["steps"] = None
    assert found(value) == []


def test_a_step_without_id_between_stages() -> None:
    value = staged(
        stage("one", {"step": {"type": "NoOp"}}), stage("two", {"step": {"id": 5, "type": "NoOp"}})
    )
    assert [code for code, _ in found(value)] == [Code.MISSING_FIELD, Code.WRONG_TYPE]


def test_a_cycle_inside_a_stage() -> None:
    value = staged(stage("one", step("a", "b"), step("b", "a")), stage("two", step("c")))
    assert [code for code, _ in found(value)] == [Code.CYCLE]


def test_problems_of_steps_are_shown_where_they_were_written() -> None:
    text = """\
workflow:
  id: wf
  stages:
    - id: one
      steps:
        - step: {id: a, type: noop}
        - step: {id: b, type: nopo}
    - id: two
      steps:
        - step: {id: $c, type: noop, timeout: soon}
        - step:
            id: d
            type: noop
            transition: {successors: {nowhere: "true"}}
"""
    assert spots(text) == [
        (Code.UNKNOWN_VALUE, *place(text, "nopo")),
        (Code.BAD_NAME, *place(text, "$c")),
        (Code.BAD_DURATION, *place(text, "soon")),
        (Code.UNKNOWN_STEP, *place(text, "nowhere")),
    ]
