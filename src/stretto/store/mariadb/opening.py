"""Opening a MariaDB database: its tables must be there, and be those that the code knows."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from stretto.model.errors import PreconditionFailed
from stretto.ports.store import Store
from stretto.store.mariadb.address import DEFAULTS, Address, address_of
from stretto.store.mariadb.connecting import Connection, connected
from stretto.store.mariadb.database import MariadbDatabase
from stretto.store.mariadb.errors import DRIVER, refused
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql.store import SqlStore
from stretto.store.sql.version import FLOOR, TABLE, Standing, has_floor, standing_of

TABLES: Final = (
    "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1"
)
FOUND: Final = f"SELECT version_num FROM {TABLE}"
SAFETY: Final = (
    "SELECT @@global.innodb_flush_log_at_trx_commit, @@global.log_bin, @@global.sync_binlog, @@binlog_format"
)
TRIED: Final = (  # they find nothing to do, but only who has the right to do it is told so
    "SELECT name FROM counter WHERE FALSE",
    "INSERT INTO counter (name, next_value) SELECT name, next_value FROM counter WHERE FALSE",
    "UPDATE counter SET next_value = 0 WHERE FALSE",
    "DELETE FROM counter WHERE FALSE",
)


async def open_mariadb(
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
                await import_module("stretto.store.mariadb.upkeep").set_up(url)
            await _check(connection, address)
        finally:
            await connection.close()
    except DRIVER as error:
        raise refused(error, address.place) from error
    return SqlStore(MariadbDatabase(address, connection.server, ahead), address.settings)


async def open_url(url: str, settings: DatabaseSettings, *, create: bool = False) -> Store:
    """The store at an address."""
    return await open_mariadb(url, settings, create=create)


async def standing_at(connection: Connection) -> tuple[Standing, str | None]:
    """How a database stands to the code, and the number of its last migration. One whose first upgrade was
    cut short has the table for that number, and no number: it counts as empty.
    """
    tables = {row[0] for row in (await connection.execute(TABLES)).rows}
    rows = (await connection.execute(FOUND)).rows if TABLE in tables else ()
    found: str | None = rows[0][0] if rows else None
    if TABLE in tables and found is None:
        return Standing.EMPTY, None
    floors = (await connection.execute(FLOOR)).rows if has_floor(tables, found) else ()
    return standing_of(tables, found, floors[0][0] if floors else None), found


async def _check(connection: Connection, address: Address) -> None:
    standing, found = await standing_at(connection)
    if not standing.is_usable:
        raise standing.refusal(address.place, found)
    await _check_safety(connection, address)
    for statement in TRIED:
        await connection.execute(statement)


async def _check_safety(connection: Connection, address: Address) -> None:
    """Whether the server keeps what it said is stored, and can work with our transactions."""
    ((flush, binlog, sync_binlog, form),) = (await connection.execute(SAFETY)).rows
    if binlog and form == "STATEMENT":
        raise PreconditionFailed(
            f"the server of {address.place} logs statements, which it can not do for READ COMMITTED",
            hint="set binlog_format to ROW or MIXED on the server",
        )
    if address.settings.synchronous is Synchronous.RELAXED:
        return
    if flush not in {1, 3} or (binlog and not sync_binlog):
        name = "sync_binlog" if flush in {1, 3} else "innodb_flush_log_at_trx_commit"
        raise PreconditionFailed(
            f"the server of {address.place} may forget what it said is stored, if its machine loses power: "
            f"{name} is {sync_binlog if flush in {1, 3} else flush}",
            hint=f"set {name} to 1 on the server, or add synchronous=relaxed to the address",
        )
