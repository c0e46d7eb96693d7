"""What is old enough is forgotten, by one node, now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.waiting import until

from stretto.actions.caller import Caller
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.publish import publish
from stretto.app import running
from stretto.config import Config
from stretto.definition import parse_all
from stretto.model.errors import Unavailable
from stretto.model.user import User
from stretto.node import retention
from stretto.node.retention import Deleted, forget, forget_now_and_then, purge_when_told
from stretto.node.settings import DAY, NodeSettings, RetentionSettings
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.ports.signals import NewSignal, read_signal
from stretto.ports.views import RecentRuns
from stretto.store.sqlite import open_sqlite
from stretto.testing.clock import EPOCH
from stretto.testing.store_suite.owner import event
from stretto.testing.store_suite.world import World, ended

ANN = Caller(user=User(name="ann"))
FOR_EVER = RetentionSettings(runs=None, log=None, signals=None, nodes=None, outcomes=None, rows_at_once=2)


async def never(*_arguments: Any) -> Any:
    raise AssertionError("nobody asks for it")


class Time:
    now = EPOCH


async def with_old_things(world: World, time: Time) -> None:
    """Four ended runs, a dead node, a signal, counters and a log; then a hundred days pass."""
    await world.publish()
    await world.publish("other")
    owner = await world.owner()
    for workflow_id in ("wf", "wf", "wf", "other"):
        run = await world.live(owner, workflow_id)
        record = ended((await world.row(run)).record, at=time.now)
        await owner.decide(run, records=(record,), events=(event("over"),))
    for number in range(2):
        await world.store.announce(NewSignal(name="ready", instance_id=f"i{number}"))
    await world.store.join(NodeId("dead"))
    await world.store.bury(NodeId("dead"), 1, expired=False)
    time.now += 100 * DAY


def in_world(folder: Path, body: Callable[[World], Awaitable[None]]) -> None:
    async def run() -> None:
        time = Time()
        store = await open_sqlite(folder / "old.db", clock=lambda: time.now)
        world = World(store, never, never)
        await with_old_things(world, time)
        await body(world)
        await store.close()

    asyncio.run(run())


async def there(world: World) -> dict[str, int]:
    store = world.store
    return {
        "runs": len((await store.glances(RecentRuns(["wf", "other"]))).elements),
        "signals": 0 if await read_signal(store, "ready") is None else 1,
        "nodes": len(await store.nodes()),
        "outcomes": sum(sum(each.statuses.values()) for each in await store.outcomes(["wf"], 0)),
    }


ALL = {"runs": 4, "signals": 1, "nodes": 2, "outcomes": 3}


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("runs", {"runs": 0}),
        ("signals", {"signals": 0}),
        ("nodes", {"nodes": 1}),
        ("outcomes", {"outcomes": 0}),
        ("log", {}),
    ],
)
def test_each_setting_is_about_its_own(name: str, left: dict[str, int], tmp_path: Path) -> None:
    async def body(world: World) -> None:
        young = msgspec.structs.replace(FOR_EVER, **{name: 101 * DAY})
        await forget(world.store, young)
        assert await there(world) == ALL
        old = msgspec.structs.replace(FOR_EVER, **{name: 99 * DAY})
        gone = await forget(world.store, old)
        assert await there(world) == {**ALL, **left}
        assert gone > 0 or name == "log"  # the newest row of a group stays
        assert await forget(world.store, old) == 0

    in_world(tmp_path, body)


def test_for_ever_means_that(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        assert await forget(world.store, FOR_EVER) == 0
        assert await there(world) == ALL

    in_world(tmp_path, body)


def test_workflows_are_looked_at_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PAGE", 1)

    async def body(world: World) -> None:
        await forget(world.store, RetentionSettings())
        assert (await there(world))["runs"] == 0

    in_world(tmp_path, body)


def test_what_is_left_of_a_deleted_workflow_goes(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.store.delete_workflow("other", lambda _row: event("gone"))
        assert await world.store.purgeable() == ["other"]
        assert await forget(world.store, FOR_EVER) > 0
        assert await world.store.purgeable() == []

    in_world(tmp_path, body)


# ----------------------------------------------------------------------------------------------- now and then
class Broken:
    async def purgeable(self) -> list[str]:
        raise Unavailable("no database")


class Told(Observer):
    def __init__(self) -> None:
        self.errors: list[Exception] = []

    def store_failed(self, error: Exception, tries: int) -> None:
        assert tries == 1
        self.errors.append(error)


def test_it_is_done_again_and_again_by_one_node_and_trouble_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    ours = [False, True, True, True]

    async def forgets(_store: Any, _settings: RetentionSettings, _forget_output: Any) -> int:
        calls.append(len(calls))
        if len(calls) == 2:
            raise Unavailable("no database")
        return 0

    monkeypatch.setattr(retention, "forget", forgets)
    monkeypatch.setattr(retention, "FIRST_LOOK", 0.0)
    told = Told()

    async def run() -> None:
        settings = msgspec.structs.replace(FOR_EVER, every=1)
        work = forget_now_and_then(None, settings, lambda: ours.pop(0) if ours else False, [told])  # type: ignore[arg-type]
        task = asyncio.create_task(work)
        await until(lambda: not ours)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(run())
    assert calls == [0, 1, 2]
    assert [str(error) for error in told.errors] == ["no database"]


def test_an_app_does_not_keep_the_id_of_a_deleted_workflow_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "FIRST_LOOK", 3_600.0)
    (definition,) = parse_all(
        '{"properties": {"owner": "ann"}, '
        '"workflow": {"id": "wf", "steps": [{"step": {"id": "a", "type": "NoOp"}}]}}'
    )

    async def run() -> None:
        config = Config(node=NodeSettings(stop_within=500))
        async with running(config, f"sqlite:///{tmp_path}/gone.db") as app:

            async def is_gone() -> bool:
                return not await app.store.purgeable()

            for _ in range(2):
                await publish(app.store, ANN, definition, hints=app.hints)
                await delete_workflow(app.store, ANN, "wf", hints=app.hints)
                await app.watch(until(is_gone))

    asyncio.run(run())


def test_what_goes_wrong_while_it_is_purged_is_told() -> None:
    told = Told()

    async def run() -> None:
        deleted = Deleted()
        purging = asyncio.create_task(
            purge_when_told(Broken(), RetentionSettings(), deleted, [told])  # type: ignore[arg-type]
        )
        deleted.committed([LogRow(group=1, seq=1, at=1, events=())])
        await asyncio.sleep(0)
        assert told.errors == []
        deleted.committed([LogRow(group=1, seq=2, at=1, events=(event("wf"),))])
        while not told.errors:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        purging.cancel()

    asyncio.run(run())
    assert [str(error) for error in told.errors] == ["no database"]


def test_an_app_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "FIRST_LOOK", 0.05)
    url = f"sqlite:///{tmp_path}/old.db"

    async def run() -> None:
        time = Time()
        store = await open_sqlite(tmp_path / "old.db", clock=lambda: time.now)
        world = World(store, never, never)
        await with_old_things(world, time)
        await store.leave(NodeId("node-a"))
        settings = RetentionSettings(runs=DAY, every=50)
        config = Config(retention=settings, node=NodeSettings(stop_within=500))
        async with running(config, url) as app:

            async def are_gone() -> bool:
                return not (await there(world))["runs"]

            await app.watch(until(are_gone))
        await store.close()

    asyncio.run(run())
