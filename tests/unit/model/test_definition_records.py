"""Definitions: short forms, echoes of the form that was given, and problems deep in the tree."""

from typing import Any

import pytest

from stretto.model import wire
from stretto.model.problem import Code
from stretto.model.properties import Properties, PropertiesUpdate, RunStrategy, RunStrategyRule
from stretto.model.step import Step, Transition, TypedStep
from stretto.model.tag import Tag, TagNamespace
from stretto.model.trigger import PredefinedSchedule, SignalParamValue, TimeTrigger
from stretto.model.user import User
from stretto.model.workflow import Definition, WorkflowVersion


def echo(tp: Any, value: Any) -> Any:
    record, problems = wire.decode(tp, value)
    assert problems == []
    return wire.encode(record, tp)


def problems_of(tp: Any, value: Any) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in wire.decode(tp, value)[1]]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("parallel", {"rule": "PARALLEL", "workflow_concurrency": 20}),
        ("Strict_Sequential", {"rule": "STRICT_SEQUENTIAL", "workflow_concurrency": 1}),
        (7, {"rule": "PARALLEL", "workflow_concurrency": 7}),
        (0, {"rule": "PARALLEL", "workflow_concurrency": 0}),
        (
            {"rule": "SEQUENTIAL", "workflow_concurrency": 0},
            {"rule": "SEQUENTIAL", "workflow_concurrency": 0},
        ),
        ({"rule": "parallel", "workflow_concurrency": 5}, {"rule": "PARALLEL", "workflow_concurrency": 5}),
        ({"rule": "LAST_ONLY"}, {"rule": "LAST_ONLY", "workflow_concurrency": 1}),
    ],
)
def test_run_strategy(given: Any, written: Any) -> None:
    assert echo(RunStrategy, given) == written


@pytest.mark.parametrize("wrong", [True, 1.5, []])
def test_no_run_strategy(wrong: Any) -> None:
    assert problems_of(Properties, {"run_strategy": wrong}) == [(Code.WRONG_TYPE, "run_strategy")]


@pytest.mark.parametrize(
    "given", ["alice", {"name": "alice"}, {"name": "alice", "team": {"id": 1}, "x": None}]
)
def test_a_user_is_echoed_as_it_came(given: Any) -> None:
    assert echo(User, given) == given


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("t", {"name": "t"}),
        ({"name": "t", "namespace": "platform"}, {"name": "t", "namespace": "PLATFORM"}),
        ({"name": "t", "permit": 3, "creator": "me"}, {"name": "t", "permit": 3, "creator": "me"}),
    ],
)
def test_a_tag_is_written_as_an_object(given: Any, written: Any) -> None:
    assert echo(Tag, given) == written
    assert Tag(name="t", namespace=TagNamespace.SYSTEM) != Tag(name="t")


@pytest.mark.parametrize("form", [0, 3600, "3600", "10 minutes", "${timeout}"])
def test_a_timeout_keeps_its_form(form: int | str) -> None:
    assert echo(TypedStep, {"id": "a", "type": "NoOp", "timeout": form})["timeout"] == form


@pytest.mark.parametrize(
    ("given", "written"),
    [("NOOP", "NoOp"), ("foreach", "foreach"), ("KUBERNETES", "Kubernetes"), ("my.own-Type", "my.own-Type")],
)
def test_step_types(given: str, written: str) -> None:
    """Known types are read in any case and written in one; users' own are kept."""
    assert echo(TypedStep, {"id": "a", "type": given})["type"] == written


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("x > 1", "x > 1"),
        (True, "true"),
        (False, "false"),
        ({"expression": "x", "type": "BOOLEAN"}, "x"),
    ],
)
def test_conditions(given: Any, written: str) -> None:
    assert echo(Transition, {"successors": {"b": given}}) == {"successors": {"b": written}}


@pytest.mark.parametrize("wrong", [None, 1, [], {}, {"expr": "x"}, {"expression": 1}])
def test_no_condition(wrong: Any) -> None:
    assert problems_of(Transition, {"successors": {"b": wrong}}) == [(Code.WRONG_TYPE, "successors.b")]


@pytest.mark.parametrize("given", ["@daily", "daily", "DAILY", "@Daily"])
def test_predefined_schedules(given: str) -> None:
    written = echo(TimeTrigger, {"type": "predefined", "expression": given})
    assert written == {"type": "PREDEFINED", "expression": "@daily"}
    assert PredefinedSchedule(given) is PredefinedSchedule.DAILY


def test_what_a_signal_is_matched_by() -> None:
    for value in ("a", 1):
        assert echo(SignalParamValue, {"value": value, "operator": ">="})["value"] == value
    assert problems_of(SignalParamValue, {"value": 1.5, "operator": "~"}) == [
        (Code.WRONG_TYPE, "value"),
        (Code.UNKNOWN_VALUE, "operator"),
    ]


def test_unknown_keys_of_a_push_become_metadata() -> None:
    given = {"workflow": {"id": "w", "steps": []}, "is_active": False, "dsl_lang": "python"}
    record, _ = wire.decode(Definition, given)
    assert record.extra == {"dsl_lang": "python"}
    assert wire.encode(record) == given


def test_the_smallest_definition() -> None:
    given = {"workflow": {"id": "w", "steps": [{"step": {"id": "a", "type": "NoOp"}}]}}
    assert echo(Definition, given) == {
        "is_active": True,
        "workflow": {"id": "w", "steps": [{"step": {"id": "a", "type": "NoOp", "transition": {}}}]},
    }


def test_problems_deep_in_the_tree_have_the_whole_path() -> None:
    inner = {"step": {"id": "b", "type": "NoOp", "timeout": [], "tags": ["t", 7]}}
    steps = [
        {"step": {"id": "a", "type": "NoOp"}},
        {"foreach": {"id": "f", "steps": [inner], "concurency": 1}},
    ]
    assert problems_of(Definition, {"workflow": {"id": 1, "steps": steps}, "is_active": "yes"}) == [
        (Code.WRONG_TYPE, "workflow.id"),
        (Code.WRONG_TYPE, "workflow.steps[1].foreach.steps[0].step.timeout"),
        (Code.WRONG_TYPE, "workflow.steps[1].foreach.steps[0].step.tags[1]"),
        (Code.UNKNOWN_FIELD, "workflow.steps[1].foreach.concurency"),
        (Code.WRONG_TYPE, "is_active"),
    ]


def test_a_step_that_is_no_object() -> None:
    wrongs: list[Any] = [None, 1, "a", [], True]
    for wrong in wrongs:
        assert problems_of(Step, wrong) == [(Code.WRONG_TYPE, "")], wrong


def test_a_change_of_properties_says_what_it_resets() -> None:
    update, _ = wire.decode(PropertiesUpdate, {"reset_run_strategy_rule": True})
    assert update.reset_run_strategy_rule
    assert update.run_strategy is None


def test_a_version_with_nullable_next_times() -> None:
    given = {"workflow": {"id": "w", "steps": []}, "enriched_extras": {"next_execution_times": [1, None]}}
    assert echo(WorkflowVersion, given) == given


def test_a_strategy_made_in_code_gets_its_default() -> None:
    assert RunStrategy(rule=RunStrategyRule.PARALLEL).workflow_concurrency == 20
