"""Steps that wait for a time, or for somebody."""

from datetime import timedelta
from typing import Any

import pytest
from tests.flow.playing import carry_out, play, value_of

from stretto.definition import parse
from stretto.flow import TraceError, either, on_failure, sleep, step, wait, when, workflow
from stretto.model.workflow import Definition
from stretto.testing.harness import Harness


@step
def add(a: int, b: int) -> int:
    return a + b


@workflow
def slowly(n: int) -> int:
    first = sleep(90)
    second = sleep(n, id="pause").after(first)
    return add.after(second)(n, 1)


def test_a_run_sleeps() -> None:
    with Harness() as harness:
        carry_out(harness, slowly)
        run = harness.start(slowly.definition, slowly.encode({"n": 60}))
        harness.advance(seconds=140)
        assert run.status == "IN_PROGRESS"
        harness.advance(seconds=20)
        assert (run.status, value_of(slowly, run)) == ("SUCCEEDED", 61)


@workflow
def asked(n: int) -> int:
    allowed = wait(id="approval", timeout=timedelta(hours=1), description="Ask the boss.")
    extra = wait(id="amount", returns=int, prompt="How many?", assignees=["ann", "role:admin"])
    with on_failure(allowed):
        no = add(-1, 0)
    return either(no, add.after(allowed)(n, extra))


@pytest.mark.parametrize(("approved", "value"), [(True, 42), (False, -1)])
def test_a_run_waits_for_answers(approved: bool, value: int) -> None:
    with Harness() as harness:
        carry_out(harness, asked)
        run = harness.start(asked.definition, asked.encode({"n": 2}))
        run.step("amount").answer(result=40)
        assert run.status == "IN_PROGRESS"
        run.step("approval").answer(approved=approved)
        assert (harness.finish(run), value_of(asked, run)) == ("SUCCEEDED", value)


def test_what_is_asked_is_in_the_definition() -> None:
    params = asked.definition.workflow.steps[1].params or {}
    assert (params["prompt"].value, params["assignees"].value) == ("How many?", ("ann", "role:admin"))


def test_nobody_answers() -> None:
    with Harness() as harness:
        carry_out(harness, asked)
        run = harness.start(asked.definition, asked.encode({"n": 2}))
        run.step("amount").answer(result=40)
        harness.advance(hours=2)
        assert run.step("approval").status == "COMPLETED_WITH_ERROR"
        assert run.step("approval").reason == "timed out"
        assert (run.status, value_of(asked, run)) == ("SUCCEEDED", -1)


@workflow
def escalated() -> str:
    decision = wait(id="manager", returns=str, timeout="2 days")
    with on_failure(decision):
        later = wait(id="director", returns=str, timeout="1 day")
    return either(decision, later)


@pytest.mark.parametrize("definition", [escalated.definition, parse(escalated.to_yaml())])
@pytest.mark.parametrize(
    ("answers", "status"),
    [((1, None), "SUCCEEDED"), ((3, 2), "SUCCEEDED"), ((3, 3), "FAILED")],
)
def test_approve_within_two_days_else_escalate(
    definition: Definition, answers: tuple[int, int | None], status: str
) -> None:
    """The manager is asked first; after two days the director is; after a third day the run fails."""
    manager, director = answers
    with Harness() as harness:
        run = harness.start(definition, {})
        harness.advance(days=manager - 0.5)
        if manager < 2:
            run.step("manager").answer(result="yes")
        elif director == 2:
            run.step("director").answer(result="yes")
        harness.finish(run)
        assert run.status == status
        expected = {"SUCCEEDED": "yes", "FAILED": None}[status]
        assert value_of(escalated, run) == expected
        if status == "FAILED":
            assert run.step("director").status == "TIMED_OUT"


@workflow
def unanswered() -> None:
    wait(id="question", timeout="1 hour")


def test_a_run_whose_question_nobody_answers_has_failed() -> None:
    with Harness() as harness:
        run = harness.start(unanswered.definition, {})
        assert harness.finish(run) == "FAILED"
        assert run.steps == {"question": "TIMED_OUT"}


@pytest.mark.parametrize("seconds", [-1, -0.5, "soon", "$x", timedelta(days=121), None, True, float("nan")])
def test_sleep_takes_a_time(seconds: Any) -> None:
    @workflow
    def wrong() -> None:
        sleep(seconds)

    with pytest.raises(TraceError, match="give seconds from 0 to 120 days, or `5 minutes`"):
        _ = wrong.definition


@pytest.mark.parametrize(
    ("given", "millis"),
    [(0.5, 500), (2.0, 2_000), (0, 0), ("90 seconds", 90_000), (timedelta(seconds=1.25), 1_250)],
)
def test_sleep_takes_parts_of_seconds(given: Any, millis: int) -> None:
    @workflow(id="napping")
    def napping() -> None:
        sleep(given)

    assert slept(napping) == millis


@workflow
def computed_nap(seconds: float) -> None:
    sleep(seconds / 2)


def test_sleep_takes_a_computed_part_of_a_second() -> None:
    assert slept(computed_nap, seconds=0.5) == 250


def slept(flow: Any, **params: Any) -> int:
    """Milliseconds between the start and the end of the step `sleep`."""
    with Harness() as harness:
        run = harness.start(flow.definition, flow.encode(params))
        assert harness.finish(run) == "SUCCEEDED"
        found = run.step("sleep")
        return round(((found.ended or 0.0) - (found.started or 0.0)) * 1_000)


@workflow
def asked_later(n: int) -> int:
    """`wait` is called before what it waits for."""
    extra = wait(id="amount", returns=int).after(add(n, 0).after(add(n, 1)))  # type: ignore[attr-defined]
    return add(n, extra)


def test_a_wait_can_be_put_behind_a_step_that_is_called_later() -> None:
    order = [each.id for each in asked_later.definition.workflow.steps]
    assert order == ["add_2", "add", "amount", "add_3"]
    with Harness() as harness:
        carry_out(harness, asked_later)
        run = harness.start(asked_later.definition, asked_later.encode({"n": 2}))
        run.step("amount").answer(result=40)
        assert (harness.finish(run), value_of(asked_later, run)) == ("SUCCEEDED", 42)


def test_steps_that_wait_for_each_other_are_refused() -> None:
    @workflow(id="circle")
    def circle(n: int) -> None:
        first = add(n, 1)
        second = add(first, 1)
        first.after(second)  # type: ignore[attr-defined]

    @workflow(id="branched")
    def branched(n: int) -> None:
        first = add(n, 1)
        with when(first > 1):
            second = add(n, 2)
        first.after(second)  # type: ignore[attr-defined]

    @workflow(id="itself")
    def itself(n: int) -> None:
        first = add(n, 1)
        first.after(first)  # type: ignore[attr-defined]

    for each in (circle, branched, itself):
        with pytest.raises(TraceError, match="which comes later"):
            _ = each.definition


@pytest.mark.parametrize("flow", [slowly, asked], ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: object) -> None:
    assert parse(flow.to_yaml()) == flow.definition  # type: ignore[attr-defined]


def test_a_sleep_of_no_time() -> None:
    assert play(slowly, n=0).value == 1
