"""T6: what a workflow transaction reads, and what it writes of the decision."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.properties import RunStrategy
from stretto.ports.admission import (
    TimerAdvance,
    TransactionResult,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.failures import Stale
from stretto.ports.rows import Lease, RunState
from stretto.store.sql.counting import counts_of
from stretto.store.sql.database import Transaction
from stretto.store.sql.decision import write
from stretto.store.sql.fence import outdated
from stretto.store.sql.posting import consume
from stretto.store.sql.rows.keys import run_from
from stretto.store.sql.rows.runs import STATE, prefixed, run_state
from stretto.store.sql.rows.workflows import strategy_of
from stretto.store.sql.statement import INT, RUN_KEY, TEXT, Statement, same

A = TypeVar("A")

LOCK: Final = Statement(
    lambda d: (
        "SELECT rule, slots, next_instance_id, queued FROM workflow "
        f"WHERE workflow_id = :workflow_id AND state = 'ALIVE' {d.exclusive}"
    )
)
LOCK_TIMER: Final = Statement(
    lambda d: f"SELECT next_fire_at FROM time_trigger WHERE trigger_id = :trigger_id {d.exclusive}"
)
ADVANCE: Final = Statement("UPDATE time_trigger SET next_fire_at = :then WHERE trigger_id = :trigger_id")
KNOWN: Final = Statement(
    lambda d: (
        "SELECT workflow_id, instance_id, run_id, uuid FROM run "
        f"WHERE workflow_id = :workflow_id AND {d.among('uuid', 'ids', TEXT)}"
    )
)
LATEST: Final = Statement(
    lambda d: (
        f"SELECT {STATE} FROM run WHERE workflow_id = :workflow_id "
        f"AND {d.among('instance_id', 'instances', INT)} AND listed_at IS NOT NULL "
        "AND run_id = (SELECT MAX(other.run_id) FROM run other "
        "WHERE other.workflow_id = run.workflow_id AND other.instance_id = run.instance_id)"
    )
)
STATES: Final = Statement(
    lambda d: (
        f"SELECT {prefixed(STATE, 'run')} FROM {d.listed('runs', RUN_KEY)} named "
        f"JOIN run ON {same(RUN_KEY, 'run', 'named')}"
    )
)
IN_LANE: Final = (
    "SELECT workflow_id, instance_id, run_id FROM run WHERE workflow_id = :workflow_id AND lane {} "
    "ORDER BY instance_id, run_id"
)
QUEUE: Final = Statement(IN_LANE.format("= 'QUEUED'"))
FRONT: Final = Statement(IN_LANE.format("= 'QUEUED'") + " LIMIT :most")
PAUSED: Final = Statement(IN_LANE.format("= 'PAUSED'"))
SOME_PAUSED: Final = Statement(IN_LANE.format("= 'PAUSED'") + " LIMIT :most")
RUNNING: Final = Statement(IN_LANE.format("IN ('ADMITTED', 'LIVE')"))
SOME_RUNNING: Final = Statement(IN_LANE.format("IN ('ADMITTED', 'LIVE')") + " LIMIT :most")
FAILED: Final = Statement(IN_LANE.format("= 'FAILED'"))
SOME_FAILED: Final = Statement(IN_LANE.format("= 'FAILED'") + " LIMIT :most")


class Locked(NamedTuple):
    """The columns of a workflow whose row is locked."""

    strategy: RunStrategy
    next_instance_id: int
    queued: int


async def transact(
    tx: Transaction,
    workflow_id: str,
    scope: TransactionScope,
    decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    blob_from: int,
) -> TransactionResult[A]:
    """Lock, read, decide, write."""
    snapshot = await found(tx, workflow_id, scope)
    decision = decide(snapshot)
    written = await write(tx, snapshot, decision, blob_from)
    return TransactionResult(
        answer=decision.answer,
        sent=written.sent,
        hints=frozenset(written.hints),
        to_launch=decision.to_launch,
        queued=written.queued,
    )


async def found(tx: Transaction, workflow_id: str, scope: TransactionScope) -> WorkflowSnapshot:
    """Lock a workflow, do what is to be done first, and read."""
    row = await tx.one(LOCK, workflow_id=workflow_id)
    if row is None:
        raise NotFound(f"Cannot find workflow [{workflow_id}]")
    workflow = Locked(strategy_of(row[0], row[1]), row[2], row[3])
    late = await outdated(tx, {asked.lease for asked in scope.requests if asked.lease is not None})
    for timer in sorted(scope.timers):
        await _advance(tx, timer)
    await consume(tx, scope.consumes)
    return await _snapshot(tx, workflow_id, workflow, scope, late)


async def _advance(tx: Transaction, timer: TimerAdvance) -> None:
    row = await tx.one(LOCK_TIMER, trigger_id=timer.trigger_id)
    if row is None or row[0] != timer.due:
        raise Stale(f"time trigger {timer.trigger_id} is not due at {timer.due}")
    await tx.run(ADVANCE, trigger_id=timer.trigger_id, then=timer.then)


async def _snapshot(
    tx: Transaction, workflow_id: str, workflow: Locked, scope: TransactionScope, late: frozenset[Lease]
) -> WorkflowSnapshot:
    detail = scope.detail(workflow.strategy)
    latest = await _latest(tx, workflow_id, scope.instances)
    return WorkflowSnapshot(
        workflow_id=workflow_id,
        now=await tx.now(),
        strategy=workflow.strategy,
        next_instance_id=workflow.next_instance_id,
        counts=await counts_of(tx, workflow_id),
        known=await _known(tx, workflow_id, [asked.request_id for asked in scope.requests]),
        fenced=frozenset(asked for asked in scope.requests if asked.lease in late),
        latest={state.key.instance_id: state for state in latest},
        runs={state.key: state for state in await _states(tx, scope.runs)},
        queue=await _some(tx, QUEUE, FRONT, workflow_id, detail.queue),
        paused=await _some(tx, PAUSED, SOME_PAUSED, workflow_id, detail.paused),
        running=await _some(tx, RUNNING, SOME_RUNNING, workflow_id, detail.most if detail.running else 0),
        failed=await _some(tx, FAILED, SOME_FAILED, workflow_id, detail.most if detail.failed else 0),
    )


async def _known(tx: Transaction, workflow_id: str, ids: list[str]) -> dict[str, RunKey]:
    if not ids:
        return {}
    rows = await tx.all(KNOWN, workflow_id=workflow_id, ids=sorted(set(ids)))
    return {row[3]: run_from(row) for row in rows}


async def _latest(tx: Transaction, workflow_id: str, instances: Sequence[int]) -> list[RunState]:
    if not instances:
        return []
    rows = await tx.all(LATEST, workflow_id=workflow_id, instances=sorted(set(instances)))
    return [run_state(row) for row in rows]


async def _states(tx: Transaction, runs: Sequence[RunKey]) -> list[RunState]:
    if not runs:
        return []
    return [run_state(row) for row in await tx.all(STATES, runs=sorted(set(runs)))]


async def _some(
    tx: Transaction, all_of_them: Statement, front: Statement, workflow_id: str, most: int | None
) -> tuple[RunKey, ...]:
    if most == 0:
        return ()
    if most is None:
        return await _keys(tx, all_of_them, workflow_id)
    return await _keys(tx, front, workflow_id, most=most)


async def _keys(tx: Transaction, statement: Statement, workflow_id: str, **more: Any) -> tuple[RunKey, ...]:
    return tuple(run_from(row) for row in await tx.all(statement, workflow_id=workflow_id, **more))
