"""Guards as their engine sees them: made when a command needs one, and used again.

A command may stop, trace or kill its guard. The fork server resumes a guard that was stopped. One that does
not do what it is told is killed with everything below it: by the fork server, or from here if that fails.
"""

import asyncio
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, Protocol

from stretto.runtimes import orders
from stretto.runtimes.orders import READ_AT_ONCE, Frames
from stretto.runtimes.variables import OWNER, PREFIX
from stretto.runtimes.workers.control import Verb, Word
from stretto.runtimes.workers.groups import kill_all_with, kill_group, kill_tree, resume
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
START_WITHIN: Final = 60.0  # seconds for a guard to start a command
KILL_WITHIN: Final = 5.0  # seconds for a guard to kill a command
RESUME_EVERY: Final = 2.0  # seconds; for guards without a fork server that resumes them at once
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

    def kill(self, worker: int) -> None: ...

    def abandon(self) -> None: ...

    async def close(self) -> None: ...


class Apart:
    """Starts each by itself, where the fork server can not watch over what it has forked."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None:  # noqa: ARG002
        """Only its start is heard of: it is gone when its socket is closed. Raises OSError."""
        self._processes = {number: each for number, each in self._processes.items() if each.poll() is None}
        code = CODE.format(path=sys.path, file=files[0])
        env = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        process = self._processes[worker] = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            pass_fds=(files[0],),
            env=env,
            start_new_session=True,
        )
        heard(Word(Verb.STARTED, worker, process.pid))
        if self._timer is None:
            self._keep_awake()

    def _keep_awake(self) -> None:
        for each in self._processes.values():
            each.send_signal(signal.SIGCONT)
        self._timer = asyncio.get_running_loop().call_later(RESUME_EVERY, self._keep_awake)

    def kill(self, worker: int) -> None:
        """The guard. Its sentinel kills its command."""
        if worker in self._processes:
            self._processes[worker].kill()

    def abandon(self) -> None:
        """There is no process between the engine and its guards."""

    async def close(self) -> None:
        """All sockets are closed. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._processes:
            await asyncio.to_thread(self._processes.popitem()[1].wait)


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
        self._is_unwatched = False  # it has not ended what this guard left
        self._number = number
        self._server = server
        self._pid: int | None = None
        self._leader: int | None = None  # the command
        self._timer: asyncio.TimerHandle | None = None  # until it has done what it was told
        self.token = secrets.token_hex(8)  # in the environment of its commands, see `variables.OWNER`
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
        self._resume()
        self._insist(START_WITHIN, self._force)
        try:
            sent = socket.send_fds(self._channel, [request], files)
        except OSError:
            self._fail()
            return await begun
        sending = None
        if sent < len(request):
            sending = self._loop.create_task(self._send(memoryview(request)[sent:]))
        try:
            return await begun
        finally:
            if sending is not None:
                sending.cancel()

    async def ended(self) -> int:
        """Its exit code, once everything is gone that it has started. Raises Lost."""
        assert self._ended is not None  # noqa: S101 - it was begun
        return await asyncio.shield(self._ended)

    def ask(self) -> None:
        """The command to end."""
        self._resume()
        self._say(orders.ASK)

    def kill(self) -> None:
        """The command and everything that it has started."""
        self._resume()
        self._say(orders.KILL)
        if self.is_open and self._is_busy:
            self._insist(KILL_WITHIN, self._force)

    def close(self) -> None:
        """It ends, with whatever it has. Idempotent."""
        if self.is_open:
            self._resume()
            self.is_open = False
            self._loop.remove_reader(self._channel)
            self._loop.remove_writer(self._channel)
            self._channel.close()

    async def _send(self, rest: memoryview) -> None:
        with suppress(OSError):  # it is gone: that will be read
            await self._loop.sock_sendall(self._channel, rest)

    def _say(self, verb: str) -> None:
        with suppress(OSError):  # it is gone: that will be read
            self._channel.send(orders.packed(verb))

    # ------------------------------------------------------------------------------------------------ force
    def _resume(self) -> None:
        if self._pid is not None and self.is_open:
            resume(self._pid)

    def _keep_awake(self) -> None:
        """As long as it is there. Its fork server is not, which would do so at once."""
        if self.is_open:
            self._resume()
            self._loop.call_later(RESUME_EVERY, self._keep_awake)

    @property
    def _is_busy(self) -> bool:
        """Whether it has a command that has not ended."""
        return self._ended is not None and not self._ended.done()

    def _insist(self, after: float, what: Callable[[], None]) -> None:
        self._relent()
        self._timer = self._loop.call_later(after, what)

    def _relent(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _force(self) -> None:
        """It does not do what it is told, because it is traced or stopped again and again; or it is gone, and
        its fork server, which would end what it left, may be stopped.
        """
        self.is_spoiled = True
        self._insist(NO_NEWS, self._kill_directly)
        self._server.kill(self._number)

    def _kill_directly(self) -> None:
        """Its fork server is gone, or does not do what it is told either."""
        if self.is_open:  # so the numbers of its process and its command are still theirs
            if self._pid is not None:
                kill_tree(self._pid)
            if self._leader is not None:
                kill_group(self._leader)
        if not self._is_alone:
            self._server.abandon()  # which says so: it is lost
        self._is_unwatched = True
        self._fail()

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
                self._force()
        for body in self._frames.feed(data):
            self._heard(*json.loads(body))

    def _heard(self, verb: str, value: Any, left: bool = False) -> None:
        assert self._begun is not None  # noqa: S101 - nothing is said before
        assert self._ended is not None  # noqa: S101
        self._relent()
        if verb == orders.STARTED:
            self._leader = value
            self._begun.set_result(value)
        elif verb in (orders.REFUSED, orders.EXPIRED):
            self._ended = None
            self._begun.set_exception(Refused(value) if verb == orders.REFUSED else Expired())
        else:
            self._leader = None
            self.is_spoiled = self.is_spoiled or left
            self._ended.set_result(value)

    def _told(self, word: Word) -> None:
        """By the fork server, which ends what a guard has left."""
        if word.verb is Verb.STARTED:
            self._pid = word.value
            return
        self.is_spoiled = self._is_alone = True
        if word.verb is Verb.LOST:
            self._is_unwatched = True
            self._keep_awake()
        else:
            self._pid = None
        if not self.is_open:
            self._fail()

    def _fail(self) -> None:
        self.close()
        self._relent()
        if self._is_unwatched and self._is_busy:
            kill_all_with(OWNER, self.token)
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
