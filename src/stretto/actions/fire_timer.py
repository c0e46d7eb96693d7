"""Time triggers that are due start their runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.firing import REFUSALS, Fired, candidate_for, find_target, fired_by
from stretto.actions.parts.trigger_rows import EPOCH, MILLISECOND, schedule_of
from stretto.model.errors import NotFound
from stretto.model.initiator import TimeInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.ports.admission import TimerAdvance
from stretto.ports.failures import Stale
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.triggers import TimeTriggerRow
from stretto.triggers import Planned, Watch, plan

MOST_FIRES: Final = 100  # in one transaction; what is left is still due


class Fire(NamedTuple):
    """A trigger, and a time at which it should have fired."""

    row: TimeTriggerRow
    at: int


async def fire_timer(store: Store, due: Sequence[TimeTriggerRow], *, hints: Hints = SILENT) -> list[Fired]:
    """Start a run for each fire of these triggers of one workflow up to now, and move them on (T6).

    Each fire that was missed is started, in the order of time: what becomes of many is for the run strategy
    to say. Above `MOST_FIRES` the triggers stay due. Empty: they are gone, or somebody else was faster.
    """
    fires, advances = planned_fires(due, await store.now())
    if not fires:
        return []
    workflow_id = due[0].workflow_id
    try:
        candidates = await _candidates(store, workflow_id, fires)
    except REFUSALS:
        candidates = []  # not in force any more; if it is there all the same, it moves on
    try:
        done = await admit_all(store, workflow_id, candidates, timers=advances, hints=hints)
    except (NotFound, Stale):
        return []
    return fired_by(workflow_id, done)


def planned_fires(due: Sequence[TimeTriggerRow], now: int) -> tuple[list[Fire], tuple[TimerAdvance, ...]]:
    """The fires up to now, the earliest first, and when each trigger is due after them."""
    schedules = [schedule_of(row.trigger, row.jitter * MILLISECOND) for row in due]
    begin = [
        Planned(_moment(row.next_fire_at), number)
        for number, row in enumerate(due)
        if row.next_fire_at is not None and row.next_fire_at <= now
    ]
    watches = [Watch(schedules[number], at) for at, number in begin]
    later = plan(watches, _moment(now + 1), MOST_FIRES)
    fires = sorted([*begin, *(Planned(at, begin[number].number) for at, number in later)])[:MOST_FIRES]
    last = {number: at for at, number in fires}
    advances = tuple(
        TimerAdvance(due[number].trigger_id, _millis(first), None if then is None else _millis(then))
        for first, number in begin
        if number in last
        for then in (schedules[number].next_fire(last[number]),)
    )
    return [Fire(due[number], _millis(at)) for at, number in fires], advances


async def _candidates(store: Store, workflow_id: str, fires: Sequence[Fire]) -> list[Candidate]:
    target = await find_target(store, workflow_id)
    return [
        await candidate_for(
            store,
            target,
            TimeInitiator(trigger_uuid=row.trigger_id, trigger_time=at, timezone=row.trigger.timezone),
            request_id_of(workflow_id, row.trigger_id, at),
            {"RUN_TS": ParamDefinition(type=ParamType.LONG, value=at)},
        )
        for row, at in fires
    ]


def request_id_of(workflow_id: str, trigger_id: str, at: int) -> str:
    """The same for the same fire, whoever sees it first."""
    return str(uuid5(NAMESPACE_OID, f"{workflow_id}:{trigger_id}:{at // 1000}"))


def _moment(millis: int) -> datetime:
    return EPOCH + millis * MILLISECOND


def _millis(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)
