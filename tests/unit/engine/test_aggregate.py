"""An instance over all its runs."""

import pytest

from stretto.definition.graph import Graph
from stretto.engine.aggregate import (
    EndStatuses,
    aggregated_info,
    aggregated_status,
    aggregated_views,
    statuses_at_end,
)
from stretto.model.aggregated import AggregatedInfo, StepAggregatedView
from stretto.model.errors import Internal
from stretto.model.status import InstanceStatus as I
from stretto.model.status import RunStatus as R
from stretto.model.status import StepStatus as S

STEPS = ["a", "b", "c", "d"]


def views(run_id: int, **statuses: S) -> dict[str, StepAggregatedView]:
    return {
        step: StepAggregatedView(workflow_run_id=run_id, status=status) for step, status in statuses.items()
    }


FIRST = views(1, a=S.SUCCEEDED, b=S.FATALLY_FAILED, c=S.STOPPED)


def test_a_fresh_run_is_all_there_is() -> None:
    graph = Graph({"a": ["b"], "b": [], "c": [], "d": []})
    found = aggregated_views(STEPS, FIRST, graph)
    assert found == {**FIRST, "d": StepAggregatedView()}


def test_what_the_run_covers_begins_anew_and_the_rest_stays() -> None:
    found = aggregated_views(STEPS, views(2, b=S.RUNNING), Graph({"b": ["c"], "c": []}), before=FIRST)
    assert found == {
        "a": FIRST["a"],
        **views(2, b=S.RUNNING),
        "c": StepAggregatedView(),
        "d": StepAggregatedView(),
    }


def test_roots_that_nobody_started_stay_as_they_were() -> None:
    graph = Graph({"b": ["d"], "c": ["d"], "d": []})
    run = views(2, b=S.SUCCEEDED)
    found = aggregated_views(STEPS, run, graph, before=FIRST, restarted="b")
    assert [found[step].status for step in STEPS] == [S.SUCCEEDED, S.SUCCEEDED, S.STOPPED, S.NOT_CREATED]


@pytest.mark.parametrize("run", R)
def test_only_a_restart_that_succeeded_is_judged_by_older_runs(run: R) -> None:
    assert aggregated_status(run, FIRST, None) == I(run)
    assert aggregated_status(run, FIRST, I.TIMED_OUT) == (I.FAILED if run is R.SUCCEEDED else I(run))


def test_what_older_runs_left_behind() -> None:
    def status(**statuses: S) -> I:
        return aggregated_status(R.SUCCEEDED, views(1, **statuses), I.TIMED_OUT)

    assert status(a=S.SUCCEEDED, b=S.SKIPPED, c=S.UNSATISFIED, d=S.COMPLETED_WITH_ERROR) is I.SUCCEEDED
    assert status(a=S.SUCCEEDED, b=S.NOT_CREATED) is I.TIMED_OUT
    assert status(a=S.STOPPED, b=S.NOT_CREATED) is I.STOPPED
    assert status(a=S.STOPPED, b=S.PLATFORM_FAILED) is I.FAILED
    with pytest.raises(Internal, match="step under way"):
        status(a=S.RUNNING)


@pytest.mark.parametrize(
    ("before", "in_maestro", "ours"),
    [(I.FAILED, I.TIMED_OUT, I.FAILED), (I.TIMED_OUT, I.TIMED_OUT, I.TIMED_OUT)],
)
def test_a_step_that_timed_out_has_failed_outside_of_maestro(before: I, in_maestro: I, ours: I) -> None:
    left = views(1, a=S.SUCCEEDED, b=S.TIMED_OUT)
    assert aggregated_status(R.SUCCEEDED, left, before) is in_maestro
    assert aggregated_status(R.SUCCEEDED, left, before, follows_maestro=False) is ours


def test_the_run_keeps_its_own_status_where_it_differs() -> None:
    assert statuses_at_end(R.SUCCEEDED, FIRST, I.FAILED) == EndStatuses(I.FAILED, R.SUCCEEDED)
    assert statuses_at_end(R.FAILED, FIRST, I.FAILED) == EndStatuses(I.FAILED, None)


def test_the_record_for_surfaces() -> None:
    assert aggregated_info(R.STOPPED, FIRST, None) == AggregatedInfo(
        workflow_instance_status=I.STOPPED, step_aggregated_views=FIRST
    )
