"""All iterations of a loop at a glance: how many of them are in which status, in buckets of their numbers."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_run
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.iterations import loop_of, loops_around
from stretto.engine.records import LoopRecord, RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status_codes import RUN_CODES
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.ports.store import Store

FIRST_RUN: Final = 1


class IterationMap(msgspec.Struct, frozen=True, kw_only=True):
    """The iterations of a loop, counted.

    step_id       Of the loop.
    workflow_id   Its inline workflow, under which they are found; none: it has not begun.
    total         How many it has, as far as that is known; else how many have begun.
    width         So many numbers are in a bucket: the first has the iterations from 1 on.
    counts        For each letter that there is: how many in each bucket.
    """

    step_id: str
    workflow_id: str | None = None
    total: int = 0
    width: int = 1
    counts: dict[str, tuple[int, ...]] = {}


async def map_iterations(
    store: Store, caller: Caller, run: RunKey, step_id: str, *, buckets: int
) -> IterationMap:
    """The iterations of a loop of a run, or of the loop around a step."""
    await check_access(store, caller, Right.VIEW, run.workflow_id)
    row = await find_run(store, run.workflow_id, run.instance_id, str(run.run_id))
    loop_step = _loop_step((await definition_of(store, row)).steps, row.key, step_id)
    loop = await loop_of(store, row.key, loop_step)
    if loop is None:
        return IterationMap(step_id=loop_step)
    span = await store.instance_ids(loop.inline_id)
    total = max(loop.total or 0, 0 if span is None else span.highest)
    width = max(-(-total // buckets), 1)
    run_id = FIRST_RUN if _ran_once(loop) else None
    places = -(-total // width)
    columns: dict[str, list[int]] = {}
    for first, status, count in await store.iteration_counts(loop.inline_id, width, run_id=run_id):
        place = (first - 1) // width
        if place < places:  # one that came while we were counting is in the next map
            columns.setdefault(RUN_CODES[status], [0] * places)[place] += count
    counts = {code: tuple(column) for code, column in columns.items()}
    return IterationMap(
        step_id=loop_step, workflow_id=loop.inline_id, total=total, width=width, counts=counts
    )


def _ran_once(loop: LoopRecord) -> bool:
    """Nothing was taken over from an earlier run, and nobody restarted an iteration."""
    return loop.run_id == FIRST_RUN and not (loop.apart or loop.again or loop.asked)


def _loop_step(steps: tuple[AnyStep, ...], run: RunKey, step_id: str) -> str:
    around = loops_around(steps, step_id)
    if around is None:
        raise NotFound(f"Run {run} has no step [{step_id}]")
    if len(around) == 1:
        return around[0].id
    if around:
        hint = f"ask for it in an iteration of step [{around[0].id}]"
        raise InvalidRequest(f"Step [{step_id}] of run {run} is inside several loops", hint=hint)
    step = next(each for each in steps if each.id == step_id)
    if not isinstance(step, ForeachStep | WhileStep):
        raise InvalidRequest(f"Step [{step_id}] of run {run} is neither a loop nor inside one")
    return step_id
