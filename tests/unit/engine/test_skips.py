"""Who is skipped, and how."""

import pytest

from stretto.engine.skips import SkipRoute, is_skipped, route_skip
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import WrongState
from stretto.model.run_config import RestartConfig, RestartNode
from stretto.model.status import InstanceStatus, StepStatus

NODE = RestartNode(workflow_id="wf", instance_id=1, step_id="job")


def test_a_restart_skips_at_the_end_of_its_path() -> None:
    assert is_skipped("job", RestartConfig(restart_path=(NODE,), skip_steps=("job",)))
    assert not is_skipped("other", RestartConfig(restart_path=(NODE,), skip_steps=("job",)))
    assert not is_skipped("job", RestartConfig(restart_path=(NODE, NODE), skip_steps=("job",)))
    assert not is_skipped("job", RestartConfig(restart_path=(NODE,)))
    assert not is_skipped("job", None)


@pytest.mark.parametrize("status", STEP_ACTIONS)
def test_every_status_has_a_way_or_a_refusal(status: StepStatus) -> None:
    if StepAction.SKIP not in STEP_ACTIONS[status]:
        with pytest.raises(WrongState, match="unsupported by the step action map"):
            route_skip(InstanceStatus.IN_PROGRESS, status, "wf", 1, "job")
        return
    route = SkipRoute.ACTION if status.is_wakeable else SkipRoute.ATTEMPT
    assert route_skip(InstanceStatus.IN_PROGRESS, status, "wf", 1, "job") is route
    assert route_skip(InstanceStatus.FAILED, status, "wf", 1, "job") is SkipRoute.RUN


def test_what_is_not_there_can_not_be_skipped() -> None:
    with pytest.raises(WrongState, match=r"\[wf\]\[1\]\[job\] before it is created"):
        route_skip(InstanceStatus.IN_PROGRESS, StepStatus.NOT_CREATED, "wf", 1, "job")
