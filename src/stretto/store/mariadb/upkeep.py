"""What an operator does with a MariaDB database: `stretto db upgrade | check | vacuum`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec
from asyncmy.errors import MySQLError

from stretto.model.errors import PreconditionFailed
from stretto.store.mariadb.address import Address, address_of
from stretto.store.mariadb.connecting import Connection, connected
from stretto.store.mariadb.errors import DRIVER, refused
from stretto.store.mariadb.opening import TABLES, standing_at
from stretto.store.sql.migrations import made_tables, statements_since
from stretto.store.sql.version import Standing

T = TypeVar("T")

LOCK: Final = "SELECT GET_LOCK(MD5(CONCAT('stretto db upgrade ', DATABASE())), 86400)"
A_DAY: Final = 86_400_000  # milliseconds
MADE_BEFORE: Final = frozenset({1050, 1060, 1061})  # a table, a column, an index of this name is there


def upgrade(url: str) -> None:
    """Make the tables, or bring them up to date. Of two at once, the second waits and finds nothing to do."""
    asyncio.run(set_up(url))


async def set_up(url: str) -> None:
    """The same, for whoever has an event loop."""
    await _with(url, _upgrade)


def check(url: str) -> tuple[Standing, str | None]:
    """How the database stands to the code, and the number of its last migration."""
    return asyncio.run(_with(url, _check))


def vacuum(url: str) -> None:
    """Give the room of deleted rows back to the disk, and count rows anew. Nobody waits long meanwhile."""
    asyncio.run(_with(url, _vacuum))


async def _with(url: str, job: Callable[[Address], Awaitable[T]]) -> T:
    """Upkeep takes the time it takes, and waits for whoever is in its way."""
    address = address_of(url)
    patient = msgspec.structs.replace(
        address.settings, statement_within=A_DAY, lock_within=A_DAY, idle_in_transaction=A_DAY
    )
    try:
        return await job(address._replace(settings=patient))
    except DRIVER as error:
        raise refused(error, address.place) from error


async def _upgrade(address: Address) -> None:
    if await _refuse(address, but={Standing.EMPTY, Standing.TOO_OLD}) is Standing.NEWER:
        return  # whoever made it newer knows more of it
    await _on_connection(address, _migrate)


async def _migrate(connection: Connection) -> None:
    """One after the other. A statement that changes a table can not be undone here: of a first upgrade that
    was cut short, the tables are made anew; what a later one has made already is passed over.
    """
    await connection.execute(LOCK)
    _standing, found = await standing_at(connection)
    kind = "mariadb" if connection.server.is_mariadb else "mysql"
    if found is None:
        there = {row[0] for row in (await connection.execute(TABLES)).rows}
        for table in sorted(there & made_tables(kind)):
            await connection.execute(f"DROP TABLE {table}")
    for statement in statements_since(found, kind):
        try:
            await connection.execute(statement)
        except MySQLError as error:
            if error.args[0] not in MADE_BEFORE:
                raise


async def _check(address: Address) -> tuple[Standing, str | None]:
    return await _on_connection(address, standing_at)


async def _vacuum(address: Address) -> None:
    await _refuse(address, but=set())

    async def work(connection: Connection) -> None:
        for (table,) in (await connection.execute(TABLES)).rows:
            for _table, _what, kind, message in (await connection.execute(f"OPTIMIZE TABLE `{table}`")).rows:
                if kind.lower() == "error":
                    raise PreconditionFailed(
                        f"the table {table} of {address.place} can not be made smaller: {message}",
                        hint="look into the error log of the server, and at its disk",
                    )

    await _on_connection(address, work)


async def _refuse(address: Address, but: set[Standing]) -> Standing:
    """What can not be used as it is, but for those that the caller does something about."""
    standing, found = await _check(address)
    if not standing.is_usable and standing not in but:
        raise standing.refusal(address.place, found)
    return standing


async def _on_connection(address: Address, work: Callable[[Connection], Awaitable[T]]) -> T:
    connection = await connected(address)
    try:
        return await work(connection)
    finally:
        await connection.close()
