"""Transactions on one PostgreSQL database."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from random import random
from typing import Any, Final, TypeVar

from stretto.model.errors import Internal, Unavailable
from stretto.ports.rows import Lease
from stretto.store.postgresql.address import Address
from stretto.store.postgresql.at_once import said
from stretto.store.postgresql.connecting import connected
from stretto.store.postgresql.dialect import DIALECT, PostgresDialect
from stretto.store.postgresql.errors import DRIVER, is_repeated, translated, unknown
from stretto.store.postgresql.transaction import PostgresTransaction
from stretto.store.sql.at_once import Answer, AtOnce
from stretto.store.sql.database import Taken, Work
from stretto.store.sql.pool import Pool

T = TypeVar("T")

READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # seconds before a transaction is repeated
END_WITHIN: Final = 3.0  # seconds for a transaction that failed


class PostgresDatabase:
    """See `sql.database.Database`. Everything happens in the event loop that uses it first.

    first   A connection to begin with.
    ahead   Milliseconds that are added to the server's clock: only tests do.
    """

    dialect: PostgresDialect = DIALECT

    def __init__(self, address: Address, first: Any, ahead: Callable[[], int]) -> None:
        settings = address.settings
        self._place = address.place
        self._ahead = ahead
        self._closed = False
        ages = {"idle": settings.connection_idle / 1000, "lifetime": settings.connection_lifetime / 1000}
        self._pool: Pool[Any] = Pool(partial(connected, address), settings.connections, **ages)
        self._pool.add(first)
        # A beat that hangs would cost the node its groups: sooner than for others, a new connection is made.
        urgent = partial(connected, address, answer_within=settings.lock_within)
        self._beats: Pool[Any] = Pool(urgent, 1, **ages)

    async def look(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, None, work)

    async def read(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, READ, work)

    async def write(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, WRITE, work)

    async def apart(self, work: Work[T]) -> T:
        return await self._repeated(self._beats, None, work)

    async def at_once(self, leases: Sequence[Lease], rows: AtOnce) -> Answer | None:
        """See `sql.at_once.OneWay`."""
        if self._closed:
            return None
        text, values = said(leases, rows, self._ahead())
        try:
            connection = await self._pool.take()
        except DRIVER as error:
            raise translated(error, self._place) from error
        try:
            await connection.used()
            fine, now, held, room = await connection.fetchrow(text, *values)
        except DRIVER as error:
            connection.terminate()  # a value that the driver refuses leaves it half in a transaction
            meant = unknown(error, self._place)
            if meant is not error:
                raise meant from error
            return None
        except BaseException:
            await _end(connection)
            raise
        finally:
            self._pool.put(connection)
        return Answer(is_written=fine, now=now, held=frozenset(held), room=room)

    async def examine(self) -> None:
        """Nothing: the server says what is wrong with it in any transaction."""

    async def close(self) -> None:
        self._closed = True
        self._pool.close()
        self._beats.close()
        await asyncio.sleep(0)  # the event loop closes their sockets

    # -------------------------------------------------------------------------------------- transactions
    async def _repeated(self, pool: Pool[Any], begin: str | None, work: Work[T]) -> T:
        """Again and again after a deadlock and the like, up to a limit."""
        if self._closed:
            raise Unavailable(f"the store on {self._place} is closed")
        pauses = iter(PAUSES)
        while True:
            try:
                return await self._once(pool, begin, work)
            except (Taken, *DRIVER) as error:
                pause = next(pauses, None) if is_repeated(error) else None
                if pause is None:
                    raise translated(error, self._place) from error
            await asyncio.sleep(pause * (0.5 + random()))  # noqa: S311 - so that two do not meet again

    async def _once(self, pool: Pool[Any], begin: str | None, work: Work[T]) -> T:
        connection = await pool.take()
        try:
            return await self._done(connection, begin, work)
        except TimeoutError:  # whatever it waits for, nobody waits for it
            connection.terminate()
            raise
        except Exception:
            await _roll_back(connection)
            raise
        except BaseException:  # cancelled, and nobody knows how far it came: the server is told to stop it
            await _end(connection)
            raise
        finally:
            pool.put(connection)

    async def _done(self, connection: Any, begin: str | None, work: Work[T]) -> T:
        transaction = PostgresTransaction(connection, self._ahead)
        if begin is None:
            return await work(transaction)
        await connection.used()
        await connection.execute(begin)
        answer = await work(transaction)
        await transaction.write()
        await self._commit(connection)
        return answer

    async def _commit(self, connection: Any) -> None:
        if connection.is_closed():
            raise Unavailable(f"the connection to {self._place} was lost before the commit")
        try:
            status = await connection.execute("COMMIT")
        except DRIVER as error:
            meant = unknown(error, self._place)
            if meant is not error:
                connection.terminate()  # whatever became of it, nothing else happens on this connection
            raise meant from error
        if status != "COMMIT":
            raise Internal(f"a transaction on {self._place} was undone: it went on after an error")


async def _roll_back(connection: Any) -> None:
    """Make a connection fit for the next transaction, or end it."""
    try:
        if not connection.is_closed() and connection.is_in_transaction():
            await connection.execute("ROLLBACK", timeout=END_WITHIN)
    except DRIVER:
        connection.terminate()
    except BaseException:
        connection.terminate()
        raise


async def _end(connection: Any) -> None:
    try:
        await connection.close(timeout=END_WITHIN)
    except DRIVER:
        connection.terminate()
