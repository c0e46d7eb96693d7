"""What the flatten views are made of: the step that they are about, its iterations, and which of them are
wanted.
"""

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
    loops_around,
    newest_attempt_up_to,
    rank_text,
)
from stretto.actions.reading.step_view import runtime_state
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.flatten import LeafStepRef, StepIteration
from stretto.model.param import ParamDefinition
from stretto.model.status import StepStatus
from stretto.model.words import Word
from stretto.ports.rows import AttemptRow
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.store import Store

LOOK_AT: Final = 2_000  # iterations for one page, however few of them a filter leaves
NO_VALUES: Final[Mapping[str, Any]] = {}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A step inside loops of a run, and the names of the loops' parameters."""

    run: RunKey
    step_id: str
    loops: list[str]
    params: list[str]


class Sort(Word):
    """In which order iterations come."""

    RANK = "rank"
    LATEST = "latest"  # by rank, the other way round
    FAILED_FIRST = "failed_first"  # then what else ended badly, what goes on, and what went well
    LONGEST = "longest"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which iterations a page shows.

    q       This text is in a value of a loop parameter, or in the number of the iteration.
    error   This text is in the reason for which the step ended. Both in any case.
    """

    statuses: Collection[StepStatus] = ()
    loop_params: Mapping[str, Any] = NO_VALUES
    q: str = ""
    error: str = ""
    sort: Sort = Sort.RANK


# ---------------------------------------------------------------------------------------------------- finding
async def find_target(store: Store, caller: Caller, run: RunKey, step_id: str) -> Target:
    """The step that a view is about."""
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


async def with_attempts(
    store: Store, iterations: AsyncIterator[Iteration], step_id: str, *, batch: int = BATCH
) -> AsyncIterator[tuple[Iteration, AttemptRow | None]]:
    """Each iteration with the newest attempt of the step in it, which may be of an older run of it."""
    ahead: list[Iteration] = []
    async for each in iterations:
        ahead.append(each)
        if len(ahead) >= batch:
            for pair in await attempts_of(store, ahead, step_id):
                yield pair
            ahead = []
    for pair in await attempts_of(store, ahead, step_id):
        yield pair


async def attempts_of(
    store: Store, iterations: list[Iteration], step_id: str
) -> list[tuple[Iteration, AttemptRow | None]]:
    """The same for some iterations at once."""
    newest = NewestAttempts(tuple(each.run.key for each in iterations), step_id)
    found = {row.key.run: row for row in await store.attempts(newest)}
    pairs: list[tuple[Iteration, AttemptRow | None]] = []
    for each in iterations:
        attempt = found.get(each.run.key)
        if attempt is None and each.run.key.run_id > 1:
            attempt = await newest_attempt_up_to(store, each.run.key, step_id)
        pairs.append((each, attempt))
    return pairs


# ---------------------------------------------------------------------------------------------------- showing
def iteration_view(target: Target, iteration: Iteration, attempt: AttemptRow) -> StepIteration:
    """A step in an iteration, as surfaces show it."""
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
        loop_params=values_in(target, iteration) or None,
        step_runtime_state=runtime_state(attempt),
    )


def values_in(target: Target, iteration: Iteration) -> dict[str, Any]:
    """What the parameters of all loops are in an iteration."""
    params = iteration.run.record.params
    return {name: params[name].evaluated_result for name in target.params if name in params}


def is_wanted(target: Target, iteration: Iteration, attempt: AttemptRow, wanted: Wanted) -> bool:
    """Whether a filter leaves it."""
    record = attempt.record
    if wanted.statuses and record.status not in wanted.statuses:
        return False
    if wanted.error.casefold() not in (record.reason or "").casefold():
        return False
    given = values_in(target, iteration) if wanted.loop_params or wanted.q else {}
    if wanted.q and not _mentions(wanted.q.casefold(), iteration, given):
        return False
    return all(name in given and given[name] == value for name, value in wanted.loop_params.items())


def _mentions(text: str, iteration: Iteration, values: Mapping[str, Any]) -> bool:
    number = "-".join(map(str, iteration.rank))
    return text in number or any(text in str(value).casefold() for value in values.values())
