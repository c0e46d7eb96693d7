"""The overview of a run: how many of its steps are in which status, which ones, and since when.

    runtime_overview(order, steps, rollup)  -> RuntimeOverview
    views_of(overview, order, run_id)       -> the steps again, as views

A step is named by its place in the run's graph, counted from 1: `order` is that graph's order, and the only
thing that tells the numbers' meaning. Steps that were not created are not listed; they are the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from stretto.engine.rollup import Rollup
from stretto.model.aggregated import StepAggregatedView
from stretto.model.rollup import RuntimeOverview, StepCount, StepInfo
from stretto.model.status import RunStatus, StepStatus


class StepState(Protocol):
    """What the overview tells of a step; attempts, runtime states and views all have it."""

    @property
    def status(self) -> StepStatus: ...
    @property
    def start_time(self) -> int | None: ...
    @property
    def end_time(self) -> int | None: ...


def runtime_overview(
    order: Sequence[str],
    steps: Mapping[str, StepState],
    rollup: Rollup,
    run_status: RunStatus | None = None,
) -> RuntimeOverview:
    """The overview of a run. `run_status` is given only where it differs from the instance's status."""
    found: dict[StepStatus, list[StepInfo]] = {}
    for ordinal, step_id in enumerate(order, 1):
        step = steps.get(step_id)
        if step is not None and step.status is not StepStatus.NOT_CREATED:
            found.setdefault(step.status, []).append(StepInfo(ordinal, step.start_time, step.end_time))
    return RuntimeOverview(
        total_step_count=len(order),
        step_overview={
            status: StepCount(cnt=len(found[status]), steps=found[status])
            for status in StepStatus
            if status in found
        },
        rollup_overview=rollup.record(),
        run_status=run_status,
    )


def views_of(
    overview: RuntimeOverview | None, order: Sequence[str], run_id: int
) -> dict[str, StepAggregatedView]:
    """The created steps of a run, by id, in the order of its graph; none without an overview."""
    if overview is None:
        return {}
    listed = overview.steps_of(order)
    return {
        step_id: StepAggregatedView(
            workflow_run_id=run_id, status=status, start_time=info.start_time, end_time=info.end_time
        )
        for step_id in order
        if step_id in listed
        for status, info in (listed[step_id],)
    }
