"""What a node costs on the memory store, beside the core alone, and what runs cost that only wait.

python -m benchmarks node
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter, process_time
from types import FunctionType, ModuleType
from typing import Final
from uuid import uuid4

from benchmarks.core import chain, fan_out, flow_of
from benchmarks.ours.shapes import AT_ONCE, OWNER, definition
from benchmarks.row import Row, seconds
from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.engine.decide import decide
from stretto.engine.events import Launched
from stretto.engine.plan import Plan
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import StartRequest
from stretto.model.step import AnyStep, Transition, TypedStep
from stretto.node.clock import SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.ports.store import Store
from stretto.store.memory import Database, MemoryStore
from stretto.store.memory.hints import MemoryHints

ANN: Final = Caller(user=OWNER)
SLEEPERS: Final = 100_000
CORE: Final = "the core alone"


class Bench:
    """One node on a store, and the runs that are started on it."""

    def __init__(self, store: Store, settings: NodeSettings | None = None) -> None:
        self.store = store
        self.hints = MemoryHints()
        clock = SystemClock()
        chosen = settings or NodeSettings()
        performer = Performer(store, self.hints, {}, InProcess(), settings=chosen)
        self.ended = Ended()
        self.node = Node(chosen, clock.steady, lambda: NodeId(uuid4().hex), performer.outside, (self.ended,))
        self.driver = Driver(self.node, performer, clock, self.hints)

    async def run(self, work: Callable[["Bench"], Awaitable[float]]) -> float:
        task = asyncio.create_task(self.driver.run())
        while len(self.node.groups) < 128:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.01)
        try:
            return await work(self)
        finally:
            self.driver.stop()
            await task

    async def submit(self, workflow_id: str) -> None:
        request = StartRequest(initiator=ManualInitiator())
        await start(self.store, ANN, workflow_id, "latest", request, hints=self.hints)

    async def publish(self, steps: Sequence[AnyStep], workflow_id: str = "bench") -> None:
        await publish(self.store, ANN, definition(workflow_id, list(steps)))


class Ended(Observer):
    """Counts runs that have ended."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._wanted = 0
        self._event: asyncio.Event | None = None

    def committed(self, rows: Sequence[object]) -> None:
        for row in rows:
            for event in row.events:  # type: ignore[attr-defined]
                status = getattr(event, "new_status", None)
                if status is not None and status.is_terminal and event.workflow_id == "bench":
                    self.times.append(perf_counter())
        if self._event is not None and len(self.times) >= self._wanted:
            self._event.set()

    async def wait(self, number: int) -> None:
        self._wanted = number
        self._event = asyncio.Event()
        if len(self.times) < number:
            await self._event.wait()


def overhead() -> list[Row]:
    """The same runs through the node, in CPU time, beside the core alone."""
    rows = []
    for name, steps in (("chain of 1,000", chain(1_000)), ("fan-out of 1,000", fan_out(1_000))):
        plan = Plan(steps)

        def alone(steps: list[AnyStep] = steps, plan: Plan = plan) -> None:
            flow = flow_of(steps, plan)
            decide(flow, Launched(run=flow.run.key), 1_700_000_000_000)

        core = seconds(alone, 5)
        best = float("inf")
        for _ in range(3):
            bench = Bench(MemoryStore(Database(SystemClock())))

            async def work(bench: Bench = bench, steps: list[AnyStep] = steps) -> float:
                await bench.publish(steps)
                begun = process_time()
                for _ in range(10):
                    await bench.submit("bench")
                await bench.ended.wait(10)
                return (process_time() - begun) / 10

            best = min(best, asyncio.run(bench.run(lambda _bench: work())))
        rows.append(Row(f"{name}, CPU of a run", best * 1_000, "ms", None, best / core, CORE))
    return rows


def size_of(root: object) -> int:
    """Bytes of everything that is reached from something, code and types apart."""
    seen, todo, total = {id(root)}, [root], 0
    while todo:
        each = todo.pop()
        total += sys.getsizeof(each)
        for found in gc.get_referents(each):
            if id(found) not in seen and not isinstance(found, type | ModuleType | FunctionType):
                seen.add(id(found))
                todo.append(found)
    return total


def sleepers() -> list[Row]:
    """Runs that only wait: what each costs in memory, and what all of them cost while nothing happens."""
    nap = ParamDefinition(type=ParamType.LONG, value=86_400)
    steps = [TypedStep(id="nap", type="Sleep", params={"sleep_seconds": nap}, transition=Transition())]
    settings = NodeSettings(park_after=500)
    bench = Bench(MemoryStore(Database(SystemClock())), settings)
    found: list[Row] = []

    async def work() -> float:
        for number in range(SLEEPERS // AT_ONCE):
            await bench.publish(steps, f"bench{number}")
        book = bench.node._owned  # noqa: SLF001 - what it keeps of a run is nobody else's business
        empty = size_of([book.groups, book._times])  # noqa: SLF001
        begun = perf_counter()
        for number in range(SLEEPERS):
            await bench.submit(f"bench{number // AT_ONCE}")
        while sum(len(each.parked) for each in bench.node.groups.values()) < SLEEPERS:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        spent = perf_counter() - begun
        held = size_of([book.groups, book._times]) - empty  # noqa: SLF001
        cpu, begun = process_time(), perf_counter()
        await asyncio.sleep(10)
        idle = (process_time() - cpu) / (perf_counter() - begun)
        found.append(Row(f"{SLEEPERS:,} sleeping runs, started", SLEEPERS / spent, "runs/s", None, 0))
        found.append(Row("memory of the node for each", held / SLEEPERS, "bytes", None, 0))
        found.append(Row("CPU while all of them sleep", idle * 100, "%", None, 0))
        return spent

    asyncio.run(bench.run(lambda _bench: work()))
    return found


def run() -> list[Row]:
    return [*overhead(), *sleepers()]
