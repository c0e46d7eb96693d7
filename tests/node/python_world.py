"""A node on a store, with the Python runtime: definitions in, results out."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tests.node.test_driver import World
from tests.waiting import PATIENCE, until

from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.timeline import LogEvent
from stretto.ports.history import AttemptsOfStep
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.runtime import StepRuntime
from stretto.ports.store import Store
from stretto.runtimes.python import PythonRuntime, Registry
from stretto.store.opening import open_store

NO_RETRY = "retry_policy: {error_retry_limit: 0, platform_retry_limit: 0, timeout_retry_limit: 0}"


def call(step_id: str, function: str, *after: str, params: str = "", more: str = "") -> str:
    """A step that calls a function; params and more as in YAML."""
    edges = ", ".join(f"{each}: 'true'" for each in after)
    named = f"function: {{value: '{function}', type: STRING}}"
    given = f"{named}, {params}" if params else named
    edges = f"transition: {{successors: {{{edges}}}}}"
    return f"{{id: {step_id}, type: Python, {edges}, params: {{{given}}}, {more or NO_RETRY}}}"


class PythonWorld(World):
    """The same with one node that knows functions, and what came of its runs."""

    def __init__(
        self,
        store: Store,
        functions: Sequence[Any],
        others: Mapping[str, StepRuntime] | None,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(store)
        self.runtime = PythonRuntime(Registry(*functions), now=self.clock.now, store=store, **options)
        self.node = self.driver(self.runtime, others=others)

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
        return (await self.store.attempts(AttemptsOfStep(run, step_id)))[-1].record

    async def steps(self, run: RunKey) -> dict[str, str]:
        """The status of each step."""
        rows = await self.store.attempts(NewestAttempts((run,)))
        return {row.record.key.step_id: row.record.status.value for row in rows}

    async def result(self, run: RunKey, step_id: str) -> Any:
        record = await self.step(run, step_id)
        return (record.params or {})["result"].evaluated_result

    async def lines(self, run: RunKey, step_id: str) -> str:
        record = await self.step(run, step_id)
        return "\n".join(each.message for each in record.timeline if isinstance(each, LogEvent))

    async def until_running(self, run: RunKey, step_id: str) -> None:
        async def runs() -> bool:
            rows = await self.store.attempts(AttemptsOfStep(run, step_id))
            return bool(rows) and rows[-1].record.status.value == "RUNNING"

        await until(runs)


@asynccontextmanager
async def world(
    url: str, *functions: Any, others: Mapping[str, StepRuntime] | None = None, **options: Any
) -> AsyncIterator[PythonWorld]:
    """A node that knows these functions, until the end of the block."""
    store = await open_store(url)
    made = PythonWorld(store, functions, others, options)
    task = asyncio.create_task(made.node.run())
    try:
        yield made
    finally:
        made.node.stop()
        async with asyncio.timeout(PATIENCE):
            await task
        await made.runtime.close()
        await store.close()
