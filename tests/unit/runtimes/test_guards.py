"""Guards as their engine sees them, where no command with real processes comes."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.contexts import Told
from tests.unit.runtimes.processes import wait_for
from tests.waiting import PATIENCE

from stretto.ports.runtime import Done, PlatformError
from stretto.runtimes import guards as module
from stretto.runtimes.guards import Guard, Guards, Lost
from stretto.runtimes.orders import BEGIN, STARTED, packed
from stretto.runtimes.shell import ShellRuntime
from stretto.runtimes.workers.control import Verb, Word
from stretto.runtimes.workers.server import Heard, Server


class Scripted(Server):
    """A server that starts nothing, and hands over the other end of the socket."""

    theirs: socket.socket
    told: Heard

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None:
        assert (worker, memory) == (1, 0)
        self.theirs = socket.socket(fileno=os.dup(files[0]))
        self.told = heard


def with_guard(work: Callable[[Guard, Scripted], Awaitable[Any]]) -> None:
    async def run() -> None:
        server = Scripted()
        guard = Guard(1, server)
        try:
            await work(guard, server)
        finally:
            guard.close()
            guard.close()
            server.theirs.close()

    asyncio.run(run())


async def begun(guard: Guard, server: Scripted) -> None:
    """A command that goes on."""
    server.theirs.sendall(packed(STARTED, 7))
    assert await guard.begin(packed(BEGIN), ()) == 7


def test_a_guard_that_is_gone_before_it_is_told() -> None:
    async def work(guard: Guard, server: Scripted) -> None:
        server.theirs.close()
        with pytest.raises(Lost, match="is gone"):
            await guard.begin(packed(BEGIN), ())
        with pytest.raises(Lost):
            await guard.ended()
        guard.ask()  # nobody is there
        guard.kill()

    with_guard(work)


@pytest.mark.parametrize("first", ["the server", "the socket"])
def test_it_is_lost_once_both_have_said_so(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NO_NEWS", 60.0)

    async def work(guard: Guard, server: Scripted) -> None:
        await begun(guard, server)
        ended = asyncio.create_task(guard.ended())
        server.told(Word(Verb.STARTED, 1, 7))
        told = partial(server.told, Word(Verb.ENDED, 1, -9))
        steps: list[tuple[Callable[[], Any], Callable[[], bool]]] = [
            (told, lambda: True),
            (server.theirs.close, lambda: not guard.is_open),
        ]
        for step, is_known in steps if first == "the server" else reversed(steps):
            assert not ended.done()
            step()
            await wait_for(is_known)
            await asyncio.sleep(0)
        with pytest.raises(Lost):
            await ended
        assert guard.is_spoiled

    with_guard(work)


def test_a_server_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NO_NEWS", 0.01)

    async def work(guard: Guard, server: Scripted) -> None:
        await begun(guard, server)
        server.theirs.close()
        with pytest.raises(Lost):
            async with asyncio.timeout(PATIENCE):
                await guard.ended()

    with_guard(work)


def test_a_socket_that_is_broken_and_one_that_has_nothing() -> None:
    async def work(guard: Guard, server: Scripted) -> None:
        await begun(guard, server)
        guard._hear()  # there is nothing
        assert guard.is_open
        guard.ask()  # and not read by the other side, which closes:
        server.theirs.close()
        await wait_for(lambda: not guard.is_open)

    with_guard(work)


def test_a_request_that_does_not_fit_at_once() -> None:
    async def work(guard: Guard, server: Scripted) -> None:
        request = packed(BEGIN, "x" * 4_000_000)
        server.theirs.settimeout(30)
        begin = asyncio.create_task(guard.begin(request, ()))
        data = b""
        while len(data) < len(request):
            data += await asyncio.to_thread(server.theirs.recv, 1_000_000)
        assert data == request
        server.theirs.sendall(packed(STARTED, 7))
        assert await begin == 7

    with_guard(work)


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    async def run() -> None:
        runtime = ShellRuntime(lambda: 0)
        told = Told(command="true")
        await runtime.start(told.ctx)
        said = await told.result()
        await runtime.close()
        assert isinstance(said, PlatformError)
        assert "the command could not be looked after: FileNotFoundError" in said.message

    asyncio.run(run())


def test_only_guards_that_are_fit_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE", 1)

    async def run() -> None:
        guards = Guards()
        first, second = guards.taken(), guards.taken()
        for each in (first, second):
            guards.give_back(each)
        assert (first.is_open, second.is_open) == (True, False)
        assert guards.taken() is first
        guards.give_back(first)
        first.is_spoiled = True
        third = guards.taken()
        assert third is not first
        assert not first.is_open
        guards.give_back(third)
        await guards.close()
        await guards.close()
        assert not third.is_open

    asyncio.run(run())


def test_elsewhere_guards_are_started_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IS_LINUX", False)
    monkeypatch.setattr(module, "NO_NEWS", 0.2)

    async def run() -> None:
        runtime = ShellRuntime(lambda: 0)
        told = [Told(step=step, command="sleep 0.1; exit 0") for step in ("a", "b")]
        for each in told:
            await runtime.start(each.ctx)
        for each in told:
            assert isinstance(await each.result(), Done)
        killed = Told(step="c", command="kill -9 $PPID; sleep 0.1")
        await runtime.start(killed.ctx)
        assert isinstance(await killed.result(), PlatformError)
        await runtime.close()

    asyncio.run(run())


def test_a_guard_that_dies_while_it_waits_is_replaced() -> None:
    async def run() -> None:
        runtime = ShellRuntime(lambda: 0)
        said = []
        for step in ("a", "b"):
            told = Told(step=step, command="echo $PPID")
            await runtime.start(told.ctx)
            said.append(await told.result())
            guard = int(str(said[-1].artifacts["shell"].data["stdout"]))  # type: ignore[union-attr]
            os.kill(guard, signal.SIGKILL)
            await wait_for(lambda: not runtime._guards._idle[-1].is_open)
        assert all(isinstance(each, Done) for each in said)
        await runtime.close()

    asyncio.run(run())
