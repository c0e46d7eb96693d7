"""Why a workflow starts no runs by itself, or when it will: its triggers, and what went wrong with them."""

from datetime import UTC, datetime

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.finding import find_workflow
from stretto.actions.parts.trigger_rows import schedule_of
from stretto.actions.parts.trigger_trouble import troubles_of
from stretto.model.user import User
from stretto.ports.store import Store
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow
from stretto.ports.workflows import WorkflowRow
from stretto.triggers import describe


class WhyTrigger(msgspec.Struct, frozen=True, kw_only=True):
    """A trigger of the active version.

    next_fire   When it fires, in milliseconds since 1970, if that is known.
    trouble     What went wrong when it fired lately, newest first; `troubled_at`: the last time.
    """

    trigger_uuid: str
    sentence: str
    next_fire: int | None = None
    trouble: tuple[str, ...] = ()
    troubled_at: int | None = None


class WhyWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow: what starts it by itself.

    chosen_at, chosen_by   When that version was chosen, and by whom; or that there is none.
    """

    workflow_id: str
    active_version: int | None = None
    chosen_at: int | None = None
    chosen_by: User | None = None
    sentence: str
    triggers: tuple[WhyTrigger, ...] = ()


async def why_workflow(store: Store, caller: Caller, workflow_id: str) -> WhyWorkflow:
    """What starts a workflow, and why it may not have been started."""
    row = await find_workflow(store, workflow_id)
    check_may(caller, Right.VIEW, workflow_id, row.properties)
    timers, signals = await store.triggers_of(workflow_id)
    found = [_of_time(each) for each in timers]
    found += [await _of_signals(store, each) for each in signals]
    return WhyWorkflow(
        workflow_id=workflow_id,
        active_version=row.active_version or None,
        chosen_at=row.activate_time,
        chosen_by=row.activated_by,
        sentence=_sentence(row, found),
        triggers=tuple(found),
    )


def _sentence(row: WorkflowRow, triggers: list[WhyTrigger]) -> str:
    name, version = f"workflow [{row.workflow_id}]", row.active_version
    if not version:
        return f"no version of {name} is active, so no trigger starts it{_switched_off(row)}"
    properties = row.properties
    flags = {"time": properties.time_trigger_disabled, "signal": properties.signal_trigger_disabled}
    off = "".join(f"; its {kind} triggers are switched off" for kind, is_off in flags.items() if is_off)
    if not triggers:
        return f"version {version} of {name} has no trigger in force{off}"
    troubled = sum(bool(each.trouble) for each in triggers)
    count = "1 trigger" if len(triggers) == 1 else f"{len(triggers)} triggers"
    said = f"version {version} of {name} has {count}"
    return (f"{said}, {troubled} of them in trouble" if troubled else said) + off


def _switched_off(row: WorkflowRow) -> str:
    """Who it was, and when, if anybody was."""
    if row.activate_time is None:
        return ""
    by = "somebody" if row.activated_by is None else row.activated_by.name
    at = datetime.fromtimestamp(row.activate_time / 1_000, UTC).isoformat(timespec="seconds")
    return f"; {by} switched it off at {at}"


def _of_time(row: TimeTriggerRow) -> WhyTrigger:
    schedule = schedule_of(row.trigger)
    over = "; it never fires any more" if row.next_fire_at is None else ""
    return WhyTrigger(
        trigger_uuid=row.trigger_id,
        sentence=f"it starts a run {describe(schedule.cron)} ({row.trigger.timezone or 'UTC'}){over}",
        next_fire=row.next_fire_at,
    )


async def _of_signals(store: Store, row: SignalTriggerRow) -> WhyTrigger:
    names = " and ".join(f"[{name}]" for name in row.trigger.definitions)
    condition = row.trigger.condition
    held = "" if condition is None else f", if [{condition}] holds"
    lines = await troubles_of(store, row)
    return WhyTrigger(
        trigger_uuid=row.trigger_id,
        sentence=f"it starts a run for each signal {names}{held}",
        trouble=tuple(dict.fromkeys(each.log for each in lines)),
        troubled_at=lines[0].timestamp if lines else None,
    )
