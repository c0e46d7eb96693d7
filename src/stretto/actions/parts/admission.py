"""Requests to start and restart runs, put to the run strategy of their workflow.

candidates --the workflow's lock--> strategies.admit --> rows, messages, an answer for each
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from stretto.actions.dequeue import dequeue
from stretto.actions.parts.decisions import SYSTEM, decision_of, detail_of
from stretto.actions.parts.repeat import repeated
from stretto.engine.records import RunRecord, appended, failure_event
from stretto.model.runs import RunKey
from stretto.model.status import FailureMark, RunStatus
from stretto.model.timeline import LogEvent, TimelineEvent, WorkflowChange
from stretto.model.user import User
from stretto.ports.admission import (
    NewRun,
    RequestKey,
    TimerAdvance,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.failures import Fenced
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import Lease, Parent, Phase, RunState
from stretto.ports.store import Store
from stretto.strategies import Accepted, Answer, Batch, LatestRun, Refused, Restart, Start, Undo, admit

AUTHOR: Final = User(name=SYSTEM)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A run that somebody asks for. Its record is made once its ids are known, and maybe again."""

    request: Start | Restart | Undo
    record: Callable[[RunKey, int], RunRecord]  # from its key and the time
    parent: Parent | None = None
    lease: Lease | None = None

    @property
    def key(self) -> RequestKey:
        return RequestKey(self.request.request_id, self.lease)


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each request, in their order, and when; and which of the new runs are queued."""

    answers: tuple[Answer | Fenced, ...]
    now: int
    queued: frozenset[RunKey] = frozenset()


async def admit_all(
    store: Store,
    workflow_id: str,
    candidates: Sequence[Candidate],
    *,
    consumes: tuple[int, ...] = (),
    timers: tuple[TimerAdvance, ...] = (),
    lines: tuple[str, ...] = (),
    hints: Hints = SILENT,
) -> Admitted:
    """T6 for starts and restarts of one workflow; then its queue is looked at once more. A message is
    consumed only if all that it asks for is accepted; what is refused then is raised. `lines` go to the
    timeline of the workflow.
    """
    restarts = [each.request for each in candidates if isinstance(each.request, Restart | Undo)]
    scope = TransactionScope(
        requests=tuple(each.key for each in candidates),
        instances=tuple(each.instance_id for each in restarts),
        detail=detail_of,
        consumes=consumes,
        timers=timers,
    )

    def decide(snapshot: WorkflowSnapshot) -> WorkflowDecision[Admitted]:
        decision = decide_admission(snapshot, candidates)
        for answer in decision.answer.answers:
            if consumes and isinstance(answer, Refused):
                raise answer.error()
        told = tuple(WorkflowChange(author=AUTHOR, log=line, timestamp=snapshot.now) for line in lines)
        return msgspec.structs.replace(decision, timeline=told) if told else decision

    done = await repeated(lambda: store.transact(workflow_id, scope, decide))
    hints.hint(done.hints, done.to_launch)
    if done.queued:
        await dequeue(store, workflow_id, hints=hints)
    return done.answer


def decide_admission(
    snapshot: WorkflowSnapshot, candidates: Sequence[Candidate]
) -> WorkflowDecision[Admitted]:
    """What the strategy says. A step whose group has another owner by now asks for nothing."""
    valid = [each for each in candidates if each.key not in snapshot.fenced]
    batch = Batch(
        workflow_id=snapshot.workflow_id,
        requests=tuple(each.request for each in valid),
        next_instance_id=snapshot.next_instance_id,
        known=snapshot.known,
        latest={instance: _latest(state) for instance, state in snapshot.latest.items()},
    )
    counts = snapshot.counts
    admission = admit(
        snapshot.strategy, snapshot.queue, counts.running, counts.failed, batch, snapshot.paused
    )
    created = tuple(
        _new_run(snapshot, candidate, answer)
        for candidate, answer in zip(valid, admission.answers, strict=True)
        if isinstance(answer, Accepted)
    )
    new = {
        each.run
        for each in admission.answers
        if isinstance(each, Accepted) and each.status is RunStatus.CREATED
    }
    admitted = iter(admission.answers)
    answer = Admitted(
        answers=tuple(
            Fenced({each.lease.group})
            if each.lease is not None and each.key in snapshot.fenced
            else next(admitted)
            for each in candidates
        ),
        now=snapshot.now,
        queued=frozenset(new.difference(admission.admitted)),
    )
    return decision_of(snapshot, admission, answer, created=created)


def _latest(state: RunState) -> LatestRun:
    return LatestRun(
        state.key.run_id, ended=state.phase is Phase.ENDED, failed=state.failure is FailureMark.STANDING
    )


def _new_run(snapshot: WorkflowSnapshot, candidate: Candidate, answer: Accepted) -> NewRun:
    """The row of an accepted run. One that the strategy drops begins and ends with its creation; one that
    fails before it can begin never begins.
    """
    now, note = snapshot.now, answer.note or ""
    record = candidate.record(answer.run, now)
    event: TimelineEvent = LogEvent(timestamp=now, message=note)
    if answer.status is RunStatus.FAILED:
        event = failure_event(now, "The run can not be initiated", (note,))
    elif answer.status is not RunStatus.CREATED:
        record.start_time = now
    if answer.status is not RunStatus.CREATED:
        record.status, record.end_time, record.held = answer.status, now, False
        record.timeline = appended(record.timeline, (event,))
    return NewRun(record=record, parent=candidate.parent)
