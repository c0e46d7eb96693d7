"""All workflows, for readers."""

from collections.abc import Collection, Sequence

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.lines import WorkflowLine, run_line, workflow_line
from stretto.actions.reading.listing import Listing, Sight, page_of_list, shown_as
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.words import Word
from stretto.ports.store import Store
from stretto.ports.triggers import TimeTriggerRow
from stretto.ports.workflows import Outcomes, WorkflowFilter


class Extra(Word):
    """What a list of workflows shows besides; each is one more read for the whole page."""

    RECENT = "recent"  # the newest runs
    OUTCOMES = "outcomes"  # how runs ended, by hour
    NEXT = "next"  # when a time trigger fires next


async def list_workflows(
    store: Store,
    caller: Caller,
    wanted: WorkflowFilter,
    request: PageRequest,
    *,
    include: Collection[Extra] = (),
    since: int = 0,
) -> Page[WorkflowLine]:
    """Workflows that fit the filter, by id. `since`: from when on outcomes count."""
    listing = Listing(
        fetch=lambda cut: store.workflows(cut, wanted),
        key=lambda row: row.workflow_id,
        key_type=str,
        workflow=lambda row: row.workflow_id,
    )
    page = await page_of_list(store, caller, request, listing)
    lines = [workflow_line(row) for row in page.elements]
    return shown_as(page, await _with_extras(store, lines, include, since))


async def list_outcomes(
    store: Store, caller: Caller, workflow_ids: Sequence[str], since: int
) -> list[Outcomes]:
    """How runs of these workflows ended since a time, by workflow and hour."""
    seen = await Sight(store, caller).of(workflow_ids)
    return await store.outcomes([each for each in workflow_ids if each in seen], since)


async def list_schedules(store: Store, caller: Caller, request: PageRequest) -> Page[TimeTriggerRow]:
    """All time triggers that are in force, by id, with when each fires next."""
    listing = Listing(
        fetch=store.time_triggers,
        key=lambda row: row.trigger_id,
        key_type=str,
        workflow=lambda row: row.workflow_id,
    )
    return await page_of_list(store, caller, request, listing)


async def _with_extras(
    store: Store, lines: list[WorkflowLine], include: Collection[Extra], since: int
) -> list[WorkflowLine]:
    ids = [line.workflow_id for line in lines]
    recent = await store.recent(ids) if Extra.RECENT in include else {}
    ended = await store.outcomes(ids, since) if Extra.OUTCOMES in include else []
    fires = await store.next_fires(ids) if Extra.NEXT in include else {}
    return [
        msgspec.structs.replace(
            line,
            recent=tuple(map(run_line, recent[line.workflow_id])) if Extra.RECENT in include else None,
            outcomes=tuple(each for each in ended if each.workflow_id == line.workflow_id)
            if Extra.OUTCOMES in include
            else None,
            next_fire=fires.get(line.workflow_id),
        )
        for line in lines
    ]
