"""Connections to one SQLite file."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock, local
from time import monotonic
from typing import Final, TypeVar

from stretto.model.errors import Unavailable
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql.database import Work
from stretto.store.sqlite.errors import translated
from stretto.store.sqlite.files import DatabaseFiles
from stretto.store.sqlite.lock import FileLock
from stretto.store.sqlite.transaction import CACHED, SqliteTransaction, TooLong, driven
from stretto.store.sqlite.writer import Writer

T = TypeVar("T")

WRITER_CACHE: Final = 32_768  # KiB
READER_CACHE: Final = 8_192  # KiB, of each
SLOW: Final = 0.005  # seconds that nobody should wait in an event loop
SLOW_IN_A_ROW: Final = 3
SLOW_FOR: Final = 1.0  # seconds
PATIENCE: Final = 30.0  # seconds for what SQLite does by itself: recovery after a crash, the last close


def connected(path: Path, *, durable: bool = True, cache: int = READER_CACHE) -> sqlite3.Connection:
    """A connection in the modes that everything here relies on."""
    connection = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=CACHED
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute(f"PRAGMA cache_size = -{cache}")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB: hot pages are copied less often
    connection.execute("PRAGMA journal_size_limit = 67108864")
    return connection


class SqliteDatabase:
    """See `sql.database.Database`."""

    def __init__(
        self, path: Path, lock: FileLock, settings: DatabaseSettings, clock: Callable[[], int]
    ) -> None:
        self._path = path
        self._lock = lock
        self._clock = clock
        self._closed = False
        durable = settings.synchronous is Synchronous.DURABLE
        writing = partial(connected, path, durable=durable, cache=WRITER_CACHE)
        self._files = DatabaseFiles(path, connected)
        self._writer = Writer(self._files, writing, lock, clock)
        self._pool = ThreadPoolExecutor(
            settings.connections, thread_name_prefix=f"stretto-reader {path.name}"
        )
        self._own = local()
        self._opened: list[sqlite3.Connection] = []
        self._opening = Lock()
        self._slow = 0
        self._slow_until = 0.0
        self._wrote = False  # in this turn of the event loop

    async def look(self, work: Work[T]) -> T:
        return await self._in_pool(self._look, work)

    async def read(self, work: Work[T]) -> T:
        return await self._in_pool(self._read, work)

    async def brief(self, work: Work[T], *, together: bool) -> T:
        """See `sql.database.Quick`. Here and now: a few rows take less time than the way to a thread. When
        answers take long again and again (the disk must be asked), the next ones go there all the same.
        """
        how = self._read if together else self._look
        begun = monotonic()
        if self._closed or begun < self._slow_until:
            return await self._in_pool(how, work)
        try:
            return how(work, in_loop=True)
        except TooLong:
            return await self._in_pool(how, work)
        except sqlite3.Error as error:
            self._files.note(error)
            raise translated(error, self._path) from error
        finally:
            self._judge(begun, monotonic())

    def _judge(self, begun: float, ended: float) -> None:
        """One answer that took long may have met with anything; a few in a row are a disk."""
        self._slow = self._slow + 1 if ended - begun > SLOW else 0
        if self._slow >= SLOW_IN_A_ROW:
            self._slow = 0
            self._slow_until = ended + SLOW_FOR

    async def write(self, work: Work[T]) -> T:
        answer: T = await self._writer.submit(work)
        return answer

    async def write_few(self, work: Work[T]) -> T:
        """See `sql.database.Quick`. Of several that are asked for in one turn of the event loop all but the
        first go to the thread, where they share one flush of the disk.
        """
        begun = monotonic()
        if self._wrote or self._closed or begun < self._slow_until:
            return await self.write(work)
        done = self._writer.write_here(work)
        if done is None:
            return await self.write(work)
        self._wrote = True
        asyncio.get_running_loop().call_soon(self._turned)
        self._judge(begun, monotonic())
        if done.error is not None:
            raise done.error
        answer: T = done.answer
        return answer

    def _turned(self) -> None:
        self._wrote = False

    async def apart(self, work: Work[T]) -> T:
        answer: T = await self._writer.submit(work, urgent=True)
        return answer

    async def examine(self) -> None:
        if self._closed:
            raise Unavailable(f"the store on {self._path} is closed")
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._files.examine)
        except (sqlite3.Error, OSError) as error:
            raise translated(error, self._path) from error

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._close)

    # -------------------------------------------------------------------------------------- in the threads
    async def _in_pool(self, how: Callable[[Work[T]], T], work: Work[T]) -> T:
        if self._closed:
            raise Unavailable(f"the store on {self._path} is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, how, work)
        except sqlite3.Error as error:
            self._files.note(error)
            raise translated(error, self._path) from error

    def _look(self, work: Work[T], *, in_loop: bool = False) -> T:
        transaction = SqliteTransaction(self._connection(), self._clock, in_loop=in_loop)
        return driven(work(transaction))  # type: ignore[arg-type]

    def _read(self, work: Work[T], *, in_loop: bool = False) -> T:
        connection = self._connection()
        connection.execute("BEGIN")
        try:
            return self._look(work, in_loop=in_loop)
        finally:
            connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        """That of this thread."""
        known: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if known is None:
            known = self._own.connection = connected(self._path)
            known.execute("PRAGMA query_only = ON")
            with self._opening:
                self._opened.append(known)
        return known

    def _close(self) -> None:
        self._writer.close()
        self._pool.shutdown()
        for connection in self._opened:
            connection.close()
        self._lock.close()
