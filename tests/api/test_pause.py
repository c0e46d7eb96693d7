"""Row 91 over HTTP: a queued run that is paused, and a paused run with a child, on both surfaces."""

from typing import Any

from tests.api.serving import Served, sleep


def statuses(server: Served, workflow_id: str) -> list[str]:
    return [server.get(f"/workflows/{workflow_id}/instances/{number}")["status"] for number in (1, 2, 3)]


def test_row_91_a_queued_run_is_paused_everywhere(server: Served) -> None:
    server.push("held-queue", sleep("s", 3_600), run_strategy="SEQUENTIAL")
    for _ in range(3):
        server.start("held-queue")
    server.step_is("held-queue", "s", "RUNNING")
    answer = server.put("/workflows/held-queue/instances/2/actions/pause")
    assert (answer["workflow_instance_status"], answer["completed"]) == ("PAUSED", True)
    assert statuses(server, "held-queue") == ["IN_PROGRESS", "PAUSED", "CREATED"]
    assert server.client.get("/api/v1/instances/held-queue:2").json()["data"]["status"] == "Paused"
    why = server.get("/workflows/held-queue/instances/2/why")
    assert ([each["kind"] for each in why["blockers"]], why["status"]) == (["pause"], "PAUSED")
    server.put("/workflows/held-queue/instances/1/actions/stop")
    server.step_is("held-queue", "s", "RUNNING", 3)
    assert statuses(server, "held-queue") == ["STOPPED", "PAUSED", "IN_PROGRESS"]
    server.put("/workflows/held-queue/instances/2/actions/resume")
    assert server.get("/workflows/held-queue/instances/2")["status"] == "CREATED"


def test_row_91_a_child_is_held_with_its_parent(server: Served) -> None:
    server.push("held-child", sleep("s", 3_600))
    named: dict[str, Any] = {"subworkflow_id": "held-child", "subworkflow_version": "latest"}
    params = {name: {"type": "STRING", "value": value} for name, value in named.items()}
    server.push("held-parent", {"subworkflow": {"id": "sub", "params": params}})
    server.start("held-parent")
    server.step_is("held-child", "s", "RUNNING")
    server.put("/workflows/held-parent/instances/1/actions/pause")
    server.until("/workflows/held-child/instances/1", lambda found: found["status"] == "PAUSED")
    refused = server.put("/workflows/held-child/instances/1/actions/resume", 400)
    assert "run [held-parent][1][1] is paused" in str(refused)
    server.put("/workflows/held-parent/instances/1/actions/resume")
    server.until("/workflows/held-child/instances/1", lambda found: found["status"] == "IN_PROGRESS")
