"""Workflow transactions."""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from stretto.engine.records import RunKey
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark
from stretto.ports.admission import TransactionResult, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.rows import Phase
from stretto.store.sql.admitting import transact
from stretto.store.sql.counting import counts_from
from stretto.store.sql.database import Transaction
from stretto.store.sql.part import Part
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.runs import PAUSED_LANE
from stretto.store.sql.rows.workflows import strategy_of
from stretto.store.sql.statement import INT, TEXT, Statement

A = TypeVar("A")

_LANES: Final = (Phase.QUEUED, Phase.ADMITTED, Phase.LIVE, FailureMark.STANDING, PAUSED_LANE)
LOOK: Final = Statement(
    "SELECT rule, slots, "
    + ", ".join(
        f"(SELECT COUNT(*) FROM run WHERE run.workflow_id = workflow.workflow_id AND lane = '{lane}')"
        for lane in _LANES
    )
    + " FROM workflow WHERE workflow_id = :workflow_id AND state = 'ALIVE'"
)
WITH_QUEUE: Final = Statement(
    lambda d: (
        f"SELECT workflow_id FROM workflow WHERE {d.among('workflow_id', 'workflow_ids', TEXT)} "
        "AND queued > 0 ORDER BY workflow_id"
    )
)
AT_HOME: Final = Statement(
    lambda d: (
        f"SELECT workflow_id, state FROM workflow WHERE {d.among('home_group', 'groups', INT)} "
        "AND queued > 0"  # not by their state, nor in order: a database might go through all that are alive
    )
)
OF_REQUEST: Final = Statement(
    "SELECT workflow_id, instance_id, run_id FROM run WHERE workflow_id = :workflow_id AND uuid = :request_id"
)


class SqlRuns(Part):
    """See `ports.runs`."""

    async def transact(
        self,
        workflow_id: str,
        scope: TransactionScope,
        decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    ) -> TransactionResult[A]:
        async def work(tx: Transaction) -> TransactionResult[A]:
            return await transact(tx, workflow_id, scope, decide, self._settings.blob_from)

        return await self._db.write(work)

    async def look_at_queue(self, workflow_id: str) -> tuple[RunStrategy, RunCounts] | None:
        async def work(tx: Transaction) -> tuple[RunStrategy, RunCounts] | None:
            row = await tx.one(LOOK, workflow_id=workflow_id)
            if row is None:
                return None
            return strategy_of(row[0], row[1]), counts_from(dict(zip(_LANES, row[2:], strict=True)))

        return await self._look(work)

    async def with_queue(self, workflow_ids: Collection[str]) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row[0] for row in await tx.all(WITH_QUEUE, workflow_ids=sorted(workflow_ids))]

        return await self._look(work)

    async def queues_at_home(self, groups: Collection[int]) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            rows = await tx.all(AT_HOME, groups=sorted(groups))
            return sorted(workflow_id for workflow_id, state in rows if state == "ALIVE")

        return await self._look(work)

    async def run_of_request(self, workflow_id: str, request_id: str) -> RunKey | None:
        async def work(tx: Transaction) -> RunKey | None:
            row = await tx.one(OF_REQUEST, workflow_id=workflow_id, request_id=request_id)
            return None if row is None else run_from(row)

        return await self._look(work)
