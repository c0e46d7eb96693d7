"""T13: which instances may go, and their rows, the deepest first.

What an instance consists of is read piece by piece, and never more of it than one call deletes: a loop may
have a million iterations. Its own runs are checked first, everything below just before it goes.

An instance that does not go at once is hidden with its first rows: a restart, which takes the same lock,
does not find it any more. Before that all failures below it are looked at, since one that stands may stand
for ever; what else is in the way goes away by itself.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from stretto.engine.records import RunKey
from stretto.store.sql.blocking import blocked_below, blocks
from stretto.store.sql.database import Transaction
from stretto.store.sql.deleting import Doomed, rows_of_run
from stretto.store.sql.lengths import number_of
from stretto.store.sql.rows.keys import of_run, run_from
from stretto.store.sql.statement import RUN_KEY, Row, Statement, given, names_of

PAGE: Final = 100  # candidates that are looked at with one statement

CANDIDATES: Final = Statement(
    lambda d: (
        "SELECT ended_at, instance_id FROM run WHERE workflow_id = :workflow_id AND ended_at < :before "
        f"AND {d.beyond(['ended_at', 'instance_id'], ['last_end', 'last_id'], '>')} "
        "ORDER BY ended_at, instance_id LIMIT :most"
    )
)
_KEY: Final = names_of(RUN_KEY)
_STATE: Final = f"{_KEY}, phase, failure, ended_at, parent_workflow_id, listed_at"
RUNS: Final = Statement(
    f"SELECT {_STATE} FROM run WHERE workflow_id = :workflow_id AND instance_id = :instance_id "
    "ORDER BY run_id"
)
UNFINISHED: Final = Statement(
    "SELECT 1 FROM run WHERE root_workflow_id = :workflow_id AND root_instance_id = :instance_id "
    "AND root_run_id = :run_id AND phase = 'LIVE' LIMIT 1"
)
ITERATIONS: Final = Statement(
    f"SELECT {_STATE} FROM run WHERE root_workflow_id = :workflow_id AND root_instance_id = :instance_id "
    "AND root_run_id = :run_id AND phase = 'ENDED' LIMIT :most"
)
CHILDREN: Final = Statement(
    f"SELECT {_STATE} FROM run WHERE parent_workflow_id = :workflow_id AND parent_instance_id = :instance_id "
    f"AND parent_run_id = :run_id ORDER BY {_KEY}"
)
NAMED: Final = tuple(
    Statement(f"SELECT 1 FROM outbox WHERE {column} = :digest LIMIT 1") for column in ("about", "about_too")
)
HELD: Final = tuple(
    Statement(f"SELECT 1 FROM {table} WHERE {given(RUN_KEY)} LIMIT 1")
    for table in ("permit", "signal_wait", "work")
)
HIDE: Final = Statement(
    "UPDATE run SET listed_at = NULL WHERE workflow_id = :workflow_id AND instance_id = :instance_id"
)


class Limit(NamedTuple):
    """What may go: what ended before a time, and not more rows than this."""

    before: int
    most: int


class Stays(Exception):
    """Something below an instance must stay, and so must the instance."""


async def prune_instances(tx: Transaction, workflow_id: str, limit: Limit) -> int:
    """Delete old instances of a workflow, the ones that ended first; at most so many rows."""
    doomed = Doomed()
    seen: set[int] = set()
    async for instance_id in _candidates(tx, workflow_id, limit.before):
        if len(doomed) >= limit.most:
            break
        if instance_id not in seen:
            seen.add(instance_id)
            await _add_instance(tx, workflow_id, instance_id, limit, doomed)
    await doomed.delete(tx)
    return len(doomed)


async def _candidates(tx: Transaction, workflow_id: str, before: int) -> AsyncIterator[int]:
    last: tuple[int, int] = (-1, -1)
    while True:
        rows = await tx.all(
            CANDIDATES,
            workflow_id=workflow_id,
            before=before,
            last_end=last[0],
            last_id=last[1],
            most=PAGE,
        )
        for _end, instance_id in rows:
            yield instance_id
        if len(rows) < PAGE:
            return
        last = rows[-1][0], rows[-1][1]


async def _add_instance(
    tx: Transaction, workflow_id: str, instance_id: int, limit: Limit, doomed: Doomed
) -> None:
    """The rows of an instance that go now, unless something of it must stay."""
    runs = await tx.all(RUNS, workflow_id=workflow_id, instance_id=instance_id)
    if any(row[6] is not None for row in runs):
        return  # a step waited for it: it goes with that step's instance
    found: list[Row] = []
    try:
        for row in runs:
            await _check(tx, row, limit)
        for row in runs:
            async for each in _below(tx, run_from(row), limit):
                found.append(each)
                if len(doomed) + len(found) >= limit.most:
                    await _hide(tx, runs)
                    doomed.add(found)
                    return
    except Stays:
        return
    doomed.add(found)


async def _hide(tx: Transaction, runs: Sequence[Row]) -> None:
    """The rest of an instance goes later."""
    if runs[0][7] is None:
        return  # it is hidden
    for row in runs:
        if await blocked_below(tx, run_from(row)):
            raise Stays
    await tx.run(HIDE, workflow_id=runs[0][0], instance_id=runs[0][1])


async def _below(tx: Transaction, run: RunKey, limit: Limit) -> AsyncIterator[Row]:
    """The rows of a run after everything in it and under it. Each iteration has a row at least, so that no
    more of them need be read than rows can go; in which order does not matter.
    """
    for iteration in await tx.all(ITERATIONS, **of_run(run), most=limit.most):
        await _check(tx, iteration, limit)
        async for row in _of_children(tx, run_from(iteration), limit):
            yield row
        async for row in rows_of_run(tx, run_from(iteration)):
            yield row
    async for row in _of_children(tx, run, limit):
        yield row
    async for row in rows_of_run(tx, run):
        yield row


async def _of_children(tx: Transaction, run: RunKey, limit: Limit) -> AsyncIterator[Row]:
    for child in await tx.all(CHILDREN, **of_run(run)):
        await _check(tx, child, limit)
        async for row in _below(tx, run_from(child), limit):
            yield row


async def _check(tx: Transaction, row: Row, limit: Limit) -> None:
    """Is it over, long enough, and named by nobody?"""
    run, (phase, failure, ended_at) = run_from(row), row[3:6]
    if phase != "ENDED" or ended_at >= limit.before or await blocks(tx, run, failure):
        raise Stays
    if await tx.one(UNFINISHED, **of_run(run)) is not None:
        raise Stays
    digest = number_of(str(run))
    for statement in NAMED:
        if await tx.one(statement, digest=digest) is not None:
            raise Stays
    for statement in HELD:
        if await tx.one(statement, **of_run(run)) is not None:
            raise Stays
