"""What a node says to its database while nothing happens: at most two statements a second."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.ports.statement_counts import Counted, counted
from tests.waiting import until

from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.app import App, running
from stretto.config import Config
from stretto.definition import parse_all
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.user import User
from stretto.node.group import GroupState
from stretto.node.settings import NodeSettings
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.store.settings import DatabaseSettings

ANN = Caller(user=User(name="ann"))
BUDGET = 2  # statements a second
SLEEPERS = 100
WORKFLOW = """
{"properties": {"owner": "ann", "run_strategy": {"rule": "PARALLEL", "workflow_concurrency": 100}},
 "workflow": {"id": "w", "steps": [{"step": {
    "id": "s", "type": "Sleep", "params": {"sleep_seconds": {"type": "LONG", "value": 36000}}}}]}}
"""
INTERVALS = (
    "beat_every trust watch watch_longer claim_every fetch_soon fetch_late sweep_every ask_every park_after"
)
AT_THE_EDGE = 8  # statements of a sweep
ROUND = 30  # seconds in which everything that a node does now and then is done as often as it should


def hastened(times: int) -> Config:
    """A node that lives so many times as fast."""
    usual = NodeSettings()
    quick = {name: getattr(usual, name) // times for name in INTERVALS.split()}
    return Config(
        node=msgspec.structs.replace(usual, **quick, stop_within=1_000),
        database=DatabaseSettings(beat_lasts=10_000),
    )


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def database(request: pytest.FixtureRequest) -> Iterator[Counted]:
    with counted(request.param, request) as made:
        yield made


async def settled(app: App) -> None:
    """Until all groups are claimed and loaded."""
    groups = app._node.groups
    await until(lambda: sum(each.state is GroupState.READY for each in groups.values()) == GROUPS)


async def asleep(app: App) -> None:
    """A hundred runs that sleep, until none of them is in memory."""
    (definition,) = parse_all(WORKFLOW)
    await publish(app.store, ANN, definition, hints=app.hints)
    for _ in range(SLEEPERS):
        await start(app.store, ANN, "w", "latest", StartRequest(initiator=ManualInitiator()), hints=app.hints)
    groups = app._node.groups
    await until(lambda: sum(len(each.parked) for each in groups.values()) == SLEEPERS)


class Beats:
    """Counts the beats of a node, which say how long it has lived, however busy the machine is."""

    def __init__(self, app: App) -> None:
        self.count = 0
        beat = app.store.beat

        async def counted(node: NodeId) -> Any:
            self.count += 1
            return await beat(node)

        app.store.beat = counted  # type: ignore[method-assign]

    async def passed(self, seconds: float) -> None:
        """So many seconds of a node of the usual speed, or more."""
        last = self.count + seconds * 1_000 / NodeSettings().beat_every
        await until(lambda: self.count >= last, f"{seconds} s of beats", patience=200.0)


def rate(database: Counted, *, sleepers: bool, times: int, edge: int = 0) -> float:
    """Statements a second, as a node that lives at the usual speed counts seconds. Somebody who is late on a
    busy machine has counted for longer; and what is done now and then may just have begun (`edge`).
    """

    async def work() -> float:
        async with running(hastened(times), database.url) as app:
            await app.watch(settled(app))
            beats = Beats(app)
            await app.watch(beats.passed(10))
            if sleepers:
                await app.watch(asleep(app))
                await app.watch(beats.passed(6))
            begun = time.monotonic()
            before = await asyncio.to_thread(database.statements)
            await app.watch(beats.passed(ROUND))
            count = await asyncio.to_thread(database.statements) - before
            assert count - edge > ROUND / 2  # it does live
            return (count - edge) / ((time.monotonic() - begun) * times)

    return asyncio.run(work())


@pytest.mark.parametrize("sleepers", [False, True], ids=["without runs", "with 100 runs that sleep"])
def test_an_idle_node_asks_little(database: Counted, sleepers: bool) -> None:
    assert rate(database, sleepers=sleepers, times=5, edge=AT_THE_EDGE) <= BUDGET


@pytest.mark.prove
@pytest.mark.timeout(0)
@pytest.mark.parametrize("sleepers", [False, True], ids=["without runs", "with 100 runs that sleep"])
def test_an_idle_node_asks_little_at_its_usual_speed(database: Counted, sleepers: bool) -> None:
    assert rate(database, sleepers=sleepers, times=1) <= BUDGET
