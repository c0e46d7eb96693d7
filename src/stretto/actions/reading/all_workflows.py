"""All workflows, for readers."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.lines import WorkflowLine, recent_run, workflow_line
from stretto.actions.reading.listing import Listing, Sight, page_of_list, shown_as
from stretto.actions.reading.percentiles import rank
from stretto.actions.reading.windows import HOUR
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.model.status_codes import RUN_CODES
from stretto.model.words import Word
from stretto.ports.rows import RunGlance
from stretto.ports.store import Store
from stretto.ports.triggers import TimeTriggerPage, TimeTriggerRow
from stretto.ports.views import RecentRuns, by_workflow
from stretto.ports.workflows import Outcomes, VersionKey, WorkflowFilter, WorkflowRow

MOST_WORDS: Final = 5


class Extra(Word):
    """What a list of workflows shows besides; each is one more read for the whole page."""

    RECENT = "recent"  # the newest runs
    OUTCOMES = "outcomes"  # how runs ended, by hour
    COUNTS = "counts"  # the same in all, and how many have not ended
    P50 = "p50"  # how long the newest runs took that succeeded, in the middle
    NEXT = "next"  # when a time trigger fires next


def words_of(text: str | None) -> tuple[str, ...]:
    """The words that somebody looks for."""
    words = tuple((text or "").split())
    if len(words) > MOST_WORDS:
        raise InvalidRequest(f"There are {len(words)} words to look for", hint=f"use {MOST_WORDS} at most")
    return words


def hour_of(time: int) -> int:
    """The begin of an hour: outcomes are counted by hours, and the one that has begun counts whole."""
    return time - time % HOUR


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
    return shown_as(page, await workflow_lines(store, page.elements, include, since))


async def workflow_lines(
    store: Store, rows: Sequence[WorkflowRow], include: Collection[Extra] = (), since: int = 0
) -> list[WorkflowLine]:
    """Workflows as lists show them, read all together."""
    versions = [VersionKey(row.workflow_id, row.internal_id, row.default_version) for row in rows]
    heads = await store.version_heads(versions)
    lines = [workflow_line(row, heads.get(version)) for row, version in zip(rows, versions, strict=True)]
    return await _with_extras(store, lines, include, since)


async def list_outcomes(
    store: Store, caller: Caller, workflow_ids: Sequence[str], since: int
) -> list[Outcomes]:
    """How runs of these workflows ended since a time, by workflow and hour."""
    seen = await Sight(store, caller).of(workflow_ids)
    return await store.outcomes([each for each in workflow_ids if each in seen], since)


async def list_schedules(store: Store, caller: Caller, request: PageRequest) -> Page[TimeTriggerRow]:
    """All time triggers that are in force, by id, with when each fires next."""
    listing = Listing(
        fetch=lambda cut: store.time_triggers(TimeTriggerPage(cut)),
        key=lambda row: row.trigger_id,
        key_type=str,
        workflow=lambda row: row.workflow_id,
    )
    return await page_of_list(store, caller, request, listing)


async def _with_extras(
    store: Store, lines: list[WorkflowLine], include: Collection[Extra], since: int
) -> list[WorkflowLine]:
    wanted = frozenset(include)
    ids = [line.workflow_id for line in lines]
    looks = RecentRuns(ids if wanted & {Extra.RECENT, Extra.P50} else ())
    recent = by_workflow((await store.glances(looks)).elements) if looks.workflow_ids else {}
    ended = await store.outcomes(ids, since) if wanted & {Extra.OUTCOMES, Extra.COUNTS} else []
    unended = await store.unended(ids) if Extra.COUNTS in wanted else {}
    fires = await store.next_fires(ids) if Extra.NEXT in wanted else {}
    rich = []
    for line in lines:
        runs = recent.get(line.workflow_id, [])
        hours = tuple(each for each in ended if each.workflow_id == line.workflow_id)
        rich.append(
            msgspec.structs.replace(
                line,
                recent=tuple(map(recent_run, runs)) if Extra.RECENT in wanted else None,
                outcomes=hours if Extra.OUTCOMES in wanted else None,
                counts=_counts(hours, unended.get(line.workflow_id, {})) if Extra.COUNTS in wanted else None,
                p50=_middle(runs) if Extra.P50 in wanted else None,
                next_fire=fires.get(line.workflow_id),
            )
        )
    return rich


def _counts(hours: Iterable[Outcomes], unended: dict[RunStatus, int]) -> dict[str, int]:
    """By the letters of statuses."""
    found: Counter[RunStatus] = Counter(unended)
    for hour in hours:
        found.update(hour.statuses)
    return {code: found[status] for status, code in RUN_CODES.items() if found[status]}


def _middle(runs: Iterable[RunGlance]) -> int | None:
    took = (run.duration for run in runs if run.status is RunStatus.SUCCEEDED)
    return rank([each for each in took if each is not None], 50)
