"""Steps that start runs: what they say of their iterations and children, while these go on and afterwards."""

from typing import Any

import pytest
from tests.api.serving import Served, noop, shell, sleep

from stretto.actions.reading import artifacts_view

NUMBERS = {"value": [1, 2, 3, 4], "type": "LONG_ARRAY"}


def foreach(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    params = {"loop_params": {"type": "MAP", "value": {"i": NUMBERS}}}
    return {"foreach": {"id": "each", "transition": {}, "params": params, "steps": list(steps), **more}}


def artifact(server: Served, workflow_id: str, step_id: str, kind: str) -> Any:
    return server.get(f"/workflows/{workflow_id}/instances/1/steps/{step_id}")["artifacts"][f"maestro_{kind}"]


def test_a_foreach_on_its_way(server: Served) -> None:
    server.push("fore", foreach(sleep("s"), concurrency=2))
    server.start("fore")
    path = "/workflows/fore/instances/1/steps/each"
    found = server.until(
        path, lambda step: step.get("artifacts", {}).get("maestro_foreach", {}).get("next_loop_index") == 2
    )["artifacts"]["maestro_foreach"]
    assert (found["type"], found["total_loop_count"], found["run_id"]) == ("FOREACH", 4, 1)
    assert found["foreach_workflow_id"].startswith("maestro_foreach_")
    assert found["foreach_overview"]["running_stats"] == {"IN_PROGRESS": 2}
    assert found["foreach_overview"]["details"] == {"IN_PROGRESS": [[1, 2]]}
    (listed,) = server.get("/workflows/fore/instances/1/steps")
    assert listed["artifacts"]["maestro_foreach"]["foreach_workflow_id"] == found["foreach_workflow_id"]
    server.put("/workflows/fore/instances/1/actions/stop")
    server.ended("fore", 1, "STOPPED")


def test_a_foreach_in_which_some_failed(server: Served) -> None:
    server.push("mixed", foreach(shell("s", "test ${i} -ne 2"), concurrency=1))
    server.start("mixed")
    server.ended("mixed", 1, "FAILED")
    found = artifact(server, "mixed", "each", "foreach")["foreach_overview"]
    assert found["stats"] == {"SUCCEEDED": 1, "FAILED": 1}
    assert found["details"] == {"SUCCEEDED": [1], "FAILED": [2]}


def test_who_has_too_many_failed_iterations_gets_their_number(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.push("hopeless", foreach(shell("s", "test ${i} -gt 2"), concurrency=4))
    server.start("hopeless")
    server.ended("hopeless", 1, "FAILED")
    monkeypatch.setattr(artifacts_view, "BATCH", 1)
    found = artifact(server, "hopeless", "each", "foreach")["foreach_overview"]
    assert found["details"] == {"SUCCEEDED": [[3, 4]], "FAILED": [[1, 2]]}
    monkeypatch.setattr(artifacts_view, "MOST_NAMED", 1)
    found = artifact(server, "hopeless", "each", "foreach")["foreach_overview"]
    assert found["stats"] == {"SUCCEEDED": 2, "FAILED": 2}
    assert "details" not in found


def test_a_foreach_in_which_all_failed_or_were_stopped(server: Served) -> None:
    server.push("worse", foreach(shell("s", "test ${i} -ne 1 && sleep 600"), concurrency=2))
    server.start("worse")
    inline = server.until("/workflows/worse/instances/1/steps/each", lambda step: "artifacts" in step)
    loop = inline["artifacts"]["maestro_foreach"]["foreach_workflow_id"]
    server.until(f"/workflows/{loop}/instances/1", lambda run: run["status"] == "FAILED")
    server.step_is(loop, "s", "RUNNING", 2)
    server.put(f"/workflows/{loop}/instances/2/actions/stop")
    server.ended("worse", 1, "FAILED")
    found = artifact(server, "worse", "each", "foreach")["foreach_overview"]
    assert found["details"] == {"FAILED": [1], "STOPPED": [2]}


def test_a_while(server: Served) -> None:
    body = {
        "id": "loop",
        "transition": {},
        "condition": "n < 2",
        "params": {"loop_params": {"type": "MAP", "value": {"n": {"value": 0, "type": "LONG"}}}},
        "steps": [sleep("s")],
    }
    body["steps"][0]["step"]["params"]["n"] = {"expression": "n + 1", "type": "LONG"}  # type: ignore[index]
    server.push("whiled", {"while": body})
    server.start("whiled")
    path = "/workflows/whiled/instances/1/steps/loop"
    step = server.until(
        path, lambda step: step.get("artifacts", {}).get("maestro_while", {}).get("last_overview")
    )
    found = step["artifacts"]["maestro_while"]
    assert (found["first_iteration"], found["last_iteration"], found["last_status"]) == (1, 1, "IN_PROGRESS")
    assert found["last_overview"]["total_step_count"] == 1
    assert found["loop_param_values"] == {"n": [0]}
    inline = found["loop_workflow_id"]
    for iteration in (1, 2):
        server.step_is(inline, "s", "RUNNING", iteration)
        server.put(f"/workflows/{inline}/instances/{iteration}/steps/s/actions/skip")
    server.ended("whiled")
    found = artifact(server, "whiled", "loop", "while")
    assert (found["last_iteration"], found["last_status"]) == (2, "SUCCEEDED")
    assert found["last_overview"]["rollup_overview"] == {
        "total_leaf_count": 1,
        "overview": {"SKIPPED": {"cnt": 1}},
    }
    assert found["rollup"] == {"total_leaf_count": 1, "overview": {"SKIPPED": {"cnt": 1}}}
    assert found["loop_param_values"] == {"n": [0, 1, 2]}


def test_the_values_that_a_while_went_through(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    step = noop("s")
    step["step"]["params"] = {"n": {"expression": "n + 1", "type": "LONG"}}
    values = {"n": {"value": 5, "type": "LONG"}}
    loop = {"id": "loop", "transition": {}, "condition": "n < 7", "steps": [step]}
    params = {"loop_params": {"type": "MAP", "value": values}}
    server.push("valued", {"while": {**loop, "params": params}})
    server.start("valued")
    server.ended("valued")
    assert artifact(server, "valued", "loop", "while")["loop_param_values"] == {"n": [5, 6, 7]}
    monkeypatch.setattr(artifacts_view, "BATCH", 1)
    assert "loop_param_values" not in artifact(server, "valued", "loop", "while")


def test_a_subworkflow(server: Served) -> None:
    server.push("child", noop("c"))
    params = {
        "subworkflow_id": {"value": "child", "type": "STRING"},
        "subworkflow_version": {"value": "latest", "type": "STRING"},
    }
    server.push("parent", {"subworkflow": {"id": "sub", "transition": {}, "params": params}})
    server.start("parent")
    server.ended("parent")
    found = artifact(server, "parent", "sub", "subworkflow")
    assert (found["subworkflow_id"], found["subworkflow_instance_id"]) == ("child", 1)
    assert found["subworkflow_overview"]["step_overview"]["SUCCEEDED"]["cnt"] == 1
    child = server.get("/workflows/child/instances/1")
    assert child["workflow_uuid"] == found["subworkflow_uuid"]
    assert child["initiator"]["ancestors"][0]["workflow_id"] == "parent"


def test_steps_that_have_started_nothing_yet(server: Served) -> None:
    held = foreach(noop("s"))
    server.push("unborn", held)
    server.post("/workflows/steps/breakpoints", {"workflow_id": "unborn", "step_id": "each"})
    server.start("unborn")
    step = server.step_is("unborn", "each", "PAUSED")
    assert "artifacts" not in step
    server.put("/workflows/unborn/instances/1/actions/kill")
    params = {"subworkflow_id": {"value": "child", "type": "STRING"}}
    server.push("unborn-parent", {"subworkflow": {"id": "sub", "transition": {}, "params": params}})
    server.post("/workflows/steps/breakpoints", {"workflow_id": "unborn-parent", "step_id": "sub"})
    server.start("unborn-parent")
    assert "artifacts" not in server.step_is("unborn-parent", "sub", "PAUSED")
    server.put("/workflows/unborn-parent/instances/1/actions/kill")


# ------------------------------------------------------------------------------------------------ older runs
def test_a_view_of_an_older_run_shows_nothing_of_later_ones(server: Served) -> None:
    inner = {**foreach(shell("s", "test ${i} -ne 1"), noop("n"))["foreach"], "id": "deep"}
    around = {"o": {"value": [1, 2], "type": "LONG_ARRAY"}}
    outer = {
        "id": "outer",
        "params": {"loop_params": {"type": "MAP", "value": around}},
        "steps": [{"foreach": inner}],
    }
    server.push("older", {"foreach": outer})
    server.start("older")
    server.ended("older", 1, "FAILED")
    restart = {
        "restart_policy": "RESTART_FROM_INCOMPLETE",
        "upstream_restart_mode": "RESTART_FROM_INLINE_ROOT",
    }
    params = {"command": {"value": "sleep 1", "type": "STRING"}}
    found = server.get("/views/flatten/workflows/older/instances/1/runs/1/steps/s?first=9")["elements"]
    bad = next(each for each in found if each["step_runtime_state"]["status"] == "FATALLY_FAILED")
    place = bad["leaf_step_instance_ref"]
    path = (
        f"/workflows/{place['workflow_id']}/instances/{place['workflow_instance_id']}/steps/s/actions/restart"
    )
    server.post(path, {**restart, "step_run_params": params})
    server.step_is(place["workflow_id"], "s", "RUNNING", place["workflow_instance_id"])
    first = server.get("/workflows/older/instances/1/runs/1/steps/outer/attempts/latest")
    assert "running_stats" not in first["artifacts"]["maestro_foreach"]["foreach_overview"]
    server.until("/workflows/older/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    view = "/views/flatten/workflows/older/instances/1/runs"
    assert server.get(f"{view}/1/steps/s?first=9")["elements"] == found
    rank = f"{view}/1/steps/s?last=9"
    assert server.get(rank)["elements"] == found
    page = server.get(f"{view}/1/steps/s?first=1")
    rest = server.get(f"{view}/1/steps/s?first=9&cursor={page['page_info']['end_cursor']}")
    assert [*page["elements"], *rest["elements"]] == found
    counts = server.get(f"{view}/1/steps/s/summary?statusCount=true")
    assert counts["count_by_status"]["FATALLY_FAILED"] == 2
    assert counts["representative_iteration"]["workflow_run_id"] == 1
    assert counts["representative_iteration"]["leaf_step_instance_ref"]["workflow_run_id"] == 1
    counts = server.get(f"{view}/2/steps/s/summary?statusCount=true")["count_by_status"]
    assert set(counts) == {"SUCCEEDED"}
    newer = server.get(f"{view}/2/steps/n?first=9")["elements"]  # they did not run again
    assert {each["leaf_step_instance_ref"]["workflow_run_id"] for each in newer} == {1}
    place = server.get(f"{view}/1/steps/deep?first=1")["elements"][0]["leaf_step_instance_ref"]
    deep = f"/workflows/{place['workflow_id']}/instances/{place['workflow_instance_id']}/runs/1/steps/deep"
    older = server.get(f"{deep}/attempts/latest")["artifacts"]["maestro_foreach"]["foreach_overview"]
    assert older["stats"]["FAILED"] == 1
    assert "details" not in older  # nothing, rather than how they ended later


def test_iterations_that_a_later_run_began_are_not_in_an_older_one(server: Served) -> None:
    server.push("begun", foreach(shell("s", "test ${i} -ne 2"), concurrency=1))
    server.start("begun")
    server.ended("begun", 1, "FAILED")
    params = {"command": {"value": "true", "type": "STRING"}}
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "upstream_restart_mode": "RESTART_FROM_INLINE_ROOT"}
    loop = artifact(server, "begun", "each", "foreach")["foreach_workflow_id"]
    server.post(f"/workflows/{loop}/instances/2/steps/s/actions/restart", {**body, "step_run_params": params})
    server.until("/workflows/begun/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    view = "/views/flatten/workflows/begun/instances/1/runs"
    for run, ranks in ((1, ["11", "12"]), (2, ["11", "12", "13", "14"])):
        found = server.get(f"{view}/{run}/steps/s?first=9")["elements"]
        assert [each["iteration_rank"] for each in found] == ranks
    server.get(f"{view}/1/steps/s/iterations/3", 404)
    assert server.get(f"{view}/2/steps/s/iterations/3")["iteration_rank"] == "13"
