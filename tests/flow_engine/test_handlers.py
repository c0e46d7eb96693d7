"""What is called when a run moves."""

import asyncio
import logging

import pytest
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
