"""The iterations of one loop in other orders than that of their numbers. They are read forwards."""

from collections.abc import AsyncIterator
from typing import Final

from stretto.actions.reading.flattening import (
    LOOK_AT,
    Sort,
    Target,
    Wanted,
    is_wanted,
    iteration_view,
    with_attempts,
)
from stretto.actions.reading.iterations import BATCH, Iteration, Rank, loop_of
from stretto.actions.reading.listing import Number, cursor_of, key_in
from stretto.actions.reading.paging import size_of
from stretto.engine.records import LoopRecord
from stretto.model.errors import InvalidRequest
from stretto.model.flatten import StepIteration
from stretto.model.page import Page, PageInfo
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.ports.history import InstancesIn, LongestRuns
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow, took_until
from stretto.ports.store import Store

MOST_SORTED: Final = 100_000  # iterations that are looked at to find the longest

R = RunStatus
WORTH_A_LOOK: Final[tuple[tuple[RunStatus, ...], ...]] = (
    (R.FAILED,),
    (R.TIMED_OUT, R.STOPPED),
    (R.CREATED, R.IN_PROGRESS, R.PAUSED),
    (R.SUCCEEDED,),
)

Place = tuple[int, ...]  # in the order: of FAILED_FIRST a group and a number; of LONGEST also until when


async def list_in_order(
    store: Store, target: Target, request: PageRequest, wanted: Wanted
) -> Page[StepIteration]:
    """A page of the iterations that are wanted, in the order that is; its bounds are those of other pages."""
    most = size_of(request)
    if request.last is not None:
        hint = "use first, and end_cursor to go on"
        raise InvalidRequest(f"A list with sort [{wanted.sort}] is read from its beginning on", hint=hint)
    if len(target.loops) > 1:
        hint = f"ask in an iteration of step [{target.loops[0]}]"
        raise InvalidRequest(
            f"Step [{target.step_id}] is inside several loops: sort [{wanted.sort}] is for one", hint=hint
        )
    loop = await loop_of(store, target.run, target.loops[0])
    beyond = _place_in(request.cursor, wanted.sort)
    kept: list[tuple[Place, StepIteration]] = []
    looked, seen, more = beyond, 0, False
    if loop is not None:
        order = await _order(store, loop, wanted.sort, beyond)
        places: dict[Rank, Place] = {}
        walking = _noted(order, places, (target.run.run_id, loop.key.number))
        async for iteration, attempt in with_attempts(store, walking, target.step_id):
            if len(kept) >= most or seen >= LOOK_AT:
                more = True
                break
            looked, seen = places[iteration.rank], seen + 1
            if attempt is not None and is_wanted(target, iteration, attempt, wanted):
                kept.append((looked, iteration_view(target, iteration, attempt)))
    info = PageInfo(
        start_cursor=cursor_of(kept[0][0]) if kept else None,
        end_cursor=cursor_of(looked) if looked else None,
        has_previous_page=bool(beyond),
        has_next_page=more,
    )
    return Page(
        page_info=info,
        total_count=len(kept),
        elements=tuple(shown for _place, shown in kept),
    )


def _place_in(cursor: str | None, sort: Sort) -> Place:
    if not cursor:
        return ()
    tp = tuple[Number, Number] if sort is Sort.FAILED_FIRST else tuple[Number, Number, Number]
    place: Place = key_in(cursor, tp)
    return place


Order = AsyncIterator[tuple[Place, RunRow]]


async def _noted(order: Order, places: dict[Rank, Place], trace: tuple[int, ...]) -> AsyncIterator[Iteration]:
    """The iterations; where each stands is noted."""
    async for place, row in order:
        rank = (row.key.instance_id,)
        places[rank] = place
        yield Iteration(rank, row, trace)


async def _order(store: Store, loop: LoopRecord, sort: Sort, beyond: Place) -> Order:
    if sort is Sort.FAILED_FIRST:
        return _failed_first(store, loop.inline_id, beyond)
    span = await store.instance_ids(loop.inline_id)
    if span is not None and span.highest > MOST_SORTED:
        raise InvalidRequest(
            f"Step [{loop.key.step_id}] has {span.highest:,} iterations: the longest are found among"
            f" {MOST_SORTED:,} at most",
            hint="use sort=failed_first, or a filter",
        )
    return _longest(store, loop.inline_id, beyond or (await store.now(),))


async def _failed_first(store: Store, inline_id: str, beyond: Place) -> Order:
    for place, statuses in enumerate(WORTH_A_LOOK):
        if beyond and place < beyond[0]:
            continue
        number, more = (beyond[1] if beyond and place == beyond[0] else 0), True
        while more:
            page = await store.runs(InstancesIn(inline_id, statuses, Cut(most=BATCH, above=number)))
            for row in page.elements[::-1]:
                number = row.key.instance_id
                yield (place, number), row
            more = page.before


async def _longest(store: Store, inline_id: str, beyond: Place) -> Order:
    """Until the moment of the first page, on all pages: what still runs keeps its place."""
    now, below, more = beyond[0], beyond[1:] or None, True
    while more:
        page = await store.runs(LongestRuns(inline_id, now, Cut(most=BATCH, below=below)))
        for row in page.elements:
            below = took_until(row, now)
            yield (now, *below), row
        more = page.after
