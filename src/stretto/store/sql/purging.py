"""The last of a deleted workflow."""

from collections.abc import AsyncIterator
from typing import Final

from stretto.engine.inline_ids import Loop, inline_prefix
from stretto.engine.records import RunKey
from stretto.store.sql.database import Transaction
from stretto.store.sql.deleting import Doomed, rows_of_run
from stretto.store.sql.rows.keys import of_run, run_from
from stretto.store.sql.statement import RUN_KEY, Bulk, Field, Row, Statement, Way, ints, names_of, texts
from stretto.store.sql.workflow_lists import LAST

LOCK: Final = Statement(
    lambda d: (
        "SELECT internal_id FROM workflow "
        f"WHERE workflow_id = :workflow_id AND state = 'DELETED' {d.exclusive}"
    )
)
_WORKFLOW: Final = texts("workflow_id")
PARTS: Final[dict[str, tuple[Field, ...]]] = {
    "workflow_version": (*_WORKFLOW, *ints("version_id")),
    "properties": (*_WORKFLOW, *ints("create_time")),
    "workflow_change": (*_WORKFLOW, *ints("place")),
    "outcome": (*_WORKFLOW, *ints("hour")),
    "breakpoint": (
        *texts("workflow_id", "step_id"),
        *ints("version_id", "instance_id", "run_id", "attempt_no"),
    ),
}
FIND: Final = {
    table: Statement(
        f"SELECT DISTINCT {names_of(key)} FROM {table} WHERE workflow_id = :workflow_id "
        f"ORDER BY {names_of(key)} LIMIT :most"
    )
    for table, key in PARTS.items()
}
DELETE: Final = {
    table: Bulk(way=Way.DELETE, table=table, key=len(key), fields=key) for table, key in PARTS.items()
}
INLINE_BREAKPOINTS: Final = Statement(
    f"SELECT {names_of(PARTS['breakpoint'])} FROM breakpoint "
    "WHERE workflow_id >= :first AND workflow_id < :last "
    f"ORDER BY {names_of(PARTS['breakpoint'])} LIMIT :most"
)
RUNS: Final = Statement(
    f"SELECT {names_of(RUN_KEY)} FROM run WHERE workflow_id = :workflow_id "
    "ORDER BY instance_id, run_id LIMIT :most"
)
ITERATIONS: Final = Statement(
    f"SELECT {names_of(RUN_KEY)} FROM run WHERE root_workflow_id = :workflow_id "
    "AND root_instance_id = :instance_id AND root_run_id = :run_id LIMIT :most"
)
NO_TAGS: Final = Statement("DELETE FROM workflow_tag WHERE workflow_id = :workflow_id")
GONE: Final = Statement(
    "UPDATE workflow SET state = 'GONE', properties = '{}', owner = NULL, activated_by = NULL, "
    "activate_time = NULL, active_version = 0, latest_version = 0 WHERE workflow_id = :workflow_id"
)


async def purge(tx: Transaction, workflow_id: str, most: int) -> int:
    """Delete some rows of a deleted workflow; its own row goes last, and its id is free then."""
    row = await tx.one(LOCK, workflow_id=workflow_id)
    if row is None:
        return 0
    count = await _purge_parts(tx, workflow_id, row[0], most)
    doomed = Doomed()
    async for each in _rows_of_runs(tx, workflow_id, most - count):
        if count + len(doomed) >= most:
            break
        doomed.add([each])
    await doomed.delete(tx)
    count += len(doomed)
    if count < most:
        await tx.run(NO_TAGS, workflow_id=workflow_id)
        await tx.run(GONE, workflow_id=workflow_id)
        count += 1
    return count


async def _purge_parts(tx: Transaction, workflow_id: str, internal_id: int, most: int) -> int:
    count = 0
    for table, find in FIND.items():
        keys = [tuple(row) for row in await tx.all(find, workflow_id=workflow_id, most=most - count)]
        await tx.bulk(DELETE[table], keys)
        count += len(keys)
    for loop in Loop:
        prefix = inline_prefix(loop, internal_id)
        found = await tx.all(INLINE_BREAKPOINTS, first=prefix, last=prefix + LAST, most=most - count)
        await tx.bulk(DELETE["breakpoint"], [tuple(row) for row in found])
        count += len(found)
    return count


async def _rows_of_runs(tx: Transaction, workflow_id: str, most: int) -> AsyncIterator[Row]:
    """The rows of its runs with their iterations, as many as can go now."""
    for row in await tx.all(RUNS, workflow_id=workflow_id, most=most):
        run = run_from(row)
        for iteration in await tx.all(ITERATIONS, **of_run(run), most=most):
            async for each in rows_of_run(tx, RunKey(*iteration)):
                yield each
        async for each in rows_of_run(tx, run):
            yield each
