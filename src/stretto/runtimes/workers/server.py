"""The fork server as its engine sees it: started when the first worker is wanted, and again if it dies."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from stretto.runtimes.variables import PREFIX
from stretto.runtimes.workers.control import SIZE, Verb, Word, read, written

CODE: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from stretto.runtimes.workers.fork_server import main; "
    "from {start} import main as start; "
    "main({control}, {engine}, start)"
)
WORKER: Final = "stretto.runtimes.workers.worker"
END_WITHIN: Final = 5.0  # seconds for it to end everything
LOOK_EVERY: Final = 0.01

Heard = Callable[[Word], None]


class Server:
    """Must be used in one event loop; whoever makes it closes it."""

    def __init__(self, start: str = WORKER) -> None:
        self._start = start  # the module whose `main` is what a forked process does
        self._process: subprocess.Popen[bytes] | None = None
        self._dying: list[subprocess.Popen[bytes]] = []
        self._control: socket.socket | None = None
        self._held = b""
        self._listeners: dict[int, Heard] = {}

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None:
        """Ask for a worker; everything about it is told to `heard`. Raises OSError."""
        control = self._control or self._started()
        self._listeners[worker] = heard
        self._send(control, Word(Verb.SPAWN, worker, memory), files)

    def ask(self, worker: int) -> None:
        """A worker to end."""
        self._say(Word(Verb.ASK, worker))

    def kill(self, worker: int) -> None:
        """A worker and everything that it has started."""
        self._say(Word(Verb.KILL, worker))

    async def close(self) -> None:
        """End all workers, and the server. Idempotent."""
        self._lose()
        loop = asyncio.get_running_loop()
        until = loop.time() + END_WITHIN
        while self._bury():
            if loop.time() > until:
                for each in self._dying:
                    each.kill()
            await asyncio.sleep(LOOK_EVERY)

    # ----------------------------------------------------------------------------------------------- words
    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        code = CODE.format(path=sys.path, start=self._start, control=theirs.fileno(), engine=os.getpid())
        # Settings of this process are not a step's business; the address of the database may hold a password.
        env = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=env,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._control = ours
        self._held = b""
        asyncio.get_running_loop().add_reader(ours, self._read)
        return ours

    def _say(self, word: Word) -> None:
        if self._control is not None:
            with suppress(OSError):  # it is gone, and its workers with it: that will be read
                self._send(self._control, word, ())

    def _send(self, control: socket.socket, word: Word, files: Sequence[int]) -> None:
        try:
            control.setblocking(True)  # a word is short; a part of one would be of no use
            socket.send_fds(control, [written(word)], files)
        finally:
            control.setblocking(False)

    def _read(self) -> None:
        assert self._control is not None  # noqa: S101 - or nobody would call this
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
        self._held += data
        while len(self._held) >= SIZE:
            word = read(self._held[:SIZE])
            self._held = self._held[SIZE:]
            heard = self._listeners[word.worker]
            if word.verb is not Verb.STARTED:
                del self._listeners[word.worker]
            heard(word)

    def _lose(self) -> None:
        """There is no server any more: workers that it had die with it."""
        control, self._control = self._control, None
        if control is not None:
            asyncio.get_running_loop().remove_reader(control)
            control.close()
        if self._process is not None:
            self._dying.append(self._process)
            self._process = None
        self._bury()
        listeners, self._listeners = self._listeners, {}
        for worker, heard in listeners.items():
            heard(Word(Verb.LOST, worker))

    def _bury(self) -> bool:
        """Wait for servers that have ended; whether there are others."""
        self._dying = [each for each in self._dying if each.poll() is None]
        return bool(self._dying)
