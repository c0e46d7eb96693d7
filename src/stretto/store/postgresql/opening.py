"""Opening a PostgreSQL database: its tables must be there, and be those that the code knows."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from stretto.model.errors import PreconditionFailed
from stretto.ports.store import Store
from stretto.store.postgresql.address import DEFAULTS, address_of
from stretto.store.postgresql.connecting import connected
from stretto.store.postgresql.database import PostgresDatabase
from stretto.store.postgresql.errors import DRIVER, HINTS, refused
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.store import SqlStore
from stretto.store.sql.version import FLOOR, TABLE, Standing, has_floor, standing_of

TABLES: Final = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
VERSION: Final = f"SELECT version_num FROM {TABLE}"
NOT_OURS: Final = (
    "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND ("
    "(relkind = 'r' AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') "
    "AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))) "
    "OR (relkind = 'S' AND NOT has_sequence_privilege(oid, 'USAGE'))) ORDER BY 1"
)


async def open_postgresql(
    url: str,
    settings: DatabaseSettings = DEFAULTS,
    *,
    ahead: Callable[[], int] = lambda: 0,
    create: bool = False,
) -> Store:
    """A store on a database. What stands behind the `?` of the address counts more than the settings."""
    address = address_of(url, settings)
    try:
        connection = await connected(address)
        try:
            if create and (await standing_at(connection))[0] is Standing.EMPTY:
                await import_module("stretto.store.postgresql.upkeep").set_up(url)
            await _check(connection, address.place)
        except BaseException:
            connection.terminate()
            raise
    except (ValueError, *DRIVER) as error:
        raise refused(error, address.place) from error
    return SqlStore(PostgresDatabase(address, connection, ahead), address.settings)


async def open_url(url: str, settings: DatabaseSettings, *, create: bool = False) -> Store:
    """The store at an address."""
    return await open_postgresql(url, settings, create=create)


async def standing_at(connection: Any) -> tuple[Standing, str | None]:
    """How a database stands to the code, and the number of its last migration."""
    tables = {row[0] for row in await connection.fetch(TABLES)}
    found: str | None = await connection.fetchval(VERSION) if TABLE in tables else None
    floor: int | None = await connection.fetchval(FLOOR) if has_floor(tables, found) else None
    return standing_of(tables, found, floor), found


async def _check(connection: Any, place: str) -> None:
    standing, found = await standing_at(connection)
    if not standing.is_usable:
        raise standing.refusal(place, found)
    closed = [row[0] for row in await connection.fetch(NOT_OURS)]
    if closed:
        raise PreconditionFailed(
            f"the user of {place} has not the rights it needs on {', '.join(closed[:5])}",
            hint=HINTS["42501"],
        )
