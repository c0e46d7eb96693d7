"""Flatten views: a step over all iterations of all loops around it, as one list."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any, Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_run
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.iterations import (
    BATCH,
    Iteration,
    Rank,
    loop_of,
    loops_around,
    rank_in,
    rank_text,
    walk,
)
from stretto.actions.reading.paging import size_of
from stretto.actions.reading.step_view import runtime_state
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.flatten import LeafStepRef, StepIteration, StepIterationsSummary
from stretto.model.page import Page, PageInfo
from stretto.model.param import ParamDefinition
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store

LOOK_AT: Final = 2_000  # iterations for one page, however few of them a filter leaves
COUNT_AT_MOST: Final = 10_000  # iterations that are counted one by one
SAMPLE: Final = 50  # iterations whose loop values a summary looks at

R = RunStatus
WORTH_A_LOOK: Final[tuple[tuple[RunStatus, ...], ...]] = (
    (R.FAILED,),
    (R.TIMED_OUT, R.STOPPED),
    (R.CREATED, R.IN_PROGRESS, R.PAUSED),
    (),
)
NO_VALUES: Final[Mapping[str, Any]] = {}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A step inside loops of a run, and the names of the loops' parameters."""

    run: RunKey
    step_id: str
    loops: list[str]
    params: list[str]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which iterations a page shows."""

    statuses: Collection[StepStatus] = ()
    loop_params: Mapping[str, Any] = NO_VALUES


NOTHING_SPECIAL: Final = Wanted()


async def list_iterations(
    store: Store,
    caller: Caller,
    run: RunKey,
    step_id: str,
    request: PageRequest,
    wanted: Wanted = NOTHING_SPECIAL,
) -> Page[StepIteration]:
    """The iterations of a step by rank, as far as the step was created in them. A page looks at a bounded
    number of iterations: if a filter leaves few of them, it is short, and its cursor says where to go on.
    """
    target = await _find(store, caller, run, step_id)
    most, back = size_of(request), request.last is not None
    beyond = _rank_in(request.cursor, len(target.loops)) if request.cursor else ()
    if back and not beyond:
        beyond = (2**62,) * len(target.loops)
    kept: list[tuple[Rank, StepIteration]] = []
    looked, seen, more = beyond, 0, False
    walking = walk(store, target.run, target.loops, beyond, back=back)
    async for iteration, attempt in _with_attempts(store, walking, step_id):
        if len(kept) >= most or seen >= LOOK_AT:
            more = True
            break
        looked, seen = iteration.rank, seen + 1
        if attempt is not None and _is_wanted(target, iteration, attempt, wanted):
            kept.append((iteration.rank, _view(target, iteration, attempt)))
    if back:
        kept.reverse()
    ends: list[Rank] = [kept[0][0], kept[-1][0]] if kept else [(), ()]
    if more:
        ends[0 if back else 1] = looked
    info = PageInfo(
        start_cursor=_cursor_of(ends[0]),
        end_cursor=_cursor_of(ends[1]),
        has_previous_page=more if back else bool(beyond),
        has_next_page=bool(request.cursor) if back else more,
    )
    return Page(page_info=info, total_count=len(kept), elements=tuple(shown for _rank, shown in kept))


async def get_iteration(
    store: Store, caller: Caller, run: RunKey, step_id: str, iteration: str
) -> StepIteration:
    """A step in one iteration, named by the numbers of all levels: `3-12`."""
    target = await _find(store, caller, run, step_id)
    rank = rank_in(iteration, len(target.loops))
    before = (*rank[:-1], rank[-1] - 1)
    walking = walk(store, target.run, target.loops, before)
    async for found, attempt in _with_attempts(store, walking, step_id, batch=1):
        if found.rank == rank and attempt is not None:
            return _view(target, found, attempt)
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
    target = await _find(store, caller, run, step_id)
    counts: dict[StepStatus, int] = {}
    values: dict[str, list[Any]] = {name: [] for name in target.params}
    seen = 0
    walking = walk(store, target.run, target.loops)
    async for iteration, attempt in _with_attempts(store, walking, step_id):
        seen += 1
        if seen > COUNT_AT_MOST:
            raise InvalidRequest(
                f"Step [{step_id}] has more than {COUNT_AT_MOST:,} iterations in run {run}",
                hint="ask without the count by status",
            )
        for name, value in _values(target, iteration).items():
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
    ((_found, attempt),) = await _attempts(store, [found], target.step_id)
    return None if attempt is None else _view(target, found, attempt)


async def _worst(store: Store, run: RunKey, loops: list[str], trace: Rank = ()) -> Iteration | None:
    """On each level an iteration that failed, else one that ended badly, else one that goes on, else any."""
    loop = await loop_of(store, run, loops[0])
    row = None if loop is None else await _worth_a_look(store, loop.inline_id)
    if loop is None or row is None:
        return None
    above = (*trace, run.run_id, loop.key.number)
    if len(loops) == 1:
        return Iteration((row.key.instance_id,), row, above)
    inner = await _worst(store, row.key, loops[1:], above)
    return None if inner is None else inner._replace(rank=(row.key.instance_id, *inner.rank))


async def _worth_a_look(store: Store, inline_id: str) -> RunRow | None:
    for statuses in WORTH_A_LOOK:
        page = await store.instances(inline_id, Cut(most=1), statuses)
        if page.elements:
            return page.elements[0]
    return None


# ---------------------------------------------------------------------------------------------------- finding
async def _find(store: Store, caller: Caller, run: RunKey, step_id: str) -> Target:
    await check_access(store, caller, Right.VIEW, run.workflow_id)
    row = await find_run(store, run.workflow_id, run.instance_id, str(run.run_id))
    loops = loops_around((await definition_of(store, row)).steps, step_id)
    if loops is None:
        raise NotFound(f"Run {run} has no step [{step_id}]")
    if not loops:
        raise InvalidRequest(f"Step [{step_id}] of run {run} is not inside a loop")
    names = [name for loop in loops for name in _names(loop.params)]
    return Target(run=row.key, step_id=step_id, loops=[loop.id for loop in loops], params=names)


def _names(params: Mapping[str, ParamDefinition] | None) -> list[str]:
    """The loop parameters of a loop step: they are written out, so they are known before it runs."""
    found = (params or {}).get("loop_params")
    return [] if found is None or not isinstance(found.value, dict) else list(found.value)


async def _with_attempts(
    store: Store, iterations: AsyncIterator[Iteration], step_id: str, *, batch: int = BATCH
) -> AsyncIterator[tuple[Iteration, AttemptRow | None]]:
    """Each iteration with the newest attempt of the step in it, which may be of an older run of it."""
    ahead: list[Iteration] = []
    async for each in iterations:
        ahead.append(each)
        if len(ahead) >= batch:
            for pair in await _attempts(store, ahead, step_id):
                yield pair
            ahead = []
    for pair in await _attempts(store, ahead, step_id):
        yield pair


async def _attempts(
    store: Store, iterations: list[Iteration], step_id: str
) -> list[tuple[Iteration, AttemptRow | None]]:
    found = await store.newest_of_step([each.run.key for each in iterations], step_id)
    pairs: list[tuple[Iteration, AttemptRow | None]] = []
    for each in iterations:
        attempt = found.get(each.run.key)
        if attempt is None and each.run.key.run_id > 1:
            older = await store.newest_in_instance(*each.run.key[:2], step_id)
            attempt = older[0] if older else None
        pairs.append((each, attempt))
    return pairs


# ---------------------------------------------------------------------------------------------------- showing
def _view(target: Target, iteration: Iteration, attempt: AttemptRow) -> StepIteration:
    run = attempt.key.run
    trace = (*iteration.trace, run.run_id, attempt.key.number)
    return StepIteration(
        workflow_id=target.run.workflow_id,
        workflow_instance_id=target.run.instance_id,
        workflow_run_id=target.run.run_id,
        step_id=target.step_id,
        iteration_rank=rank_text(iteration.rank),
        step_attempt_seq=rank_text(trace),
        leaf_step_instance_ref=LeafStepRef(
            workflow_id=run.workflow_id,
            workflow_instance_id=run.instance_id,
            workflow_run_id=run.run_id,
            step_id=target.step_id,
            step_attempt_id=attempt.key.number,
        ),
        loop_params=_values(target, iteration) or None,
        step_runtime_state=runtime_state(attempt),
    )


def _values(target: Target, iteration: Iteration) -> dict[str, Any]:
    """What the parameters of all loops are in an iteration."""
    params = iteration.run.record.params
    return {name: params[name].evaluated_result for name in target.params if name in params}


def _is_wanted(target: Target, iteration: Iteration, attempt: AttemptRow, wanted: Wanted) -> bool:
    if wanted.statuses and attempt.record.status not in wanted.statuses:
        return False
    given = _values(target, iteration) if wanted.loop_params else {}
    return all(name in given and given[name] == value for name, value in wanted.loop_params.items())


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
