"""The thread that writes, and what need not go there.

It takes everything that waits into one transaction, so that many small writes share one flush of the disk.
Each is undone alone if it fails. Urgent ones (beats) come first. Nobody is told of success before the commit.

A small write while nobody else writes is done where it is asked for: the way to a thread and back takes as
long as the write itself.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

from stretto.model.errors import Unavailable
from stretto.ports.failures import OutcomeUnknown
from stretto.store.sql.database import Work
from stretto.store.sqlite.errors import translated, unknown
from stretto.store.sqlite.files import DatabaseFiles
from stretto.store.sqlite.lock import FileLock
from stretto.store.sqlite.transaction import SqliteTransaction, driven

T = TypeVar("T")

PATIENCE: Final = 30_000  # milliseconds that SQLite waits for whoever writes beside the lock
MOST_AT_ONCE: Final = 256  # writes in one transaction
LONGEST: Final = 0.05  # seconds after which no further write joins a transaction: others wait for the lock
HERE_IN_A_ROW: Final = 256  # writes beside the thread, until one goes there, where the log is tidied up


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


class Mode(Enum):
    """Who uses the connection: whether it may wait for others, and tidy up."""

    THREAD = (f"PRAGMA busy_timeout = {PATIENCE}", "PRAGMA wal_autocheckpoint = 4000")  # 16 MB
    HERE = ("PRAGMA busy_timeout = 0", "PRAGMA wal_autocheckpoint = 0")


class Writer:
    """Owns the connection that writes."""

    def __init__(
        self,
        files: DatabaseFiles,
        connect: Callable[[], sqlite3.Connection],
        lock: FileLock,
        clock: Callable[[], int],
    ) -> None:
        path = files.path
        self._files = files
        self._path = path
        self._connect = connect
        self._lock = lock
        self._clock = clock
        self._waiting: deque[Job] = deque()
        self._urgent: deque[Job] = deque()
        self._changed = Condition()
        self._using = Lock()  # the connection
        self._connection: sqlite3.Connection | None = None
        self._mode: Mode | None = None
        self._here = 0  # writes beside the thread since it wrote last
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

    def write_here(self, work: Work[T]) -> Done | None:
        """Write at once, in the thread of who calls; None: somebody else writes, so it must wait its turn."""
        if (
            self._here >= HERE_IN_A_ROW
            or self._urgent
            or self._waiting
            or not self._using.acquire(blocking=False)
        ):
            return None
        try:
            if self._connection is None or self._closed or not self._lock.attempt():
                return None
            try:
                return self._at_once(self._connection, work)
            finally:
                self._lock.release()
        except OSError:  # of the lock
            return None
        finally:
            self._using.release()

    def _at_once(self, connection: sqlite3.Connection, work: Work[T]) -> Done | None:
        self._here += 1
        try:
            self._begin(connection, Mode.HERE)
        except (sqlite3.Error, Unavailable):  # the thread waits, or says what is wrong
            return None
        loop = asyncio.get_running_loop()
        jobs = iter((Job(work, loop.create_future(), loop),))
        (done,) = self._write(connection, lambda: next(jobs, None))
        return done

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    # --------------------------------------------------------------------------------------- in the thread
    def _run(self) -> None:
        connection = self._connect()
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from now on all files are there
        self._files.opened()
        self._connection = connection
        try:
            while self._wait():
                try:
                    with self._using, self._lock:
                        self._begin(connection, Mode.THREAD)
                        self._here = 0
                        done = self._write(connection, self._next)
                except OSError as error:
                    done = self._none(Unavailable(f"the lock beside {self._path} can not be had: {error}"))
                except sqlite3.Error as error:  # not even a transaction could be begun
                    self._files.note(error)
                    done = self._none(unknown(error, self._path))
                except Unavailable as error:  # the files are gone
                    done = self._none(error)
                _tell(done)
        finally:
            with self._using:
                self._connection = None
            connection.close()

    def _begin(self, connection: sqlite3.Connection, mode: Mode) -> None:
        self._files.check()
        if self._mode is not mode:
            for statement in mode.value:
                connection.execute(statement)
            self._mode = mode
        connection.execute("BEGIN IMMEDIATE")

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

    def _write(self, connection: sqlite3.Connection, take: Callable[[], Job | None]) -> list[Done]:
        """Everything that waits by now, in the transaction that was begun."""
        done: list[Done] = []
        try:
            self._try_all(connection, take, done)
            connection.execute("COMMIT")
            self._files.check_stored()
        except sqlite3.Error as error:
            self._files.note(error)
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            return _failed(done, unknown(error, self._path))
        except OutcomeUnknown as error:
            return _failed(done, error)
        return done

    def _none(self, error: Exception) -> list[Done]:
        """Nobody who waits can write."""
        done: list[Done] = []
        while (job := self._next()) is not None:
            done.append(Done(job, error=error))
        return done

    def _try_all(
        self, connection: sqlite3.Connection, take: Callable[[], Job | None], done: list[Done]
    ) -> None:
        """The first write is the transaction; those that join it are undone alone if they fail."""
        transaction = SqliteTransaction(connection, self._clock)
        deadline = monotonic() + LONGEST
        while len(done) < MOST_AT_ONCE and monotonic() < deadline and (job := take()) is not None:
            joins = bool(done)
            done.append(Done(job))
            if joins:
                connection.execute("SAVEPOINT job")
            try:
                done[-1] = Done(job, driven(job.work(transaction)))  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001 - it belongs to who waits for it
                self._files.note(error)
                done[-1] = Done(job, error=translated(error, self._path))
                connection.execute("ROLLBACK TO job" if joins else "ROLLBACK")
                if not joins:
                    connection.execute("BEGIN IMMEDIATE")
            if joins:
                connection.execute("RELEASE job")


def _failed(done: Sequence[Done], error: Exception) -> list[Done]:
    """Nothing of it is promised."""
    return [each if each.error else each._replace(error=error) for each in done]


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
