"""Attempts that a pool on some node may take."""

from typing import Final

from stretto.engine.records import AttemptKey
from stretto.ports.groups import NodeState
from stretto.ports.paging import Slice
from stretto.ports.rows import NodeId
from stretto.ports.work import FreeWork, PoolUse, Work, WorkPage, WorkSelection
from stretto.store.sql.database import Transaction
from stretto.store.sql.fence import node_state
from stretto.store.sql.lengths import NAME_LENGTH, fitting
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.rows.keys import attempt_from, checked_attempt, of_attempt
from stretto.store.sql.statement import (
    ATTEMPT_KEY,
    Bulk,
    Dialect,
    Row,
    Statement,
    Way,
    given,
    ints,
    names_of,
    texts,
)

KEY: Final = names_of(ATTEMPT_KEY)
ROW: Final = f"{KEY}, launch, pool, group_id, since, take, taken_by"
FREE: Final = "FROM work WHERE pool = :pool AND taken_by IS NULL"


def _oldest_first(dialect: Dialect) -> str:
    """With the column that is null, PostgreSQL sees that the index is in this order; MariaDB would sort."""
    null = "taken_by, " if dialect.name == "postgresql" else ""
    return f"ORDER BY {null}since, {KEY}"


OLDEST: Final = Statement(lambda d: f"SELECT {ROW} {FREE} {_oldest_first(d)} LIMIT 1 {d.free}")
NAMED: Final = Statement(lambda d: f"SELECT {ROW} {FREE} AND {given(ATTEMPT_KEY)} {d.free}")
SINCE: Final = Statement(lambda d: f"SELECT {ROW} {FREE} AND since < :before {_oldest_first(d)} LIMIT :most")
TAKE: Final = Statement(f"UPDATE work SET taken_by = :node, take = :take WHERE {given(ATTEMPT_KEY)}")
ALL: Final = Listing(ROW, "work WHERE pool = :pool", [field.name for field in ATTEMPT_KEY])
# From one pool to the next: each may have much work.
NEXT_POOL: Final = Statement("SELECT MIN(pool) FROM work WHERE pool > :after")
READY: Final = Statement(f"SELECT COUNT(*) FROM (SELECT 1 AS one {FREE} LIMIT :most) seen")
READY_SINCE: Final = Statement(lambda d: f"SELECT since {FREE} {_oldest_first(d)} LIMIT 1")
BUSY: Final = Statement(
    "SELECT COUNT(*) FROM "
    "(SELECT 1 AS one FROM work WHERE pool = :pool AND taken_by IS NOT NULL LIMIT :most) seen"
)
PUT_WORK: Final = Bulk(
    way=Way.PUT,
    table="work",
    key=5,
    fields=(*ATTEMPT_KEY, *ints("launch"), *texts("pool"), *ints("group_id", "take"), *texts("taken_by")),
    common=ints("since"),
    changes=frozenset({"launch", "pool", "group_id", "take", "taken_by", "since"}),
)


class SqlPools(Part):
    """See `ports.work`."""

    async def take_work(self, node: NodeId, pool: str, attempt: AttemptKey | None = None) -> Work | None:
        async def work(tx: Transaction) -> Work | None:
            if await node_state(tx, node) is not NodeState.ALIVE:
                return None
            if attempt is None:
                row = await tx.one(OLDEST, pool=pool)
            else:
                row = await tx.one(NAMED, pool=pool, **of_attempt(attempt))
            if row is None:
                return None
            found = work_from((*row[:9], row[9] + 1, node))
            await tx.run(TAKE, node=node, take=found.take, **of_attempt(found.attempt))
            return found

        return await self._db.write(work)

    async def pool_work(self, selection: WorkSelection) -> Slice[Work]:
        async def work(tx: Transaction) -> Slice[Work]:
            match selection:
                case FreeWork():
                    return Slice(elements=tuple(map(work_from, await tx.all(SINCE, **selection._asdict()))))
                case WorkPage(pool, cut):
                    return (await ALL.page(tx, cut, pool=pool)).of(work_from)

        return await (self._db.look(work) if isinstance(selection, FreeWork) else self._db.read(work))

    async def pools(self, *, most: int = 10_000) -> list[PoolUse]:
        async def work(tx: Transaction) -> list[PoolUse]:
            found: list[PoolUse] = []
            pool = ""
            while pool := (await tx.all(NEXT_POOL, after=pool))[0][0]:
                ((ready,),) = await tx.all(READY, pool=pool, most=most)
                ((busy,),) = await tx.all(BUSY, pool=pool, most=most)
                oldest = await tx.one(READY_SINCE, pool=pool)
                found.append(PoolUse(pool=pool, ready=ready, busy=busy, oldest=oldest[0] if oldest else None))
            return found

        return await self._db.read(work)


def work_from(columns: Row) -> Work:
    """Work, from the columns of `ROW`."""
    node = columns[10]
    return Work(
        attempt=attempt_from(columns),
        launch=columns[5],
        pool=columns[6],
        group=columns[7],
        since=columns[8],
        take=columns[9],
        taken_by=None if node is None else NodeId(node),
    )


def work_values(work: Work) -> Row:
    """A row of `PUT_WORK`: free, and never taken."""
    key = checked_attempt(work.attempt)
    pool = fitting(work.pool, NAME_LENGTH, "the name of a pool")
    return (*key.run, key.step_id, key.number, work.launch, pool, work.group, 0, None)
