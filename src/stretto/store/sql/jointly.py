"""T6 for requests that come together: their workflow is locked, read and written once for all of them.

Each is decided in the state in which those before it leave the workflow. That is told from their decisions,
as long as these make runs and admit them, and nothing else. Who has more to say is put to the workflow alone;
so are all, if one of them comes too late for its lease.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from stretto.engine.records import RunKey
from stretto.model.runs import RunCounts
from stretto.model.status import RunStatus
from stretto.ports.admission import (
    NewRun,
    SnapshotDetail,
    TransactionResult,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.places import group_of_run
from stretto.store.sql.admitting import found
from stretto.store.sql.database import Transaction
from stretto.store.sql.decision import write


class Put(NamedTuple):
    """What is put to a workflow."""

    workflow_id: str
    scope: TransactionScope
    decide: Callable[[WorkflowSnapshot], WorkflowDecision[Any]]


class Apart(Exception):
    """These can not be decided together."""


def may_join(scope: TransactionScope) -> bool:
    """Whether a scope asks for new instances, and does nothing else."""
    return bool(scope.requests) and not (scope.instances or scope.runs or scope.consumes or scope.timers)


async def transact_together(
    tx: Transaction, puts: Sequence[Put], blob_from: int
) -> list[TransactionResult[Any] | Exception]:
    """One transaction for several questions to one workflow, all of which read alike."""
    requests = tuple(asked for put in puts for asked in put.scope.requests)
    first = puts[0]
    snapshot = await found(tx, first.workflow_id, msgspec.structs.replace(first.scope, requests=requests))
    state = _State(snapshot, first.scope.detail(snapshot.strategy))
    decisions = [state.decided(put) for put in puts]
    written = await write(tx, snapshot, state.decision(), blob_from)
    return [
        each
        if isinstance(each, Exception)
        else TransactionResult(
            answer=each.answer, hints=_groups(each), to_launch=each.to_launch, queued=written.queued
        )
        for each in decisions
    ]


def _groups(decision: WorkflowDecision[Any]) -> frozenset[int]:
    return frozenset(
        group_of_run(run) for run in (*decision.admitted, *(new.record.key for new in decision.created))
    )


class _State:
    """A workflow, as the decisions so far leave it."""

    def __init__(self, snapshot: WorkflowSnapshot, detail: SnapshotDetail) -> None:
        if snapshot.fenced or detail.queue is None or detail.running or detail.failed:
            raise Apart
        self._snapshot = snapshot
        self._most = detail.queue
        self._whole = not detail.queue or len(snapshot.queue) < detail.queue  # else there are more
        self._queue = list(snapshot.queue)
        self._known = dict(snapshot.known)
        self._counts = snapshot.counts
        self._spent = 0
        self._created: list[NewRun] = []
        self._admitted: list[RunKey] = []

    def decided(self, put: Put) -> WorkflowDecision[Any] | Exception:
        """What is said to one scope. What it raises concerns nobody else."""
        try:
            decision = put.decide(self._found(put.scope))
        except Exception as error:  # noqa: BLE001 - it belongs to who asked
            return error
        self._take(decision)
        return decision

    def decision(self) -> WorkflowDecision[None]:
        """All of them as one."""
        return WorkflowDecision(
            answer=None, spent=self._spent, created=tuple(self._created), admitted=tuple(self._admitted)
        )

    def _found(self, scope: TransactionScope) -> WorkflowSnapshot:
        asked = {each.request_id for each in scope.requests}
        return msgspec.structs.replace(
            self._snapshot,
            next_instance_id=self._snapshot.next_instance_id + self._spent,
            counts=self._counts,
            known={each: self._known[each] for each in asked if each in self._known},
            queue=tuple(self._queue[: self._most]),
        )

    def _take(self, decision: WorkflowDecision[Any]) -> None:
        created = [new.record.key for new in decision.created]
        admitted = set(decision.admitted)
        more = decision.ended or decision.paused or decision.marks or decision.sent or decision.timeline
        apart = any(new.record.status is not RunStatus.CREATED for new in decision.created)
        if more or apart or (admitted and not self._whole):
            raise Apart
        if self._whole:
            self._queue = [run for run in (*self._queue, *created) if run not in admitted]
        queued, running, failed, paused = self._counts
        self._counts = RunCounts(
            queued + len(created) - len(admitted), running + len(admitted), failed, paused
        )
        self._known |= {new.record.uuid: new.record.key for new in decision.created}
        self._spent += decision.spent
        self._created += decision.created
        self._admitted += decision.admitted
