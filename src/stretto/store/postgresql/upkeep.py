"""What an operator does with a PostgreSQL database: `stretto db upgrade | check | vacuum`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import msgspec

from stretto.store.postgresql.address import Address, address_of
from stretto.store.postgresql.connecting import connected
from stretto.store.postgresql.errors import DRIVER, refused
from stretto.store.postgresql.opening import standing_at
from stretto.store.sql.migrations import statements_since
from stretto.store.sql.version import Standing

T = TypeVar("T")

LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('stretto db upgrade'))"
OWN_TABLES: Final = (
    "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() "
    "AND pg_has_role(tableowner, 'USAGE') ORDER BY 1"
)
A_DAY: Final = 86_400_000  # milliseconds


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
    """Make the room of deleted rows free for new ones, and count rows anew. Nobody waits meanwhile."""
    asyncio.run(_with(url, _vacuum))


async def _with(url: str, job: Callable[[Address], Awaitable[T]]) -> T:
    """Upkeep takes the time it takes, and waits for whoever is in its way."""
    address = address_of(url)
    patient = msgspec.structs.replace(
        address.settings, statement_within=A_DAY, lock_within=A_DAY, idle_in_transaction=A_DAY
    )
    try:
        return await job(address._replace(settings=patient))
    except (ValueError, *DRIVER) as error:
        raise refused(error, address.place) from error


async def _upgrade(address: Address) -> None:
    if await _refuse(address, but={Standing.EMPTY, Standing.TOO_OLD}) is Standing.NEWER:
        return  # whoever made it newer knows more of it
    await _on_connection(address, _migrate)


async def _migrate(connection: Any) -> None:
    """All migrations that are missing, or none."""
    async with connection.transaction():
        await connection.execute(LOCK)
        _standing, found = await standing_at(connection)
        for statement in statements_since(found, "postgresql"):
            await connection.execute(statement)


async def _check(address: Address) -> tuple[Standing, str | None]:
    return await _on_connection(address, standing_at)


async def _vacuum(address: Address) -> None:
    await _refuse(address, but=set())

    async def work(connection: Any) -> None:
        tables = [row[0] for row in await connection.fetch(OWN_TABLES)]
        await connection.execute(f"VACUUM (ANALYZE) {', '.join(tables)}")

    await _on_connection(address, work)


async def _refuse(address: Address, but: set[Standing]) -> Standing:
    """What can not be used as it is, but for those that the caller does something about."""
    standing, found = await _check(address)
    if not standing.is_usable and standing not in but:
        raise standing.refusal(address.place, found)
    return standing


async def _on_connection(address: Address, work: Callable[[Any], Awaitable[T]]) -> T:
    connection = await connected(address)
    try:
        return await work(connection)
    finally:
        connection.terminate()
