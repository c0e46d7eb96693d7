"""A command as processes of the machine, which are ended as a whole."""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from typing import IO, Final

from stretto.ports.clock import machine_steady
from stretto.ports.fence import Fence
from stretto.runtimes import orders, variables
from stretto.runtimes.command import Command
from stretto.runtimes.guards import Guard, Guards
from stretto.runtimes.tail import Tail, Take

KEPT: Final = 32 * 1024  # bytes of each output
DRAIN: Final = 1.0  # seconds for the last output, if somebody holds the pipe whom nobody can end


class Process:
    """A command that was started. It leads a session and a group of its own, so Ctrl-C at our terminal does
    not reach it: who started it says when it ends.
    """

    def __init__(self, guard: Guard, guards: Guards, out: Tail, err: Tail) -> None:
        self._guard = guard
        self._guards = guards
        self.out = out
        self.err = err
        self._has_guard = True  # until the command has ended: then the next one may have it
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        """Its exit code, below 0 if a signal ended it. What it left in the background is killed.
        Raises Lost.
        """
        try:
            return await self._guard.ended()
        finally:
            self._has_guard = False
            self._guards.give_back(self._guard)
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN):
                    await self.out.ended.wait()
                    await self.err.ended.wait()
            self.out.close()
            self.err.close()
            self._ended.set()

    async def end(self, grace: float) -> None:
        """Ask it to end, and kill it if it has not after so many seconds. Somebody else waits for it."""
        if self._has_guard:
            self._guard.ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._ended.wait()
        self.kill()
        await self._ended.wait()

    def kill(self) -> None:
        """End it now."""
        if self._has_guard:
            self._guard.kill()


async def started(
    command: Command,
    extra: Mapping[str, str],
    guards: Guards,
    out: tuple[Take, ...],
    err: tuple[Take, ...],
    fence: Fence,
) -> Process:
    """Start a command, with variables of ours beside its own; what it prints is handed to `out` and `err`.
    Raises OSError, Refused, Expired and Lost.
    """
    with nullcontext() if command.stdin is None else _input(command.stdin) as given:
        guard = guards.taken()
        tails = Tail(KEPT, *out), Tail(KEPT, *err)
        try:
            env = {**command.env, **extra, variables.OWNER: guard.token}
            files = [tail.write for tail in tails]
            now = machine_steady()  # first: whoever stands still in between has less time, not more
            begin_before = now + fence.seconds
            request = orders.packed(orders.BEGIN, command.words, env, str(command.cwd), begin_before)
            await guard.begin(request, files if given is None else [*files, given.fileno()])
        except BaseException:
            guards.give_back(guard)
            for tail in tails:
                tail.started()
                tail.close()
            raise
    for tail in tails:
        tail.started()
    return Process(guard, guards, *tails)


def _input(text: str) -> IO[bytes]:
    """A file, as a shell has it for a text in a script: nobody waits for a command that does not read."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked for it closes it
    file.write(text.encode(errors="surrogateescape"))
    file.seek(0)
    return file
