"""Rows of the union table that the HTTP API shows, by their numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.following import follow, messages
from tests.api.serving import Served, noop, served, shell, sleep
from tests.waiting import wait_until

from stretto.config import Config
from stretto.node.settings import RetentionSettings

MANUAL = {"initiator": {"type": "manual"}}
BODY = {"properties": {"owner": "ann"}, "workflow": {"id": "row-17", "steps": [noop("a")]}}


def codes(found: dict[str, Any]) -> dict[str, str]:
    views = found["aggregated_info"]["step_aggregated_views"]
    return {step: view["status"] for step, view in views.items()}


def test_row_1_the_same_id_again_is_the_next_version(server: Served) -> None:
    server.push("row-1", noop("a"))
    server.push("row-1", noop("a", "b"), noop("b"))
    found = server.get("/workflows/row-1/versions/latest")
    assert found["metadata"]["workflow_version_id"] == 2
    assert [step["step"]["id"] for step in found["workflow"]["steps"]] == ["a", "b"]


def test_row_4_a_run_keeps_the_version_it_started_with(server: Served) -> None:
    server.push("row-4", sleep("s"))
    server.start("row-4")
    server.step_is("row-4", "s", "RUNNING")
    server.push("row-4", noop("a"))
    assert server.get("/workflows/row-4/instances/1")["workflow_version_id"] == 1
    assert server.start("row-4")["workflow_version_id"] == 2
    path = "/workflows/row-4/versions/1/actions/start"
    assert server.post(path, MANUAL)["workflow_version_id"] == 1
    server.put("/workflows/row-4/actions/kill", 202)


@pytest.fixture
def forgetful() -> Iterator[Served]:
    """A server that looks often for what may be deleted."""
    with served(Config(retention=RetentionSettings(every=100))) as made:
        yield made


def test_row_17_delete_is_refused_while_something_runs_and_frees_the_id(forgetful: Served) -> None:
    server = forgetful
    server.push("row-17", sleep("s"))
    server.start("row-17")
    server.step_is("row-17", "s", "RUNNING")
    assert server.delete("/workflows/row-17", 400)["message"]
    server.put("/workflows/row-17/actions/kill", 202)
    server.ended("row-17", 1, "FAILED")
    server.delete("/workflows/row-17")
    server.get("/workflows/row-17/versions/latest", 404)
    wait_until(lambda: server.client.post("/api/v3/workflows", json=BODY).status_code != 409, "a free id")
    assert server.get("/workflows/row-17/versions/latest")["metadata"]["workflow_version_id"] == 1


def test_row_64_outputs_that_running_code_posts_are_seen_by_later_steps(
    server: Served, tmp_path: Path
) -> None:
    waits = f"until test -e {tmp_path}/go; do sleep 0.05; done"
    server.push("row-64", shell("first", waits, "second"), noop("second"))
    server.start("row-64")
    server.step_is("row-64", "first", "RUNNING")
    place = {"workflow_id": "row-64", "workflow_instance_id": 1, "workflow_run_id": 1}
    body = {**place, "step_id": "first", "step_attempt_id": 1, "artifacts": {"report": {"rows": 7}}}
    server.put("/output-data", json=body)
    (tmp_path / "go").touch()
    server.ended("row-64")
    step = server.get("/workflows/row-64/instances/1/steps/first")
    assert step["artifacts"]["report"] == {"rows": 7}
    server.put("/output-data", 404, json={**body, "step_id": "nobody"})


def failing_then_fixed(server: Served, name: str) -> None:
    """Five steps, the third of which fails in the first run and is well in the second."""
    failing = shell("c", 'test "${fixed}" = true', "d")
    steps = [noop("a", "b"), noop("b", "c"), failing, noop("d", "e"), noop("e")]
    params = {"fixed": {"value": "false", "type": "STRING", "mode": "MUTABLE_ON_START_RESTART"}}
    workflow = {"id": name, "params": params, "steps": steps}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start(name)
    server.ended(name, 1, "FAILED")
    body = {
        "restart_policy": "RESTART_FROM_INCOMPLETE",
        "run_params": {"fixed": {"value": "true", "type": "STRING"}},
    }
    server.post(f"/workflows/{name}/instances/1/actions/restart", body)
    server.ended(name)


def test_row_108_the_same_run_in_the_words_of_two_surfaces(server: Served) -> None:
    server.push("row-108", noop("a", "s"), sleep("s"))
    server.start("row-108")
    server.step_is("row-108", "s", "RUNNING")
    words = {"v3": server.get("/workflows/row-108/instances/1")["status"]}
    words["v1"] = server.client.get("/api/v1/instances/row-108:1").json()["data"]["status"]
    assert words == {"v3": "IN_PROGRESS", "v1": "Running"}
    server.put("/workflows/row-108/instances/1/actions/stop")
    server.ended("row-108", 1, "STOPPED")
    tasks = server.client.get("/api/v1/instances/row-108:1/tasks").json()["data"]["items"]
    steps = server.get("/workflows/row-108/instances/1/steps")
    assert [each["runtime_state"]["status"] for each in steps] == ["SUCCEEDED", "STOPPED"]
    assert [each["status"] for each in tasks] == ["Success", tasks[1]["status"]]
    assert tasks[1]["status"] not in {"Success", "Running"}


def test_row_120_the_envelope_of_the_task_engine(server: Served) -> None:
    answer = server.client.get("/api/v1/instances/nobody:1")
    assert (answer.status_code, answer.json()["code"]) == (404, 404)
    assert server.client.get("/api/v1/workflows").json()["code"] == 0


def test_rows_115_116_attempts_and_their_timelines(server: Served) -> None:
    server.push("row-115", shell("s", "exit 3"))
    server.start("row-115")
    server.ended("row-115", 1, "FAILED")
    base = "/workflows/row-115/instances/1/runs/1/steps/s/attempts"
    attempts = [each["step_attempt_id"] for each in server.get(base)]
    first, latest = server.get(f"{base}/1"), server.get(f"{base}/latest")
    assert (first["step_attempt_id"], latest["step_attempt_id"]) == (attempts[0], attempts[-1])
    told = [event["message"] for event in latest["timeline"] if event["type"] == "LOG"]
    assert any("exit code 3" in text for text in told), told


def test_row_117_the_aggregated_view_after_the_second_run(server: Served) -> None:
    failing_then_fixed(server, "row-117")
    found = server.get("/workflows/row-117/instances/1?aggregated=true")
    assert "aggregated_info" not in server.get("/workflows/row-117/instances/1?aggregated=false")
    assert codes(found) == dict.fromkeys("abcde", "SUCCEEDED")
    assert found["workflow_run_id"] == 2


def test_row_118_a_rollup_counts_the_leaves_of_what_is_below(server: Served) -> None:
    server.push("row-118-kid", *(noop(f"k{number}") for number in range(5)))
    params = {"subworkflow_id": {"value": "row-118-kid", "type": "STRING"}}
    below = {"subworkflow": {"id": "sub", "transition": {}, "params": params}}
    server.push("row-118", noop("a"), noop("b"), below)
    server.start("row-118")
    server.ended("row-118")
    rollup = server.get("/workflows/row-118/instances/1")["runtime_overview"]["rollup_overview"]
    assert rollup["total_leaf_count"] == 7
    assert rollup["overview"]["SUCCEEDED"]["cnt"] == 7


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/workflows/nobody/versions/latest", 404, "NOT_FOUND"),
        ("/workflows/nobody/instances/1", 404, "NOT_FOUND"),
        ("/workflows/row-120/versions/x", 400, "BAD_REQUEST"),
    ],
)
def test_row_120_errors_have_their_status_and_a_message(
    server: Served, path: str, status: int, word: str
) -> None:
    server.push("row-120")
    found = server.get(path, status)
    assert found["status"] == word
    assert found["message"]


def test_row_121_actions_by_put_and_by_post_and_both_paths_of_breakpoints(server: Served) -> None:
    server.push("row-121", sleep("s"))
    for number, method in enumerate(("PUT", "POST"), start=1):
        server.start("row-121")
        server.step_is("row-121", "s", "RUNNING", number)
        path = f"/api/v3/workflows/row-121/instances/{number}/actions/stop"
        assert server.client.request(method, path).status_code == 200
        server.ended("row-121", number, "STOPPED")
    place = {"workflow_id": "row-121", "step_id": "s"}
    assert server.post("/breakpoints", place)["step_id"] == "s"
    assert server.get("/workflows/steps/breakpoints?workflowId=row-121&stepId=s")[0]["step_id"] == "s"


def test_row_123_a_subscriber_gets_start_and_success_and_one_that_leaves_harms_nobody(server: Served) -> None:
    server.push("row-123", shell("a", "true"))
    with follow(server, "run:row-123/1/1") as gone:
        next(messages(gone))  # it leaves in the middle, without a word
    with follow(server, "run:row-123/1/1") as response:
        stream = messages(response)
        next(stream)
        server.start("row-123")
        told: list[str] = []
        while "SUCCEEDED" not in told:
            told += [each["new_status"] for each in next(stream).data["events"] if "new_status" in each]
    assert told[-2:] == ["IN_PROGRESS", "SUCCEEDED"]


@pytest.mark.parametrize(
    "path", ["/health", "/healthz", "/ready", "/readyz", "/actuator/health", "/actuator/health/readiness"]
)
def test_row_150_health_and_readiness(server: Served, path: str) -> None:
    answer = server.client.get(path)
    assert answer.status_code == 200
    assert answer.json()["status"] == "UP"
    if "ready" not in path and "readiness" not in path:
        assert set(answer.json()) == {"status", "version", "uptime", "timestamp"}
