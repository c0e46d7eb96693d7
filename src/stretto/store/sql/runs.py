"""Workflow transactions."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeVar

from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark
from stretto.ports.admission import TransactionResult, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.rows import Phase
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.admitting import transact
from stretto.store.sql.counting import counts_from
from stretto.store.sql.database import Database, Transaction
from stretto.store.sql.jointly import Put, may_join, transact_together
from stretto.store.sql.part import DEFAULTS, Part
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.runs import PAUSED_LANE
from stretto.store.sql.rows.workflows import strategy_of
from stretto.store.sql.statement import INT, TEXT, Statement
from stretto.store.sql.together import Together

A = TypeVar("A")

MOST_JOINED: Final = 100  # requests in one transaction, during which their workflow is locked
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

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        super().__init__(database, settings)
        self._puts = Together(self._transact_all)

    async def transact(
        self,
        workflow_id: str,
        scope: TransactionScope,
        decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    ) -> TransactionResult[A]:
        put = Put(workflow_id, scope, decide)
        return await (self._puts.ask(put) if may_join(scope) else self._alone(put))

    async def _transact_all(self, puts: Sequence[Put]) -> list[TransactionResult[Any] | Exception]:
        """What was asked in one turn: one transaction for each workflow, unless there are very many."""
        lines: dict[object, list[Put]] = {}
        for put in puts:
            lines.setdefault((put.workflow_id, put.scope.detail), []).append(put)
        parts = [
            line[first : first + MOST_JOINED]
            for line in lines.values()
            for first in range(0, len(line), MOST_JOINED)
        ]
        answers: dict[int, TransactionResult[Any] | Exception] = {}
        for part, done in zip(parts, await asyncio.gather(*map(self._together, parts)), strict=True):
            answers |= zip(map(id, part), done, strict=True)
        return [answers[id(put)] for put in puts]

    async def _together(self, puts: Sequence[Put]) -> list[TransactionResult[Any] | Exception]:
        """In one transaction. If one of them is in the way of that, each alone: nobody else hears of it."""

        async def work(tx: Transaction) -> list[TransactionResult[Any] | Exception]:
            return await transact_together(tx, puts, self._settings.blob_from)

        if len(puts) > 1:
            try:
                return await self._db.write(work)
            except Unavailable as error:
                return [error] * len(puts)
            except Exception:  # noqa: BLE001, S110 - alone, it is told to whom it belongs
                pass
        return await asyncio.gather(*map(self._alone, puts), return_exceptions=True)  # type: ignore[return-value]

    async def _alone(self, put: Put) -> TransactionResult[Any]:
        async def work(tx: Transaction) -> TransactionResult[Any]:
            return await transact(tx, put.workflow_id, put.scope, put.decide, self._settings.blob_from)

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
