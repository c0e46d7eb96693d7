"""Workflows as steps of others."""

from typing import Any

import pytest
from tests.flow.playing import conditions, play, play_in

from stretto.definition import parse
from stretto.flow import Flow, either, on_failure, step, subworkflow, when, workflow
from stretto.model.param import ParamDefinition
from stretto.testing.harness import Harness


@step
def add(a: int, b: int) -> int:
    return a + b


@step
def split(words: str) -> list[str]:
    return words.split()


@step
def fail(n: int) -> None:
    message = f"no {n}"
    raise ValueError(message)


@workflow
def inner(n: int, by: int = 10) -> int:
    return add(n, by)


@workflow
def words(text: str) -> dict[str, Any]:
    return {"words": split(text), "text": text}


@workflow
def middle(n: int) -> int:
    return inner(inner(n), by=100)


@workflow
def failing(n: int) -> None:
    fail(n)


@workflow
def outer(n: int) -> dict[str, Any]:
    a = middle(n)
    b = words("x $y")
    with when(a > 200):
        c = inner(a)
    return {"a": a, "first": b["words"][0], "b": b, "c": either(c, default=None)}


def test_a_workflow_calls_others() -> None:
    played = play(outer, n=1)
    b = {"words": ["x", "$y"], "text": "x $y"}
    assert played.value == {"a": 111, "first": "x", "b": b, "c": None}
    assert not played.ran("inner")


def test_it_knows_all_of_them() -> None:
    assert [each.id for each in outer.subflows] == ["inner", "middle", "words"]
    assert [each.qualname for each in outer.functions] == ["add", "split"]


@workflow
def into_a_loop(n: int) -> list[int]:
    a = inner(n)
    return add.map([1, 2], b=a)


def test_the_result_of_a_workflow_is_handed_into_a_loop() -> None:
    assert play(into_a_loop, n=1).value == [12, 13]


@workflow
def mapped(n: int) -> list[int]:
    return inner.map([1, 2, n], by=1000, concurrency=1)


def test_a_workflow_for_each_element() -> None:
    assert play(mapped, n=3).value == [1001, 1002, 1003]


@workflow
def mapped_words() -> list[Any]:
    failing.map([])
    return words.map(text=["a b", "c"])


def test_workflows_that_return_objects_or_nothing_for_each_element() -> None:
    assert play(mapped_words).value == [{"words": ["a", "b"], "text": "a b"}, {"words": ["c"], "text": "c"}]


@workflow
def by_id(n: int) -> list[Any]:
    run = subworkflow("inner", id="called", version=1)(n=n, by=2)
    return [run.output("add", "result", int), add.after(run)(1, 2)]


def test_a_workflow_by_its_id() -> None:
    with Harness() as harness:
        harness.publish(inner.definition)
        played = play_in(harness, by_id, n=5)
    assert played.value == [7, 3]
    assert conditions(by_id)["called"] == {"add": "true", "return": "true"}


@workflow
def asynchronous(n: int) -> int:
    run = subworkflow(inner, sync=False)(n)
    return add.after(run)(n, 1)


def test_a_workflow_that_nobody_waits_for() -> None:
    assert play(asynchronous, n=1).value == 2


@workflow
def handled() -> str:
    run = failing(1)
    with on_failure(run):
        a = split("it failed")
    return either(a, default=["fine"])[1]


def test_the_failure_of_a_workflow_is_handled() -> None:
    assert play(handled).value == "failed"


def test_parameters_of_a_start_are_encoded() -> None:
    assert words.encode({"text": "$x"}) == {"text": ParamDefinition(type="STRING", value="$$x")}  # type: ignore[arg-type]


def test_a_workflow_can_be_bound_to_its_parameters() -> None:
    assert inner.bind(3, by=4) == (inner, {"n": 3, "by": 4})


ALL: list[Flow[..., Any]] = [
    inner,
    words,
    middle,
    failing,
    outer,
    mapped,
    mapped_words,
    by_id,
    asynchronous,
    handled,
]


@pytest.mark.parametrize("flow", ALL, ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: Any) -> None:
    assert parse(flow.to_yaml()) == flow.definition
