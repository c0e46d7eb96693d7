"""One Shell runtime for all tests of a module that only look how a command ends: to start one takes time."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from tests.unit.runtimes.contexts import Told
from tests.unit.runtimes.processes import wait_for

from stretto.ports.runtime import Continue, StepResult
from stretto.runtimes.shell import ShellRuntime

GENERATIONS = count(1)  # a launch that is known is not run again
SHARED: list[tuple[asyncio.Runner, ShellRuntime]] = []


async def made() -> ShellRuntime:
    return ShellRuntime(lambda: 1_000, at_once=8, grace=5.0)


@pytest.fixture(scope="module", autouse=True)
def shared_runtime() -> Iterator[None]:
    with asyncio.Runner() as runner:
        runtime = runner.run(made())
        SHARED.append((runner, runtime))
        try:
            yield
        finally:
            SHARED.pop()
            runner.run(runtime.close())


async def end_of(runtime: ShellRuntime, told: Told) -> StepResult:
    """How a command ends, whatever it tells before."""
    said = await runtime.start(told.ctx)
    if not isinstance(said, Continue):
        return said
    await wait_for(lambda: told.said and not isinstance(told.said[-1], Continue))
    return told.said[-1]


def result_of(**params: Any) -> StepResult:
    runner, runtime = SHARED[-1]

    async def work() -> StepResult:
        return await end_of(runtime, Told(next(GENERATIONS), **params))

    return runner.run(work())
