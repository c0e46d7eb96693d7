"""Time triggers that are due start their runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.firing import REFUSALS, Fired, candidate_for, find_target, fired_by
from stretto.actions.parts.trigger_rows import EPOCH, MILLISECOND, expression_of, schedule_of
from stretto.model.errors import NotFound
from stretto.model.initiator import TimeInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.trigger import CatchUp
from stretto.ports.admission import TimerAdvance
from stretto.ports.failures import Stale
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.triggers import TimeTriggerRow
from stretto.triggers import DEFAULT_LIMIT, Dropped, Due, Schedule, due_fires

MOST_FIRES: Final = 10  # in one transaction; what is left is still due


class Fire(NamedTuple):
    """A trigger, and a time at which it should have fired."""

    row: TimeTriggerRow
    at: int


class Round(NamedTuple):
    """What one transaction does: fires in the order of time, triggers that move on, lines on the timeline."""

    fires: list[Fire]
    advances: tuple[TimerAdvance, ...] = ()
    lines: tuple[str, ...] = ()


async def fire_timer(
    store: Store,
    due: Sequence[TimeTriggerRow],
    *,
    most: int = MOST_FIRES,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
) -> list[Fired]:
    """Start a run for each fire of these triggers of one workflow up to now, and move them on (T6).

    Of fires that were missed those are started that `catch_up` of the trigger says; how many it dropped is on
    the timeline of the workflow. Above `most` the triggers stay due. Empty: nothing is to be started,
    the triggers are gone, or somebody else was faster.
    """
    found = planned_fires(due, await store.now(), most)
    if not found.advances:
        return []
    workflow_id, lines = due[0].workflow_id, found.lines
    try:
        candidates = await _candidates(store, workflow_id, found.fires, evaluate)
    except REFUSALS:
        candidates, lines = [], ()  # not in force any more; if it is there all the same, it moves on
    try:
        done = await admit_all(
            store, workflow_id, candidates, timers=found.advances, lines=lines, hints=hints
        )
    except (NotFound, Stale):
        return []
    return fired_by(done)


def planned_fires(due: Sequence[TimeTriggerRow], now: int, most: int = MOST_FIRES) -> Round:
    """The fires up to now, the earliest first, and when each trigger is due after them. What is dropped is
    told with the first fires of its trigger that are started, or at once if there are none.
    """
    fires: list[tuple[int, int]] = []  # when, and the number of the trigger
    plans: dict[int, tuple[Schedule, Due]] = {}
    for number, row in enumerate(due):
        if row.next_fire_at is not None and row.next_fire_at <= now:
            schedule = schedule_of(row.trigger, row.jitter * MILLISECOND)
            found = _due(schedule, row, now)
            plans[number] = schedule, found
            fires += [(_millis(at), number) for at in found.fires]
    fires = sorted(fires)[:most]
    last = {number: at for at, number in fires}
    moving = {number: plan for number, plan in plans.items() if number in last or not plan[1].fires}
    return Round(
        [Fire(due[number], at) for at, number in fires],
        tuple(
            _advance(due[number], schedule, last.get(number, now))
            for number, (schedule, _found) in moving.items()
        ),
        tuple(
            _line(due[number], found.dropped)
            for number, (_schedule, found) in moving.items()
            if found.dropped is not None
        ),
    )


def _due(schedule: Schedule, row: TimeTriggerRow, now: int) -> Due:
    trigger = row.trigger
    limit = DEFAULT_LIMIT if trigger.catch_up_limit is None else trigger.catch_up_limit
    first = _moment(row.next_fire_at or 0)
    return due_fires(schedule, first, _moment(now), trigger.catch_up or CatchUp.ALL, limit)


def _advance(row: TimeTriggerRow, schedule: Schedule, after: int) -> TimerAdvance:
    then = schedule.next_fire(_moment(after))
    return TimerAdvance(row.trigger_id, row.next_fire_at or 0, None if then is None else _millis(then))


def _line(row: TimeTriggerRow, dropped: Dropped) -> str:
    """`The trigger [0 6 * * *] dropped 3 missed fires, from ... to ... (catch_up: latest)`."""
    trigger = row.trigger
    count = f"{dropped.at_least:,}" if dropped.is_exact else f"more than {dropped.at_least:,}"
    fires = "fire" if dropped.is_exact and dropped.at_least == 1 else "fires"
    first, last = (each.isoformat(timespec="seconds") for each in (dropped.first, dropped.last))
    which = f"at {first}" if first == last else f"from {first} to {last}"
    rule = trigger.catch_up or CatchUp.ALL
    limit = "" if rule is not CatchUp.ALL else f", limit {trigger.catch_up_limit or DEFAULT_LIMIT}"
    what = f"dropped {count} missed {fires}, {which} (catch_up {rule}{limit})"
    return f"The trigger [{expression_of(trigger)}] {what}"


async def _candidates(
    store: Store, workflow_id: str, fires: Sequence[Fire], evaluate: Evaluator
) -> list[Candidate]:
    target = await find_target(store, workflow_id)
    return [
        await candidate_for(
            store,
            target,
            TimeInitiator(trigger_uuid=row.trigger_id, trigger_time=at, timezone=row.trigger.timezone),
            request_id_of(workflow_id, row.trigger_id, at),
            {"RUN_TS": ParamDefinition(type=ParamType.LONG, value=at)},
            evaluate,
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
