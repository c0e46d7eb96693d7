"""The timeline of a run or an attempt: its newest events, and none twice in a row.

    appended(timeline, events) -> timeline      a new tuple, or the same one if nothing is new
    failure_event(now, message, errors)         the event of a failure

Two events are the same if they differ in nothing but their time: a step that polls says the same thing
again and again, and only the first time is news.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from stretto.model.details import ErrorStatus
from stretto.model.initiator import Initiator, ManualInitiator, SignalInitiator, TimeInitiator
from stretto.model.timeline import DetailsEvent, TimelineEvent

MOST_EVENTS: Final = 32


def appended(
    timeline: tuple[TimelineEvent, ...], events: Iterable[TimelineEvent], most: int = MOST_EVENTS
) -> tuple[TimelineEvent, ...]:
    """The timeline with the events at its end; beyond `most` the oldest are forgotten."""
    last = timeline[-1] if timeline else None
    news: list[TimelineEvent] = []
    for event in events:
        if last is None or not same_event(last, event):
            news.append(event)
            last = event
    return (*timeline, *news)[-most:] if news else timeline


def same_event(one: TimelineEvent, other: TimelineEvent) -> bool:
    """Whether two events say the same, whenever they happened."""
    return type(one) is type(other) and msgspec.structs.replace(other, timestamp=one.timestamp) == one


def failure_event(
    now: int, message: str, errors: Iterable[str], status: ErrorStatus = ErrorStatus.INTERNAL_ERROR
) -> DetailsEvent:
    """The event of a failure that no retry follows; the errors say what went wrong."""
    return DetailsEvent(timestamp=now, status=status, message=message, errors=tuple(errors), retryable=False)


def held_line(parent: object, *, held: bool) -> str:
    """On the timeline of a child, when the run whose step waits for it is paused or resumed."""
    return f"Run {parent}, which waits for this one, is paused" if held else f"Run {parent} goes on"


def started_by(initiator: Initiator) -> str:
    """The first line of a run's timeline: who or what started it."""
    match initiator:
        case ManualInitiator(user=user):
            return f"Manually run a new workflow instance by a user [{user.name if user else 'unknown'}]"
        case TimeInitiator(trigger_uuid=uuid) | SignalInitiator(trigger_uuid=uuid):
            return f"{_tag(initiator)}-based trigger runs a new workflow instance by trigger uuid [{uuid}]"
        case _:
            at = initiator.parent
            place = f"[{at.workflow_id}][{at.instance_id}][{at.run_id}][{at.step_id}][{at.step_attempt_id}]"
            return f"{_tag(initiator)} step ({place}) runs a new workflow instance"


def _tag(initiator: Initiator) -> str:
    return str(type(initiator).__struct_config__.tag)
