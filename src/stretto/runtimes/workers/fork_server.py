"""The process that workers are forked from: small, without threads, and without a line of anybody's code.

It also is what outlives an engine: when that dies, by whatever means, it kills every worker with its group
and with every descendant, and ends.
"""

import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from stretto.runtimes.workers.control import Verb, Word, receive, written
from stretto.runtimes.workers.groups import kill_group, kill_tree, resume
from stretto.runtimes.workers.system import (
    adopt_orphans,
    children_of,
    die_with_parent,
    limit_memory,
    memory_of,
    offer_as_victim,
    outlive_parent,
)

WATCH_EVERY: Final = 0.2  # seconds between two looks at the memory
END_WITHIN: Final = 2.0  # seconds for everything to go at the end
HELD_BACK: Final = (signal.SIGTERM,)  # a child lets it through once it has a handler
IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the engine says when to end

Start = Callable[[socket.socket], None]


class Child(NamedTuple):
    """A worker, as its parent sees it."""

    worker: int
    most_memory: int


class ForkServer:
    """Does what it is told over a socket, until that closes or the engine is gone."""

    def __init__(self, control: socket.socket, start: Start, engine: int | None = None) -> None:
        self._control = control
        self._start = start
        self._children: dict[int, Child] = {}  # by process id
        self._pids: dict[int, int] = {}  # by the number of the worker
        self._too_large: dict[int, int] = {}
        self._gone = _process_file(engine)
        self._wake, self._woken = os.pipe()
        self._watched_at = 0.0

    def serve(self) -> None:
        """Until the end, and then end everything."""
        adopt_orphans()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        previous = signal.signal(signal.SIGCHLD, _nothing)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        try:
            while self._step():
                pass
        except OSError:  # the engine does not listen any more
            pass
        finally:
            self._end_all()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, previous)
            for file in (self._wake, self._woken, *([] if self._gone is None else [self._gone])):
                os.close(file)

    def _step(self) -> bool:
        watching = any(child.most_memory for child in self._children.values())
        files: list[Any] = [self._control, self._wake, *([] if self._gone is None else [self._gone])]
        ready = select.select(files, (), (), WATCH_EVERY if watching else None)[0]
        if self._gone in ready:
            return False
        if self._wake in ready:
            with suppress(BlockingIOError):
                os.read(self._wake, 4096)
            self._resume()
            self._reap()
        if watching:
            self._watch()
        return self._control not in ready or self._obey()

    # --------------------------------------------------------------------------------------------- orders
    def _obey(self) -> bool:
        order = receive(self._control)
        if order is None:
            return False
        word, files = order
        if word.verb is Verb.SPAWN:
            self._spawn(word, files)
        elif word.worker in self._pids:
            pid = self._pids[word.worker]
            if word.verb is Verb.KILL:
                kill_tree(pid)
            else:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                resume(pid)  # a stopped process handles no signal
        return True

    def _spawn(self, word: Word, files: list[int]) -> None:
        server = os.getpid()
        # What is asked of the child before it can hear waits for it, and is not ignored as it is here.
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
        try:
            pid = os.fork()
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
            self._tell(Word(Verb.NOT_STARTED, word.worker, error.errno or 0))
        else:
            if not pid:
                self._become_worker(server, files, word.value)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
            with suppress(OSError):  # the child does the same: whoever comes first
                os.setpgid(pid, pid)
            self._children[pid] = Child(word.worker, word.value)
            self._pids[word.worker] = pid
            self._tell(Word(Verb.STARTED, word.worker, pid))
        for file in files:
            os.close(file)

    def _become_worker(self, server: int, files: list[int], most_memory: int) -> None:
        """In the child: never returns."""
        code = 70
        try:
            with suppress(OSError):
                os.setpgid(0, 0)
            die_with_parent(server)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            for file in (self._wake, self._woken, *([] if self._gone is None else [self._gone])):
                os.close(file)
            channel = socket.socket(fileno=files[0])
            for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files[1:])):
                os.dup2(file, number)
                os.close(file)
            adopt_orphans()  # what a function leaves behind is to be seen
            offer_as_victim()
            if most_memory:
                # Twice as much, because address space is counted here, and not what is really used.
                limit_memory(2 * most_memory)
            self._start(channel)
            code = 0
        except BaseException:  # noqa: BLE001 - there is nobody above
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    # --------------------------------------------------------------------------------------------- watching
    def _reap(self) -> None:
        """Wait for what has ended. A worker keeps its id until its group is killed: no stranger gets it."""
        ended: list[tuple[Child, int]] = []
        with suppress(ChildProcessError):  # there is none any more
            while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                child = self._children.pop(found.si_pid, None)
                if child is not None:
                    kill_group(found.si_pid)
                _, status = os.waitpid(found.si_pid, 0)
                if child is not None:
                    del self._pids[child.worker]
                    ended.append((child, os.waitstatus_to_exitcode(status)))
        self._kill_strays()
        for each in ended:
            self._report(*each)

    def _resume(self) -> None:
        """Children that were stopped, by their own step or another one: a stopped guard ends no command, and
        a stopped worker answers no call.
        """
        for pid in self._children:
            with suppress(ChildProcessError):
                if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None:
                    resume(pid)

    def _report(self, child: Child, code: int) -> None:
        used = self._too_large.pop(child.worker, None)
        if used is None:
            self._tell(Word(Verb.ENDED, child.worker, code))
        else:
            self._tell(Word(Verb.TOO_LARGE, child.worker, used))

    def _kill_strays(self) -> None:
        """What a worker left behind, outside of its group, became ours when it died."""
        for pid in children_of(os.getpid()):
            if pid not in self._children:
                kill_tree(pid)

    def _watch(self) -> None:
        if time.monotonic() - self._watched_at < WATCH_EVERY:
            return
        for pid, child in self._children.items():
            used = memory_of(pid) if child.most_memory else 0
            if used > child.most_memory:
                self._too_large.setdefault(child.worker, used)
                kill_tree(pid)
        self._watched_at = time.monotonic()

    def _tell(self, word: Word) -> None:
        self._control.sendall(written(word))

    # ------------------------------------------------------------------------------------------------- end
    def _end_all(self) -> None:
        for pid in self._children:  # at once: the rest takes its time
            kill_tree(pid)
        self._control.close()
        until = time.monotonic() + END_WITHIN
        while time.monotonic() < until:
            for pid in {*self._children, *children_of(os.getpid())}:
                kill_tree(pid)
            try:
                while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                    self._children.pop(pid, None)
            except ChildProcessError:
                return
            time.sleep(0.002)


def _process_file(pid: int | None) -> int | None:
    """A file that can be read from when a process is gone, even if somebody else holds its sockets."""
    if pid is None or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _nothing(number: int, frame: Any) -> None:
    """A signal that only wakes."""


def main(control: int, engine: int, start: Start) -> None:
    """Serve the engine that started this process."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    outlive_parent()
    if os.getppid() == engine:  # or it is gone already, and the socket says so
        gc.collect()
        gc.freeze()  # so that a collection in a worker does not touch, and thereby copy, what it shares
        ForkServer(socket.socket(fileno=control), start, engine).serve()
