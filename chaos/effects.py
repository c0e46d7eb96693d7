"""Step kinds whose work leaves a mark in the ledger.

WORK      a coroutine of this process; it dies with it
WATCHED   the same, but it reports by itself when it is done
REMOTE    a job outside, looked at now and then; another node finds it again
QUEUED    like WATCHED, but a process has few slots, and launches wait for one
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from chaos.ledger import Ledger, NotNow
from stretto.model.step import AnyStep
from stretto.ports.clock import machine_steady
from stretto.ports.fence import Revoked
from stretto.ports.runtime import (
    Continue,
    Done,
    Injected,
    Launch,
    PlatformError,
    StepContext,
    StepResult,
    StepRuntime,
    Stopped,
    UserError,
)

WORK, WATCHED, REMOTE, QUEUED = "Effect", "Watched", "Remote", "Queued"
SLOTS: Final = 2  # of QUEUED, in each process
LOOK_AGAIN: Final = 100  # milliseconds
LATE: Final = "refused: a later launch of this attempt was here"


def _number(ctx: StepContext, name: str) -> int:
    value = ctx.params.get(name)
    return 0 if value is None else int(value.evaluated_result)


class Marking:
    """What all of them do: a mark at the beginning, some time, a mark at the end."""

    outside = False

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._tasks: dict[Launch, asyncio.Task[StepResult]] = {}

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - they bring nothing along
        return Injected()

    async def terminate(self, ctx: StepContext) -> StepResult:
        task = self._tasks.get(ctx.launch)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        return Stopped()

    async def _begin(self, ctx: StepContext) -> bool:
        """The ledger looks at the fence at the very moment at which it writes. Raises Revoked."""
        launch = ctx.launch
        begin = partial(self._ledger.begin, str(launch.attempt), launch.generation, os.getpid())
        while True:
            await ctx.fence.passed()
            with suppress(NotNow):
                return await asyncio.to_thread(begin, may=lambda: ctx.fence.is_open)

    async def _end(self, ctx: StepContext) -> StepResult:
        """The first `fails` attempts fail, as a user's code does; after that there is an effect."""
        attempt = ctx.launch.attempt
        if attempt.number <= _number(ctx, "fails"):
            return UserError(message="on purpose")
        taken = await asyncio.to_thread(self._ledger.end, str(attempt), ctx.launch.generation, os.getpid())
        return Done() if taken else PlatformError(message=LATE)

    async def _do(self, ctx: StepContext) -> StepResult:
        try:
            if not await self._begin(ctx):
                return PlatformError(message=LATE)
        except Revoked:  # another node does this work
            return Stopped()
        await asyncio.sleep(_number(ctx, "millis") / 1_000)
        return await self._end(ctx)

    def _task(self, ctx: StepContext) -> asyncio.Task[StepResult]:
        task = self._tasks[ctx.launch] = asyncio.create_task(self._do(ctx))
        task.add_done_callback(lambda _: self._tasks.pop(ctx.launch, None))
        return task


class EffectRuntime(Marking):
    """The call lasts as long as the work."""

    async def start(self, ctx: StepContext) -> StepResult:
        task = self._task(ctx)
        await asyncio.wait({task})
        return Stopped() if task.cancelled() else task.result()

    async def execute(self, ctx: StepContext) -> StepResult:  # noqa: ARG002 - `start` has an end for it
        return Continue()


class WatchedRuntime(Marking):
    """The call returns at once."""

    async def start(self, ctx: StepContext) -> StepResult:
        task = self._task(ctx)
        task.add_done_callback(lambda done: self._tell(ctx, done))
        return Continue()

    async def execute(self, ctx: StepContext) -> StepResult:  # noqa: ARG002 - it will be told
        return Continue()

    def _tell(self, ctx: StepContext, done: asyncio.Task[StepResult]) -> None:
        if not done.cancelled():
            told = asyncio.ensure_future(ctx.report(done.result()))
            told.add_done_callback(lambda _: None)


class QueuedRuntime(WatchedRuntime):
    """Most launches wait inside of this runtime, some of them while their node stands still."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._slots = asyncio.Semaphore(SLOTS)

    async def _do(self, ctx: StepContext) -> StepResult:
        async with self._slots:
            return await super()._do(ctx)


class RemoteRuntime(Marking):
    """The job is the line in the ledger."""

    outside = True

    async def start(self, ctx: StepContext) -> StepResult:
        try:
            if not await self._begin(ctx):
                return PlatformError(message=LATE)
        except Revoked:
            return Stopped()
        return Continue(after=LOOK_AGAIN)

    async def execute(self, ctx: StepContext) -> StepResult:
        begun = await asyncio.to_thread(self._ledger.begun_at, str(ctx.launch.attempt), ctx.launch.generation)
        if begun is None:
            return await self.start(ctx)
        if machine_steady() < begun + _number(ctx, "millis") / 1_000:
            return Continue(after=LOOK_AGAIN)
        return await self._end(ctx)


def runtimes(ledger: Ledger) -> Mapping[str, StepRuntime]:
    """By the type of their steps."""
    return {
        WORK: EffectRuntime(ledger),
        WATCHED: WatchedRuntime(ledger),
        REMOTE: RemoteRuntime(ledger),
        QUEUED: QueuedRuntime(ledger),
    }
