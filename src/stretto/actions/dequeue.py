"""Admit queued runs: after a run has ended, a strategy has changed, or a failure no longer blocks."""

from stretto.actions.parts.repeat import repeated
from stretto.actions.parts.verdicts import place_of, reading, verdict_of
from stretto.ports.admission import Question, Standing, Verdict
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
        done = await repeated(lambda: store.transact(workflow_id, Question(reading=reading), decide_dequeue))
        if not done.answer:  # somebody else was faster
            return admitted
        hints.hint(done.hints)
        admitted += done.answer


def decide_dequeue(standing: Standing) -> Verdict[int]:
    counts = standing.counts
    queue, paused = ([place_of(run) for run in runs] for runs in (standing.queue, standing.paused))
    admission = admit(standing.strategy, queue, counts.running, counts.failed, paused=paused)
    return verdict_of(standing, admission, len(admission.admitted))
