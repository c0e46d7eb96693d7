"""Steps that take too long, or can not be evaluated, fail as any other step does."""

import asyncio
from typing import Any

import pytest

from stretto.definition import parse
from stretto.flow import Flow, either, on_failure, step, workflow
from stretto.testing.harness import Harness

UNDONE: list[str] = []


@step(timeout="1 minute")
async def slow(seconds: int) -> int:
    await asyncio.sleep(seconds)
    return seconds


@step(timeout="1 minute", failure_mode="IGNORE_FAILURE")
async def optional(seconds: int) -> int:
    await asyncio.sleep(seconds)
    return seconds


@step
def note(text: str) -> str:
    return text


@step
def cancel(booking: str) -> None:
    UNDONE.append(booking)


@step(compensate=cancel)
def book(hotel: str) -> str:
    return hotel


@workflow
def handled(seconds: int) -> Any:
    found = slow(seconds)
    with on_failure(found):
        late = note("late")
    return either(found, late)


@pytest.mark.parametrize(("seconds", "value"), [(59, 59), (61, "late")])
def test_a_step_that_takes_too_long_is_handled(seconds: int, value: object) -> None:
    with Harness() as harness:
        run = harness.start(handled, seconds=seconds)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == value


@workflow
def ignored() -> str:
    return note.after(optional(100))("done")


def test_a_step_that_takes_too_long_is_ignored() -> None:
    with Harness() as harness:
        run = harness.start(ignored)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.steps["optional"] == "COMPLETED_WITH_ERROR"


@workflow
def not_handled() -> str:
    hotel = book("Ritz")
    return note.after(slow.after(hotel)(100))("done")


def test_what_was_done_before_it_is_undone() -> None:
    UNDONE.clear()
    with Harness() as harness:
        run = harness.start(not_handled)
        assert harness.finish(run) == "FAILED"
        assert run.steps["slow"] == "TIMED_OUT"
    assert UNDONE == ["Ritz"]


@workflow
def mapped() -> str:
    found = slow.map([1, 2, 100])
    with on_failure(found):
        note("one is late")
    return note("done")


def test_a_map_with_an_element_that_takes_too_long_is_handled() -> None:
    with Harness() as harness:
        run = harness.start(mapped)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.steps["slow_map"] == "COMPLETED_WITH_ERROR"
        assert run.steps["note"] == "SUCCEEDED"


@workflow
def child(seconds: int) -> int:
    return slow(seconds)


@workflow
def parent() -> Any:
    found = child(100)
    with on_failure(found):
        late = note("the child is late")
    return either(found, late)


def test_a_child_in_which_a_step_takes_too_long_is_handled() -> None:
    with Harness() as harness:
        run = harness.start(parent)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == "the child is late"


@workflow
def not_evaluated(n: int) -> Any:
    found = slow(10 // n)
    with on_failure(found):
        late = note("not a number")
    return either(found, late)


@pytest.mark.parametrize(("n", "value"), [(2, 5), (0, "not a number")])
def test_a_step_whose_arguments_can_not_be_evaluated_is_handled(n: int, value: object) -> None:
    with Harness() as harness:
        run = harness.start(not_evaluated, n=n)
        assert harness.finish(run) == "SUCCEEDED"
        assert run.result == value


@workflow
def not_evaluated_at_all(n: int) -> int:
    return slow(10 // n)


def test_without_a_handler_the_run_fails_and_says_why() -> None:
    with Harness() as harness:
        run = harness.start(not_evaluated_at_all, n=0)
        assert harness.finish(run) == "FAILED"
        assert "divided by zero" in str(run.step("slow").reason)


@pytest.mark.parametrize(
    "flow", [handled, ignored, not_handled, mapped, parent, not_evaluated], ids=lambda flow: flow.id
)
def test_the_printed_definition_is_the_same(flow: Flow[..., Any]) -> None:
    assert parse(flow.to_yaml()) == flow.definition
