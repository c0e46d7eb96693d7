"""Runs that another process looks after: their end is heard of all the same."""

import asyncio
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, finish, say, seen, talk
from tests.waiting import until

from stretto.engine.records import RunKey
from stretto.flow.engine import Engine, watching
from stretto.flow.engine.watching import Until, Watch
from stretto.flow.workflow import workflow
from stretto.model.errors import NotFound, Unavailable
from stretto.model.event import WorkflowDeleted
from stretto.model.status import RunStatus
from stretto.ports.events import LogRow, Trimmed
from stretto.ports.paging import Slice
from stretto.ports.places import group_of_run
from stretto.ports.run_snapshot import NamedRuns


@workflow(id="quick", run_strategy="parallel")
def quick(word: str) -> str:
    return say(word)


async def two(url: str) -> tuple[Engine, Engine]:
    one, other = Engine(url, stop_within=2), Engine(url, stop_within=2)
    one.register(quick, talk)
    other.register(quick, talk)
    return one, other


async def listening(engine: Engine, count: int) -> None:
    """Until so many wait for runs, and it is known up to where the log was read before."""
    assert engine._host is not None
    watch = engine._host.watch

    def all_do() -> bool:
        groups = set(watch._groups.values())
        return sum(map(len, watch._listeners.values())) == count and groups <= watch._ours | set(
            watch._cursor
        )

    await until(all_do)


def test_two_engines_share_their_runs(url: str) -> None:
    async def work() -> None:
        one, other = await two(url)
        async with one, other:
            runs = [await one.submit(quick, word=f"w{n}") for n in range(20)]
            assert await asyncio.gather(*(run.result(30) for run in runs)) == [f"w{n}" for n in range(20)]
            theirs = [await other.get("quick", run.instance_id) for run in runs]
            assert await asyncio.gather(*(run.result(30) for run in theirs)) == [f"w{n}" for n in range(20)]

    finish(work())


def test_a_run_of_another_engine_is_waited_for(url: str) -> None:
    """The second engine gets no groups: everything it hears of, it reads."""

    async def work() -> None:
        one, other = await two(url)
        async with one:
            run = await one.submit(talk)
            await seen("begin gate")
            async with other:
                mine = await other.get("talk", 1)
                events = asyncio.create_task(_all(mine))
                waiting = [asyncio.create_task(mine.result(30)) for _ in range(2)]
                await listening(other, 3)
                await mine.pause()
                await mine.resume()
                GATES["gate"].set()
                assert [await each for each in waiting] == ["three", "three"]
                assert (await events)[-1] == "SUCCEEDED"
            assert await run.status() is RunStatus.SUCCEEDED

    finish(work())


async def _all(run: Any) -> list[str]:
    return [str(each.status) async for each in run.events()]


def test_a_run_whose_owner_goes_is_heard_of_by_who_stays(url: str) -> None:
    async def work() -> None:
        _, other = await two(url)
        await other.start()
        engine = Engine(url, on_stop="hand_over", stop_within=2)
        async with engine:
            runs = [await engine.submit(talk) for _ in range(6)]
            await seen("begin gate", 6)
            waiting = [
                asyncio.create_task((await other.get("talk", run.instance_id)).result(30)) for run in runs
            ]
            await listening(other, 6)
            GATES["gate"].set()
        assert [await each for each in waiting] == ["three"] * 6
        await other.stop()

    finish(work())


class Shelf:
    """A store of which nothing but the change log is asked."""

    def __init__(self) -> None:
        self.rows: dict[RunKey, Any] = {}
        self.trouble: list[Exception] = []
        self.log: list[LogRow] = []
        self.reads = 0

    async def newest_seqs(self) -> dict[int, int]:
        return {}

    async def runs(self, selection: NamedRuns) -> Slice[Any]:
        return Slice(elements=tuple(self.rows[key] for key in selection.keys if key in self.rows))

    async def read_log(self, cursor: dict[int, int]) -> list[LogRow]:
        self.reads += 1
        if self.trouble:
            raise self.trouble.pop()
        return [row for row in self.log if row.seq > cursor[row.group]]


def test_trouble_with_the_log_is_lived_through(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watching, "LOOK_FIRST", 0.001)
    key = RunKey("w", 1, 1)
    group = group_of_run(key)

    async def work() -> None:
        shelf = Shelf()
        shelf.trouble = [Trimmed(frozenset({group, group + 1})), Unavailable("gone for a moment")]
        watch = Watch(lambda _event: None)
        watch.begin(shelf)  # type: ignore[arg-type]
        end = Until()
        with watch.listening(key, end):
            await until(lambda: shelf.reads >= 4)
            deleted = WorkflowDeleted(workflow_id="w", event_time=1)
            watch.committed([LogRow(group=group, seq=1, at=1, events=(deleted,))])
            watch.leases_claimed([group])
            await until(lambda: group not in watch._cursor)
            shelf.log = [LogRow(group=group, seq=1, at=1, events=(deleted,))]
            watch.leases_lost([group])
            await until(lambda: shelf.reads >= 8)
            await watch.end(NotFound("the end"))
            await watch.end()
            with pytest.raises(NotFound, match="the end"):
                await end.reached()
            end.lost(NotFound("again"))
        with pytest.raises(NotFound, match="the end"), watch.listening(key, end):
            pass

    finish(work())
    assert "can not be read now: gone for a moment" in caplog.text
    assert CALLS == []


def test_a_row_that_came_to_us_meanwhile_is_not_told_twice() -> None:
    key = RunKey("w", 1, 1)
    group = group_of_run(key)

    async def work() -> None:
        shelf = Shelf()
        watch = Watch(lambda _event: None)
        watch._store = shelf  # type: ignore[assignment]
        with watch.listening(key, Until()):
            shelf.log = [LogRow(group=group, seq=1, at=1, events=())]
            watch._cursor = {group: 0}
            watch._ours = {group}
            assert await watch._read_log()
            assert watch._cursor == {group: 0}
        await watch.end()

    finish(work())
