"""Who holds, and who waits for, what is scarce or has not come; and when triggers fire next."""

from typing import Final

import msgspec

from stretto.actions.parts.blocked import BlockedBy
from stretto.actions.reading.all_workflows import list_schedules
from stretto.actions.reading.limits import InLine, list_holders, list_waiters
from stretto.actions.reading.lines import AttemptRef, attempt_ref
from stretto.actions.reading.listing import shown_as
from stretto.actions.reading.signals import list_signal_waits
from stretto.api.routing import Calling, Name, Paging, Text, gets
from stretto.api.slashes import slashed
from stretto.model.page import Page
from stretto.model.trigger import SignalParamValue, TimeTrigger
from stretto.model.workflow import Criticality
from stretto.ports.permits import PermitRow
from stretto.ports.signals import SignalWait
from stretto.ports.triggers import TimeTriggerRow


class PermitLine(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that holds a tag, or waits for it since then."""

    ref: AttemptRef
    since: int
    granted_at: int | None = None
    criticality: Criticality | None = None
    place: int | None = None  # in the line of those who wait, from 1
    blocked_by: tuple[BlockedBy, ...] | None = None  # of who waits: the tags of which it gets no permit now


class WaitLine(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that waits for a signal, and the values that it must have."""

    ref: AttemptRef
    match_params: dict[str, SignalParamValue] = {}


class ScheduleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A time trigger that is in force."""

    trigger_id: str
    workflow_id: str
    workflow_version_id: int
    trigger: TimeTrigger
    next_fire: int | None = None


@gets("/tag-permits/{tag}/holders")
async def read_holders(call: Calling, tag: Name, part: Paging) -> Page[PermitLine]:
    """Who holds a tag."""
    page = await list_holders(call.store, call.reader, slashed(tag), part)
    return shown_as(page, map(_permit, page.elements))


@gets("/tag-permits/{tag}/waiters")
async def read_waiters(call: Calling, tag: Name, part: Paging) -> Page[PermitLine]:
    """Who waits for a tag, the first to go first. `blocked_by`: of each of its tags that it gets no permit
    of, who holds them, and who goes before.
    """
    page = await list_waiters(call.store, call.reader, slashed(tag), part)
    return shown_as(page, map(_waiter, page.elements))


@gets("/holders")
async def read_holders_of(call: Calling, tag: Text, part: Paging) -> Page[PermitLine]:
    """Who holds a tag, whatever is in its name."""
    page = await list_holders(call.store, call.reader, tag, part)
    return shown_as(page, map(_permit, page.elements))


@gets("/waiters")
async def read_waiters_of(call: Calling, tag: Text, part: Paging) -> Page[PermitLine]:
    """Who waits for a tag, whatever is in its name, the first to go first."""
    page = await list_waiters(call.store, call.reader, tag, part)
    return shown_as(page, map(_waiter, page.elements))


@gets("/signal-waiters")
async def read_signal_waiters_of(call: Calling, name: Text, part: Paging) -> Page[WaitLine]:
    """Steps that wait for a signal, whatever is in its name."""
    page = await list_signal_waits(call.store, call.reader, name, part)
    return shown_as(page, map(_wait, page.elements))


@gets("/signals/{name}/waiters")
async def read_signal_waiters(call: Calling, name: Name, part: Paging) -> Page[WaitLine]:
    """Steps that wait for a signal."""
    page = await list_signal_waits(call.store, call.reader, slashed(name), part)
    return shown_as(page, map(_wait, page.elements))


@gets("/schedules")
async def read_schedules(call: Calling, part: Paging) -> Page[ScheduleLine]:
    """All time triggers that are in force, with when each fires next."""
    page = await list_schedules(call.store, call.reader, part)
    return shown_as(page, map(_schedule, page.elements))


def _permit(row: PermitRow) -> PermitLine:
    return PermitLine(
        ref=attempt_ref(row.attempt),
        since=row.since,
        granted_at=row.granted_at,
        criticality=row.criticality,
    )


def _waiter(each: InLine) -> PermitLine:
    return msgspec.structs.replace(_permit(each.row), place=each.place, blocked_by=each.blocked_by)


def _wait(row: SignalWait) -> WaitLine:
    return WaitLine(ref=attempt_ref(row.attempt), match_params=dict(row.match_params))


def _schedule(row: TimeTriggerRow) -> ScheduleLine:
    return ScheduleLine(
        trigger_id=row.trigger_id,
        workflow_id=row.workflow_id,
        workflow_version_id=row.version_id,
        trigger=row.trigger,
        next_fire=row.next_fire_at,
    )


ROUTES: Final = (
    read_holders,
    read_waiters,
    read_holders_of,
    read_waiters_of,
    read_signal_waiters,
    read_signal_waiters_of,
    read_schedules,
)
