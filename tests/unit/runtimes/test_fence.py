"""Every runtime asks for permission in the last moment before the effect, after all waiting."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.runtimes import fenced
from tests.unit.runtimes.contexts import Told as ShellTold
from tests.unit.runtimes.processes import wait_for
from tests.unit.runtimes.python.stand import NOW, told

from stretto.ports.fence import OPEN, Fence, Revoked, Trust
from stretto.ports.runtime import Continue, Done, StepContext, StepResult, StepRuntime, Stopped
from stretto.runtimes.python import Pools, PythonRuntime, Registry
from stretto.runtimes.python.function import function_of
from stretto.runtimes.python.threads import ThreadCall
from stretto.runtimes.shell import ShellRuntime
from stretto.runtimes.workers.calls import WorkerProcesses
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.pool import Workers

LEASE = 8.0
KINDS = ("shell", "coroutine", "thread", "process")
FUNCTIONS = {
    "coroutine": function_of(fenced.wait, pool="one"),
    "thread": function_of(fenced.block, pool="one"),
    "process": function_of(fenced.block, isolation="process"),
}


class Place:
    """A runtime that does one work at once, on a node whose clock is set by hand."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.now = 0.0
        self.trust = Trust(lambda: self.now, LEASE)
        self.grace = 10.0
        self.said: dict[str, list[StepResult]] = {}
        self._contexts: dict[str, StepContext] = {}
        self.runtime: Any = self._made()

    def _made(self) -> StepRuntime:
        if self.kind == "shell":
            return ShellRuntime(lambda: NOW, at_once=1, grace=3_600.0)
        return PythonRuntime(
            Registry(FUNCTIONS[self.kind]),
            now=lambda: NOW,
            pools=Pools({"one": 1}),
            grace=3_600.0,
            processes=WorkerProcesses(Workers({"default": WorkerLimits(size=1)})),
        )

    def context(self, name: str) -> StepContext:
        if name not in self._contexts:
            paths = {"begun": str(self.folder / f"{name}.begun"), "until": str(self.folder / f"{name}.end")}
            if self.kind == "shell":
                ctx = ShellTold(step=name, script=fenced.SCRIPT.format(**paths)).ctx
            else:
                ctx = told(FUNCTIONS[self.kind], paths, step_id=name).ctx
            heard = self.said[name] = []

            async def report(result: StepResult) -> None:
                heard.append(result)

            self._contexts[name] = msgspec.structs.replace(ctx, report=report, fence=Fence(self.trust))
        return self._contexts[name]

    async def start(self, name: str) -> None:
        assert isinstance(await self.runtime.start(self.context(name)), Continue)

    async def begun(self, name: str) -> None:
        await wait_for((self.folder / f"{name}.begun").exists)

    def has_begun(self, name: str) -> bool:
        return (self.folder / f"{name}.begun").exists()

    def let_end(self, name: str) -> None:
        (self.folder / f"{name}.end").touch()

    async def end(self, name: str) -> StepResult:
        await wait_for(lambda: self.said[name] and not isinstance(self.said[name][-1], Continue))
        return self.said[name][-1]

    async def terminated(self, name: str) -> StepResult:
        answer: StepResult = Continue()
        while isinstance(answer, Continue):
            answer = await self.runtime.terminate(self.context(name))
        return answer

    @property
    def waits_for_trust(self) -> bool:
        return bool(self.trust._waiters)


def playing(kind: str, folder: Path, body: Callable[[Place], Awaitable[None]]) -> None:
    async def run() -> None:
        place = Place(kind, folder)
        try:
            async with asyncio.timeout(100):
                await body(place)
        finally:
            place.trust.extend(place.now + LEASE)
            place.runtime.kill_all()
            await place.runtime.close()

    asyncio.run(run())


# -------------------------------------------------------------------------------------------- every runtime
@pytest.mark.parametrize("kind", KINDS)
def test_a_launch_that_has_waited_beyond_its_lease_waits_for_trust(kind: str, tmp_path: Path) -> None:
    async def body(place: Place) -> None:
        await place.start("first")
        await place.begun("first")
        await place.start("second")  # which waits for the slot
        place.now += 32
        place.let_end("first")
        assert isinstance(await place.end("first"), Done)  # work that runs goes on without trust
        await wait_for(lambda: place.waits_for_trust)
        assert not place.has_begun("second")
        place.trust.extend(place.now + LEASE)
        await place.begun("second")
        place.let_end("second")
        assert isinstance(await place.end("second"), Done)

    playing(kind, tmp_path, body)


@pytest.mark.parametrize("kind", KINDS)
def test_a_launch_that_is_revoked_while_it_waits_never_begins(kind: str, tmp_path: Path) -> None:
    async def body(place: Place) -> None:
        await place.start("first")
        await place.begun("first")
        await place.start("second")
        place.now += 32
        place.let_end("first")
        await place.end("first")
        await wait_for(lambda: place.waits_for_trust)
        place.context("second").fence.revoke()
        assert isinstance(await place.terminated("second"), Stopped)
        place.trust.extend(place.now + LEASE)
        await place.start("third")  # the slot is free again
        await place.begun("third")
        assert not place.has_begun("second")
        place.let_end("third")
        await place.end("third")

    playing(kind, tmp_path, body)


@pytest.mark.parametrize("kind", ["shell", "coroutine", "process"])
def test_work_that_another_node_does_ends_without_grace(kind: str, tmp_path: Path) -> None:
    async def body(place: Place) -> None:
        await place.start("first")
        await place.begun("first")
        place.context("first").fence.revoke()
        assert isinstance(await place.terminated("first"), Stopped)
        await place.start("second")  # nothing of it is left that has the slot
        await place.begun("second")
        place.let_end("second")
        await place.end("second")

    playing(kind, tmp_path, body)


@pytest.mark.parametrize("kind", KINDS)
def test_a_launch_that_waits_for_trust_can_be_told_to_end(kind: str, tmp_path: Path) -> None:
    async def body(place: Place) -> None:
        place.now += 32
        await place.start("first")
        await wait_for(lambda: place.waits_for_trust)
        assert isinstance(await place.terminated("first"), Stopped)
        place.trust.extend(place.now + LEASE)
        await place.start("second")
        await place.begun("second")
        assert not place.has_begun("first")
        place.let_end("second")
        await place.end("second")

    playing(kind, tmp_path, body)


# ------------------------------------------------------------------------------------------------ the fence
def test_a_fence_is_open_as_long_as_trust_holds() -> None:
    now = [0.0]
    trust = Trust(lambda: now[0], LEASE)
    fence = Fence(trust)
    seen = [(fence.is_open, fence.seconds)]
    now[0] = LEASE
    seen.append((fence.is_open, fence.seconds))
    trust.extend(LEASE + 1)
    trust.extend(LEASE)  # an older heartbeat takes nothing away
    seen.append((fence.is_open, fence.seconds))
    trust.drop()
    seen.append((fence.is_open, fence.seconds))
    assert seen == [(True, LEASE), (False, 0.0), (True, 1.0), (False, -LEASE)]
    assert OPEN.is_open


def test_a_revoked_fence_never_opens_again() -> None:
    trust = Trust(lambda: 0.0, LEASE)
    fence, other = Fence(trust), Fence(trust)
    fence.revoke()
    trust.extend(2 * LEASE)
    assert not fence.is_open
    assert fence.seconds < 0
    assert other.is_open
    with pytest.raises(Revoked):
        asyncio.run(fence.passed())


def test_a_thread_that_gets_to_its_call_too_late_does_not_make_it() -> None:
    calls: list[str] = []
    fence = Fence(Trust(lambda: 0.0))
    late = ThreadCall(lambda: calls.append("late"), fence, lambda: calls.append("left"))
    late()
    late.ended()
    assert not calls  # whoever waits for it tries again, and keeps the slot
    late.is_left = True
    late.ended()
    assert calls == ["left"]
