"""What may be forgotten."""

from typing import Any, Final

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

    async def prune_log(self, before: int, *, most: int = 500) -> int:
        async def work(tx: Transaction) -> int:
            return await _prune_log(tx, before, most)

        return await self._db.write(work)

    async def prune_signals(self, before: int, *, most: int = 500) -> int:
        return await self._delete(OLD_SIGNALS, DELETE_SIGNALS, before=before, most=most)

    async def prune_nodes(self, before: int, *, most: int = 500) -> int:
        return await self._delete(OLD_NODES, DELETE_NODES, before=before, most=most)

    async def prune_outcomes(self, before: int, *, most: int = 500) -> int:
        return await self._delete(OLD_OUTCOMES, DELETE_OUTCOMES, before=before, most=most)

    async def prune_cache(self, before: int, *, most: int = 500) -> int:
        return await self._delete(OLD_RESULTS, DELETE_RESULTS, before=before, most=most)

    async def purge(self, workflow_id: str, *, most: int = 500) -> int:
        async def work(tx: Transaction) -> int:
            return await purge(tx, workflow_id, most)

        return await self._db.write(work)

    async def purgeable(self) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row[0] for row in await tx.all(PURGEABLE)]

        return await self._db.look(work)

    async def _delete(self, find: Statement, delete: Bulk, **values: Any) -> int:
        """Delete the rows that a statement finds, by their keys."""

        async def work(tx: Transaction) -> int:
            keys = sorted(tuple(row) for row in await tx.all(find, **values))
            await tx.bulk(delete, keys)
            return len(keys)

        return await self._db.write(work)


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
