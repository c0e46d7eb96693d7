"""An instance over all its runs.

    aggregated_views(...)    -> for each step what its newest run made of it
    aggregated_status(...)   -> the status of the instance when its newest run has this one
    statuses_at_end(...)     -> that, and the run's own status where it must be remembered beside it

Only a restart that SUCCEEDED is judged by older runs, too: it may have left alone what failed before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stretto.definition.graph import Graph
from stretto.definition.restart import covered_steps
from stretto.engine.outcome import is_moving, worst_end
from stretto.model.aggregated import AggregatedInfo, StepAggregatedView
from stretto.model.errors import Internal
from stretto.model.status import InstanceStatus, RunStatus, StepStatus

Views = Mapping[str, StepAggregatedView]


class EndStatuses(NamedTuple):
    """How an instance and its newest run stand; `run` only if it differs."""

    instance: InstanceStatus
    run: RunStatus | None


def aggregated_views(
    steps: Iterable[str],
    run: Views,
    graph: Graph,
    *,
    before: Views | None = None,
    restarted: str | None = None,
) -> dict[str, StepAggregatedView]:
    """For each step of the workflow its newest state.

    `run` are the created steps of the newest run and `graph` its graph; `before` is the view before it. A
    step that the run covers but has not created begins anew: what an older run made of it does not count.
    """
    covered = graph.successors.keys() if restarted is None else covered_steps(graph, restarted, run.keys())
    earlier = before or {}
    return {
        step: run[step] if step in run else _left_alone(step, earlier, covered=step in covered)
        for step in steps
    }


def _left_alone(step: str, earlier: Views, *, covered: bool) -> StepAggregatedView:
    known = None if covered else earlier.get(step)
    return StepAggregatedView() if known is None else known


def aggregated_status(
    run: RunStatus, views: Views, before: InstanceStatus | None, *, follows_maestro: bool = True
) -> InstanceStatus:
    """The status of an instance. `before` is the one before its newest run; None: there was no other run.

    Outside of Maestro a step that timed out has failed, unless the run around it timed out.
    """
    if before is None or run is not RunStatus.SUCCEEDED:
        return InstanceStatus(run)
    counts: Counter[StepStatus] = Counter(view.status for view in views.values())
    if is_moving(counts, retries_over=True):
        raise Internal("a run that has succeeded can not have a step under way")
    timeouts_fail = not follows_maestro and before is not InstanceStatus.TIMED_OUT
    worst = worst_end(counts, timeouts_fail=timeouts_fail)
    if worst is not None:
        return InstanceStatus(worst)
    return before if counts[StepStatus.NOT_CREATED] else InstanceStatus.SUCCEEDED


def statuses_at_end(run: RunStatus, views: Views, before: InstanceStatus | None) -> EndStatuses:
    """What is stored when a run ends; the overview keeps the run's own status if the instance's differs."""
    instance = aggregated_status(run, views, before)
    return EndStatuses(instance, None if instance.value == run.value else run)


def aggregated_info(
    run: RunStatus, views: Views, before: InstanceStatus | None, *, follows_maestro: bool = True
) -> AggregatedInfo:
    """The record that surfaces show."""
    status = aggregated_status(run, views, before, follows_maestro=follows_maestro)
    return AggregatedInfo(workflow_instance_status=status, step_aggregated_views=dict(views))
