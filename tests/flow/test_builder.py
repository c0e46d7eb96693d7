"""Workflows put together by calls."""

from typing import Any

import pytest
from tests.flow.playing import conditions, play

from stretto.definition import parse
from stretto.flow import TraceError, WorkflowBuilder, step, workflow
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, ParamType


@step
def extract(day: str) -> int:
    return len(day)


@step(retries=1)
def load(rows: int, table: str = "x", extra: dict[str, Any] | None = None) -> str:
    return f"{rows} {table} {extra}"


def alert(error: str) -> None:
    assert error


@workflow(id="etl", owner="ann", tags=["daily"])
def traced(day: str, table: str = "y") -> str:
    rows = extract(day)
    return load(rows, table)


def test_it_makes_the_same_definition() -> None:
    builder = WorkflowBuilder("etl", owner="ann", tags=["daily"])
    day, table = builder.param("day", str), builder.param("table", str, "y")
    builder.add("load", load, rows=builder.result("extract"), table=table)  # in any order
    builder.add("extract", extract, day=day)
    built = builder.returns(builder.result("load")).build()
    assert built.definition == traced.definition
    assert built.functions == traced.functions
    assert play(built, day="abc").value == "3 y None"


def test_steps_and_handlers_are_found_by_name() -> None:
    builder = WorkflowBuilder("named").register(extract, load.fn, alert)
    builder.param("day", str)
    name = extract.function.name
    options = {"on_failure": ["alert", alert], "on_success": "load", "timeout": 5, "id": "ignored"}
    builder.add(
        "first", name, day=builder.given("day"), options={k: v for k, v in options.items() if k != "id"}
    )
    builder.add("second", "load", after="first", rows=3, extra={"a": [builder.result("first")]})
    built = builder.returns([builder.result("second"), {"n": builder.result("first")}, 1]).build()
    assert play(built, day="abc").value == ["3 x {'a': [3]}", {"n": 3}, 1]
    callbacks = (built.definition.workflow.steps[0].params or {})["callbacks"]
    names = tuple(f"{alert.__module__}:alert" for _ in range(2))
    assert callbacks.value["failed"] == ParamDefinition(type=ParamType.STRING_ARRAY, value=names)
    assert {each.qualname for each in built.functions} == {"extract", "load", "alert"}
    assert parse(built.to_yaml()) == built.definition


@pytest.mark.parametrize(("day", "value"), [("abc", None), ("abcde", "5 x None")])
def test_a_step_may_have_a_condition(day: str, value: Any) -> None:
    builder = WorkflowBuilder("conditional")
    builder.param("day", str)
    builder.add("first", extract, day=builder.given("day"))
    builder.add("second", load, rows=builder.result("first"), when=lambda r: r.first > 3)
    builder.add("third", load, rows=1, after=["second"])  # what follows it does not run either
    built = builder.returns(builder.given("day")).build()
    played = play(built, day=day)
    assert played.value == day
    assert played.ran("second") is played.ran("third") is (value is not None)
    assert conditions(built)["first"] == {"second": "(first__result > 3)"}


def test_a_condition_reads_what_the_step_waits_for() -> None:
    builder = WorkflowBuilder("conditional")
    builder.add("first", extract, day="x")
    builder.add("second", load, rows=1, when=lambda r: r.first > 3)
    with pytest.raises(TraceError, match="the condition reads `first`, which the step does not wait for"):
        builder.build()


def test_everything_that_is_missing_is_said_at_once() -> None:
    builder = WorkflowBuilder("wrong").register(extract)
    builder.add("a", "exract", day=builder.given("day"))
    builder.add(
        "a", extract, day=builder.given("dya"), after="b", options={"timeuot": 3, "on_failure": "alrt"}
    )
    builder.add("c", "unheard_of", rows=[builder.result("aa")])
    builder.param("day", str)
    builder.returns(builder.result("z"))
    with pytest.raises(InvalidRequest) as caught:
        builder.build()
    known = f"extract, {extract.function.name}"
    problems = [each.split(": ", 1)[1] for each in caught.value.details]
    assert problems == [
        "the step id `a` is used twice",
        f"the handler `alrt` of step `a` is not registered: registered are {known}",
        "step `a` waits for `b`, which is not a step",
        "step `a` takes `dya`, which is not a parameter: did you mean `day`?",
        "step `a` has no option `timeuot`: did you mean `timeout`?",
        f"the function `unheard_of` of step `c` is not registered: registered are {known}",
        "step `c` takes `aa`, which is not a step: did you mean `a`?",
        "the workflow returns `z`, which is not a step",
    ]
    assert str(caught.value).startswith("the workflow `wrong` can not be built, 8 problems: tests/flow/test_")


def test_an_unknown_function_is_named_with_a_guess() -> None:
    builder = WorkflowBuilder("wrong").register(extract)
    builder.add("a", "exract", day="x")
    with pytest.raises(
        InvalidRequest, match=r"1 problem: .*`exract` of step `a` is not registered: did you mean `extract`"
    ):
        builder.build()


def test_steps_can_not_wait_for_each_other() -> None:
    builder = WorkflowBuilder("wrong")
    builder.add("a", extract, day="x", after="b")
    builder.add("b", extract, day="x", after="a")
    with pytest.raises(InvalidRequest, match="steps wait for each other: a -> b -> a"):
        builder.build()


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(TraceError, match="a workflow has no option `schedul`; did you mean `schedule`"):
        WorkflowBuilder("wrong", schedul="@daily")
    builder = WorkflowBuilder("wrong")
    builder.add("a", extract, day="x", options={"zzz": 1})
    with pytest.raises(InvalidRequest, match="step `a` has no option `zzz`: write one of id, retries"):
        builder.build()


def test_what_is_wrong_with_the_steps_themselves_is_said_too() -> None:
    builder = WorkflowBuilder("wrong")
    builder.add("a", extract, dya="x")
    with pytest.raises(TraceError, match="`extract` has no argument `dya`; did you mean `day`"):
        builder.build()
