"""Connections as everything here relies on them."""

from typing import Any, Final

import asyncpg

from stretto.model.errors import PreconditionFailed
from stretto.store.postgresql.address import Address
from stretto.store.settings import DatabaseSettings, Synchronous

OLDEST_SERVER: Final = 14
PLAN_AGAIN_AFTER: Final = 8  # transactions of a connection; then after so many times as many, and so on
PLAN_AGAIN_TIMES: Final = 4
CACHED: Final = 1_024  # statements that each connection keeps ready: more than there are
PLANS: Final = {
    # Each statement has an index made for it, which finds its rows, in its order, one after the other. It is
    # planned seldom. Planned by statistics instead, a table that was small a minute ago would be read from
    # end to end, and rows be locked in any order.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
SET: Final = (
    "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value) "
    "WHERE name <> 'synchronous_commit' OR value = 'off' OR current_setting(name) = 'off'"
)


class Connection(asyncpg.Connection):  # type: ignore[misc]  # the driver has no types
    """A plan is made for tables of the size that they have then, and in tables that are almost empty one
    index is as good as another. Until the server counts their rows by itself, after a minute or more, they
    may have grown a thousandfold. So plans are made again whenever four times as much was done as before.
    """

    _uses = 0
    _planned_at = PLAN_AGAIN_AFTER

    async def used(self) -> None:
        """Before a transaction. Single looks do not count: an idle node does little else, and asks little."""
        self._uses += 1
        if self._uses == self._planned_at:
            self._planned_at *= PLAN_AGAIN_TIMES
            await self.execute("DISCARD PLANS")


async def connected(address: Address, *, answer_within: int | None = None) -> Any:
    """A connection to the server that may write. `answer_within`: milliseconds after which one that does not
    answer at all is given up.
    """
    settings = address.settings
    connection = await asyncpg.connect(
        address.dsn,
        connection_class=Connection,
        timeout=settings.connect_within / 1000,
        command_timeout=(answer_within or settings.statement_within + settings.connect_within) / 1000,
        statement_cache_size=CACHED,
        max_cached_statement_lifetime=0,
        max_cacheable_statement_size=0,
        target_session_attrs=None if "target_session_attrs=" in address.dsn else "read-write",
    )
    try:
        check_version(connection.get_server_version()[:2], address.place)
        wanted = session_of(settings)
        await connection.fetch(SET, list(wanted), list(wanted.values()))
    except BaseException:
        connection.terminate()
        raise
    return connection


def session_of(settings: DatabaseSettings) -> dict[str, str]:
    """What is set on each connection. A durable commit is asked for where the server has none itself."""
    return {
        "default_transaction_isolation": "read committed",
        "lock_timeout": f"{settings.lock_within}ms",
        "idle_in_transaction_session_timeout": f"{settings.idle_in_transaction}ms",
        "statement_timeout": f"{settings.statement_within}ms",
        "synchronous_commit": "on" if settings.synchronous is Synchronous.DURABLE else "off",
        **PLANS,
    }


def check_version(version: tuple[int, ...], place: str) -> None:
    """Refuse a server that lacks what the statements need."""
    if version[0] < OLDEST_SERVER:
        raise PreconditionFailed(
            f"the server of {place} is PostgreSQL {'.'.join(map(str, version))}: "
            f"{OLDEST_SERVER} or newer is needed",
            hint="upgrade the server",
        )
