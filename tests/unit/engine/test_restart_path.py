"""Up to an ancestor that can be restarted, and down again."""

import pytest

from stretto.engine.inline_ids import Loop
from stretto.engine.restart_path import (
    Restart,
    check_identity,
    climb,
    current_node,
    descend,
    from_inline_root,
    identity,
    iteration_on_path,
    next_node,
)
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.initiator import Ancestor
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, StepStatus

INLINE = "maestro_foreach_1_11_abc"
BEGINNING, INCOMPLETE, SPECIFIC = (
    RunPolicy.RESTART_FROM_BEGINNING,
    RunPolicy.RESTART_FROM_INCOMPLETE,
    RunPolicy.RESTART_FROM_SPECIFIC,
)


def node(workflow_id: str, instance_id: int, step_id: str | None) -> RestartNode:
    return RestartNode(workflow_id=workflow_id, instance_id=instance_id, step_id=step_id)


def parent(workflow_id: str, instance_id: int, step_id: str) -> Ancestor:
    return Ancestor(
        workflow_id=workflow_id, instance_id=instance_id, run_id=1, step_id=step_id, step_attempt_id=1
    )


def config(*nodes: RestartNode) -> RestartConfig:
    return RestartConfig(restart_path=nodes, restart_policy=BEGINNING, downstream_policy=INCOMPLETE)


LEAF, MIDDLE, TOP = node("child", 5, "job"), node(INLINE, 2, "call"), node("root", 1, "loop")


def test_up_and_down_is_where_it_began() -> None:
    start = config(LEAF)
    up = climb(start, parent(INLINE, 2, "call"))
    assert up == Restart(SPECIFIC, config(LEAF, MIDDLE))
    assert up.config is not None
    top = climb(up.config, parent("root", 1, "loop"))
    assert top == Restart(SPECIFIC, config(LEAF, MIDDLE, TOP))
    assert top.config is not None
    assert (current_node(top.config), next_node(top.config)) == (TOP, MIDDLE)
    down = descend(top.config, "loop", INLINE, 2, Loop.FOREACH)
    assert down == Restart(SPECIFIC, config(LEAF, MIDDLE))
    assert down.config is not None
    assert descend(down.config, "call", "child", 5) == Restart(BEGINNING, start)
    assert descend(start, "job", "other", 1) == Restart(INCOMPLETE, None)


def test_off_the_path_the_downstream_policy_holds() -> None:
    path = config(LEAF, MIDDLE, TOP)
    assert descend(path, "other", "x", 9) == Restart(INCOMPLETE, None)
    assert descend(path, "loop", INLINE, 3, Loop.FOREACH) == Restart(INCOMPLETE, None)


def test_without_policies_what_is_incomplete_runs_again() -> None:
    bare = RestartConfig(restart_path=(LEAF, MIDDLE))
    assert descend(bare, "call", "child", 5).policy is INCOMPLETE
    assert descend(bare, "other", "child", 5).policy is INCOMPLETE


def test_an_empty_path_leads_nowhere() -> None:
    with pytest.raises(InvalidRequest, match="empty restart configuration"):
        climb(RestartConfig(), parent("root", 1, "loop"))
    assert next_node(RestartConfig()) is None
    assert next_node(None) is None


def test_only_what_the_path_names_is_restarted() -> None:
    check_identity(config(LEAF), "child", 5)
    check_identity(config(MIDDLE), INLINE, 77, Loop.FOREACH)
    with pytest.raises(InvalidRequest, match=r"Cannot restart a workflow instance \[child\]\[6\]"):
        check_identity(config(LEAF), "child", 6)
    with pytest.raises(InvalidRequest, match=r"Cannot restart a WHILE iteration \[x\]"):
        check_identity(config(MIDDLE), "x", 2, Loop.WHILE)


def test_the_iteration_that_the_path_leads_through() -> None:
    assert iteration_on_path(config(MIDDLE, TOP), INLINE) == 2
    assert iteration_on_path(config(MIDDLE, TOP), "maestro_foreach_other") is None
    assert iteration_on_path(config(TOP), INLINE) is None


FAILED, STEP_FAILED = InstanceStatus.FAILED, StepStatus.FATALLY_FAILED


def test_from_the_workflow_around_the_loops() -> None:
    line = [parent("root", 1, "loop"), parent("maestro_while_1", 4, "again")]
    assert from_inline_root(config(MIDDLE), line, FAILED, STEP_FAILED) == config(node("root", 1, None))
    own = from_inline_root(config(LEAF), [], FAILED, STEP_FAILED)
    assert identity(own) == "[child][5]"
    assert current_node(own).step_id is None


@pytest.mark.parametrize(
    ("path", "instance", "step", "said"),
    [
        (config(LEAF, MIDDLE), FAILED, STEP_FAILED, "restart-path size is not 1"),
        (config(LEAF), InstanceStatus.IN_PROGRESS, STEP_FAILED, r"non-terminal state \[IN_PROGRESS\]"),
        (config(LEAF), FAILED, StepStatus.RUNNING, r"step \[job\] is in non-terminal state \[RUNNING\]"),
    ],
)
def test_only_what_has_ended_restarts_from_there(
    path: RestartConfig, instance: InstanceStatus, step: StepStatus, said: str
) -> None:
    with pytest.raises((InvalidRequest, WrongState), match=said):
        from_inline_root(path, [], instance, step)
