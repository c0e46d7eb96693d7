"""Admit queued runs: after a run has ended, a strategy has changed, or a failure no longer blocks."""

from stretto.actions.parts.decisions import decision_of, detail_of
from stretto.actions.parts.repeat import repeated
from stretto.ports.admission import TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.strategies import admit, would_admit


async def dequeue(store: Store, workflow_id: str, *, hints: Hints = SILENT) -> int:
    """Admit whatever the strategy allows, pass after pass; returns how many runs that were.

    The look without a lock is what keeps this cheap. It follows each commit that ended runs or left some
    queued, so that of two who changed something at once at least one sees the other.
    """
    admitted = 0
    while True:
        look = await store.look_at_queue(workflow_id)
        if look is None or not would_admit(look[0], *look[1]):
            return admitted
        done = await repeated(
            lambda: store.transact(workflow_id, TransactionScope(detail=detail_of), decide_dequeue)
        )
        if not done.answer:  # somebody else was faster
            return admitted
        hints.hint(done.hints)
        admitted += done.answer


def decide_dequeue(snapshot: WorkflowSnapshot) -> WorkflowDecision[int]:
    counts = snapshot.counts
    admission = admit(
        snapshot.strategy, snapshot.queue, counts.running, counts.failed, paused=snapshot.paused
    )
    return decision_of(snapshot, admission, len(admission.admitted))
