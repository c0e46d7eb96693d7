"""The engine without an event loop."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, Counts, etl, failing, opens_when_paused, talk
from tests.flow_engine.rude import arguments
from tests.flow_engine.test_acting import WAITING
from tests.flow_engine.test_stopping import row_of

from stretto.definition import parse_all
from stretto.flow.engine import Engine, EngineStopped, RunFailed, SyncEngine
from stretto.flow.engine.starting import paused_by_stop
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest
from stretto.model.status import RunStatus


def until(wanted: str) -> None:
    while wanted not in CALLS:
        threading.Event().wait(0.005)


def gate(engine: SyncEngine) -> Callable[[], None]:
    """Opens the gate, from any thread."""
    loop: Any = engine._loop
    return lambda: loop._loop.call_soon_threadsafe(GATES["gate"].set)


def test_a_program_without_a_loop() -> None:
    with Engine("memory").sync() as engine:
        assert engine.url == "memory://"
        assert engine.is_open
        assert engine.run(etl, day="monday") == Counts(3, 6)
        run = engine.submit(etl, day="tuesday", request_id="it")
        assert run.result(30) == Counts(3, 6)
        assert run.wait().succeeded
        assert run.look().value == Counts(3, 6)
        assert (repr(run), run.workflow_id, run.instance_id, run.run_id) == ("<SyncRun etl/2>", "etl", 2, 1)
        assert run == engine.get("etl", 2)
        assert hash(run) == hash(engine.get("etl", 2, 1))
        assert run != "etl/2"
        assert run.status() is RunStatus.SUCCEEDED
        assert set(run.steps()) == {"extract", "load"}
        assert run.progress().fraction == 1.0
        assert run.inside("load") == []
        assert run.why().sentence
        assert [each.id for each in engine.runs(etl, limit=1)] == ["etl/2"]
        assert engine.publish(etl) == 1
        assert {each.qualname for each in engine.functions()} >= {"extract", "load"}
        assert engine.pool_status("default")[0].size == 10
        engine.resize_pool("default", 3)
        assert engine.pool_status()[0].size == 3
        engine.wait_all([run])


def test_a_run_is_acted_on() -> None:
    changes: list[str] = []
    with Engine("memory").sync() as engine:
        engine.register(talk)
        engine.on("paused", "resumed")(lambda change: changes.append(change.new.value))
        run = engine.submit(talk)
        until("begin gate")
        run.pause()
        run.resume()
        gate(engine)()
        events = [str(each.status) for each in run.events()]
        assert events[-1] == "SUCCEEDED"
        assert run.ended() is RunStatus.SUCCEEDED
        bad = engine.submit(failing)
        with pytest.raises(RunFailed, match="no such table"):
            bad.result(30)
        again = bad.restart()
        assert again.id == "failing/1/2"
        with pytest.raises(RunFailed, match="no such table"):
            again.result(30)
        steps = list(again.steps())
        assert again.restart(from_step=steps[0]).id == "failing/1/3"
        for name in ("terminate", "kill"):
            GATES.clear()
            CALLS.clear()
            other = engine.submit(talk)
            until("begin gate")
            getattr(other, name)("enough")
            assert "enough" in (other.wait(30).error or "")
        GATES.clear()
        CALLS.clear()
        other = engine.submit(talk)
        until("begin gate")
        other.skip("held")
        assert other.result(30) == "three"
        (definition,) = parse_all(WAITING)
        waiting = engine.submit(definition)
        while "approve" not in waiting.steps() or str(waiting.steps()["approve"].status) != "RUNNING":
            threading.Event().wait(0.01)
        waiting.answer("approve", note="fine")
        assert waiting.wait(30).succeeded
    assert changes == ["PAUSED", "IN_PROGRESS"]


def test_events_may_be_left_early() -> None:
    with Engine("memory", on_stop="hand_over", stop_within=0.5).sync() as engine:
        run = engine.submit(talk)
        until("begin gate")
        for event in run.events():
            assert event.status is RunStatus.IN_PROGRESS
            break


def test_a_closed_engine_says_so() -> None:
    engine = Engine("memory").sync()
    with pytest.raises(EngineStopped):
        engine.run(etl, day="monday")
    with engine, pytest.raises(InvalidRequest, match="runs already"):
        engine.start()
    engine.stop()
    assert not engine.is_open
    with engine:
        assert engine.run(etl, day="monday") == Counts(3, 6)


def test_an_engine_that_can_not_start_leaves_no_thread() -> None:
    with pytest.raises(Exception, match="there is no folder"), Engine("sqlite:////nowhere/at/all.db").sync():
        pass
    assert "stretto-engine" not in {each.name for each in threading.enumerate()}


def test_an_interrupt_stops_gracefully(url: str) -> None:
    def program() -> None:
        with Engine(url).sync() as engine:
            run = engine.submit(talk)
            until("begin gate")
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            opens_when_paused(engine._engine)
            run.result()

    with pytest.raises(KeyboardInterrupt):
        program()
    assert paused_by_stop(asyncio.run(row_of(url, "talk")))


def test_a_blocking_call_in_the_loop_of_the_engine_is_refused() -> None:
    engines: list[SyncEngine] = []

    @step(name="nested")
    async def nested() -> str:
        try:
            engines[0].run(etl, day="monday")
        except InvalidRequest as error:
            return str(error)
        return ""

    @workflow(id="nesting")
    def nesting() -> str:
        return nested()

    with Engine("memory").sync() as engine:
        engines.append(engine)
        assert "this is its own event loop" in engine.run(nesting)


def test_an_engine_is_used_and_closed_where_another_loop_runs() -> None:
    async def notebook() -> str:
        with Engine("memory").sync() as engine:
            found = engine.run(etl, day="monday")
            for _ in engine.submit(etl, day="tuesday").events():
                break
        engine = Engine("memory").sync()
        engine.start()
        engine.stop()
        return str(found)

    assert "read=3" in asyncio.run(notebook())


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (["/shop/orders.py", "--day", "monday"], ["/shop/orders.py", "--day", "monday"]),
        (["/bin/stretto", "run", "--database", "postgresql://ann:secret@db/x"], ["/bin/stretto"]),
    ],
)
def test_a_worker_has_the_arguments_of_the_program(
    given: list[str], seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", given)
    with Engine("memory").sync() as engine:
        assert engine.run(arguments) == seen
