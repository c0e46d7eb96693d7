"""The process that has a command: starts it, waits for it, and ends everything that it has started.

On Linux it is forked by the fork server, and adopts orphans: whatever a command starts, also in a session of
its own, stays below it, where it is found. It has one command after the other, until its socket is closed.
"""

import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from stretto.ports.clock import machine_steady
from stretto.runtimes.orders import (
    ASK,
    BEGIN,
    ENDED,
    EXPIRED,
    FILES,
    READ_AT_ONCE,
    REFUSED,
    STARTED,
    Begun,
    Frames,
    packed,
)
from stretto.runtimes.workers.groups import kill_group
from stretto.runtimes.workers.system import (
    IS_LINUX,
    adopt_orphans,
    children_of,
    descendants_of,
    outlive_parent,
)

MOST_REQUEST: Final = 64 * 1024 * 1024
GIVE_UP: Final = 2.0  # seconds after which what can not be killed is let alone: it is another user's
LOOK_EVERY: Final = 0.02  # seconds, while something is being ended that may have new children
HELD_OFF: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the engine says when to end

# Where orphans are not adopted, nobody else would find the command of a guard that was killed.
SENTINEL: Final = """trap '' HUP INT TERM; read -r _ || kill -s KILL -- "-$0" """


class Guard:
    """Serves one socket. `wake` can be read from when a child has ended."""

    def __init__(self, channel: socket.socket, wake: int) -> None:
        self._channel = channel
        self._wake = wake
        self._frames = Frames(MOST_REQUEST)
        self._files: list[int] = []
        self._leader: int | None = None  # the command, until it was waited for
        self._code: int | None = None  # of the command, until all that it left is gone
        self._sentinel: subprocess.Popen[bytes] | None = None
        self._asked: set[int] | None = None  # who was asked to end; what is left may do so by itself
        self._give_up: float | None = None  # when: everything is being killed

    def serve(self) -> None:
        """Until the socket closes, or something is left that can not be killed."""
        watch = select.poll()
        for file in (self._channel.fileno(), self._wake):
            watch.register(file, select.POLLIN)
        while self._settle():
            is_busy = self._give_up is not None or self._asked is not None
            ready = dict(watch.poll(LOOK_EVERY * 1000 if is_busy else None))
            if self._wake in ready:
                os.read(self._wake, READ_AT_ONCE)
            if self._channel.fileno() in ready and not self._obey():
                self._end()
                return

    # ---------------------------------------------------------------------------------------------- orders
    def _obey(self) -> bool:
        try:
            data, files, _, _ = socket.recv_fds(self._channel, READ_AT_ONCE, FILES)
        except ConnectionError:
            return False
        self._files += files
        for body in self._frames.feed(data):
            verb, *values = json.loads(body)
            if verb == BEGIN:
                self._begin(Begun(*values))
            elif verb == ASK:
                self._ask()
            else:
                self._kill()
        return bool(data)

    def _begin(self, begun: Begun) -> None:
        files, self._files = self._files, []
        if machine_steady() < begun.begin_before:
            self._start(begun, files)
        else:
            self._tell(EXPIRED, None)
        for file in files:
            os.close(file)

    def _start(self, begun: Begun, files: list[int]) -> None:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own
                begun.words,
                stdin=files[2] if len(files) == FILES else subprocess.DEVNULL,
                stdout=files[0],
                stderr=files[1],
                cwd=begun.cwd,
                env=begun.env,
                start_new_session=True,
            )
        except OSError as error:
            where = f" ({begun.cwd})" if error.filename == begun.cwd else ""
            self._tell(REFUSED, f"{error.strerror}{where}")
        except ValueError as error:
            self._tell(REFUSED, str(error))
        else:
            process.returncode = 0  # it is waited for here, not there
            self._leader, self._asked = process.pid, None
            if not IS_LINUX:
                self._sentinel = _sentinel_of(process.pid)
            self._tell(STARTED, process.pid)

    def _ask(self) -> None:
        """The group at once, and whoever has left it."""
        if self._leader is None:
            return  # it has ended before this was read
        self._asked = set(descendants_of(os.getpid()))
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, signal.SIGTERM)
        for pid in self._asked:
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) != self._leader:
                    os.kill(pid, signal.SIGTERM)

    def _ask_orphans(self, asked: set[int]) -> None:
        """Who was born while the others were asked, and has lost them. Whoever has a parent is left to
        it, which may clean up that way.
        """
        for pid in {*children_of(os.getpid())} - asked - {self._leader}:
            asked.add(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)

    def _kill(self) -> None:
        """Everything below this process; again and again, because it may have children meanwhile."""
        if self._leader is None and self._code is None:
            return  # there is no command: it has ended before this was read
        if self._give_up is None:
            self._give_up = time.monotonic() + GIVE_UP
        if self._leader is not None:
            kill_group(self._leader)
        for pid in descendants_of(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    # ---------------------------------------------------------------------------------------------- waiting
    def _settle(self) -> bool:
        """Wait for what has ended. False: somebody is left whom this process can not kill."""
        left = self._reap()
        if self._code is not None and not left:
            self._done()
        elif self._give_up is not None and self._code is not None and time.monotonic() > self._give_up:
            self._done(left=True)
            return False
        elif self._give_up is not None or (self._code is not None and self._asked is None):
            self._kill()  # what it left in the background, or what it was told to end
        elif self._asked is not None and left:
            self._ask_orphans(self._asked)
        return True

    def _reap(self) -> bool:
        """Whether there are children that have not ended."""
        with suppress(ChildProcessError):
            while (ended := _waited(self._leave)) is not None:
                pid, status = ended
                if pid == self._leader:
                    self._leader, self._code = None, os.waitstatus_to_exitcode(status)
                    self._stand_down()
            return True
        return False

    def _leave(self, pid: int) -> None:
        if pid == self._leader and (
            self._asked is None or not IS_LINUX
        ):  # elsewhere it is not seen who is left
            kill_group(pid)

    def _stand_down(self) -> None:
        sentinel, self._sentinel = self._sentinel, None
        if sentinel is not None:
            with suppress(OSError):  # somebody has killed it
                sentinel.communicate(b"\n")

    def _done(self, *, left: bool = False) -> None:
        self._tell(ENDED, self._code, left)
        self._give_up = self._code = self._asked = None

    def _tell(self, verb: str, *values: Any) -> None:
        with suppress(ConnectionError):  # the engine is gone: that will be read
            self._channel.sendall(packed(verb, *values))

    def _end(self) -> None:
        until = time.monotonic() + GIVE_UP
        while self._reap() and time.monotonic() < until:
            self._kill()
            time.sleep(0.002)


def _waited(before: Callable[[int], None]) -> tuple[int, int] | None:
    """A child that has ended, and its status; None: there is none now. Raises ChildProcessError.

    It keeps its number until `before` has seen it, so that no stranger has it; where the system can do that.
    """
    if not hasattr(os, "waitid"):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            before(pid)
        return (pid, status) if pid else None
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    before(found.si_pid)
    return os.waitpid(found.si_pid, 0)


def _sentinel_of(group: int) -> subprocess.Popen[bytes]:
    words = ["/bin/sh", "-c", SENTINEL, str(group)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603 - our own


def _nothing(number: int, frame: Any) -> None:
    """A signal that only wakes; unlike one that is ignored, it is as usual for a command."""


def main(channel: socket.socket) -> None:
    """What a process does that was forked to be a guard."""
    adopt_orphans()
    outlive_parent()  # to be killed would leave the command; the end of the engine is seen at its socket
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *HELD_OFF):
        signal.signal(number, _nothing)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_OFF)  # a command has none of our masks
    Guard(channel, wake).serve()
