"""A worker as its engine sees it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from stretto.ports.fence import Revoked
from stretto.ports.logs import STDERR, STDOUT, LogSink, Stream
from stretto.runtimes.python.source import arguments_of_program
from stretto.runtimes.workers.capture import Capture
from stretto.runtimes.workers.channel import Channel
from stretto.runtimes.workers.control import Verb, Word
from stretto.runtimes.workers.groups import kill_tree
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import (
    MOST_ANSWER,
    PLATFORM,
    USER,
    Expired,
    Found,
    Permission,
    Raised,
    Returned,
    Target,
    packed,
    said_by,
)
from stretto.runtimes.workers.server import Server
from stretto.runtimes.workers.system import has_ended

READS: Final = 64  # of each output, at the end of a call
NO_NEWS: Final = 5.0  # seconds after which a worker is taken for dead whose socket has closed
HUNG_UP: Final = 2.0  # seconds for which news of its end are waited for
UNHEARD: Final = (
    1.0  # seconds: an import may swallow the interruption, and no function has begun that needs time
)
INSIST: Final = 1.0  # seconds after which a worker is killed from here, if the fork server has not
MOST_MEMORY: Final = "its memory limit is {:,} bytes, and it used {:,}"
FORK_SERVER_GONE: Final = "its fork server is gone"


class WorkerProcess:
    """One worker, from the wish to have it to its end. Must be made in the event loop. Raises OSError."""

    def __init__(
        self, number: int, server: Server, limits: WorkerLimits, gone: Callable[["WorkerProcess"], None]
    ) -> None:
        self.number = number
        self.pid: int | None = None
        self.calls = 0
        self.path: list[str] | None = None  # `sys.path` as it was told
        self.is_spoiled = False  # not to be used again
        self.is_gone = False
        self.ended = asyncio.Event()  # the process and all that it started
        self._server = server
        self._limits = limits
        self._gone = gone
        self._known: set[Target] = set()
        self._job: Job | None = None
        self._verdict: Raised | None = None  # why it is killed
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._permitting: asyncio.Task[None] | None = None
        self._insisting: asyncio.TimerHandle | None = None
        self._until = float("inf") if limits.seconds is None else self._loop.time() + limits.seconds
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours, MOST_ANSWER, self._hear, self._closed)
        streams: tuple[Stream, ...] = (STDOUT, STDERR)
        self._outputs = tuple(Capture(partial(self._print, each)) for each in streams)
        files = [theirs.fileno(), *(each.write for each in self._outputs)]
        try:
            self._server.spawn(self.number, self._limits.memory or 0, files, self._notice)
        except BaseException:
            self._channel.close()
            for each in self._outputs:
                each.close()
            raise
        finally:
            theirs.close()
            for each in self._outputs:
                each.handed_over()

    @property
    def is_worn_out(self) -> bool:
        """Whether it has done enough."""
        most = self._limits.calls
        return (
            self.is_spoiled
            or self.is_gone
            or (most is not None and self.calls >= most)
            or self._loop.time() >= self._until
        )

    # -------------------------------------------------------------------------------------------------- calls
    def begin(self, job: Job, sink: LogSink) -> None:
        """Have a function called; the answer is told to the job."""
        job.begin(sink)
        self.calls += 1
        call = job.call
        if self.path != sys.path:
            self.path = list(sys.path)
            call = msgspec.structs.replace(call, path=self.path, argv=arguments_of_program())
        self._job = job
        if call.target in self._known:
            job.begun()
        else:
            within = self._limits.start_within if self.pid is None else self._limits.import_within
            self._timer = self._loop.call_later(within, self._is_late)
        self._channel.send(packed(msgspec.structs.replace(call, begin_before=job.begin_before)))

    def _hear(self, body: bytes) -> None:
        job = self._job
        try:
            said = said_by(body)
        except (msgspec.DecodeError, RecursionError) as error:
            self._closed(f"a message that is none: {error}")
            return
        if job is None:
            return  # a thread that the last function has left behind
        if isinstance(said, Returned | Raised):
            self._finish(job, said)
        elif isinstance(said, Found):
            self._known.add(job.call.target)
            job.begun()
            self._stop_timer()
        elif isinstance(said, Expired):
            self._permitting = self._loop.create_task(self._permit(job))
        else:
            job.hear(said)

    async def _permit(self, job: Job) -> None:
        """Let the function begin once its fence is open again."""
        try:
            await job.fence.passed()
        except Revoked as error:
            if self._job is job:
                self._condemn(str(error))
            return
        if self._job is job:
            self._channel.send(packed(Permission(job.begin_before)))

    def _finish(self, job: Job, answer: Returned | Raised) -> None:
        self._stop_timer()
        for each in self._outputs:
            each.drain(READS)
        self._job = None
        if answer.left:
            self.is_spoiled = True
        job.settle(answer)

    def _print(self, stream: Stream, data: bytes) -> None:
        if self._job is not None:
            self._job.output(stream, data)

    def _is_late(self) -> None:
        """The process did not start, or the import does not end."""
        self._timer = None
        job = self._job
        assert job is not None  # noqa: S101 - or nobody would have counted
        if self.pid is None:
            text = f"no worker process was started within {self._limits.start_within:g} s"
            self._verdict = Raised(PLATFORM, text)
        else:
            within = self._limits.import_within
            self._verdict = Raised(USER, f"`{job.call.target}` was not imported within {within:g} s")
        self.kill()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # ---------------------------------------------------------------------------------------------------- end
    def ask(self) -> None:
        """The function to end; then the worker is of no use, because nobody knows when the signal comes."""
        self.is_spoiled = True
        self._server.ask(self.number)
        if self._job is not None and self._job.call.target not in self._known:
            self._insist(UNHEARD, self.kill)

    def kill(self) -> None:
        """The worker, its function, and everything that it has started."""
        self.is_spoiled = True
        if not self.is_gone:
            self._server.kill(self.number)
            self._insist(INSIST, self._kill_directly)

    def retire(self, grace: float) -> None:
        """An idle one ends by itself, and is killed if it does not."""
        self.is_spoiled = True
        self._channel.close()
        self._insist(grace, self.kill)

    def _insist(self, after: float, what: Callable[[], None]) -> None:
        if self._insisting is not None:
            self._insisting.cancel()
        self._insisting = self._loop.call_later(after, what)

    def _kill_directly(self) -> None:
        if self.pid is not None:
            kill_tree(self.pid)
        self._insist(NO_NEWS, self._give_up)

    def _give_up(self) -> None:
        """It is dead and its fork server does not say so; or it hangs in the kernel, where nobody can kill
        it, and its fork server is not to blame.
        """
        is_server_stuck = self.pid is None or has_ended(self.pid)
        self._end("nobody knows how it ended")
        if is_server_stuck:
            self._server.abandon()

    def _closed(self, why: str) -> None:
        """It does not speak any more: it has died, or does not keep to the rules."""
        if why:
            self._condemn(f"the worker process sent {why}")
        else:  # if it is dying, its fork server will say how
            self._insist(HUNG_UP, partial(self._condemn, "the worker process has closed its connection"))

    def _condemn(self, why: str) -> None:
        self._verdict = self._verdict or Raised(PLATFORM, why)
        self.kill()

    def _notice(self, word: Word) -> None:
        if word.verb is Verb.STARTED:
            self.pid = word.value
            if self._timer is not None:
                self._timer.cancel()
                self._timer = self._loop.call_later(self._limits.import_within, self._is_late)
        else:
            if word.verb is Verb.LOST and self.pid is not None:
                kill_tree(self.pid)  # it died with its fork server; what it has started did not
            self._end(_reason(word, self._limits))

    def _end(self, reason: str) -> None:
        if self.is_gone:
            return
        self.is_gone = True
        self._stop_timer()
        if self._insisting is not None:
            self._insisting.cancel()
        if self._permitting is not None:
            self._permitting.cancel()
        job = self._job
        self._channel.close()
        for each in self._outputs:
            each.drain(READS)
            each.close()
        if job is not None:
            self._job = None
            where = "" if job.call.target in self._known else f" while it imported `{job.call.target}`"
            job.settle(self._verdict or Raised(PLATFORM, f"the worker process ended{where}: {reason}"))
        self.ended.set()
        self._gone(self)


def _reason(word: Word, limits: WorkerLimits) -> str:
    if word.verb is Verb.TOO_LARGE:
        return MOST_MEMORY.format(limits.memory or 0, word.value)
    if word.verb is Verb.NOT_STARTED:
        return f"it could not be started: {os.strerror(word.value)}"
    if word.verb is Verb.LOST:
        return FORK_SERVER_GONE
    if word.value >= 0:
        return f"exit code {word.value}"
    return _by_signal(-word.value)


def _by_signal(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:  # one that has no name
        name = f"signal {number}"
    hint = "; if nobody sent it, the machine has run out of memory" if number == signal.SIGKILL else ""
    return f"ended by {name}{hint}"
