"""Guards as their engine sees them: made when a command needs one, and used again."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, Protocol

from stretto.runtimes import orders
from stretto.runtimes.variables import PREFIX
from stretto.runtimes.workers.control import Verb, Word
from stretto.runtimes.workers.framing import READ_AT_ONCE, Frames
from stretto.runtimes.workers.server import Heard, Server

START: Final = "stretto.runtimes.guard"
CODE: Final = (
    "import socket, sys; sys.path[:] = {path!r}; "
    "from stretto.runtimes.guard import main; "
    "main(socket.socket(fileno={file}))"
)
IS_LINUX: Final = sys.platform == "linux"
IDLE: Final = 16  # guards that wait for the next command
MOST_ANSWER: Final = 64 * 1024
NO_NEWS: Final = 2.0  # seconds for the fork server to end what a guard has left that was killed
LOST: Final = "the process that looked after the command is gone"


class Refused(Exception):
    """A command that can not be started."""


class Expired(Exception):
    """A command that was not started, because the permission to start it has expired."""


class Lost(Exception):
    """Somebody has killed the guard: nobody knows how its command would have ended."""


class Starter(Protocol):
    """What starts guards, as the fork server does."""

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None: ...

    async def close(self) -> None: ...


class Apart:
    """Starts each by itself, where the fork server can not watch over what it has forked."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None:  # noqa: ARG002
        """Nothing is heard of it: it is gone when its socket is closed. Raises OSError."""
        self._processes = [each for each in self._processes if each.poll() is None]
        code = CODE.format(path=sys.path, file=files[0])
        env = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        self._processes.append(
            subprocess.Popen(  # noqa: S603 - our own
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=(files[0],),
                env=env,
                start_new_session=True,
            )
        )

    async def close(self) -> None:
        """All sockets are closed. Idempotent."""
        while self._processes:
            await asyncio.to_thread(self._processes.pop().wait)


class Guard:
    """One guard. Must be made in the event loop. Raises OSError."""

    def __init__(self, number: int, server: Starter) -> None:
        self._loop = asyncio.get_running_loop()
        self._frames = Frames(MOST_ANSWER)
        self._begun: asyncio.Future[int] | None = None
        self._ended: asyncio.Future[int] | None = None
        self.is_open = True
        self.is_spoiled = False  # not to be used again
        self._is_alone = False  # the fork server has said its last about it
        self._channel, theirs = socket.socketpair()
        try:
            server.spawn(number, 0, (theirs.fileno(), 2, 2), self._told)
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._channel.setblocking(False)
        self._loop.add_reader(self._channel, self._hear)

    async def begin(self, request: bytes, files: Sequence[int]) -> int:
        """Have a command started: the number of its process. Raises Refused, Expired and Lost."""
        begun: asyncio.Future[int] = self._loop.create_future()
        self._begun = begun
        self._ended = self._loop.create_future()
        self._ended.add_done_callback(lambda done: done.exception())  # whoever waits for it is told again
        try:
            sent = socket.send_fds(self._channel, [request], files)
            if sent < len(request):
                await self._loop.sock_sendall(self._channel, memoryview(request)[sent:])
        except OSError:
            self._fail()
        return await begun

    async def ended(self) -> int:
        """Its exit code, once everything is gone that it has started. Raises Lost."""
        assert self._ended is not None  # noqa: S101 - it was begun
        return await asyncio.shield(self._ended)

    def ask(self) -> None:
        """The command to end."""
        self._say(orders.ASK)

    def kill(self) -> None:
        """The command and everything that it has started."""
        self._say(orders.KILL)

    def close(self) -> None:
        """It ends, with whatever it has. Idempotent."""
        if self.is_open:
            self.is_open = False
            self._loop.remove_reader(self._channel)
            self._channel.close()

    def _say(self, verb: str) -> None:
        with suppress(OSError):  # it is gone: that will be read
            self._channel.send(orders.packed(verb))

    # ---------------------------------------------------------------------------------------------- hearing
    def _hear(self) -> None:
        try:
            data = self._channel.recv(READ_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            if self._is_alone:
                self._fail()
            else:
                self._loop.call_later(NO_NEWS, self._fail)
        for body in self._frames.feed(data):
            self._heard(*json.loads(body))

    def _heard(self, verb: str, value: Any, left: bool = False) -> None:
        assert self._begun is not None  # noqa: S101 - nothing is said before
        assert self._ended is not None  # noqa: S101
        if verb == orders.STARTED:
            self._begun.set_result(value)
        elif verb == orders.REFUSED:
            self._begun.set_exception(Refused(value))
        elif verb == orders.EXPIRED:
            self._begun.set_exception(Expired())
        else:
            self.is_spoiled = self.is_spoiled or left
            self._ended.set_result(value)

    def _told(self, word: Word) -> None:
        """By the fork server, which ends what a guard has left."""
        if word.verb is not Verb.STARTED:
            self.is_spoiled = self._is_alone = True
            if not self.is_open:
                self._fail()

    def _fail(self) -> None:
        self.close()
        for each in (self._begun, self._ended):
            if each is not None and not each.done():
                each.set_exception(Lost(LOST))


class Guards:
    """All of them. Used in one event loop; whoever makes it closes it."""

    def __init__(self) -> None:
        self._server: Starter = Server(START) if IS_LINUX else Apart()
        self._numbers = count(1)
        self._idle: list[Guard] = []

    def taken(self) -> Guard:
        """One that has nothing to do. Raises OSError."""
        while self._idle:
            found = self._idle.pop()
            if found.is_open and not found.is_spoiled:
                return found
            found.close()
        return Guard(next(self._numbers), self._server)

    def give_back(self, guard: Guard) -> None:
        """Its command has ended."""
        if guard.is_open and not guard.is_spoiled and len(self._idle) < IDLE:
            self._idle.append(guard)
        else:
            guard.close()

    async def close(self) -> None:
        """No command is left. Idempotent."""
        while self._idle:
            self._idle.pop().close()
        await self._server.close()
