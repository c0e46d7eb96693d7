"""The start and the stop of an engine: nothing is lost, and only what a stop has paused goes on by itself."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

import pytest
from tests.flow_engine.flows import (
    BLOCKS,
    CALLS,
    GATES,
    finish,
    opens_when_paused,
    seen,
    something_else,
    talk,
    threaded,
)
from tests.waiting import until

from stretto.app import App
from stretto.flow.engine import Engine, stopping
from stretto.flow.engine.starting import paused_by_stop
from stretto.flow.workflow import workflow
from stretto.model.errors import Internal
from stretto.model.status import RunStatus
from stretto.ports.hints import Hints
from stretto.ports.messages import Letter
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_newest_run
from stretto.ports.store import Store
from stretto.store.opening import open_store


async def row_of(url: str, workflow_id: str, instance: int = 1) -> RunRow:
    store = await open_store(url)
    try:
        row = await read_newest_run(store, workflow_id, instance)
        assert row is not None
        return row
    finally:
        await store.close()


async def send_again(url: str, letter: Letter) -> None:
    store = await open_store(url)
    try:
        await store.send(letter)
    finally:
        await store.close()


async def interrupted(url: str, **options: object) -> None:
    """An engine that is stopped while a run is under way, and its work ends soon after."""
    async with asyncio.TaskGroup() as group, Engine(url, **options) as engine:  # type: ignore[arg-type]
        await engine.submit(talk, request_id="it")
        await seen("begin gate")
        if "on_stop" in options:
            assert engine._host is not None
            app = engine._host.app
            assert isinstance(app, App)
            group.create_task(opened_by_stop(engine, app, str(options["on_stop"])))
        else:
            opens_when_paused(engine)


async def opened_by_stop(engine: Engine, app: App, how: str) -> None:
    """The gate opens once the engine is being stopped; if work has only the node's time, once the node is."""
    await until(lambda: not engine.is_open if how == "finish" else app._node._stopping is not None)
    GATES["gate"].set()


def test_a_stop_pauses_and_the_next_engine_goes_on(url: str) -> None:
    async def work() -> None:
        await interrupted(url)
        row = await row_of(url, "talk")
        assert row.record.status is RunStatus.PAUSED
        assert paused_by_stop(row)
        assert CALLS == ["one", "begin gate", "end gate"]
        async with Engine(url) as engine:
            run = await engine.submit(talk, request_id="it")
            assert await run.result(30) == "three"

    finish(work())
    assert CALLS == ["one", "begin gate", "end gate", "three"]


def test_with_manual_recovery_it_stays_paused(url: str) -> None:
    async def work() -> None:
        await interrupted(url)
        async with Engine(url, recover="manual") as engine:
            run = await engine.get("talk", 1)
            await something_else(engine)
            assert await run.status() is RunStatus.PAUSED
            await run.resume()
            assert await run.result(30) == "three"
            assert len([line for line in (await run.look()).timeline if "asked to resume" in str(line)]) == 1

    finish(work())


def test_what_a_user_has_paused_stays_paused(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.pause()
            GATES["gate"].set()
            await seen("end gate")
        assert not paused_by_stop(await row_of(url, "talk"))
        async with Engine(url) as engine:
            await something_else(engine)
            assert await (await engine.get("talk", 1)).status() is RunStatus.PAUSED

    finish(work())


def test_a_resumed_run_that_a_user_pauses_is_the_users(url: str) -> None:
    async def work() -> None:
        await interrupted(url)
        async with Engine(url, recover="manual") as engine:
            run = await engine.get("talk", 1)
            await run.resume()
            await run.wait(30)
        await interrupted(url)

    finish(work())


def test_finish_lets_runs_end(url: str) -> None:
    async def work() -> None:
        await interrupted(url, on_stop="finish")
        assert (await row_of(url, "talk")).record.status is RunStatus.SUCCEEDED

    finish(work())
    assert CALLS[-1] == "three"


def test_what_does_not_finish_in_time_is_paused(
    url: str, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def work() -> None:
        with ExitStack() as bound:
            async with Engine(url, on_stop="finish", stop_within=1.0) as engine:
                await engine.submit(talk)
                await seen("begin gate")
                bound.enter_context(at_most(6))
            assert paused_by_stop(await row_of(url, "talk"))

    finish(work())


def test_hand_over_leaves_the_run_to_whoever_comes(url: str) -> None:
    async def work() -> None:
        await interrupted(url, on_stop="hand_over")
        assert (await row_of(url, "talk")).record.status is RunStatus.IN_PROGRESS
        async with Engine(url, recover="manual") as engine:
            assert await (await engine.get("talk", 1)).result(30) == "three"

    finish(work())
    assert CALLS == ["one", "begin gate", "end gate", "three"]


def test_a_stop_waits_no_longer_than_it_may(
    url: str, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def work() -> None:
        with ExitStack() as bound:
            async with Engine(url, stop_within=0.5) as engine:
                await engine.submit(talk)
                await seen("begin gate")
                bound.enter_context(at_most(5))

    finish(work())
    assert "end gate" not in CALLS


def test_work_that_was_cut_short_is_done_again(url: str) -> None:
    async def work() -> None:
        async with Engine(url, stop_within=0.3) as engine:
            await engine.submit(talk)
            await seen("begin gate")
        GATES["gate"].set()
        async with Engine(url) as engine:
            assert await (await engine.get("talk", 1)).result(30) == "three"

    finish(work())
    assert CALLS == ["one", "begin gate", "begin gate", "end gate", "three"]


def test_who_leaves_by_an_interrupt_stops_gracefully(url: str) -> None:
    """As `asyncio.run` does for Ctrl-C: the main task is cancelled."""

    async def program() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
            opens_when_paused(engine)
            await run.result()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(program())
    row = asyncio.run(row_of(url, "talk"))
    assert paused_by_stop(row)
    assert CALLS == ["one", "begin gate", "end gate"]


def test_who_is_cancelled_while_it_stops_goes_at_once(
    url: str, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    engine = Engine(url)

    async def program() -> None:
        async with engine:
            await engine.submit(talk)
            await seen("begin gate")

    async def work() -> None:
        task = asyncio.create_task(program())
        await seen("begin gate")
        await until(lambda: not engine.is_open, "the stop")
        with at_most(5):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    finish(work())


@pytest.mark.parametrize("killed", [False, True])
def test_a_second_interrupt_right_after_the_first_loses_no_run(
    url: str, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    """The run is asked to pause, and who asked is gone before anybody decides it: the next one goes on."""
    sent: list[Letter] = []

    async def work() -> None:
        async def program() -> None:
            async with Engine(url) as engine:
                await engine.submit(talk, request_id="it")
                await seen("begin gate")

        async def interrupted(store: Store, letter: Letter, _hints: Hints) -> int:
            number = await store.send(letter)
            sent.append(letter)
            task.cancel()
            await asyncio.Event().wait()
            return number

        monkeypatch.setattr(stopping, "send", interrupted)
        task = asyncio.create_task(program())
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(sent) == 1
        if killed:  # it had not even time to leave
            await send_again(url, sent[0])
        GATES["gate"].set()
        async with Engine(url) as engine:
            run = await engine.submit(talk, request_id="it")
            assert await run.result(30) == "three"
            assert await run.status() is RunStatus.SUCCEEDED

    finish(work())


def test_runs_that_are_not_paused_in_time_go_on_later(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stopping, "PAUSE_WITHIN", 0.0)

    async def work() -> None:
        await interrupted(url, on_stop="pause")
        async with Engine(url) as engine:
            assert await (await engine.get("talk", 1)).result(30) == "three"

    finish(work())
    assert "not all runs were paused" in caplog.text


def test_a_run_that_ends_while_it_is_to_be_paused_is_not_waited_for(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found: list[list[RunRow]] = []

    async def going_on(_host: object, _without: object) -> list[RunRow]:
        return found.pop() if found else []

    monkeypatch.setattr(stopping, "PAUSE_WITHIN", 60.0)
    monkeypatch.setattr(stopping, "_going_on", going_on)

    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            found.append([await row_of(url, "talk")])
            GATES["gate"].set()
            await run.wait(30)

    finish(work(), 30)
    assert (found, caplog.text) == ([], "")


def test_children_are_paused_with_their_parents(url: str) -> None:
    @workflow(id="parent")
    def parent() -> str:
        return talk()

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(parent)
            await seen("begin gate")
            opens_when_paused(engine, "talk")
        for name in ("parent", "talk"):
            assert paused_by_stop(await row_of(url, name))
        async with Engine(url) as engine:
            assert await (await engine.get("parent", 1)).result(30) == "three"

    finish(work())


def test_a_thread_that_goes_on_holds_nobody_up(
    url: str, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def work() -> None:
        with ExitStack() as bound:
            async with Engine(url, stop_within=0.5) as engine:
                await engine.submit(threaded)
                await seen("begin thread")
                bound.enter_context(at_most(20))
        assert "end thread" not in CALLS

    finish(work())
    BLOCKS["thread"].set()


def test_a_node_that_fails_is_told_to_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with Engine("memory", stop_within=0.5) as engine:
            run = await engine.submit(talk)
            await seen("begin gate")

            def fail() -> None:
                raise RuntimeError("out of luck")

            host = engine._host
            assert host is not None
            assert isinstance(host.app, App)
            monkeypatch.setattr(host.app._node, "wake", fail)
            with pytest.raises(Internal, match="the node of the engine has failed: RuntimeError: out"):
                await run.result(30)

    finish(work())
