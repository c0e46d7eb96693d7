"""The process that calls functions: calls come in, answers go out, until the engine closes the socket."""

import atexit
import os
import select
import signal
import socket
import sys
import threading
from typing import IO, Any, Final

from stretto.runtimes.orders import READ_AT_ONCE, Frames
from stretto.runtimes.workers.calling import Caller
from stretto.runtimes.workers.groups import kill_group
from stretto.runtimes.workers.messages import MOST_CALL, Expired, Message, call_of, packed, permission_of
from stretto.runtimes.workers.system import IS_LINUX

SLACK: Final = 1024 * 1024  # bytes of a message beside its arguments


class Worker:
    """Serves one socket."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._frames = Frames(MOST_CALL + SLACK)
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._caller = Caller(self._tell, self._permitted)

    def serve(self) -> None:
        """Until the socket closes."""
        while (data := self._channel.recv(READ_AT_ONCE)) != b"":
            for body in self._frames.feed(data):
                answer = self._caller.answer(call_of(body))
                if os.getpid() != self._pid:
                    return  # a child that a function has forked, and that came back from it
                self._channel.sendall(packed(answer))
        self._caller.close()

    def cancel(self, number: int, frame: Any) -> None:
        """The call to end, also if it has not been read yet."""
        self._caller.cancel(number, frame)

    def forget(self) -> None:
        """In a child that a function has forked: nobody listens to it."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._lock = threading.Lock()
        self._channel.close()

    def _tell(self, message: Message) -> None:
        """Whoever speaks: a function may have threads. The main one is not interrupted in mid-sentence."""
        if threading.current_thread() is threading.main_thread():
            self._caller.hold(lambda: self._send(message))
        else:
            self._send(message)

    def _permitted(self) -> float:
        """Ask the engine for a new permission to call the function; the time until which it is valid."""
        self._tell(Expired())
        while (data := self._channel.recv(READ_AT_ONCE)) != b"":
            for body in self._frames.feed(data):
                return permission_of(body).begin_before
        os._exit(0)  # the engine is gone, and nothing was begun

    def _send(self, message: Message) -> None:
        if os.getpid() == self._pid:
            with self._lock:
                self._channel.sendall(packed(message))


def main(channel: socket.socket) -> None:
    """What a process does that was forked to be a worker."""
    sys.stdout, sys.stderr = _printing(1), _printing(2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    worker = Worker(channel)
    signal.signal(signal.SIGTERM, worker.cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
    os.register_at_fork(after_in_child=worker.forget)
    if not IS_LINUX:  # elsewhere nobody kills us when our parent dies
        threading.Thread(target=die_at_end_of, args=(channel,), daemon=True).start()
    worker.serve()
    atexit._run_exitfuncs()  # noqa: SLF001 - of this process; to leave as usual would end the fork server


def _printing(file: int) -> IO[str]:
    """A standard stream, which is seen line by line."""
    return open(file, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)


def die_at_end_of(channel: socket.socket) -> None:
    """Kill this process with its group when the other side of a socket is gone, whatever else goes on."""
    watch = select.poll()
    watch.register(channel, getattr(select, "POLLRDHUP", select.POLLHUP))
    watch.poll()
    kill_group(os.getpgrp())
