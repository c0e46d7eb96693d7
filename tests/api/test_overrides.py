"""Parameters of single steps in requests: over HTTP, and on the task engine's surface."""

from typing import Any

import pytest
from tests.api.serving import Served, noop, sleep

LONG = {"type": "LONG"}
INCOMPLETE = {"restart_policy": "RESTART_FROM_INCOMPLETE"}


def reader(step_id: str, *successors: str) -> dict[str, Any]:
    step = noop(step_id, *successors)
    step["step"]["params"] = {
        "seen": {"expression": "n * 10", **LONG},
        "fixed": {"value": 1, "mode": "CONSTANT", **LONG},
    }
    return step


def push(server: Served, name: str, *steps: dict[str, Any]) -> None:
    workflow = {"id": name, "params": {"n": {"value": 1, **LONG}}, "steps": list(steps)}
    server.post(
        "/workflows", {"properties": {"owner": "ann", "run_strategy": "PARALLEL"}, "workflow": workflow}
    )


def seen(server: Served, name: str, step_id: str, instance: int = 1) -> int:
    found = server.get(f"/workflows/{name}/instances/{instance}/steps/{step_id}")
    result: int = found["params"]["seen"]["evaluated_result"]
    return result


def test_a_start_gives_parameters_to_a_step(server: Served) -> None:
    push(server, "given-start", reader("a"), reader("b"))
    server.start("given-start", step_run_params={"a": {"n": {"value": 7, **LONG}}})
    found = server.ended("given-start")
    assert (seen(server, "given-start", "a"), seen(server, "given-start", "b")) == (70, 10)
    assert found["step_run_params"]["a"]["n"]["value"] == 7


def test_a_dry_run_of_a_start_refuses_what_the_start_would(server: Served) -> None:
    push(server, "given-dry", reader("a"))
    path = "/workflows/given-dry/versions/latest/actions/start?dry_run=true"
    body = {"initiator": {"type": "manual"}, "step_run_params": {"a": {"fixed": {"value": 2, **LONG}}}}
    assert "Step [a] of workflow [given-dry]" in server.post(path, body, 400)["message"]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"absent": {}}, "inputs [absent] vs dag [a]"),
        ({"a": {"fixed": {"value": 2, **LONG}}}, "[fixed] has the mode [CONSTANT]"),
        ({"a": {"seen": {"value": "many", "type": "STRING"}}}, "seen"),
    ],
)
def test_a_start_is_refused_with_the_reason(server: Served, params: Any, said: str) -> None:
    push(server, "given-refused", reader("a"))
    path = "/workflows/given-refused/versions/latest/actions/start"
    body = {"initiator": {"type": "manual"}, "step_run_params": params}
    assert said in server.post(path, body, 400)["message"]


def test_a_restart_from_a_step_changes_its_parameters(server: Served) -> None:
    push(server, "given-again", reader("a", "b"), reader("b"))
    server.start("given-again")
    server.ended("given-again")
    path = "/workflows/given-again/instances/1"
    server.post(
        f"{path}/steps/b/actions/restart", {**INCOMPLETE, "step_run_params": {"n": {"value": 7, **LONG}}}
    )
    server.until(f"{path}/runs/2", lambda run: run["status"] == "SUCCEEDED")
    assert seen(server, "given-again", "b") == 70
    server.post(f"{path}/steps/a/actions/restart", {**INCOMPLETE, "run_params": {"n": {"value": 8, **LONG}}})
    server.until(f"{path}/runs/3", lambda run: run["status"] == "SUCCEEDED")
    assert (seen(server, "given-again", "a"), seen(server, "given-again", "b")) == (80, 80)
    body = {"restart_policy": "RESTART_FROM_BEGINNING", "step_run_params": {"b": {"n": {"value": 9, **LONG}}}}
    server.post(f"{path}/actions/restart", body)
    server.until(f"{path}/runs/4", lambda run: run["status"] == "SUCCEEDED")
    assert (seen(server, "given-again", "a"), seen(server, "given-again", "b")) == (80, 90)
    fixed = {**INCOMPLETE, "step_run_params": {"fixed": {"value": 2, **LONG}}}
    assert "CONSTANT" in server.post(f"{path}/steps/a/actions/restart", fixed, 400)["message"]


def test_parameters_of_a_run_that_goes_on_are_refused(server: Served) -> None:
    push(server, "given-now", sleep("long"), reader("a"))
    server.start("given-now")
    server.step_is("given-now", "a", "SUCCEEDED")
    path = "/workflows/given-now/instances/1/steps/a/actions/restart"
    server.post(path, {**INCOMPLETE, "run_params": {"n": {"value": 8, **LONG}}}, 400)


def test_the_task_engine_gives_parameters_to_tasks(server: Served) -> None:
    push(server, "given-v1", reader("a"), reader("b"))
    body = {"params": {"n": 2}, "task_params": {"a": {"n": 7}}}
    answer = server.client.post("/api/v1/workflows/given-v1/execute", json=body)
    assert answer.status_code == 200, answer.text
    server.ended("given-v1")
    assert (seen(server, "given-v1", "a"), seen(server, "given-v1", "b")) == (70, 20)
    wrong = server.client.post("/api/v1/workflows/given-v1/execute", json={"task_params": {"x": {"n": 7}}})
    assert (wrong.status_code, "[x]" in wrong.json()["message"]) == (400, True)


def test_a_restart_refuses_a_parameter_of_the_run_that_nothing_reads_again(server: Served) -> None:
    done, failing = reader("done", "failing"), reader("failing")
    failing["step"]["params"] = {"seen": {"expression": "1 / m", **LONG}}
    params = {"n": {"value": 1, **LONG}, "m": {"value": 0, **LONG}}
    workflow = {"id": "unread", "semantics": "STRETTO", "params": params, "steps": [done, failing]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start("unread")
    server.ended("unread", status="FAILED")
    path = "/workflows/unread/instances/1/actions/restart"
    body = {**INCOMPLETE, "run_params": {"n": {"value": 7, **LONG}}}
    refused = server.client.put(f"/api/v3{path}", json=body)
    assert refused.status_code == 400
    assert "[n] of workflow [unread] is read by [done] alone" in refused.json()["message"]
    server.put(path, json={**INCOMPLETE, "run_params": {"m": {"value": 1, **LONG}}})
    server.ended("unread")
