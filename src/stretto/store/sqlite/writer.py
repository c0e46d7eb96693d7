"""The thread that writes.

It takes everything that waits into one transaction, so that many small writes share one flush of the disk.
Each is undone alone if it fails. Urgent ones (beats) come first. Nobody is told of success before the commit.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from typing import Any, Final, NamedTuple

from stretto.model.errors import Unavailable
from stretto.store.sql.database import Work
from stretto.store.sqlite.errors import translated, unknown
from stretto.store.sqlite.lock import FileLock
from stretto.store.sqlite.transaction import SqliteTransaction, driven

MOST_AT_ONCE: Final = 256  # writes in one transaction
LONGEST: Final = 0.05  # seconds after which no further write joins a transaction: others wait for the lock


class Job(NamedTuple):
    """A write that waits, and who waits for it."""

    work: Work[Any]
    waiter: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop


class Done(NamedTuple):
    """A write that came to its end, one way or the other."""

    job: Job
    answer: Any = None
    error: Exception | None = None


class Writer:
    """Owns the connection that writes."""

    def __init__(
        self, path: Path, connect: Callable[[], sqlite3.Connection], lock: FileLock, clock: Callable[[], int]
    ) -> None:
        self._path = path
        self._connect = connect
        self._lock = lock
        self._clock = clock
        self._waiting: deque[Job] = deque()
        self._urgent: deque[Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._run, name=f"stretto-writer {path.name}", daemon=True)
        self._thread.start()

    def submit(self, work: Work[Any], *, urgent: bool = False) -> "asyncio.Future[Any]":
        """Write as soon as can be."""
        loop = asyncio.get_running_loop()
        job = Job(work, loop.create_future(), loop)
        with self._changed:
            if self._closed:
                raise Unavailable(f"the store on {self._path} is closed")
            (self._urgent if urgent else self._waiting).append(job)
            self._changed.notify()
        return job.waiter

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    # --------------------------------------------------------------------------------------- in the thread
    def _run(self) -> None:
        connection = self._connect()
        try:
            while self._wait():
                try:
                    with self._lock:
                        done = self._write(connection)
                except OSError as error:
                    done = self._none(Unavailable(f"the lock beside {self._path} can not be had: {error}"))
                _tell(done)
        finally:
            connection.close()

    def _wait(self) -> bool:
        """Until there is something to write; False: never again."""
        with self._changed:
            self._changed.wait_for(lambda: self._urgent or self._waiting or self._closed)
            return bool(self._urgent or self._waiting)

    def _next(self) -> Job | None:
        """What is to be written next; who does not wait any more is passed over."""
        with self._changed:
            while self._urgent or self._waiting:
                job = (self._urgent or self._waiting).popleft()
                if not job.waiter.cancelled():
                    return job
        return None

    def _write(self, connection: sqlite3.Connection) -> list[Done]:
        """One transaction with everything that waits by now."""
        done: list[Done] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._try_all(connection, done)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if not done:  # not even a transaction could be begun
                return self._none(unknown(error, self._path))
            return [each if each.error else each._replace(error=unknown(error, self._path)) for each in done]
        return done

    def _none(self, error: Exception) -> list[Done]:
        """Nobody who waits can write."""
        done: list[Done] = []
        while (job := self._next()) is not None:
            done.append(Done(job, error=error))
        return done

    def _try_all(self, connection: sqlite3.Connection, done: list[Done]) -> None:
        """The first write is the transaction; those that join it are undone alone if they fail."""
        transaction = SqliteTransaction(connection, self._clock)
        deadline = monotonic() + LONGEST
        while len(done) < MOST_AT_ONCE and monotonic() < deadline and (job := self._next()) is not None:
            joins = bool(done)
            done.append(Done(job))
            if joins:
                connection.execute("SAVEPOINT job")
            try:
                done[-1] = Done(job, driven(job.work(transaction)))  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001 - it belongs to who waits for it
                done[-1] = Done(job, error=translated(error, self._path))
                connection.execute("ROLLBACK TO job" if joins else "ROLLBACK")
                if not joins:
                    connection.execute("BEGIN IMMEDIATE")
            if joins:
                connection.execute("RELEASE job")


def _tell(done: Sequence[Done]) -> None:
    """Wake each event loop once, however many wait in it."""
    for loop in {each.job.loop for each in done}:
        with suppress(RuntimeError):  # it is closed: nobody waits any more
            loop.call_soon_threadsafe(_resolve, [each for each in done if each.job.loop is loop])


def _resolve(done: Sequence[Done]) -> None:
    for job, answer, error in done:
        if job.waiter.cancelled():
            continue
        if error is None:
            job.waiter.set_result(answer)
        else:
            job.waiter.set_exception(error)
