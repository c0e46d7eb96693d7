"""The parts together: a node on a store, from the first beat to the last."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests import waiting

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.app import App, running
from stretto.config import Config
from stretto.definition import parse_all
from stretto.engine.records import RunKey
from stretto.model.errors import Internal, PreconditionFailed, Unavailable
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus
from stretto.model.user import User
from stretto.node.settings import NodeSettings
from stretto.ports.groups import NodeState
from stretto.ports.rows import NodeId, RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store
from stretto.store.opening import open_store

ANN = Caller(user=User(name="ann"))
QUICK = Config(node=NodeSettings(stop_within=500))


def workflow(command: str) -> str:
    return f"workflow: {{id: w, owner: ann, jobs: [{{job: {{id: s, type: Shell, command: '{command}'}}}}]}}"


async def begun(app: App, command: str) -> RunKey:
    (definition,) = parse_all(workflow(command))
    await publish(app.store, ANN, definition, hints=app.hints)
    request = StartRequest(initiator=ManualInitiator())
    made = await start(app.store, ANN, "w", "latest", request, hints=app.hints)
    return RunKey("w", made.workflow_instance_id, made.workflow_run_id)


async def until(app: App, key: RunKey, holds: Callable[[RunRow], bool]) -> RunRow:
    async def look() -> RunRow | None:
        row = await read_run(app.store, key)
        return row if row is not None and holds(row) else None

    return await app.watch(waiting.until(look))


def ended(row: RunRow) -> bool:
    return row.record.status.is_terminal


async def until_there(file: Path) -> None:
    await waiting.until(file.exists, file.name)


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/s.db"


def test_a_run_from_start_to_end(url: str) -> None:
    async def work() -> RunStatus:
        async with running(QUICK, url) as app:
            key = await begun(app, "true")
            return (await until(app, key, ended)).record.status

    assert asyncio.run(work()) is RunStatus.SUCCEEDED


def test_it_leaves_nothing_behind(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"

    async def work() -> None:
        async with running(QUICK, url) as app:
            await until(app, await begun(app, "true"), ended)
        store = await open_store(url)
        assert await store.nodes() == []
        assert {row.owner for row in await store.groups()} == {None}
        await store.close()

    asyncio.run(work())


def test_work_that_outlives_the_grace_is_ended_and_launched_again(tmp_path: Path) -> None:
    """By the next process, which finds the run where it was."""
    url = f"sqlite:///{tmp_path}/s.db"
    begin, go = tmp_path / "begun", tmp_path / "go"

    async def first() -> RunKey:
        async with running(QUICK, url) as app:
            key = await begun(app, f"echo x >> {begin}; test -e {go} || sleep 60")
            await until_there(begin)
            return key

    async def second(key: RunKey) -> RunStatus:
        async with running(QUICK, url) as app:
            return (await until(app, key, ended)).record.status

    key = asyncio.run(first())
    go.touch()
    assert asyncio.run(second(key)) is RunStatus.SUCCEEDED
    assert begin.read_text() == "x\nx\n"


def test_a_hurry_ends_work_at_once_and_gives_the_groups_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    patient = Config(node=NodeSettings(stop_within=600_000))

    async def work() -> None:
        async with asyncio.TaskGroup() as group, running(patient, url) as app:
            await begun(app, f"touch {tmp_path}/begun; sleep 60")
            await until_there(tmp_path / "begun")
            assert len(app.runtimes.at_work) == 1
            group.create_task(hurried_while_it_stops(app))
        assert app.runtimes.at_work == []
        store = await open_store(url)
        assert await store.nodes() == []
        await store.close()

    async def hurried_while_it_stops(app: App) -> None:
        await waiting.until(lambda: app._node._stopping is not None)
        app.hurry()

    async def bounded() -> None:
        async with asyncio.timeout(waiting.PATIENCE):
            await work()

    asyncio.run(bounded())


def test_who_looks_in_sees_its_groups_and_waits_for_its_end(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(QUICK, f"sqlite:///{tmp_path}/s.db") as app:
            await app.watch(waiting.until(lambda: len(app.groups) >= 128))
            ended = asyncio.create_task(app.ended())
            assert len(await app.store.nodes()) == 1
            assert not ended.done()
            assert app.at_work == []
        await ended

    asyncio.run(work())


# -------------------------------------------------------------------------------------------------- trouble
def with_app(work: Callable[[App], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with running(QUICK, "memory:") as app:
            return await work(app)

    return asyncio.run(run())


def test_what_work_raises_is_raised() -> None:
    async def bad() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        with_app(lambda app: app.watch(bad()))


def test_a_node_that_fails_ends_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(app: App) -> None:
        def fault() -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(app._node, "wake", fault)
        await app.watch(asyncio.Event().wait())

    with pytest.raises(ZeroDivisionError):
        with_app(work)


def test_a_node_that_ends_by_itself_is_an_error() -> None:
    async def work(app: App) -> None:
        asyncio.get_running_loop().call_soon(app._driver.stop)
        await app.watch(asyncio.Event().wait())

    with pytest.raises(Internal, match="the node has ended"):
        with_app(work)


def test_cancelling_a_watch_cancels_the_work() -> None:
    async def work(app: App) -> bool:
        begun, inner = asyncio.Event(), asyncio.Event()

        async def long() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                inner.set()

        task = asyncio.create_task(app.watch(long()))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return inner.is_set()

    assert with_app(work) is True


def test_a_database_that_can_not_be_opened() -> None:
    async def run() -> None:
        async with running(QUICK, "sqlite:////no/such/folder/s.db"):
            pytest.fail("it was opened")

    with pytest.raises(PreconditionFailed, match="no folder"):
        asyncio.run(run())


# ----------------------------------------------------------------------------------------------- the dead
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_node_whose_process_is_gone_is_buried_at_once(tmp_path: Path) -> None:
    code = "from stretto.node.process import own_address; print(own_address())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603
    url = f"sqlite:///{tmp_path}/s.db"

    async def work() -> None:
        store = await open_store(url)
        dead, other = NodeId("dead"), NodeId("elsewhere")
        await store.join(dead, done.stdout.strip())
        await store.claim(dead, 128)
        await store.join(other, "another-host/1")
        async with running(QUICK, url):
            states = {row.node: row.state for row in await store.nodes()}
            assert states[dead] is NodeState.DEAD
            assert states[other] is NodeState.ALIVE
            assert dead not in {row.owner for row in await store.groups()}
        await store.close()

    asyncio.run(work())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
@pytest.mark.parametrize("transaction", ["nodes", "bury"])
def test_a_full_disk_keeps_no_node_from_starting(tmp_path: Path, transaction: str) -> None:
    """Burying the dead at once is a favour: without it they are buried when their leases have run out."""
    code = "from stretto.node.process import own_address; print(own_address())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603
    refused: list[str] = []

    async def prepare(store: Store) -> None:
        await store.join(NodeId("dead"), done.stdout.strip())
        works = getattr(store, transaction)

        async def full(*args: Any, **named: Any) -> Any:
            if not refused:
                refused.append(transaction)
                raise Unavailable("database or disk is full")
            return await works(*args, **named)

        setattr(store, transaction, full)

    async def work() -> RunStatus:
        async with running(QUICK, f"sqlite:///{tmp_path}/s.db", before=prepare) as app:
            key = await begun(app, "true")
            return (await until(app, key, ended)).record.status

    assert asyncio.run(work()) is RunStatus.SUCCEEDED
    assert refused == [transaction]
