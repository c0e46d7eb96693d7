"""The fork server as its engine sees it: started when the first worker is wanted, and again if it dies.

A step may stop, trace or kill it. The engine resumes it with each word and every two seconds, replaces it if
it does not do what it is told, and kills what it leaves behind.
"""

import asyncio
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from stretto.runtimes.variables import OWNER, PREFIX
from stretto.runtimes.workers.control import SIZE, Verb, Word, read, written
from stretto.runtimes.workers.groups import kill_all_with, kill_tree, resume
from stretto.runtimes.workers.system import children_of, is_held

CODE: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from stretto.runtimes.workers.fork_server import main; "
    "from {start} import main as start; "
    "main({control}, {engine}, start)"
)
WORKER: Final = "stretto.runtimes.workers.worker"
END_WITHIN: Final = 5.0  # seconds for it to end everything
LOOK_EVERY: Final = 0.01
RESUME_EVERY: Final = 2.0  # seconds
SEND_WITHIN: Final = 5.0  # seconds for a word while hundreds of others have not been read

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
        self._pids: dict[int, int] = {}  # by the number of the worker
        self._token = ""  # in the environment of this server and of all below it
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def spawn(self, worker: int, memory: int, files: Sequence[int], heard: Heard) -> None:
        """Ask for a worker; everything about it is told to `heard`. Raises OSError."""
        control = self._control or self._started()
        self._send(control, Word(Verb.SPAWN, worker, memory), files)
        self._listeners[worker] = heard

    def ask(self, worker: int) -> None:
        """A worker to end."""
        self._say(Word(Verb.ASK, worker))

    def kill(self, worker: int) -> None:
        """A worker and everything that it has started."""
        self._say(Word(Verb.KILL, worker))

    def abandon(self) -> None:
        """Kill a server that does not do what it is told, and what is below it except guards, which end by
        themselves. The next worker has another server.
        """
        if self._process is not None:
            spared = set(self._pids.values()) if self._is_outlived else set()
            for pid in {*children_of(self._process.pid)} - spared:
                kill_tree(pid)
            self._process.kill()
            self._lost()

    async def close(self) -> None:
        """End all workers, and the server. Idempotent. One that is killed is gone when this returns, however
        long a busy machine takes to let it die; only one that is held, as by a debugger, is left.
        """
        self._lose()
        loop = asyncio.get_running_loop()
        until = loop.time() + END_WITHIN
        while self._bury():
            if loop.time() > until:
                for each in self._dying:
                    kill_tree(each.pid)
            if loop.time() > until + END_WITHIN and all(is_held(each.pid) for each in self._dying):
                break
            await asyncio.sleep(LOOK_EVERY)

    # ----------------------------------------------------------------------------------------------- words
    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        code = CODE.format(path=sys.path, start=self._start, control=theirs.fileno(), engine=os.getpid())
        # Settings of this process are not a step's business; the address of the database may hold a password.
        env = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        self._token = env[OWNER] = secrets.token_hex(8)
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
        self._keep_awake()
        return ours

    @property
    def _is_outlived(self) -> bool:
        """Whether what it forks goes on without it, as guards do."""
        return self._start != WORKER

    def _keep_awake(self) -> None:
        self._resume()
        self._timer = asyncio.get_running_loop().call_later(RESUME_EVERY, self._keep_awake)

    def _resume(self) -> None:
        if self._process is not None and self._process.poll() is None:
            resume(self._process.pid)

    def _say(self, word: Word) -> None:
        if self._control is not None:
            with suppress(OSError):  # it is gone, and its workers with it: that will be read
                self._send(self._control, word, ())

    def _send(self, control: socket.socket, word: Word, files: Sequence[int]) -> None:
        self._resume()
        try:
            control.settimeout(SEND_WITHIN)  # a word is short: it is sent as a whole or not at all
            socket.send_fds(control, [written(word)], files)
        except TimeoutError:
            self.abandon()
            raise
        finally:
            if control.fileno() >= 0:
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
            self._lost()
        self._held += data
        while len(self._held) >= SIZE:
            word = read(self._held[:SIZE])
            self._held = self._held[SIZE:]
            heard = self._listeners[word.worker]
            if word.verb is Verb.STARTED:
                self._pids[word.worker] = word.value
            else:
                del self._listeners[word.worker]
                self._pids.pop(word.worker, None)
            heard(word)

    def _lost(self) -> None:
        """It is gone without having ended what is below it."""
        if not self._is_outlived:
            kill_all_with(OWNER, self._token)
        self._lose()

    def _lose(self) -> None:
        """There is no server any more: workers that it had die with it."""
        control, self._control = self._control, None
        if control is not None:
            asyncio.get_running_loop().remove_reader(control)
            control.close()
        if self._timer is not None:
            self._timer.cancel()
        self._held = b""
        self._resume()  # so that it sees that it is to end
        if self._process is not None:
            self._dying.append(self._process)
            self._process = None
        self._bury()
        self._pids = {}
        listeners, self._listeners = self._listeners, {}
        for worker, heard in listeners.items():
            heard(Word(Verb.LOST, worker))

    def _bury(self) -> bool:
        """Wait for servers that have ended; whether there are others."""
        self._dying = [each for each in self._dying if each.poll() is None]
        return bool(self._dying)
