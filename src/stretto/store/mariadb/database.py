"""Transactions on one MariaDB database."""

import asyncio
from collections.abc import Callable
from functools import partial
from random import random
from typing import Final, TypeVar

from stretto.model.errors import Unavailable
from stretto.store.mariadb.address import Address
from stretto.store.mariadb.connecting import Connection, Server, collation_of, connected
from stretto.store.mariadb.dialect import MariadbDialect
from stretto.store.mariadb.errors import DRIVER, is_repeated, is_undone, translated, unknown
from stretto.store.mariadb.pool import Pool
from stretto.store.mariadb.spelling import Spelling
from stretto.store.mariadb.transaction import MariadbTransaction, Words
from stretto.store.sql.database import Taken, Work

T = TypeVar("T")

READ: Final = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
)
WRITE: Final = "START TRANSACTION"  # READ COMMITTED, as all that do not say otherwise
PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # seconds before a transaction is repeated


class MariadbDatabase:
    """See `sql.database.Database`. Everything happens in the event loop that uses it first.

    ahead   Milliseconds that are added to the server's clock: only tests do.
    """

    def __init__(self, address: Address, server: Server, ahead: Callable[[], int] = lambda: 0) -> None:
        settings = address.settings
        self.dialect = MariadbDialect(collation_of(server))
        self._words = Words(Spelling(self.dialect))
        self._place = address.place
        self._ahead = ahead
        self._closed = False
        ages = {"idle": settings.connection_idle / 1000, "lifetime": settings.connection_lifetime / 1000}
        self._pool = Pool(partial(self._connect, address), settings.connections, **ages)
        # A beat that hangs would cost the node its groups: sooner than for others, a new connection is made.
        urgent = partial(self._connect, address, answer_within=settings.lock_within)
        self._beats = Pool(urgent, 1, **ages)

    async def look(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, None, work)

    async def read(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, READ, work)

    async def write(self, work: Work[T]) -> T:
        return await self._repeated(self._pool, WRITE, work)

    async def apart(self, work: Work[T]) -> T:
        return await self._repeated(self._beats, None, work)

    async def examine(self) -> None:
        """Nothing: the server says what is wrong with it in any transaction."""

    async def close(self) -> None:
        self._closed = True
        await self._pool.close()
        await self._beats.close()
        await asyncio.sleep(0)  # the loop closes what was ended when it turns

    # -------------------------------------------------------------------------------------- transactions
    async def _connect(self, address: Address, *, answer_within: int | None = None) -> Connection:
        """Who can not be reached now is not tried again here: whoever asked does that, at its leisure."""
        try:
            return await connected(address, answer_within=answer_within)
        except DRIVER as error:
            raise translated(error, self._place) from error

    async def _repeated(self, pool: Pool, begin: str | None, work: Work[T]) -> T:
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

    async def _once(self, pool: Pool, begin: str | None, work: Work[T]) -> T:
        connection = await pool.take()
        try:
            return await self._done(connection, begin, work)
        except Exception:
            if begin is not None:
                await _roll_back(connection)
            raise
        except BaseException:  # cancelled: nobody knows how far it came
            connection.terminate()
            raise
        finally:
            pool.put(connection)

    async def _done(self, connection: Connection, begin: str | None, work: Work[T]) -> T:
        transaction = MariadbTransaction(connection, self._words, self._ahead)
        if begin is None:
            return await work(transaction)
        await connection.say(begin)
        answer = await work(transaction)
        if begin is READ:
            await _roll_back(connection)  # nothing was written, and nothing can go wrong any more
            return answer
        try:
            await connection.say("COMMIT")
        except DRIVER as error:
            if is_undone(error):
                raise
            raise unknown(error, self._place) from error
        return answer


async def _roll_back(connection: Connection) -> None:
    """Make a connection fit for the next transaction, or end it."""
    try:
        if not connection.is_closed():
            await connection.say("ROLLBACK")
    except DRIVER:
        connection.terminate()
    except BaseException:
        connection.terminate()
        raise
