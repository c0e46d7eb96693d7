"""What may be forgotten."""

from collections.abc import Mapping
from typing import Final

from stretto.ports.retention import Aged
from stretto.store.sql.database import Transaction
from stretto.store.sql.part import Part
from stretto.store.sql.pruning import Limit, prune_instances
from stretto.store.sql.purging import purge
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts

LOCK: Final = Statement(
    lambda d: f"SELECT 1 FROM workflow WHERE workflow_id = :workflow_id AND state = 'ALIVE' {d.exclusive}"
)
PRUNABLE: Final = Statement(
    "SELECT workflow_id FROM workflow WHERE state = 'ALIVE' AND workflow_id > :after AND EXISTS "
    "(SELECT 1 FROM run WHERE run.workflow_id = workflow.workflow_id AND ended_at < :before) "
    "ORDER BY workflow_id LIMIT :most"
)
GROUPS: Final = Statement(
    "SELECT group_id, (SELECT seq FROM change_log WHERE change_log.group_id = flow_group.group_id "
    "ORDER BY seq DESC LIMIT 1), (SELECT MIN(seq) FROM sink WHERE sink.group_id = flow_group.group_id) "
    "FROM flow_group ORDER BY group_id"
)
OLDEST: Final = Statement(
    "SELECT seq, logged_at FROM change_log WHERE group_id = :group AND seq <= :last ORDER BY seq LIMIT :most"
)
DELETE_LOG: Final = Bulk(way=Way.DELETE, table="change_log", key=2, fields=ints("group_id", "seq"))
OLD_SIGNALS: Final = Statement(
    "SELECT name, seq FROM signal_instance WHERE create_time < :before "
    "ORDER BY create_time, name, seq LIMIT :most"
)
DELETE_SIGNALS: Final = Bulk(
    way=Way.DELETE, table="signal_instance", key=2, fields=(*texts("name"), *ints("seq"))
)
OLD_NODES: Final = Statement(
    "SELECT node_id FROM node WHERE buried_at < :before ORDER BY buried_at, node_id LIMIT :most"
)
DELETE_NODES: Final = Bulk(way=Way.DELETE, table="node", key=1, fields=texts("node_id"))
OLD_OUTCOMES: Final = Statement(
    "SELECT DISTINCT workflow_id, hour FROM outcome WHERE hour < :before "
    "ORDER BY hour, workflow_id LIMIT :most"
)
DELETE_OUTCOMES: Final = Bulk(
    way=Way.DELETE, table="outcome", key=2, fields=(*texts("workflow_id"), *ints("hour"))
)
OLD_RESULTS: Final = Statement(
    "SELECT result_key FROM kept_result WHERE kept_until < :before "
    "ORDER BY kept_until, result_key LIMIT :most"
)
DELETE_RESULTS: Final = Bulk(way=Way.DELETE, table="kept_result", key=1, fields=texts("result_key"))
BY_AGE: Final[Mapping[Aged, tuple[Statement, Bulk]]] = {
    Aged.SIGNALS: (OLD_SIGNALS, DELETE_SIGNALS),
    Aged.NODES: (OLD_NODES, DELETE_NODES),
    Aged.OUTCOMES: (OLD_OUTCOMES, DELETE_OUTCOMES),
    Aged.RESULTS: (OLD_RESULTS, DELETE_RESULTS),
}
OLD_BULKS: Final = Statement(
    "SELECT job_id FROM bulk_job WHERE create_time < :before AND state <> 'RUNNING' "
    "ORDER BY create_time, job_id LIMIT :most"
)
DELETE_BULK: Final = Statement("DELETE FROM bulk_job WHERE job_id = :job_id")
DELETE_BULK_ITEMS: Final = Statement("DELETE FROM bulk_item WHERE job_id = :job_id")
PURGEABLE: Final = Statement("SELECT workflow_id FROM workflow WHERE state = 'DELETED' ORDER BY workflow_id")


class SqlRetention(Part):
    """See `ports.retention`."""

    async def prune_runs(self, workflow_id: str, before: int, *, most: int = 500) -> int:
        async def work(tx: Transaction) -> int:
            if await tx.one(LOCK, workflow_id=workflow_id) is None:
                return 0
            return await prune_instances(tx, workflow_id, Limit(before, most))

        return await self._db.write(work)

    async def prunable(self, before: int, *, after: str = "", most: int = 100) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row[0] for row in await tx.all(PRUNABLE, before=before, after=after, most=most)]

        return await self._db.look(work)

    async def prune(self, aged: Aged, before: int, *, most: int = 500) -> int:
        async def work(tx: Transaction) -> int:
            match aged:
                case Aged.LOG:
                    return await _prune_log(tx, before, most)
                case Aged.BULKS:
                    return await _prune_bulks(tx, before, most)
                case _:
                    find, delete = BY_AGE[aged]
                    keys = sorted(tuple(row) for row in await tx.all(find, before=before, most=most))
                    await tx.bulk(delete, keys)
                    return len(keys)

        return await self._db.write(work)

    async def purge(self, workflow_id: str, *, most: int = 500) -> int:
        async def work(tx: Transaction) -> int:
            return await purge(tx, workflow_id, most)

        return await self._db.write(work)

    async def purgeable(self) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row[0] for row in await tx.all(PURGEABLE)]

        return await self._db.look(work)


async def _prune_log(tx: Transaction, before: int, most: int) -> int:
    """The oldest rows of each group by number, up to the first that stays: no gap, whatever the clock did."""
    doomed: list[tuple[int, int]] = []
    for group, newest, delivered in await tx.all(GROUPS):
        last = (newest or 0) - 1 if delivered is None else min((newest or 0) - 1, delivered)
        for seq, at in await tx.all(OLDEST, group=group, last=last, most=most - len(doomed)):
            if at >= before:
                break
            doomed.append((group, seq))
    await tx.bulk(DELETE_LOG, doomed)
    return len(doomed)


async def _prune_bulks(tx: Transaction, before: int, most: int) -> int:
    old = await tx.all(OLD_BULKS, before=before, most=most)
    for (job_id,) in old:
        await tx.run(DELETE_BULK_ITEMS, job_id=job_id)
        await tx.run(DELETE_BULK, job_id=job_id)
    return len(old)
