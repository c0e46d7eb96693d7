"""A command as processes of the machine: one group, which is ended as a whole."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from stretto.runtimes.command import Command
from stretto.runtimes.tail import Tail

KEPT: Final = 32 * 1024  # bytes of each output
DRAIN: Final = 1.0  # seconds for the last output, if somebody outside the group holds the pipe


class Process:
    """A command that was started. It leads a session and a group of its own, so Ctrl-C at our terminal does
    not reach it: who started it says when it ends.
    """

    def __init__(self, process: asyncio.subprocess.Process, out: Tail, err: Tail) -> None:
        self._process = process
        self.out = out
        self.err = err
        self._ended = asyncio.Event()

    @property
    def group(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        """Its exit code, below 0 if a signal ended it. What it left in the background is killed."""
        code = await self._process.wait()
        self._signal(signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await self.out.ended.wait()
                await self.err.ended.wait()
        self.out.close()
        self.err.close()
        self._ended.set()
        return code

    async def end(self, grace: float) -> None:
        """Ask it to end, and kill it if it has not after so many seconds. Somebody else waits for it."""
        self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._ended.wait()
        self.kill()
        await self._ended.wait()

    def kill(self) -> None:
        """End it now."""
        if not self._ended.is_set():
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):  # gone; or only zombies are left (macOS)
            os.killpg(self.group, number)


async def started(command: Command, extra: Mapping[str, str]) -> Process:
    """Start a command, with variables of ours beside its own. Raises OSError and ValueError."""
    out, err = Tail(KEPT), Tail(KEPT)
    try:
        process = await asyncio.create_subprocess_exec(
            *command.words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out.write,
            stderr=err.write,
            cwd=command.cwd,
            env={**command.env, **extra},
            start_new_session=True,
        )
    except BaseException:
        for tail in (out, err):
            tail.started()
            tail.close()
        raise
    out.started()
    err.started()
    return Process(process, out, err)
