"""The asyncio driver: the same node, in real time."""

import asyncio
from collections.abc import Mapping
from uuid import uuid4

import msgspec
from tests.node.tank import ANN, flow, work
from tests.waiting import PATIENCE, until

from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition.limits import Limits
from stretto.definition.parse import Options, load
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import ManualInitiator
from stretto.model.param import Params
from stretto.model.properties import Properties
from stretto.model.request import StartRequest
from stretto.model.step import AnyStep
from stretto.node.clock import SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.observer import Observer
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import read_run
from stretto.ports.runtime import Continue, Done, Injected, StepContext, StepResult, StepRuntime, Stopped
from stretto.ports.store import Store
from stretto.store.memory import Database, MemoryStore
from stretto.store.memory.hints import MemoryHints

QUICK = NodeSettings(
    beat_every=20,
    watch_longer=200,
    claim_every=100,
    fetch_soon=20,
    fetch_late=50,
    engine=EngineSettings(function_within=0),
)
TWO_STEPS = flow(work("a", "b"), work("b"))


class Background:
    """Work that goes on beside the call and reports by itself; the first one waits for the test."""

    outside = False

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()

    def params(self, step: AnyStep) -> Injected:
        raise AssertionError(step)

    async def start(self, ctx: StepContext) -> StepResult:
        async def body() -> None:
            self.begun.set()
            await self.go_on.wait()
            await ctx.report(Done())

        self.tasks.add(asyncio.create_task(body()))
        return Continue()

    async def execute(self, ctx: StepContext) -> StepResult:
        raise AssertionError(ctx)

    async def terminate(self, _ctx: StepContext) -> StepResult:
        for task in self.tasks:
            task.cancel()
        return Stopped()


class World:
    """A database, by default in memory, and real nodes on it, in this event loop and in real time."""

    def __init__(self, store: Store | None = None) -> None:
        self.clock = SystemClock()
        self.store: Store = store or MemoryStore(Database(self.clock))
        self.hints = MemoryHints()

    def driver(
        self, runtime: StepRuntime, *observers: Observer, others: Mapping[str, StepRuntime] | None = None
    ) -> Driver:
        """A node, and what runs it; `others`: runtimes of other types than Python."""
        runtimes = {"Python": runtime, **(others or {})}
        performer = Performer(self.store, self.hints, runtimes, InProcess(), settings=QUICK)
        name = lambda: NodeId(uuid4().hex)  # noqa: E731 - new at each start
        node = Node(QUICK, self.clock.steady, name, performer.outside, observers, performer.lacks)
        return Driver(node, performer, self.clock, self.hints)

    async def start(
        self,
        text: str = TWO_STEPS,
        run_params: Params | None = None,
        step_params: Mapping[str, Params] | None = None,
    ) -> RunKey:
        """Publish a workflow, and start it."""
        limits = Limits(step_types=Limits().step_types | {"Polled"})
        (definition,) = load(text, Options(limits=limits))
        if definition.properties is None:
            definition = msgspec.structs.replace(definition, properties=Properties(owner=ANN.user))
        await publish(self.store, ANN, definition, limits=limits)
        request = StartRequest(
            initiator=ManualInitiator(), run_params=run_params, step_run_params=dict(step_params or {})
        )
        workflow_id = definition.workflow.id
        made = await start(self.store, ANN, workflow_id, "latest", request, hints=self.hints)
        return RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)

    async def status(self, run: RunKey) -> str:
        row = await read_run(self.store, run)
        assert row is not None
        return row.record.status.value


def test_a_run_goes_to_its_end_and_the_node_leaves() -> None:
    async def run() -> None:
        world, runtime = World(), Background()
        runtime.go_on.set()
        driver = world.driver(runtime)
        task = asyncio.create_task(driver.run())
        key = await world.start()

        async def ended() -> bool:
            return await world.status(key) == "SUCCEEDED"

        await until(ended)
        driver.stop()
        driver.stop()  # it is so already
        await asyncio.wait_for(task, PATIENCE)
        assert await world.store.nodes() == []
        assert {row.owner for row in await world.store.groups()} == {None}

    asyncio.run(run())


def test_another_node_goes_on_when_one_is_gone() -> None:
    class Raising(Observer):
        def node_buried(self, node: str) -> None:
            raise ValueError(node)  # an observer's fault is its own

    async def run() -> None:
        world, first, second = World(), Background(), Background()
        second.go_on.set()
        lost = asyncio.create_task(world.driver(first).run())
        key = await world.start()
        await asyncio.wait_for(first.begun.wait(), PATIENCE)
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        driver = world.driver(second, Raising())
        task = asyncio.create_task(driver.run())

        async def ended() -> bool:
            return await world.status(key) == "SUCCEEDED" and len(driver.node.groups) == GROUPS

        await until(ended)
        driver.stop()
        await asyncio.wait_for(task, PATIENCE)

    asyncio.run(run())


def test_the_clock_of_the_machine() -> None:
    async def run() -> None:
        clock = SystemClock()
        begun, steady = clock.now(), clock.steady()
        await clock.sleep_until(begun - 1)  # that was long ago
        await clock.sleep_until(begun + 20)
        assert clock.now() >= begun + 20
        assert clock.steady() > steady

    asyncio.run(run())
