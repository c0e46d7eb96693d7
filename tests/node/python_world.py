"""A node on a store, with the Python runtime: definitions in, results out."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import msgspec
from tests.node.tank import ANN
from tests.node.test_driver import QUICK
from tests.waiting import PATIENCE, until

from stretto.actions.publish import publish
from stretto.actions.start import start
from stretto.definition.limits import Limits
from stretto.definition.parse import Options, load
from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.param import Params
from stretto.model.properties import Properties
from stretto.model.request import StartRequest
from stretto.model.timeline import LogEvent
from stretto.node.clock import SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.ports.rows import NodeId
from stretto.ports.runtime import StepRuntime
from stretto.ports.store import Store
from stretto.runtimes.python import PythonRuntime, Registry
from stretto.store.memory.hints import MemoryHints
from stretto.store.opening import open_store

NO_RETRY = "retry_policy: {error_retry_limit: 0, platform_retry_limit: 0, timeout_retry_limit: 0}"


def call(step_id: str, function: str, *after: str, params: str = "", more: str = "") -> str:
    """A step that calls a function; params and more as in YAML."""
    edges = ", ".join(f"{each}: 'true'" for each in after)
    named = f"function: {{value: '{function}', type: STRING}}"
    given = f"{named}, {params}" if params else named
    edges = f"transition: {{successors: {{{edges}}}}}"
    return f"{{id: {step_id}, type: Python, {edges}, params: {{{given}}}, {more or NO_RETRY}}}"


class PythonWorld:
    """One node, its store, and what came of its runs."""

    def __init__(self, store: Store, clock: SystemClock, runtime: PythonRuntime, driver: Driver) -> None:
        self.store = store
        self.clock = clock
        self.runtime = runtime
        self.driver = driver
        self.hints: MemoryHints

    async def start(
        self,
        text: str,
        run_params: Params | None = None,
        step_params: Mapping[str, Params] | None = None,
    ) -> RunKey:
        limits = Limits(step_types=Limits().step_types | {"Polled"})
        (definition,) = load(text, Options(limits=limits))
        if definition.properties is None:
            definition = msgspec.structs.replace(definition, properties=Properties(owner=ANN.user))
        await publish(self.store, ANN, definition, limits=limits)
        request = StartRequest(
            initiator=ManualInitiator(), run_params=run_params, step_run_params=dict(step_params or {})
        )
        workflow_id = definition.workflow.id
        made = await start(
            self.store,
            ANN,
            workflow_id,
            "latest",
            request,
            hints=self.hints,
        )
        return RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)

    async def status(self, run: RunKey) -> str:
        row = await self.store.run(run)
        assert row is not None
        return row.record.status.value

    async def end(self, run: RunKey) -> str:
        """How a run ended."""

        async def ended() -> bool:
            return await self.status(run) in {"SUCCEEDED", "FAILED", "STOPPED", "TIMED_OUT"}

        await until(ended)
        return await self.status(run)

    async def run(self, text: str, **more: Any) -> tuple[RunKey, str]:
        run = await self.start(text, **more)
        return run, await self.end(run)

    async def step(self, run: RunKey, step_id: str) -> AttemptRecord:
        return (await self.store.attempts(run, step_id))[-1].record

    async def steps(self, run: RunKey) -> dict[str, str]:
        """The status of each step."""
        rows = await self.store.newest_attempts(run)
        return {row.record.key.step_id: row.record.status.value for row in rows}

    async def result(self, run: RunKey, step_id: str) -> Any:
        record = await self.step(run, step_id)
        return (record.params or {})["result"].evaluated_result

    async def lines(self, run: RunKey, step_id: str) -> str:
        record = await self.step(run, step_id)
        return "\n".join(each.message for each in record.timeline if isinstance(each, LogEvent))

    async def until_running(self, run: RunKey, step_id: str) -> None:
        async def runs() -> bool:
            rows = await self.store.attempts(run, step_id)
            return bool(rows) and rows[-1].record.status.value == "RUNNING"

        await until(runs)


@asynccontextmanager
async def world(
    url: str, *functions: Any, others: Mapping[str, StepRuntime] | None = None, **options: Any
) -> AsyncIterator[PythonWorld]:
    """A node that knows these functions, until the end of the block."""
    store, clock, hints = await open_store(url), SystemClock(), MemoryHints()
    runtime = PythonRuntime(Registry(*functions), now=clock.now, store=store, **options)
    runtimes: dict[str, StepRuntime] = {"Python": runtime, **(others or {})}
    performer = Performer(store, hints, runtimes, InProcess(), settings=QUICK)
    node = Node(QUICK, clock.steady, lambda: NodeId(uuid4().hex), performer.outside, (), performer.lacks)
    driver = Driver(node, performer, clock, hints)
    task = asyncio.create_task(driver.run())
    made = PythonWorld(store, clock, runtime, driver)
    made.hints = hints
    try:
        yield made
    finally:
        driver.stop()
        async with asyncio.timeout(PATIENCE):
            await task
        await runtime.close()
        await store.close()
