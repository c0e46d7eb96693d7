"""Steps that wait for a time, or for somebody."""

from datetime import timedelta

import pytest
from tests.flow.playing import carry_out, play, value_of

from stretto.definition import parse
from stretto.flow import TraceError, either, on_failure, sleep, step, wait, workflow
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
        harness.advance(hours=2)
        assert run.step("approval").status == "TIMED_OUT"


@pytest.mark.parametrize("seconds", [-1, 1.5, "1 minute"])
def test_sleep_takes_whole_seconds(seconds: int) -> None:
    @workflow
    def wrong() -> None:
        sleep(seconds)

    with pytest.raises(TraceError, match="give whole seconds"):
        _ = wrong.definition


@pytest.mark.parametrize("flow", [slowly, asked], ids=lambda flow: flow.id)
def test_the_printed_definition_is_the_same(flow: object) -> None:
    assert parse(flow.to_yaml()) == flow.definition  # type: ignore[attr-defined]


def test_a_sleep_of_no_time() -> None:
    assert play(slowly, n=0).value == 1
