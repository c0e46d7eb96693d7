"""Flatten views: a step over all iterations of all loops around it, as one list."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final

from stretto.actions.caller import Caller
from stretto.actions.reading.flatten_orders import WORTH_A_LOOK, list_in_order
from stretto.actions.reading.flattening import (
    LOOK_AT,
    Sort,
    Target,
    Wanted,
    attempts_of,
    find_target,
    is_wanted,
    iteration_view,
    values_in,
    with_attempts,
)
from stretto.actions.reading.iterations import (
    Iteration,
    Rank,
    loop_in,
    loop_of,
    rank_in,
    rank_text,
    walk,
)
from stretto.actions.reading.paging import size_of
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.flatten import StepIteration, StepIterationsSummary
from stretto.model.page import Page, PageInfo
from stretto.model.request import PageRequest
from stretto.model.status import StepStatus
from stretto.ports.history import InstancesIn
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store

COUNT_AT_MOST: Final = 10_000  # iterations that are counted one by one
SAMPLE: Final = 50  # iterations whose loop values a summary looks at

NOTHING_SPECIAL: Final = Wanted()


async def list_iterations(
    store: Store,
    caller: Caller,
    run: RunKey,
    step_id: str,
    request: PageRequest,
    wanted: Wanted = NOTHING_SPECIAL,
) -> Page[StepIteration]:
    """The iterations of a step, as far as the step was created in them. A page looks at a bounded
    number of iterations: if a filter leaves few of them, it is short, and its cursor says where to go on.
    `total_count` is the size of the page, as in Maestro.
    """
    target = await find_target(store, caller, run, step_id)
    if wanted.sort in {Sort.FAILED_FIRST, Sort.LONGEST}:
        return await list_in_order(store, target, request, wanted)
    most, back = size_of(request), request.last is not None
    down = back is (wanted.sort is not Sort.LATEST)
    beyond = _rank_in(request.cursor, len(target.loops)) if request.cursor else ()
    if down and not beyond:
        beyond = (2**62,) * len(target.loops)
    kept: list[tuple[Rank, StepIteration]] = []
    looked, seen, more = beyond, 0, False
    walking = walk(store, target.run, target.loops, beyond, back=down)
    async for iteration, attempt in with_attempts(store, walking, step_id):
        if len(kept) >= most or seen >= LOOK_AT:
            more = True
            break
        looked, seen = iteration.rank, seen + 1
        if attempt is not None and is_wanted(target, iteration, attempt, wanted):
            kept.append((iteration.rank, iteration_view(target, iteration, attempt)))
    if back:
        kept.reverse()
    ends: list[Rank] = [kept[0][0], kept[-1][0]] if kept else [(), ()]
    if more:
        ends[0 if back else 1] = looked
    info = PageInfo(
        start_cursor=_cursor_of(ends[0]),
        end_cursor=_cursor_of(ends[1]),
        has_previous_page=more if back else bool(request.cursor),
        has_next_page=bool(request.cursor) if back else more,
    )
    return Page(
        page_info=info,
        total_count=len(kept),
        elements=tuple(shown for _rank, shown in kept),
    )


async def get_iteration(
    store: Store, caller: Caller, run: RunKey, step_id: str, iteration: str
) -> StepIteration:
    """A step in one iteration, named by the numbers of all levels: `3-12`."""
    target = await find_target(store, caller, run, step_id)
    rank = rank_in(iteration, len(target.loops))
    before = (*rank[:-1], rank[-1] - 1)
    walking = walk(store, target.run, target.loops, before)
    async for found, attempt in with_attempts(store, walking, step_id, batch=1):
        if found.rank == rank and attempt is not None:
            return iteration_view(target, found, attempt)
        break
    raise NotFound(f"Cannot find iteration [{iteration}] of step [{step_id}] in run {run}")


async def summarize_iterations(
    store: Store,
    caller: Caller,
    run: RunKey,
    step_id: str,
    *,
    representative: bool = True,
    status_count: bool = False,
    value_count: int = 5,
) -> StepIterationsSummary:
    """A step over all its iterations: one that is worth a look, the range of the outermost loop, some values
    of each loop parameter and, if asked, how many iterations are in which status.
    """
    target = await find_target(store, caller, run, step_id)
    counts: dict[StepStatus, int] = {}
    values: dict[str, list[Any]] = {name: [] for name in target.params}
    seen = 0
    walking = walk(store, target.run, target.loops)
    async for iteration, attempt in with_attempts(store, walking, step_id):
        seen += 1
        if seen > COUNT_AT_MOST:
            raise InvalidRequest(
                f"Step [{step_id}] has more than {COUNT_AT_MOST:,} iterations in run {run}",
                hint="ask without the count by status",
            )
        for name, value in values_in(target, iteration).items():
            if value not in values[name] and len(values[name]) < value_count:
                values[name].append(value)
        if attempt is not None:
            counts[attempt.record.status] = counts.get(attempt.record.status, 0) + 1
        if seen >= SAMPLE and not status_count:
            break
    outer = await loop_of(store, target.run, target.loops[0])
    return StepIterationsSummary(
        representative_iteration=await _representative(store, target) if representative else None,
        count_by_status=counts if status_count else None,
        range=None if outer is None else await store.instance_ids(outer.inline_id),
        loop_param_values=values or None,
    )


async def _representative(store: Store, target: Target) -> StepIteration | None:
    found = await _worst(store, target.run, target.loops)
    if found is None:
        return None
    ((_found, attempt),) = await attempts_of(store, [found], target.step_id)
    return None if attempt is None else iteration_view(target, found, attempt)


async def _worst(store: Store, run: RunKey, loops: list[str], trace: Rank = ()) -> Iteration | None:
    """On each level an iteration that failed, else one that ended badly, else one that goes on, else any."""
    found = await loop_in(store, run, loops[0])
    row = None if found is None else await found.seen(store, await _worth_a_look(store, found.loop.inline_id))
    if found is None or row is None:
        return None
    above = (*trace, run.run_id, found.loop.key.number)
    if len(loops) == 1:
        return Iteration((row.key.instance_id,), row, above)
    inner = await _worst(store, row.key, loops[1:], above)
    return None if inner is None else inner._replace(rank=(row.key.instance_id, *inner.rank))


async def _worth_a_look(store: Store, inline_id: str) -> RunRow | None:
    for statuses in WORTH_A_LOOK:
        page = await store.runs(InstancesIn(inline_id, statuses, Cut(most=1)))
        if page.elements:
            return page.elements[0]
    return None


def _cursor_of(rank: Rank) -> str | None:
    return urlsafe_b64encode(rank_text(rank).encode()).decode() if rank else None


def _rank_in(cursor: str, levels: int) -> Rank:
    """The rank that a cursor holds."""
    try:
        parts = urlsafe_b64decode(cursor.encode()).decode().split("-")
        rank = tuple(int(part[1:]) for part in parts)
    except ValueError as error:
        raise InvalidRequest(f"Invalid cursor [{cursor[:80]}]", hint="send one that a page had") from error
    if len(rank) != levels or rank_text(rank).split("-") != parts:
        raise InvalidRequest(f"Invalid cursor [{cursor[:80]}]", hint="it is of another list")
    return rank
