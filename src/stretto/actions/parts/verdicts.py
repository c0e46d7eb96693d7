"""What a run strategy says, as rows and messages: between the words of `strategies` and those of `ports`."""

from typing import Final, TypeVar

from stretto.engine.events import RunActed, RunAction
from stretto.engine.records import RunKey
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent, TimelineEvent
from stretto.ports.admission import NewRun, QueuedEnd, Reading, Standing, Verdict
from stretto.ports.messages import Letter, Stop
from stretto.ports.places import group_of_run
from stretto.ports.rows import FailureMark
from stretto.strategies import Admission, Mark, paused_needed, queue_needed
from stretto.strategies import RunKey as Place

A = TypeVar("A")

SYSTEM: Final = "stretto"  # who acts where a rule does


def place_of(run: RunKey) -> Place:
    """A run as its strategy knows it: inside its workflow."""
    return Place(run.instance_id, run.run_id)


def key_of(workflow_id: str, place: Place) -> RunKey:
    return RunKey(workflow_id, place.instance_id, place.run_id)


def reading(strategy: RunStrategy) -> Reading:
    """As much as `admit` looks at; the rule that stops running runs must know them."""
    return Reading(
        queue=queue_needed(strategy),
        paused=paused_needed(strategy),
        running=strategy.rule is RunStrategyRule.LAST_ONLY,
    )


def verdict_of(
    standing: Standing,
    admission: Admission,
    answer: A,
    *,
    created: tuple[NewRun, ...] = (),
    marks: tuple[Mark, ...] = (),
    mark_event: TimelineEvent | None = None,
) -> Verdict[A]:
    """Everything that follows from an admission; `marks` are those that a user sets beside it, with the event
    that says so.
    """
    workflow_id, now = standing.workflow_id, standing.now
    return Verdict(
        answer=answer,
        spent=admission.spent,
        created=created,
        admitted=tuple(key_of(workflow_id, each) for each in admission.admitted),
        ended=tuple(
            QueuedEnd(
                run=key_of(workflow_id, each.run),
                status=RunStatus.STOPPED,
                event=LogEvent(timestamp=now, message=each.note),
            )
            for each in admission.replaced
        ),
        marks={
            key_of(workflow_id, each.run): FailureMark(each.raw.value) for each in (*admission.marks, *marks)
        },
        mark_event=mark_event,
        sent=tuple(_stop(run, admission.stop_running) for run in standing.running if admission.stop_running),
    )


def _stop(run: RunKey, note: str) -> Letter:
    event = RunActed(run=run, action=RunAction.STOP, user=SYSTEM, reason=note, replaced=True)
    return Letter(ref=f"{run} {note}", body=Stop(event=event), to_group=group_of_run(run))
