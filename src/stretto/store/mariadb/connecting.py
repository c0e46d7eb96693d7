"""Connections as everything here relies on them."""

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import asyncmy
from asyncmy.constants.CLIENT import FOUND_ROWS
from asyncmy.constants.FIELD_TYPE import NEWDECIMAL
from asyncmy.converters import conversions

from stretto.model.errors import PreconditionFailed
from stretto.ports.failures import Poison
from stretto.store.mariadb.address import Address
from stretto.store.mariadb.errors import DRIVER, is_lost
from stretto.store.mariadb.weight import VALUE, WIDEST, length_of
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.statement import Row

OLDEST_MARIADB: Final = (10, 6)  # JSON_TABLE, SKIP LOCKED
OLDEST_MYSQL: Final = (8, 0, 19)
CACHED: Final = 256  # statements that each connection keeps ready
HEADROOM: Final = 4_096  # bytes of a packet that are not values
VERSION: Final = re.compile(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)")
LIMITS: Final = "SELECT @@max_allowed_packet, @@auto_increment_increment"
DECODING: Final = {**conversions, NEWDECIMAL: int}  # there are no fractions: only sums of numbers

logging.getLogger("asyncmy").addHandler(logging.NullHandler())  # it would print what it wants to be logged


class Server(NamedTuple):
    """What answers."""

    is_mariadb: bool
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{'MariaDB' if self.is_mariadb else 'MySQL'} {'.'.join(map(str, self.version))}"


class Answer(NamedTuple):
    """What a statement did. `rows`: those found; `hits`: how many were found or written; `first_id`: the
    first number that was drawn.
    """

    rows: Sequence[Row]
    hits: int
    first_id: int


class Connection:
    """A connection of the driver, its limits, and whether it can still be used.

    lost   It was not we who ended it.
    """

    def __init__(self, driver: Any, answer_within: float) -> None:
        self.driver = driver
        self.server = server_of(driver.get_server_info())
        self.longest = 0  # bytes of a packet
        self.id_step = 1
        self.lost = False
        self._answer_within = answer_within
        self._ended = False
        self._cursor = driver.cursor()
        self._transport = driver._transport  # noqa: SLF001 - it has no other name

    async def execute(self, text: str, values: Sequence[Any] = ()) -> Answer:
        """Prepare it, if that was not done before, and run it."""
        return await self._said(self._cursor.execute(text, values))

    async def say(self, text: str) -> None:
        """Several statements at once, without values and without answers."""

        async def saying() -> None:
            await self._cursor.execute(text)
            while await self._cursor.nextset():
                pass

        await self._said(saying())

    def is_closed(self) -> bool:
        return self._ended or not self.driver.connected

    def terminate(self) -> None:
        """End it at once. The driver would wait until everything is sent, be it for ever."""
        self._ended = True
        self.driver.close()
        self._transport.abort()

    async def close(self) -> None:
        """Say goodbye, and end it."""
        try:
            async with asyncio.timeout(1):
                await self.driver.ensure_closed()
        except DRIVER:
            self.terminate()
            await asyncio.sleep(0)  # the loop closes it when it turns

    async def _said(self, saying: Any) -> Answer:
        try:
            async with asyncio.timeout(self._answer_within):
                await saying
        except (ValueError, OverflowError) as error:  # before anything was sent
            raise Poison(f"the database refuses a value: {error}") from error
        except DRIVER as error:
            if is_lost(error):
                self.lost = True
                self.terminate()
            raise
        cursor = self._cursor
        rows: Sequence[Row] = () if cursor.description is None else await cursor.fetchall()
        return Answer(rows, cursor.rowcount, cursor.lastrowid)

    def fits(self, values: Sequence[Any], most: int | None = None) -> bool:
        """Whether the server reads so much at once. If not, it would close the connection. `most`: a number
        of bytes that the values surely do not exceed, if the caller knows one.
        """
        if most is None:
            most = sum(WIDEST * len(value) if isinstance(value, str) else VALUE for value in values)
        room = self.longest - HEADROOM
        return most <= room or length_of(values) <= room


async def connected(address: Address, *, answer_within: int | None = None) -> Connection:
    """A connection to a server that is good enough. `answer_within`: milliseconds after which one that does
    not answer at all is given up.
    """
    settings = address.settings
    try:
        async with asyncio.timeout(settings.connect_within / 1000):
            driver = await asyncmy.connect(
                user=address.user,
                password=address.password,
                host=address.host,
                port=address.port,
                database=address.database,
                unix_socket=address.unix_socket,
                ssl=address.tls,
                charset="utf8mb4",
                autocommit=True,
                client_flag=FOUND_ROWS,
                conv=DECODING,
                stmt_cache_size=CACHED,
                program_name="stretto",
            )
    except DRIVER:
        raise
    except Exception as error:  # the driver does not expect just anything to answer
        raise ConnectionError(f"what answers there is no MariaDB ({error!r})") from error
    connection = Connection(
        driver, (answer_within or settings.statement_within + settings.connect_within) / 1000
    )
    try:
        check_version(connection.server, address.place)
        await connection.say(session_of(connection.server, settings))
        ((connection.longest, connection.id_step),) = (await connection.execute(LIMITS)).rows
    except BaseException:
        connection.terminate()
        raise
    return connection


def session_of(server: Server, settings: DatabaseSettings) -> str:
    """What is set on each connection. MySQL has no limit for an idle transaction alone: there, a connection
    that is idle for so long is closed, whether or not it is in one.
    """
    collation = collation_of(server)
    lock = max(settings.lock_within // 1000, 1)
    variables = {
        "sql_mode": "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
        "time_zone": "'+00:00'",
        "innodb_lock_wait_timeout": lock,
        "lock_wait_timeout": lock,
    }
    idle = max(settings.idle_in_transaction // 1000, 1)
    if server.is_mariadb:
        variables |= {
            "idle_transaction_timeout": idle,
            "wait_timeout": max(settings.connection_idle // 1000, 1),
            "max_statement_time": settings.statement_within / 1000,
            # Each statement has an index made for it. These would read whole lists, to find a part of them.
            "in_predicate_conversion_threshold": 0,
            "optimizer_switch": "'index_merge=off,rowid_filter=off,loosescan=off,materialization=off'",
            "join_cache_level": 0,
        }
    else:
        variables |= {"wait_timeout": idle, "max_execution_time": settings.statement_within}
    return "; ".join(
        [
            f"SET NAMES utf8mb4 COLLATE {collation}",
            "SET SESSION " + ", ".join(f"{name} = {value}" for name, value in variables.items()),
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        ]
    )


def collation_of(server: Server) -> str:
    """The one that compares byte by byte, and trailing spaces, too."""
    return "utf8mb4_nopad_bin" if server.is_mariadb else "utf8mb4_0900_bin"


def server_of(text: str) -> Server:
    """From what a server says of itself: `5.5.5-10.11.6-MariaDB-1`, `8.0.36`."""
    found = VERSION.match(text)
    return Server("MariaDB" in text, tuple(map(int, found.groups())) if found else (0,))


def check_version(server: Server, place: str) -> None:
    """Refuse a server that lacks what the statements need."""
    oldest = OLDEST_MARIADB if server.is_mariadb else OLDEST_MYSQL
    if server.version < oldest:
        mariadb, mysql = (".".join(map(str, version)) for version in (OLDEST_MARIADB, OLDEST_MYSQL))
        raise PreconditionFailed(
            f"the server of {place} is {server}: MariaDB {mariadb} or MySQL {mysql}, or newer, is needed",
            hint="upgrade the server",
        )
