"""A step below other runs is restarted, and others that failed beside it are left alone: nothing above
succeeds before they are put right, too.
"""

from typing import Any

import pytest
from tests.api.serving import Served, noop
from tests.api.test_rollups import WELL, foreach, leaves, picky, pushed, subworkflow

REPAIRED = {
    "restart_policy": "RESTART_FROM_INCOMPLETE",
    "step_run_params": {"v": {"value": 1, "type": "LONG"}},
}
TWO_BAD = (picky("bad", "true", "after"), picky("worse", "true"), noop("after"))


def while_(step_id: str, *steps: dict[str, Any]) -> dict[str, Any]:
    params = {"loop_params": {"value": {"k": {"value": 0, "type": "LONG"}}, "type": "MAP"}}
    count = noop("count")
    count["step"]["params"] = {"k": {"expression": "k + 1", "type": "LONG"}}
    inner = [*steps, count]
    return {"while": {"id": step_id, "condition": "k < 1", "params": params, "steps": inner}}


def place_of(server: Served, workflow_id: str, step_id: str) -> tuple[str, str]:
    """The workflow and the instance, below or in the first run, in which a step has failed."""
    overview = server.get(f"/workflows/{workflow_id}/instances/1")["runtime_overview"]["rollup_overview"]
    found = [
        (below.rsplit(":", 1)[0], name.split(":")[0])
        for each in overview["overview"].values()
        for below, names in each.get("ref", {}).items()
        for name in names
        if name.split(":")[1] == step_id
    ]
    return found[0]


def run_ended(server: Served, workflow_id: str, run: int, status: str) -> dict[str, Any]:
    found: dict[str, Any] = server.until(
        f"/workflows/{workflow_id}/instances/1",
        lambda each: each["workflow_run_id"] == run and each["status"] == status,
    )
    return found


@pytest.mark.parametrize("kind", ["foreach", "while", "subworkflow", "foreach-in-subworkflow", "nested"])
def test_a_run_whose_child_left_a_failed_step_alone_fails_until_that_is_put_right(
    server: Served, kind: str
) -> None:
    name, child = f"left-{kind}", f"left-child-{kind}"
    made: dict[str, tuple[dict[str, Any], ...]] = {
        "foreach": (foreach("l", [1], *TWO_BAD),),
        "while": (while_("l", *TWO_BAD),),
        "subworkflow": (subworkflow("l", child),),
        "foreach-in-subworkflow": (subworkflow("l", child),),
        "nested": (foreach("l", [1], while_("m", *TWO_BAD)),),
    }
    pushed(server, child, *(made["foreach"] if kind == "foreach-in-subworkflow" else TWO_BAD))
    pushed(server, name, *made[kind], noop("last"))
    server.start(name)
    server.ended(name, status="FAILED")
    below, instance = place_of(server, name, "bad")
    server.post(f"/workflows/{below}/instances/{instance}/steps/bad/actions/restart?blocking=false", REPAIRED)
    run_ended(server, name, 2, "FAILED")
    found = server.get(f"/workflows/{below}/instances/{instance}")
    assert found["status"] == "FAILED"
    views = {step: each["status"] for step, each in found["aggregated_info"]["step_aggregated_views"].items()}
    assert (views["bad"], views["after"], views["worse"]) == ("SUCCEEDED", "SUCCEEDED", "INTERNALLY_FAILED")
    assert server.get(f"/workflows/{name}/instances/1/steps/l")["runtime_state"]["status"] == "FATALLY_FAILED"
    again = {"restart_policy": "RESTART_FROM_INCOMPLETE", "run_params": WELL}
    server.post(f"/workflows/{name}/instances/1/actions/restart", again)
    counts, total = leaves(run_ended(server, name, 3, "SUCCEEDED"))
    assert counts == {"SUCCEEDED": total}
    assert server.get(f"/workflows/{below}/instances/{instance}")["status"] == "SUCCEEDED"
    assert total == (5 if kind in {"while", "nested"} else 4)


def test_an_instance_that_was_stopped_is_stopped_again_if_its_other_steps_are_left_alone(
    server: Served,
) -> None:
    waiting = {
        "step": {"id": "x", "type": "Sleep", "params": {"sleep_seconds": {"value": 3_600, "type": "LONG"}}}
    }
    other = {"step": {**waiting["step"], "id": "y"}}
    pushed(server, "left-stopped", foreach("l", [1], waiting, other))
    server.start("left-stopped")
    loop = server.until("/workflows/left-stopped/instances/1/steps/l", lambda step: "artifacts" in step)
    below = loop["artifacts"]["maestro_foreach"]["foreach_workflow_id"]
    server.step_is(below, "x", "RUNNING")
    server.put("/workflows/left-stopped/instances/1/actions/stop")
    server.ended("left-stopped", status="STOPPED")
    quick = {"sleep_seconds": {"value": 0, "type": "LONG"}}
    server.post(
        f"/workflows/{below}/instances/1/steps/x/actions/restart?blocking=false",
        {"restart_policy": "RESTART_FROM_INCOMPLETE", "step_run_params": quick},
    )
    run_ended(server, "left-stopped", 2, "STOPPED")
    assert server.get(f"/workflows/{below}/instances/1")["status"] == "STOPPED"


def test_a_restart_of_one_step_that_leaves_nothing_behind_succeeds(server: Served) -> None:
    pushed(server, "left-nothing", foreach("l", [1], noop("first", "bad"), picky("bad", "true")))
    server.start("left-nothing")
    server.ended("left-nothing", status="FAILED")
    below, instance = place_of(server, "left-nothing", "bad")
    server.post(f"/workflows/{below}/instances/{instance}/steps/bad/actions/restart?blocking=false", REPAIRED)
    run_ended(server, "left-nothing", 2, "SUCCEEDED")
