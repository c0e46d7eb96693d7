"""How fast a node is on the memory store: the workloads of the service in one process, beside the core alone.

python -m benchmarks node
"""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Sequence
from statistics import quantiles
from time import perf_counter, process_time
from types import FunctionType, ModuleType
from typing import Final
from uuid import uuid4

from benchmarks.core import chain, fan_out, flow_of
from benchmarks.row import Row, seconds
from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.engine.decide import decide
from stretto.engine.events import Launched
from stretto.engine.plan import Plan
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.request import StartRequest
from stretto.model.step import AnyStep, ForeachStep, Transition, TypedStep
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.node.clock import SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.perform.evaluating import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.ports.runtime import Done, Injected, StepContext, StepResult, Stopped
from stretto.ports.store import Store
from stretto.store.memory import Database, MemoryStore
from stretto.store.memory.hints import MemoryHints

ANN: Final = Caller(user=User(name="ann"))
WORK: Final = "Python"
SLEEPERS: Final = 100_000
AT_ONCE: Final = 1_000  # runs of one workflow
CORE: Final = "the core alone"


class Nothing:
    """A step whose work is a coroutine that does nothing."""

    outside = False

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - it brings nothing along
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Done()

    async def execute(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Done()

    async def terminate(self, ctx: StepContext) -> StepResult:  # noqa: ARG002
        return Stopped()


class Bench:
    """One node on a store, and the runs that are started on it."""

    def __init__(self, store: Store, settings: NodeSettings | None = None) -> None:
        self.store = store
        self.hints = MemoryHints()
        clock = SystemClock()
        chosen = settings or NodeSettings()
        performer = Performer(store, self.hints, {WORK: Nothing()}, InProcess(), settings=chosen)
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
        strategy = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=AT_ONCE)
        definition = Definition(
            properties=Properties(owner=User(name="ann"), run_strategy=strategy),
            workflow=Workflow(id=workflow_id, steps=tuple(steps)),
        )
        await publish(self.store, ANN, definition)


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


def work_like(steps: Sequence[AnyStep]) -> list[AnyStep]:
    """The same shape, with work to do in each step but joins."""
    return [
        TypedStep(id=step.id, type=WORK, transition=step.transition)
        if step.id not in {"start", "join"}
        else step
        for step in steps
    ]


def items(count: int, kind: str) -> list[AnyStep]:
    values = ParamDefinition(type=ParamType.LONG_ARRAY, expression=f"return Util.intsBetween(0, {count}, 1);")
    params = {"loop_params": ParamDefinition(type=ParamType.MAP, value={"i": values})}
    return [ForeachStep(id="loop", params=params, concurrency=500, steps=(TypedStep(id="body", type=kind),))]


def measured(steps: Sequence[AnyStep], runs: int = 1) -> tuple[float, list[float]]:
    """Seconds from the first submit until all have ended, the best of three after a warm-up."""
    best, latencies = float("inf"), [0.0]
    for _ in range(4):
        bench = Bench(MemoryStore(Database(SystemClock())))

        async def work(bench: Bench = bench) -> float:
            await bench.publish(steps)
            begun = perf_counter()
            submitted = []
            for _ in range(runs):
                submitted.append(perf_counter())
                await bench.submit("bench")
            await bench.ended.wait(runs)
            bench.ended.times.sort()
            return perf_counter() - begun

        spent = asyncio.run(bench.run(lambda _bench: work()))
        if spent < best:
            first = min(bench.ended.times)
            best, latencies = spent, [at - first for at in bench.ended.times]
    return best, latencies


def workloads() -> list[Row]:
    rows = []
    for kind, change in (("NoOp", list), ("async", work_like)):
        spent, _ = measured(change(chain(100)))
        rows.append(Row(f"W1 chain of 100, {kind}", spent * 10, "ms/step", None, 0))
        spent, _ = measured(change(fan_out(1_000)))
        rows.append(Row(f"W2 1,000 parallel and a join, {kind}", 1_001 / spent, "steps/s", None, 0))
        spent, late = measured(change(chain(5)), runs=200)
        rows.append(Row(f"W3 200 runs of 5, {kind}", 1_000 / spent, "steps/s", None, 0))
        p99 = quantiles(late, n=100)[98]
        rows.append(Row(f"W3 from the first end to the 99th percentile, {kind}", p99, "s", None, 0))
        spent, _ = measured(items(2_000, "NoOp" if kind == "NoOp" else WORK))
        rows.append(Row(f"W4 foreach of 2,000, {kind}", 2_000 / spent, "items/s", None, 0))
    return rows


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
        book = bench.node._book  # noqa: SLF001 - what it keeps of a run is nobody else's business
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
    return [*workloads(), *overhead(), *sleepers()]
