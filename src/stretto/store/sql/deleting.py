"""Rows that are about to go."""

from collections.abc import AsyncIterator, Iterable
from typing import Final

from stretto.engine.records import RunKey
from stretto.store.sql.database import Transaction
from stretto.store.sql.large import DELETE_LARGE
from stretto.store.sql.rows.keys import of_run
from stretto.store.sql.statement import ATTEMPT_KEY, RUN_KEY, Bulk, Row, Statement, Way, given, names_of

ATTEMPTS: Final = Statement(f"SELECT {names_of(ATTEMPT_KEY)} FROM attempt WHERE {given(RUN_KEY)}")
LOOPS: Final = Statement(f"SELECT {names_of(ATTEMPT_KEY)} FROM run_loop WHERE {given(RUN_KEY)}")

_KEYS: Final = {"attempt": ATTEMPT_KEY, "run_loop": ATTEMPT_KEY, "run": RUN_KEY}
DELETES: Final = {
    table: Bulk(way=Way.DELETE, table=table, key=len(key), fields=key) for table, key in _KEYS.items()
}
# What goes with a run, and is not counted.
DELETE_TAGS: Final = Bulk(way=Way.DELETE, table="run_tag", key=3, fields=RUN_KEY)
DELETE_APPROVALS: Final = Bulk(way=Way.DELETE, table="approval", key=3, fields=RUN_KEY)


async def rows_of_run(tx: Transaction, run: RunKey) -> AsyncIterator[Row]:
    """The rows of a run, its own last: (table, key ...)."""
    for row in await tx.all(ATTEMPTS, **of_run(run)):
        yield ("attempt", *row)
    for row in await tx.all(LOOPS, **of_run(run)):
        yield ("run_loop", *row)
    yield ("run", *run)


class Doomed:
    """Rows that were found, to be deleted together."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[Row]) -> None:
        self._rows += rows

    async def delete(self, tx: Transaction) -> None:
        for table, bulk in DELETES.items():
            keys = sorted(tuple(row[1:]) for row in self._rows if row[0] == table)
            await tx.bulk(bulk, keys)
            if table == "run":
                await tx.bulk(DELETE_LARGE, keys)
                await tx.bulk(DELETE_TAGS, keys)
                await tx.bulk(DELETE_APPROVALS, keys)
