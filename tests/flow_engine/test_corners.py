"""What seldom happens."""

import asyncio
import logging
import pickle
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tests.flow_engine.flows import (
    CALLS,
    GATES,
    broken,
    etl,
    finish,
    named,
    opens_when_paused,
    say,
    seen,
    talk,
)
from tests.flow_engine.test_take_over import database
from tests.ports.postgresql_server import PostgresServer
from tests.waiting import until

from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.flow.engine import (
    Engine,
    EngineStopped,
    NotYet,
    RunChange,
    RunFailed,
    RunResult,
    starting,
    stopping,
)
from stretto.flow.engine import library as library_module
from stretto.flow.engine.finding import ProgramRegistry
from stretto.flow.engine.library import Library, Returned, chosen_of
from stretto.flow.engine.listing import all_instances, unfinished
from stretto.flow.engine.progress import Progress
from stretto.flow.engine.reading import _decoded, _text, value_of
from stretto.flow.engine.starting import paused_by_stop
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import NotFound, PreconditionFailed, WrongState
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import ActionEvent, LogEvent, StatusEvent, TimelineEvent
from stretto.model.workflow import Metadata, Workflow, WorkflowVersion
from stretto.ports.history import FilteredRuns, InstancesIn
from stretto.ports.paging import Slice
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.runtimes.python import StepContext
from stretto.runtimes.python.values import Kind
from stretto.store.sqlite.address import path_of

KEY = RunKey("w", 1, 1)


def test_errors_travel_between_processes() -> None:
    result: RunResult[Any] = RunResult(id="w/1", key=KEY, version=1, status=RunStatus.STOPPED)
    for error in (RunFailed(result), EngineStopped("it is gone"), NotYet("w/1", RunStatus.PAUSED, 1.5)):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own
        assert type(again) is type(error)
        assert str(again) == str(error)


def test_a_handler_that_takes_its_time_is_waited_for() -> None:
    found: list[str] = []

    async def work() -> None:
        engine = Engine("memory")

        @engine.on("succeeded")
        async def slow(change: RunChange) -> None:
            await asyncio.sleep(0.3)
            found.append(change.id)

        async with engine:
            await engine.run(etl, day="monday")

    finish(work())
    assert found == ["etl/1"]


def test_a_handler_that_takes_too_long_is_not() -> None:
    async def work() -> None:
        engine = Engine("memory", stop_within=0.5)

        @engine.on("succeeded")
        async def endless(_change: RunChange) -> None:
            await asyncio.Event().wait()

        async with engine:
            await engine.run(etl, day="monday")

    finish(work(), 30)


# --------------------------------------------------------------------------------------------------- versions
class Versions:
    """A store with some versions."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        self.asked.append(version_id)
        return None if version_id > 5 else WorkflowVersion(workflow=Workflow(id=workflow_id))


def test_versions_are_read_once_and_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module, "MOST_VERSIONS", 2)

    async def work() -> None:
        engine, store = Engine("memory"), Versions()
        library: Library = engine._library
        for number in (1, 1, 2, 3, 1):
            await library.version(store, "w", number)  # type: ignore[arg-type]
        assert store.asked == [1, 2, 3, 1]
        with pytest.raises(NotFound, match="there is no version 9 of workflow `w`"):
            await library.version(store, "w", 9)  # type: ignore[arg-type]

    finish(work())


@pytest.mark.parametrize(
    "extra", [{}, {"returns": 3}, {"returns": {"step": "s"}}, {"returns": {"step": "s", "param": "p"}}]
)
def test_a_version_that_says_nothing_of_its_value(extra: dict[str, Any]) -> None:
    version = WorkflowVersion(workflow=Workflow(id="w"), metadata=Metadata(extra=extra))
    assert chosen_of(version, 1).returned is None
    assert chosen_of(WorkflowVersion(workflow=Workflow(id="w")), 1).returned is None


# ------------------------------------------------------------------------------------------------------ lists
class Pages:
    """A store that gives one row at a time."""

    def __init__(self, count: int) -> None:
        self.rows = [row_with((), instance) for instance in range(count, 0, -1)]

    def _page(self, below: Any) -> Slice[RunRow]:
        left = [row for row in self.rows if below is None or row.key.instance_id < below]
        return Slice(elements=tuple(left[:1]), after=len(left) > 1)

    async def runs(self, selection: FilteredRuns | InstancesIn) -> Slice[RunRow]:
        below = selection.cut.below
        is_by_time = isinstance(selection, FilteredRuns) and below is not None
        return self._page(below[1].instance_id if is_by_time else below)


def test_lists_are_read_page_by_page() -> None:
    async def work() -> None:
        store: Any = Pages(3)
        found = [row.key.instance_id async for row in unfinished(store, ())]
        assert found == [row.key.instance_id async for row in all_instances(store, "w")] == [3, 2, 1]

    finish(work())


# ---------------------------------------------------------------------------------------------------- reading
def row_with(timeline: tuple[TimelineEvent, ...], instance: int = 1) -> RunRow:
    record = RunRecord(
        key=RunKey("w", instance, 1),
        uuid="u",
        version_id=1,
        initiator=ManualInitiator(),
        correlation_id="c",
        timeline=timeline,
    )
    return RunRow(record=record, group=1, phase=Phase.LIVE, root=record.key)


def said(text: str) -> LogEvent:
    return LogEvent(timestamp=1, message=text)


def test_who_paused_a_run() -> None:
    by_stop, by_user = said(f"{stopping.PAUSED_BY_STOP}"), said("User [ann] asked to pause run [w][1][1]")
    other = (said("something else"), ActionEvent(timestamp=1, action="LOOK"))
    assert paused_by_stop(row_with((by_user, by_stop, *other)))
    assert not paused_by_stop(row_with((by_stop, by_user, *other)))
    assert not paused_by_stop(row_with(other))


def test_lines_of_any_kind_have_words() -> None:
    assert _text(StatusEvent(timestamp=1, status="RUNNING")) == "RUNNING"
    assert _text(ActionEvent(timestamp=1, action="LOOK")) == "LOOK"


def test_values_that_are_not_there() -> None:
    returned = Returned("s", "result", Kind(ParamType.LONG))
    record = AttemptRecord(key=AttemptKey(KEY, "s", 1), sequence=1, status=StepStatus.SUCCEEDED)
    assert value_of(None, returned) is None
    assert value_of(AttemptRow(record=record), returned) is None
    declared = ParamDefinition(type=ParamType.LONG, value=1)
    assert _decoded("x", Parameter(type=ParamType.LONG), declared) is None


def test_a_value_that_there_is_not() -> None:
    @workflow(id="ignoring")
    def ignoring() -> int:
        return broken.with_options(failure_mode="IGNORE_FAILURE")("it does not matter")

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(ignoring)
            assert await run.result(30) is None
            assert (await run.wait()).value is None

    finish(work())


@step
async def telling(ctx: StepContext) -> None:
    ctx.progress(0.5, "halfway")
    CALLS.append("telling")
    await GATES.setdefault("telling", asyncio.Event()).wait()


def test_how_far_a_step_is() -> None:
    @workflow(id="told")
    def told() -> None:
        telling()  # type: ignore[call-arg]
        say("aside")

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(told)
            await seen("telling")

            async def told_so() -> Progress | None:
                found = await run.progress()
                return found if found.steps and found.done else None

            progress = await until(told_so)
            assert progress.steps["telling"].text == "halfway"
            assert progress.fraction == pytest.approx(0.75)
            GATES["telling"].set()
            await run.result(30)
            assert (await run.progress()).fraction == 1.0

    finish(work())


def test_what_is_inside_of_a_step() -> None:
    @workflow(id="around")
    def around() -> list[str]:
        child = talk(first="inner")
        words = say.map(["a", "b"])
        say("last").after(child)  # type: ignore[attr-defined]
        return words

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(around)
            await seen("begin gate")
            GATES["gate"].set()
            assert await run.result(30) == ["a", "b"]
            (child,) = await run.inside("talk")
            assert child.id == "talk/1"
            steps = await run.steps()
            (loop,) = [name for name in steps if name not in {"talk", "say_2", "return"}][:1]
            inner = await run.inside(loop)
            assert [len(await each.steps()) for each in inner] == [1, 1]
            assert {str((await each.look()).status) for each in inner} == {"SUCCEEDED"}

    finish(work())


# ----------------------------------------------------------------------------------------- starts and stops
def test_a_function_with_a_name_of_its_own_is_found_where_it_was(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(named)
            opens_when_paused(engine)
            await seen("begin gate")
        async with Engine(url) as engine:
            assert await (await engine.get("named", 1)).result(30) == "mine"

    finish(work())
    assert CALLS.count("begin gate") == 1


def test_a_function_is_looked_for_in_known_modules_only() -> None:
    registry = ProgramRegistry()
    assert registry.get("tests.flow_engine.flows:say") is not None
    assert registry.get("tests.flow_engine.flows:nowhere") is None
    assert registry.get("not.imported:say") is None


def test_a_run_that_another_process_has_resumed(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refused(*_args: Any, **_options: Any) -> None:
        raise WrongState("it is IN_PROGRESS")

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(talk)
            opens_when_paused(engine)
            await seen("begin gate")
        monkeypatch.setattr(starting, "resume", refused)
        async with Engine(url, on_stop="hand_over"):
            pass

    with caplog.at_level(logging.INFO):
        finish(work())
    assert "talk/1 was not resumed: it is IN_PROGRESS" in caplog.text


def test_runs_that_go_on_starting_others_are_not_followed_for_ever(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "PASSES", 1)

    async def work() -> None:
        async with Engine(url) as engine:
            await engine.submit(talk)
            opens_when_paused(engine)
            await seen("begin gate")

    finish(work())
    assert CALLS[-1] == "end gate"


def test_a_database_of_somebody_else_is_left_alone(url: str) -> None:
    import sqlite3  # noqa: PLC0415 - only here

    path_of(url).parent.mkdir(exist_ok=True)
    with sqlite3.connect(path_of(url)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()

    async def work() -> None:
        with pytest.raises(PreconditionFailed, match="not those of Stretto"):
            await Engine(url).start()

    finish(work())


def test_the_tables_of_an_empty_database_are_made(own_postgresql: PostgresServer) -> None:
    async def work() -> None:
        url = await database(own_postgresql, "empty")
        async with Engine(url) as engine:
            assert await engine.run(say_it) == "it"

    finish(work())


@workflow
def say_it() -> str:
    return say("it")


@pytest.mark.parametrize("way", ["submit", "resume"])
def test_a_run_that_was_set_aside_goes_on_when_it_is_asked_for(url: str, way: str) -> None:
    """Processes died at it again and again: nobody goes on with it by himself."""

    async def work() -> None:
        async with Engine(url, on_stop="hand_over", stop_within=2) as engine:
            first = await engine.submit(talk, request_id="once")
            await seen("begin gate")
            await first.pause()
        CALLS.clear()
        with closing(sqlite3.connect(path_of(url))) as database:
            database.execute("UPDATE run SET aside = 1, quarantined = 'owners died'")
            database.commit()
        async with Engine(url, recover="manual") as engine:
            run = await engine.get("talk", 1)
            assert (await run.look()).quarantined == "owners died"
            assert "is quarantined: owners died" in (await run.why()).sentence
            GATES["gate"].set()
            if way == "submit":
                run = await engine.submit(talk, request_id="once")
            await run.resume()
            assert (await run.wait(30)).succeeded

    finish(work())
