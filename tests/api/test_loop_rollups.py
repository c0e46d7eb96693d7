"""Rollups in the artifacts of loops: with what is kept and what is alive, they add up to that of the run."""

from typing import Any

import pytest
from tests.api.serving import Served, noop, sleep
from tests.api.test_rollups import artifact, foreach, leaves, loop_params, pushed, subworkflow

AGAIN = {"restart_policy": "RESTART_FROM_INCOMPLETE"}


def broken(step_id: str, when: str, *successors: str) -> dict[str, Any]:
    """A step whose parameter can not be evaluated under a condition."""
    step = noop(step_id, *successors)
    expression = f"if ({when}) throw 'boom'; return 1;"
    step["step"]["params"] = {"v": {"expression": expression, "type": "LONG"}}
    return step


def counting(step_id: str, *successors: str) -> dict[str, Any]:
    step = noop(step_id, *successors)
    step["step"]["params"] = {"k": {"expression": "k + 1", "type": "LONG"}}
    return step


def whiled(*steps: dict[str, Any]) -> dict[str, Any]:
    params = loop_params(k={"value": 0, "type": "LONG"})
    return {"while": {"id": "w", "condition": "k < 3", "params": params, "steps": list(steps)}}


def failed_again(server: Served, workflow_id: str) -> dict[str, Any]:
    """The instance, after its second run has failed as the first one did."""
    server.start(workflow_id)
    server.ended(workflow_id, status="FAILED")
    server.post(f"/workflows/{workflow_id}/instances/1/actions/restart", AGAIN)
    found: dict[str, Any] = server.until(
        f"/workflows/{workflow_id}/instances/1",
        lambda each: each["workflow_run_id"] == 2 and each["status"] == "FAILED",
    )
    return found


def total(rollup: dict[str, Any] | None) -> int:
    return 0 if rollup is None else int(rollup["total_leaf_count"])


def parts_of_while(told: dict[str, Any]) -> int:
    return total(told["rollup"]) + total(told["last_overview"]["rollup_overview"])


def parts_of_foreach(told: dict[str, Any]) -> int:
    overview = told["foreach_overview"]
    return total(overview["rollup"]) + total(overview.get("running_rollup"))


# --------------------------------------------------------------------------------------- a while that is kept
def test_a_restarted_while_counts_kept_steps_once(server: Served) -> None:
    pushed(server, "once", whiled(counting("n", "x"), broken("x", "k == 1")))
    found = failed_again(server, "once")
    told = artifact(server, "once", "w")
    assert leaves(found)[1] == 4
    assert (total(told["rollup"]), parts_of_while(told)) == (2, 4)


def test_a_restarted_while_counts_the_steps_of_a_kept_child_once(server: Served) -> None:
    pushed(server, "once-child", noop("a"), noop("b"))
    steps = (counting("n", "s"), subworkflow("s", "once-child"), broken("x", "k == 1"))
    steps[1]["subworkflow"]["transition"] = {"successors": {"x": "true"}}
    pushed(server, "once-sub", whiled(*steps))
    found = failed_again(server, "once-sub")
    assert parts_of_while(artifact(server, "once-sub", "w")) == leaves(found)[1] == 8


def test_a_restarted_while_counts_a_kept_loop_once(server: Served) -> None:
    inner = foreach("f", [1, 2], noop("g"))
    inner["foreach"]["transition"] = {"successors": {"x": "true"}}
    pushed(server, "once-loop", whiled(counting("n", "f"), inner, broken("x", "k == 1")))
    found = failed_again(server, "once-loop")
    assert parts_of_while(artifact(server, "once-loop", "w")) == leaves(found)[1] == 8


def test_a_while_inside_a_restarted_foreach_counts_kept_steps_once(server: Served) -> None:
    pushed(server, "once-deep", foreach("f", [1], whiled(counting("n", "x"), broken("x", "k == 1"))))
    found = failed_again(server, "once-deep")
    inline = artifact(server, "once-deep", "f")["foreach_workflow_id"]
    step = server.get(f"/workflows/{inline}/instances/1/steps/w")
    assert parts_of_while(step["artifacts"]["maestro_while"]) == leaves(found)[1] == 4


# ---------------------------------------------------------------------------------------- a loop that goes on
def going_on(server: Served, workflow_id: str, count: int, *steps: dict[str, Any]) -> dict[str, Any]:
    """The instance, as soon as so many leaf steps sleep in it."""
    pushed(server, workflow_id, *steps)
    server.start(workflow_id)
    return sleeping(server, workflow_id, count)


def sleeping(server: Served, workflow_id: str, count: int) -> dict[str, Any]:
    found: dict[str, Any] = server.until(
        f"/workflows/{workflow_id}/instances/1",
        lambda each: leaves(each)[0].get("RUNNING") == count if "runtime_overview" in each else False,
    )
    return found


@pytest.fixture
def stopped(server: Served) -> Any:
    names: list[str] = []
    yield names.append
    for name in names:
        server.put(f"/workflows/{name}/instances/1/actions/stop")
        server.ended(name, 1, "STOPPED")


def test_a_foreach_that_goes_on_counts_what_is_alive(server: Served, stopped: Any) -> None:
    stopped("alive")
    loop = foreach("f", [1, 2, 3, 4], noop("p", "q"), sleep("q"), concurrency=2)
    found = going_on(server, "alive", 2, loop)
    running = artifact(server, "alive", "f")["foreach_overview"]
    assert running["running_stats"] == {"IN_PROGRESS": 2}
    counts = {status: each["cnt"] for status, each in running["running_rollup"]["overview"].items()}
    assert (counts, leaves(found)) == ({"SUCCEEDED": 2, "RUNNING": 2}, (counts, 4))


def test_a_foreach_counts_what_is_alive_in_loops_and_children_of_its_iterations(
    server: Served, stopped: Any
) -> None:
    stopped("alive-deep")
    inner = foreach("g", [1, 2, 3], noop("p", "q"), sleep("q"), concurrency=2)
    values = inner["foreach"]["params"]["loop_params"]["value"]
    values["j"] = values.pop("i")
    found = going_on(server, "alive-deep", 4, foreach("f", [1, 2], inner, noop("o"), concurrency=2))
    assert parts_of_foreach(artifact(server, "alive-deep", "f")) == leaves(found)[1] == 10


def test_a_while_that_goes_on_counts_a_loop_that_is_alive_in_it(server: Served, stopped: Any) -> None:
    stopped("alive-while")
    inner = foreach("g", [1, 2, 3], noop("p", "q"), sleep("q"), concurrency=2)
    found = going_on(server, "alive-while", 2, whiled(inner, noop("o")))
    assert parts_of_while(artifact(server, "alive-while", "w")) == leaves(found)[1] == 5


def test_a_restarted_foreach_counts_the_kept_steps_of_what_is_alive(server: Served, stopped: Any) -> None:
    stopped("alive-again")
    params = {"mode": {"value": "ok", "type": "STRING"}}
    steps = (noop("p", "x"), broken("x", "i == 2 && mode == 'bad'", "q"), sleep("q", seconds=1))
    steps[2]["step"]["params"]["sleep_seconds"] = {
        "expression": "if (mode == 'bad') return 0; return 3600;",
        "type": "LONG",
    }
    pushed(server, "alive-again", foreach("f", [1, 2], *steps, concurrency=1))
    server.start("alive-again")
    server.ended("alive-again", status="FAILED")
    body = {**AGAIN, "run_params": params}
    server.post("/workflows/alive-again/instances/1/actions/restart", body)
    found = sleeping(server, "alive-again", 1)
    told = artifact(server, "alive-again", "f")
    assert total(told["foreach_overview"]["running_rollup"]) == 3
    assert parts_of_foreach(told) == leaves(found)[1] == 6
