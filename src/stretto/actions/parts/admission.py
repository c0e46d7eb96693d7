"""Requests to start and restart runs, put to the run strategy of their workflow.

candidates --the workflow's lock--> strategies.admit --> rows, messages, an answer for each
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from stretto.actions.dequeue import dequeue
from stretto.actions.parts.repeat import repeated
from stretto.actions.parts.verdicts import SYSTEM, key_of, place_of, reading, verdict_of
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.timeline import appended, failure_event
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent, TimelineEvent, WorkflowChange
from stretto.model.user import User
from stretto.ports.admission import Asked, NewRun, Question, Standing, TimerAdvance, Verdict
from stretto.ports.failures import Fenced
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import FailureMark, Lease, Parent, Phase, RunState
from stretto.ports.store import Store
from stretto.strategies import Accepted, Answer, Batch, LatestRun, Refused, Restart, Start, Undo, admit
from stretto.strategies import RunKey as Place

AUTHOR: Final = User(name=SYSTEM)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A run that somebody asks for. Its record is made once its ids are known, and maybe again."""

    request: Start | Restart | Undo
    record: Callable[[RunKey, int], RunRecord]  # from its key and the time
    parent: Parent | None = None
    lease: Lease | None = None


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each request, in their order, and when; and which of the new runs are queued."""

    answers: tuple[Answer, ...]
    now: int
    queued: frozenset[Place] = frozenset()


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
    question = Question(
        requests=tuple(Asked(each.request.request_id, each.lease) for each in candidates),
        instances=tuple(each.instance_id for each in restarts),
        reading=reading,
        consumes=consumes,
        timers=timers,
    )

    def decide(standing: Standing) -> Verdict[Admitted]:
        verdict = decide_admission(standing, candidates)
        for answer in verdict.answer.answers:
            if consumes and isinstance(answer, Refused):
                raise answer.error()
        told = tuple(WorkflowChange(author=AUTHOR, log=line, timestamp=standing.now) for line in lines)
        return msgspec.structs.replace(verdict, timeline=told) if told else verdict

    done = await repeated(lambda: store.transact(workflow_id, question, decide))
    hints.hint(done.hints, done.to_launch)
    if done.queued:
        await dequeue(store, workflow_id, hints=hints)
    return done.answer


def decide_admission(standing: Standing, candidates: Sequence[Candidate]) -> Verdict[Admitted]:
    """What the strategy says. A step whose group has another owner by now asks for nothing."""
    if standing.fenced:
        raise Fenced({each.lease.group for each in candidates if each.lease is not None})
    batch = Batch(
        workflow_id=standing.workflow_id,
        requests=tuple(each.request for each in candidates),
        next_instance_id=standing.next_instance_id,
        known={request: place_of(run) for request, run in standing.known.items()},
        latest={instance: _latest(state) for instance, state in standing.latest.items()},
    )
    queue, paused = ([place_of(run) for run in runs] for runs in (standing.queue, standing.paused))
    counts = standing.counts
    admission = admit(standing.strategy, queue, counts.running, counts.failed, batch, paused)
    created = tuple(
        _new_run(standing, candidate, answer)
        for candidate, answer in zip(candidates, admission.answers, strict=True)
        if isinstance(answer, Accepted)
    )
    new = {
        each.run
        for each in admission.answers
        if isinstance(each, Accepted) and each.status is RunStatus.CREATED
    }
    answer = Admitted(
        answers=admission.answers, now=standing.now, queued=frozenset(new.difference(admission.admitted))
    )
    return verdict_of(standing, admission, answer, created=created)


def _latest(state: RunState) -> LatestRun:
    return LatestRun(
        state.key.run_id, ended=state.phase is Phase.ENDED, failed=state.failure is FailureMark.STANDING
    )


def _new_run(standing: Standing, candidate: Candidate, answer: Accepted) -> NewRun:
    """The row of an accepted run. One that the strategy drops begins and ends with its creation; one that
    fails before it can begin never begins.
    """
    now, note = standing.now, answer.note or ""
    record = candidate.record(key_of(standing.workflow_id, answer.run), now)
    event: TimelineEvent = LogEvent(timestamp=now, message=note)
    if answer.status is RunStatus.FAILED:
        event = failure_event(now, "The run can not be initiated", (note,))
    elif answer.status is not RunStatus.CREATED:
        record.start_time = now
    if answer.status is not RunStatus.CREATED:
        record.status, record.end_time, record.held = answer.status, now, False
        record.timeline = appended(record.timeline, (event,))
    return NewRun(record=record, parent=candidate.parent)
