"""What is called when a run moves."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests import waiting
from tests.flow_engine import flows as flows_module
from tests.flow_engine.flows import GATES, etl, failing, finish, say, seen, talk

from stretto.flow.engine import Engine, RunChange
from stretto.flow.engine.handlers import Handlers
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest


def test_row_123_handlers_are_called_in_order_for_each_run() -> None:
    found: list[tuple[str, str]] = []

    async def work() -> None:
        engine = Engine("memory")

        @engine.on("paused", "resumed", "Success")
        async def told(change: RunChange) -> None:
            found.append((change.id, change.names[0]))
            assert await change.run.status()

        @engine.on()
        def all_of_them(change: RunChange) -> None:
            found.append(("all", change.new.value))

        async with engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.pause()
            await run.resume()
            GATES["gate"].set()
            await run.result(30)

    finish(work())
    assert [each for each in found if each[0] != "all"] == [
        ("talk/1", "PAUSED"),
        ("talk/1", "RESUMED"),
        ("talk/1", "SUCCEEDED"),
    ]
    assert [each[1] for each in found if each[0] == "all"] == [
        "IN_PROGRESS",
        "PAUSED",
        "IN_PROGRESS",
        "SUCCEEDED",
    ]


def test_those_of_a_workflow_are_for_its_runs_alone() -> None:
    found: list[str] = []

    @workflow(id="own", on_status={"succeeded": lambda change: found.append(change.id)})
    def own() -> str:
        return say("own")

    async def work() -> None:
        async with Engine("memory") as engine:
            await engine.run(own)
            await engine.run(etl, day="monday")

    finish(work())
    assert found == ["own/1"]


def test_row_123_one_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    found: list[str] = []

    async def later(change: RunChange) -> None:
        await asyncio.sleep(0)
        found.append(change.new.value)

    async def work() -> None:
        async with Engine("memory") as engine:
            engine.on("failed")(lambda _change: 1 / 0)
            engine.on("failed")(
                lambda change: later(change)  # noqa: PLW0108 - it is no coroutine function
            )
            assert not (await (await engine.submit(failing)).wait(30)).succeeded

    with caplog.at_level(logging.ERROR):
        finish(work())
    assert "of run failing/1 FAILED failed" in caplog.text
    assert found == ["FAILED"]


def test_a_status_that_there_is_not() -> None:
    with pytest.raises(InvalidRequest, match="a run is never `sucess`: did you mean `success`"):
        Engine("memory").on("sucess")(lambda _change: None)
    with pytest.raises(InvalidRequest, match="there are created, in_progress"):
        Engine("memory").on("zzzzzz")(lambda _change: None)


def test_newer_handlers_of_a_workflow_take_the_place_of_older_ones() -> None:
    handlers = Handlers()
    handlers.of_workflow("w", {"failed": [print]})
    assert handlers._by_workflow == {"w": {"FAILED": [print]}}
    handlers.of_workflow("w", {})
    handlers.of_workflow("w", {})
    assert handlers._by_workflow == {}


# ------------------------------------------------------------------- runs that other processes look after
def told_flow(workflow_id: str, found: list[str], *statuses: str) -> Any:
    """A workflow whose handlers write down what they are called for."""
    handlers = {each: lambda change: found.append(f"{change.id} {change.new}") for each in statuses}

    @workflow(id=workflow_id, on_status=handlers)
    def flow() -> str:
        return say(workflow_id)

    return flow


async def until(found: list[str], wanted: str) -> None:
    await waiting.until(lambda: wanted in found)


def test_handlers_that_the_owner_of_a_run_lacks_are_called_where_they_are_known(url: str) -> None:
    found: list[str] = []

    async def work() -> None:
        async with Engine(url, modules=[flows_module]), Engine(url, submit_only=True) as program:
            run = await program.submit(told_flow("kept", found, "in_progress", "succeeded"))
            assert await run.result(30) == "kept"
            await until(found, "kept/1 SUCCEEDED")

    finish(work())
    assert found == ["kept/1 IN_PROGRESS", "kept/1 SUCCEEDED"]


def test_of_several_that_know_them_one_calls(url: str) -> None:
    found: list[str] = []

    async def work() -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(Engine(url, modules=[flows_module]))
            programs = [await stack.enter_async_context(Engine(url, submit_only=True)) for _ in range(3)]
            for each in programs:
                await each.publish(told_flow("once", found, "succeeded"))
            for number in (1, 2, 3):
                await (await programs[0].submit("once")).result(30)
                await until(found, f"once/{number} SUCCEEDED")
            for number, each in enumerate(programs):  # once a later one is told, all before it have been
                await each.run(told_flow(f"last{number}", found, "succeeded"))
                await until(found, f"last{number}/1 SUCCEEDED")

    finish(work())
    assert [each for each in found if each.startswith("once")] == [f"once/{n} SUCCEEDED" for n in (1, 2, 3)]


def test_those_that_the_owner_knows_are_not_called_elsewhere(url: str) -> None:
    here: list[str] = []
    there: list[str] = []

    async def work() -> None:
        async with Engine(url, modules=[flows_module]) as owner, Engine(url, submit_only=True) as program:
            await owner.publish(told_flow("both", there, "succeeded"))
            await program.publish(told_flow("both", here, "succeeded", "in_progress"))
            await (await program.submit("both")).result(30)
            await program.run(told_flow("last", here, "succeeded"))
            await until(here, "last/1 SUCCEEDED")
            await until(there, "both/1 SUCCEEDED")

    finish(work())
    assert here == ["both/1 IN_PROGRESS", "last/1 SUCCEEDED"]  # the owner knows the other one
    assert there == ["both/1 SUCCEEDED"]
