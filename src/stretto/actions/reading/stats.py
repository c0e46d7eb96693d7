"""How long the runs of a workflow and their steps usually take, and how often they fail."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_workflow
from stretto.actions.parts.offload import offload
from stretto.engine.inline_ids import is_inline
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.rows import RunGlance
from stretto.ports.store import Store
from stretto.ports.views import EndedSince, StepTime

MOST_RUNS: Final = 200
MOST_STEPS: Final = 50_000  # of all runs together; of wide workflows fewer runs are looked at
UNKNOWN: Final = -1
BAD_RUNS: Final = frozenset({RunStatus.FAILED, RunStatus.TIMED_OUT})
BAD_STEPS: Final = frozenset(
    {
        StepStatus.COMPLETED_WITH_ERROR,
        StepStatus.USER_FAILED,
        StepStatus.PLATFORM_FAILED,
        StepStatus.TIMEOUT_FAILED,
        StepStatus.FATALLY_FAILED,
        StepStatus.INTERNALLY_FAILED,
        StepStatus.TIMED_OUT,
    }
)


class RunStats(msgspec.Struct, frozen=True, kw_only=True):
    """Of runs that have ended: p50 and p95 are of those that succeeded, in milliseconds."""

    count: int
    failed: int
    failure_rate: Decimal | None = None
    p50: int | None = None
    p95: int | None = None


class StepStats(msgspec.Struct, frozen=True, kw_only=True):
    """Of steps that have ended, in columns; p50 and p95 are -1 where none has succeeded."""

    ids: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    failure_rates: tuple[Decimal, ...] = ()
    p50: tuple[int, ...] = ()
    p95: tuple[int, ...] = ()


class WorkflowStats(msgspec.Struct, frozen=True, kw_only=True):
    """The newest runs that have ended since a time.

    most_runs   No more than so many are looked at; there may have been others.
    step_runs   The steps are those of so many of them, the newest.
    """

    workflow_id: str
    since: int
    most_runs: int
    step_runs: int
    runs: RunStats
    steps: StepStats


async def get_stats(store: Store, caller: Caller, workflow_id: str, *, since: int) -> WorkflowStats:
    """Of a workflow, or of the iterations of a loop."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    if not is_inline(workflow_id):
        await find_workflow(store, workflow_id)
    runs = (await store.glances(EndedSince(workflow_id, since, MOST_RUNS))).elements
    some = _bounded(runs)
    found = await store.step_times([run.key for run in some])
    times = [each for steps in found.values() for each in steps]
    return WorkflowStats(
        workflow_id=workflow_id,
        since=since,
        most_runs=MOST_RUNS,
        step_runs=len(some),
        runs=_of_runs(runs),
        steps=await offload(len(times), _of_steps, times),
    )


def _bounded(runs: Sequence[RunGlance]) -> list[RunGlance]:
    """The newest of these runs, as many as have not too many steps together."""
    some: list[RunGlance] = []
    steps = 0
    for run in runs:
        steps += sum(run.counts.values())
        if some and steps > MOST_STEPS:
            break
        some.append(run)
    return some


def _of_runs(runs: Sequence[RunGlance]) -> RunStats:
    took = [
        run.end_time - run.start_time
        for run in runs
        if run.status is RunStatus.SUCCEEDED and run.start_time is not None and run.end_time is not None
    ]
    failed = sum(run.status in BAD_RUNS for run in runs)
    return RunStats(
        count=len(runs),
        failed=failed,
        failure_rate=_rate(failed, len(runs)) if runs else None,
        p50=percentile(took, 50) if took else None,
        p95=percentile(took, 95) if took else None,
    )


def _of_steps(times: Iterable[StepTime]) -> StepStats:
    took: defaultdict[str, list[int]] = defaultdict(list)
    counts: defaultdict[str, int] = defaultdict(int)
    failed: defaultdict[str, int] = defaultdict(int)
    for step_id, status, millis in times:
        counts[step_id] += status.is_terminal
        failed[step_id] += status in BAD_STEPS
        if status is StepStatus.SUCCEEDED and millis is not None:
            took[step_id].append(millis)
    ids = sorted(step_id for step_id, count in counts.items() if count)
    return StepStats(
        ids=tuple(ids),
        counts=tuple(counts[each] for each in ids),
        failed=tuple(failed[each] for each in ids),
        failure_rates=tuple(_rate(failed[each], counts[each]) for each in ids),
        p50=tuple(percentile(took[each], 50) for each in ids),
        p95=tuple(percentile(took[each], 95) for each in ids),
    )


def percentile(values: Collection[int], share: int) -> int:
    """The smallest of these that so many per cent of them do not exceed; -1 of none."""
    ordered = sorted(values)
    place = -(-len(ordered) * share // 100)
    return ordered[max(place, 1) - 1] if ordered else UNKNOWN


def _rate(part: int, whole: int) -> Decimal:
    return round(Decimal(part) / whole, 4).normalize()
