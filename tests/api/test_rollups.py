"""Rollups of restarted runs: what earlier runs of the instance left counts, through loops and children."""

from typing import Any

import pytest
from tests.api.serving import Served, noop

FAILS: dict[str, Any] = {"mode": {"value": "bad", "type": "STRING"}}
WELL = {"mode": {"value": "ok", "type": "STRING"}}
RESTART = {"restart_policy": "RESTART_FROM_INCOMPLETE", "run_params": WELL}


def picky(step_id: str, when: str, *successors: str, name: str = "v", value: str = "1") -> dict[str, Any]:
    """A step whose parameter can not be evaluated under a condition, unless the mode is ok."""
    step = noop(step_id, *successors)
    expression = f"if ({when} && mode != 'ok') throw 'boom'; return {value};"
    step["step"]["params"] = {name: {"expression": expression, "type": "LONG"}}
    return step


def loop_params(**values: dict[str, Any]) -> dict[str, Any]:
    return {"loop_params": {"value": values, "type": "MAP"}}


def foreach(step_id: str, items: list[int], *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    params = loop_params(i={"value": items, "type": "LONG_ARRAY"})
    return {"foreach": {"id": step_id, "steps": list(steps), "params": params, **fields}}


def pushed(server: Served, workflow_id: str, *steps: dict[str, Any]) -> None:
    workflow = {"id": workflow_id, "params": FAILS, "steps": list(steps)}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})


def restarted(server: Served, workflow_id: str) -> dict[str, Any]:
    """The instance, after its first run has failed and a second one has put it right."""
    server.start(workflow_id)
    server.ended(workflow_id, status="FAILED")
    server.post(f"/workflows/{workflow_id}/instances/1/actions/restart", RESTART)
    found: dict[str, Any] = server.until(
        f"/workflows/{workflow_id}/instances/1",
        lambda each: each["workflow_run_id"] == 2 and each["status"] == "SUCCEEDED",
    )
    return found


def leaves(instance: dict[str, Any]) -> tuple[dict[str, int], int]:
    overview = instance["runtime_overview"]["rollup_overview"]
    counts = {status: each["cnt"] for status, each in overview["overview"].items()}
    return counts, overview["total_leaf_count"]


def artifact(server: Served, workflow_id: str, step_id: str) -> dict[str, Any]:
    step = server.get(f"/workflows/{workflow_id}/instances/1/steps/{step_id}")
    found: dict[str, Any] = next(
        each for name, each in step["artifacts"].items() if name.startswith("maestro_")
    )
    return found


def test_row_118_a_rollup_counts_leaves_of_everything_below(server: Served) -> None:
    child = [noop(f"c{number}") for number in range(5)]
    pushed(server, "leaves-child", *child)
    pushed(server, "leaves", noop("a"), noop("b"), subworkflow("s", "leaves-child"))
    server.start("leaves")
    assert leaves(server.ended("leaves")) == ({"SUCCEEDED": 7}, 7)


def test_row_118_iterations_that_a_restarted_foreach_keeps_are_counted(server: Served) -> None:
    pushed(server, "kept-foreach", foreach("f", [1, 2, 3, 4], picky("x", "i == 2"), concurrency=1), noop("z"))
    found = restarted(server, "kept-foreach")
    assert leaves(found) == ({"SUCCEEDED": 5}, 5)
    told = artifact(server, "kept-foreach", "f")
    assert told["ancestor_iteration_count"] == 2
    assert told["foreach_overview"]["stats"] == {"SUCCEEDED": 4}
    assert told["foreach_overview"]["rollup"]["total_leaf_count"] == 4


def test_row_118_iterations_that_a_restarted_while_keeps_are_counted(server: Served) -> None:
    body = picky("x", "k == 1", name="k", value="k + 1")
    params = loop_params(k={"value": 0, "type": "LONG"})
    loop = {"while": {"id": "w", "condition": "k < 3", "params": params, "steps": [body]}}
    pushed(server, "kept-while", loop, noop("z"))
    assert leaves(restarted(server, "kept-while")) == ({"SUCCEEDED": 4}, 4)


def subworkflow(step_id: str, workflow_id: str) -> dict[str, Any]:
    named = {"subworkflow_id": workflow_id, "subworkflow_version": "latest"}
    params = {name: {"value": value, "type": "STRING"} for name, value in named.items()}
    return {"subworkflow": {"id": step_id, "params": params}}


@pytest.mark.parametrize("nested", [False, True])
def test_row_118_steps_that_a_restarted_child_keeps_are_counted(server: Served, nested: bool) -> None:
    """In the child, in the step that started it, and around a loop that has it in an iteration."""
    name = f"kept-parent-{nested}"
    pushed(server, f"{name}-child", noop("c0", "c1"), picky("c1", "true", "c2"), noop("c2"))
    step = subworkflow("s", f"{name}-child")
    pushed(server, name, noop("b"), foreach("f", [1], noop("g"), step) if nested else step)
    found = restarted(server, name)
    total = 5 if nested else 4
    assert leaves(found) == ({"SUCCEEDED": total}, total)
    child = server.get(f"/workflows/{name}-child/instances/1")
    assert leaves(child) == ({"SUCCEEDED": 3}, 3)
    if not nested:
        told = artifact(server, name, "s")
        assert told["subworkflow_overview"]["rollup_overview"]["total_leaf_count"] == 3


def test_row_118_steps_that_a_restarted_iteration_keeps_are_counted(server: Served) -> None:
    pushed(server, "kept-steps", foreach("f", [1, 2], noop("w", "x"), picky("x", "i == 2", "y"), noop("y")))
    assert leaves(restarted(server, "kept-steps")) == ({"SUCCEEDED": 6}, 6)
