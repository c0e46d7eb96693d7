"""A step that is run by itself; and what is said to somebody who gives something that can not be run."""

from datetime import date

import pytest
from tests.flow_engine.flows import CALLS, Counts, finish, load, say

from stretto.flow.engine import Engine
from stretto.flow.errors import TraceError
from stretto.flow.steps import step
from stretto.flow.workflow import flow_of
from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.context import StepContext


@step(id="doubling", retries=1)
async def double(number: int, ctx: StepContext, day: date = date(2026, 1, 2)) -> str:
    """Twice as much."""
    return f"{number * 2} {day} {ctx.step_id}"


@step
def taken(owner: str) -> str:
    return owner


class Shop:
    @step
    @staticmethod
    def price(item: str) -> int:
        return len(item)

    def close(self) -> None: ...


def plain(number: int) -> int:
    return number


def test_a_step_runs_by_itself() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            assert await engine.run(double, number=2) == "4 2026-01-02 doubling"
            run = await engine.submit(double, number=3, day=date(2027, 1, 1), request_id="once")
            again = await engine.submit(double, number=3, day=date(2027, 1, 1), request_id="once")
            assert run == again
            assert (run.id, await run.result(30)) == ("doubling/2", "6 2027-01-01 doubling")
            assert [each.id for each in await engine.runs(double)] == ["doubling/2", "doubling/1"]
            assert await engine.publish(double) == 1
            assert await engine.run(load, rows=[1, 2]) == Counts(read=2, written=3)
            assert await engine.run(Shop.price, item="tea") == 3

    finish(work())
    assert flow_of(double) is flow_of(double)
    assert flow_of(double).definition.workflow.description == "Twice as much."


def test_a_program_without_a_loop_runs_a_step() -> None:
    with Engine("memory").sync() as engine:
        assert engine.run(say, word="hello") == "hello"
        assert engine.submit(say, word="again").result(30) == "again"
        assert len(engine.runs(say)) == 2
    assert CALLS == ["hello", "again"]


@pytest.mark.parametrize(
    ("given", "values", "said"),
    [
        (double, {"numbr": 1}, "has no parameter `numbr`"),
        (double, {}, "the workflow `doubling` needs `number`"),
        (
            taken,
            {"owner": "ann"},
            "the step `taken` can not be run by itself: every run has a parameter `owner`",
        ),
        (plain, {"number": 1}, "`plain` is a plain function, and no workflow"),
        (Shop().close, {}, "`close` is a plain function, and no workflow"),
        (lambda: 1, {}, "write `@workflow` above a `def` if it calls steps"),
        (print, {}, "or `@step` to run it by itself"),
        (42, {}, "an `int` is not a workflow"),
    ],
)
def test_what_can_not_be_run(given: object, values: dict[str, object], said: str) -> None:
    with Engine("memory").sync() as engine, pytest.raises(InvalidRequest) as refused:
        engine.run(given, **values)  # type: ignore[call-overload]
    assert said in refused.value.message
    if " is a plain function" in said:
        assert f"; {refused.value.hint}" in refused.value.message
    if given is plain:
        assert refused.value.hint == (
            "write `@workflow` above `def plain` if it calls steps, or `@step` to run it by itself"
        )


def test_a_method_is_no_step() -> None:
    with pytest.raises(
        TraceError, match=r"`Shop\.close` is a method of an object, which is gone after a restart"
    ):
        step(Shop().close)
    with pytest.raises(
        TraceError, match=r"`Shop\.close` is a method, and a step has no object to call it on"
    ):
        step(Shop.close)
