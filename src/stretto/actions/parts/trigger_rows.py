"""The triggers of an active version, as they are kept."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import NAMESPACE_OID, uuid5

import msgspec

from stretto.definition.durations import duration_millis
from stretto.model.properties import Properties
from stretto.model.retry import Number
from stretto.model.trigger import CronTrigger, IntervalTrigger, SignalTrigger, TimeTrigger
from stretto.model.wire import encode, to_json
from stretto.model.workflow import Workflow
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow
from stretto.triggers import Schedule, cron_of, fuzzy_delay, parse_zone

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)


def trigger_id(workflow_id: str, trigger: TimeTrigger | SignalTrigger) -> str:
    """The same for the same trigger of a workflow in whatever version: what it took stays with it. A trigger
    with another `catch_up` is the same one: it goes on from where it was.
    """
    if not isinstance(trigger, SignalTrigger):
        trigger = msgspec.structs.replace(trigger, catch_up=None, catch_up_limit=None)
    return str(uuid5(NAMESPACE_OID, f"{workflow_id}\0{to_json(encode(trigger)).decode()}"))


def signal_trigger_rows(
    workflow: Workflow, version_id: int, properties: Properties
) -> tuple[SignalTriggerRow, ...]:
    """Those of a version that is active; none where they are switched off."""
    if properties.signal_trigger_disabled:
        return ()
    rows = {
        (at := trigger_id(workflow.id, trigger)): SignalTriggerRow(
            trigger_id=at, workflow_id=workflow.id, version_id=version_id, trigger=trigger
        )
        for trigger in workflow.signal_triggers or ()
    }
    return tuple(rows.values())


def time_trigger_rows(
    workflow: Workflow, version_id: int, properties: Properties, now: int
) -> tuple[TimeTriggerRow, ...]:
    """Those of a version that is active, each with its next fire; none where they are switched off."""
    if properties.time_trigger_disabled:
        return ()
    rows = {
        row.trigger_id: row
        for trigger in workflow.time_triggers or ()
        for row in (_time_trigger_row(workflow.id, version_id, trigger, now),)
    }
    return tuple(rows.values())


def _time_trigger_row(workflow_id: str, version_id: int, trigger: TimeTrigger, now: int) -> TimeTriggerRow:
    at = trigger_id(workflow_id, trigger)
    most = timedelta(milliseconds=_millis(trigger.fuzzy_max_delay))
    delay = fuzzy_delay(at, workflow_id, most)
    fire = schedule_of(trigger, delay).next_fire(EPOCH + now * MILLISECOND)
    return TimeTriggerRow(
        trigger_id=at,
        workflow_id=workflow_id,
        version_id=version_id,
        trigger=trigger,
        next_fire_at=None if fire is None else (fire - EPOCH) // MILLISECOND,
        jitter=delay // MILLISECOND,
    )


def schedule_of(trigger: TimeTrigger, delay: timedelta = timedelta()) -> Schedule:
    """When a trigger fires; an INTERVAL is refused when it is published."""
    kind = str(type(trigger).__struct_config__.tag)
    return Schedule(cron_of(kind, expression_of(trigger)), parse_zone(trigger.timezone), delay)


def expression_of(trigger: TimeTrigger) -> str:
    """What its author wrote for when it fires."""
    match trigger:
        case CronTrigger(cron=text) | IntervalTrigger(interval=text):
            return text
        case _:
            return trigger.expression.value


def _millis(delay: Number | None) -> int:
    """A number is milliseconds; a text is a duration, and one with a variable in it can not be known yet."""
    if delay is None or isinstance(delay, int):
        return delay or 0
    return duration_millis(delay) or 0
