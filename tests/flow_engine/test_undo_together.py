"""The undo of a child beside newer runs of the same workflow: a run strategy that stops or drops runs lets it
finish, and is not confused by it.
"""

import asyncio

from tests.flow_engine.flows import CALLS, GATES, finish, seen

from stretto.flow import subworkflow
from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow


@step
async def cancel(name: str) -> None:
    CALLS.append(f"undo {name}")
    await GATES.setdefault("undo", asyncio.Event()).wait()
    CALLS.append(f"undone {name}")


@step(compensate=cancel)
def book(name: str) -> None:
    CALLS.append(f"book {name}")


@step(retries=0)
def pay() -> None:
    message = "no money"
    raise ValueError(message)


@workflow(run_strategy="LAST_ONLY")
def last_only(name: str) -> None:
    book(name)


@workflow(run_strategy="FIRST_ONLY")
def first_only(name: str) -> None:
    book(name)


@workflow
def last_trip() -> None:
    pay.after(subworkflow(last_only)("first"))()


@workflow
def first_trip() -> None:
    pay.after(subworkflow(first_only)("first"))()


def test_a_newer_run_does_not_stop_the_undo_of_a_child() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            trip = await engine.submit(last_trip)
            await seen("undo first")
            second = await engine.submit(last_only, name="second")
            third = await engine.submit(last_only, name="third")
            assert (await second.wait(30)).status == "STOPPED"
            GATES["undo"].set()
            state = await trip.wait(30)
            assert (state.status, state.compensation) == ("FAILED", "COMPENSATED")
            assert (await third.wait(30)).status == "SUCCEEDED"

    finish(work())
    assert CALLS == ["book first", "undo first", "undone first", "book third"]


def test_new_runs_are_dropped_while_a_child_is_undone() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            trip = await engine.submit(first_trip)
            await seen("undo first")
            assert [
                (await (await engine.submit(first_only, name="no")).wait(30)).status for _ in range(2)
            ] == [
                "STOPPED",
                "STOPPED",
            ]
            GATES["undo"].set()
            assert (await trip.wait(30)).compensation == "COMPENSATED"
            assert (await (await engine.submit(first_only, name="yes")).wait(30)).status == "SUCCEEDED"

    finish(work())
    assert CALLS == ["book first", "undo first", "undone first", "book yes"]
