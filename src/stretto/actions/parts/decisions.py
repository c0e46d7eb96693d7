"""Decisions of workflow transactions that follow from what a run strategy admits."""

from typing import Final, TypeVar

from stretto.engine.events import RunActed, RunAction
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.runs import RunKey
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent, TimelineEvent
from stretto.ports.admission import NewRun, QueuedEnd, SnapshotDetail, WorkflowDecision, WorkflowSnapshot
from stretto.ports.messages import Letter, Stop
from stretto.ports.places import group_of_run
from stretto.strategies import Admission, Mark, paused_needed, queue_needed

A = TypeVar("A")

SYSTEM: Final = "stretto"  # who acts where a rule does


def detail_of(strategy: RunStrategy) -> SnapshotDetail:
    """As much as `admit` looks at; the rule that stops running runs must know them."""
    return SnapshotDetail(
        queue=queue_needed(strategy),
        paused=paused_needed(strategy),
        running=strategy.rule is RunStrategyRule.LAST_ONLY,
    )


def decision_of(
    snapshot: WorkflowSnapshot,
    admission: Admission,
    answer: A,
    *,
    created: tuple[NewRun, ...] = (),
    marks: tuple[Mark, ...] = (),
    mark_event: TimelineEvent | None = None,
) -> WorkflowDecision[A]:
    """Everything that follows from an admission; `marks` are those that a user sets beside it, with the event
    that says so.
    """
    now = snapshot.now
    return WorkflowDecision(
        answer=answer,
        spent=admission.spent,
        created=created,
        admitted=admission.admitted,
        ended=tuple(
            QueuedEnd(
                run=each.run, status=RunStatus.STOPPED, event=LogEvent(timestamp=now, message=each.note)
            )
            for each in admission.replaced
        ),
        marks=dict((*admission.marks, *marks)),
        mark_event=mark_event,
        sent=tuple(_stop(run, admission.stop_running) for run in snapshot.running if admission.stop_running),
    )


def _stop(run: RunKey, note: str) -> Letter:
    event = RunActed(run=run, action=RunAction.STOP, user=SYSTEM, reason=note, replaced=True)
    return Letter(ref=f"{run} {note}", body=Stop(event=event), to_group=group_of_run(run))
