"""Long expressions in processes of their own, which can be killed.

A thread asks a process and waits; a timer kills the process when the time is up, and that ends the wait. The
processes are started when they are needed, and end with this one, however it ends.
"""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Lock, Timer
from typing import IO, Any, Final

from stretto.engine.elsewhere import Question
from stretto.engine.events import Evaluated
from stretto.model.error_text import text_of_error
from stretto.model.errors import Unavailable
from stretto.ports.evaluator import refused
from stretto.runtimes.expressions.worker import packed, receive, send

WORKERS: Final = 2
SECONDS: Final = 60.0  # that the expressions of one step may take
START_WITHIN: Final = 60.0  # seconds until a process must be ready
END_WITHIN: Final = 5.0  # seconds for a process that is told to end
TRIES: Final = 2  # processes that may die over a question before it is to blame


class Died(Exception):
    """A process ended without an answer."""


class Late(Exception):
    """A process was killed because its time was up."""


class Worker:
    """One process. It is not a child of `multiprocessing`: that would run the user's main module again."""

    def __init__(self) -> None:
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            "from stretto.runtimes.expressions.worker import main; main()"
        )
        self._process = Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE)  # noqa: S603 - our own
        self._questions = _opened(self._process.stdin)
        self._answers = _opened(self._process.stdout)
        self._late = False

    def ask(self, body: bytes, seconds: float) -> Any:
        """What it answers. Late or Died, and then it is of no use any more."""
        with suppress(OSError):  # that it is dead is found out by the wait for the answer
            send(self._questions, body)
        return self.hear(seconds)

    def hear(self, seconds: float) -> Any:
        """The next thing that it says."""
        timer = Timer(seconds, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            said = receive(self._answers)
        except EOFError:
            said = None
        timer.cancel()
        timer.join()  # it may just have begun: then this process is not to be asked again
        if self._late:
            raise Late
        if said is None:
            raise Died(f"exit code {self._process.wait()}")
        return said

    def _time_out(self) -> None:
        self._late = True
        self.kill()

    def kill(self) -> None:
        """End it, whatever it does; who waits for it hears that."""
        self._process.kill()

    def end(self) -> None:
        """Let an idle or dead one end, and everything of it go."""
        with suppress(OSError):
            self._questions.close()
        try:
            self._process.wait(END_WITHIN)
        except TimeoutExpired:
            self.kill()
            self._process.wait()
        self._answers.close()


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - it was asked for
    return stream


class Pool:
    """An `Evaluator` with a few processes; whoever makes it closes it."""

    def __init__(
        self, *, workers: int = WORKERS, seconds: float = SECONDS, start_within: float = START_WITHIN
    ) -> None:
        self._seconds = seconds
        self._start_within = start_within
        self._threads = ThreadPoolExecutor(workers, "stretto-evaluation")
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def evaluate(self, question: Question) -> Evaluated:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._evaluate, question)

    def close(self) -> None:
        """End all processes; who waits for an answer gets an error. Takes a moment. Idempotent."""
        with self._lock:
            self._closed = True
            for worker in self._busy:
                worker.kill()
        self._threads.shutdown()
        while self._idle:
            self._idle.pop().end()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("expressions are not evaluated any more: the node is stopping")

    # ------------------------------------------------------------------------------------- in a thread
    def _evaluate(self, question: Question) -> Evaluated:
        try:
            body = packed(question)
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be so again
            return refused(question, f"it can not be handed to another process: {text_of_error(error)}")
        died = ""
        for _ in range(TRIES):
            try:
                return self._ask(body)
            except Late:
                text = f"its expressions were not evaluated within the {self._seconds:g} s that they may take"
                return refused(question, text)
            except Died as error:
                died = str(error)
        return refused(question, f"{TRIES} processes that evaluated its expressions died, the last: {died}")

    def _ask(self, body: bytes) -> Evaluated:
        worker = self._taken()
        try:
            found: Evaluated = worker.ask(body, self._seconds)
        except BaseException:
            self._drop(worker)
            raise
        with self._lock:
            self._busy.remove(worker)
            self._idle.append(worker)
        return found

    def _taken(self) -> Worker:
        """A process that is ready."""
        with self._lock:
            self._check_open()
            fresh = not self._idle
            try:
                worker = Worker() if fresh else self._idle.pop()
            except OSError as error:  # too many of them, or no memory: maybe later
                raise Unavailable(f"no process can be started to evaluate expressions: {error}") from None
            self._busy.add(worker)
        if fresh:
            self._wait_until_ready(worker)
        return worker

    def _wait_until_ready(self, worker: Worker) -> None:
        try:
            worker.hear(self._start_within)
        except Late:
            self._drop(worker)
            raise Died(f"it was not ready within {self._start_within:g} s") from None
        except BaseException:
            self._drop(worker)
            raise

    def _drop(self, worker: Worker) -> None:
        with self._lock:
            self._busy.remove(worker)
        worker.end()
