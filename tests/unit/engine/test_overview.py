"""The overview of a run and back."""

from stretto.engine.overview import runtime_overview, views_of
from stretto.engine.rollup import Rollup
from stretto.model.aggregated import StepAggregatedView
from stretto.model.rollup import RollupOverview, RuntimeOverview, StepCount, StepInfo
from stretto.model.status import RunStatus
from stretto.model.status import StepStatus as S

ORDER = ["c", "a", "b", "d"]
STEPS = {
    "a": StepAggregatedView(workflow_run_id=2, status=S.SUCCEEDED, start_time=1, end_time=5),
    "b": StepAggregatedView(workflow_run_id=2, status=S.RUNNING, start_time=6),
    "c": StepAggregatedView(workflow_run_id=2, status=S.SUCCEEDED, start_time=2, end_time=3),
    "d": StepAggregatedView(),
}


def test_steps_are_listed_by_their_place_in_the_graph() -> None:
    assert runtime_overview(ORDER, STEPS, Rollup(), RunStatus.SUCCEEDED) == RuntimeOverview(
        total_step_count=4,
        step_overview={
            S.RUNNING: StepCount(cnt=1, steps=[StepInfo(3, 6, None)]),
            S.SUCCEEDED: StepCount(cnt=2, steps=[StepInfo(1, 2, 3), StepInfo(2, 1, 5)]),
        },
        rollup_overview=RollupOverview(),
        run_status=RunStatus.SUCCEEDED,
    )


def test_what_was_never_created_is_the_rest() -> None:
    overview = runtime_overview(ORDER, {"a": STEPS["a"]}, Rollup())
    assert overview.step_overview.keys() == {S.SUCCEEDED}
    assert overview.total_step_count == 4


def test_the_steps_come_back() -> None:
    overview = runtime_overview(ORDER, STEPS, Rollup())
    views = views_of(overview, ORDER, run_id=2)
    assert views == {step: view for step, view in STEPS.items() if step != "d"}
    assert list(views) == ["c", "a", "b"]
    assert views_of(None, ORDER, run_id=2) == {}
