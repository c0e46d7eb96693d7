"""A command as processes of the machine, which are ended as a whole."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import IO, Final

from stretto.ports.clock import machine_steady
from stretto.ports.fence import Fence
from stretto.runtimes import orders, variables
from stretto.runtimes.command import Command
from stretto.runtimes.guards import Guard, Guards

READ_AT_ONCE: Final = 64 * 1024
READS: Final = 64  # at the end, of what is there: somebody may go on printing

Take = Callable[[bytes], None]


class Tail:
    """A pipe into this process, of which the last bytes are kept. `write` is the end for the program."""

    def __init__(self, most: int, *takers: Take) -> None:
        self._most = most
        self._takers = takers
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._kept = bytearray()
        self.size = 0  # of everything that came
        self.ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read, self._take)

    def started(self) -> None:
        """The program has its end of the pipe, or never will: ours is closed, so that the end is seen."""
        os.close(self.write)

    def close(self) -> None:
        """Read what is there, and no more. Idempotent."""
        reads = READS
        while not self.ended.is_set() and reads and self._take():
            reads -= 1
        self._end()

    @property
    def text(self) -> str:
        """What is kept, as a text that can be stored; it begins with a whole line if something is missing."""
        kept = bytes(self._kept)
        if self.size > len(kept):
            kept = kept.partition(b"\n")[2] or kept
        return kept.decode(errors="replace").replace("\0", "\ufffd")

    def _take(self) -> bool:
        """One read. False: there is nothing now, or never again."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self._read, READ_AT_ONCE)
            if not data:
                self._end()
        if data:
            self.size += len(data)
            self._kept += data[-self._most :]
            del self._kept[: -self._most]
            for take in self._takers:
                take(data)
        return bool(data)

    def _end(self) -> None:
        if not self.ended.is_set():
            self._loop.remove_reader(self._read)
            os.close(self._read)
            self.ended.set()


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
