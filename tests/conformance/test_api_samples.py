"""Maestro's samples and the bodies of its API fixtures, sent to a real server as its README sends them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.serving import JSON, YAML, Served, served, sleep
from tests.conformance.corpus import corpus

pytestmark = pytest.mark.conformance
SERVER = corpus("maestro-data", "maestro-server", "src", "test", "resources")
FIXTURES = corpus("maestro-data", "maestro-common", "src", "testFixtures", "resources", "fixtures", "api")
SAMPLES = sorted((SERVER / "samples").glob("*.json"))
YAML_SAMPLES = sorted((SERVER / "samples" / "yaml").glob("*.yaml"))


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        template = (SERVER / "jobtemplates" / "sample-job-template-1.json").read_bytes()
        assert made.client.post("/api/v3/job-templates", content=template, headers=JSON).status_code == 200
        yield made


def body(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


# -------------------------------------------------------------------------------------------------- samples
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_pushed_and_comes_back(server: Served, path: Path) -> None:
    text = path.read_bytes()
    assert (
        server.client.put("/api/v3/workflows/actions/validate", content=text, headers=JSON).status_code == 200
    )
    response = server.client.post("/api/v3/workflows", content=text, headers=JSON)
    assert response.status_code == 200, response.text
    made = response.json()["workflow_definition"]
    found = server.get(f"/workflows/{made['workflow']['id']}/versions/latest")
    assert found == made


@pytest.mark.parametrize("path", YAML_SAMPLES, ids=lambda path: path.stem)
def test_a_sample_in_yaml_is_pushed(server: Served, path: Path) -> None:
    response = server.client.post("/api/v3/workflows/yaml", content=path.read_bytes(), headers=YAML)
    assert response.status_code == 200, response.text


def test_the_template_in_yaml(server: Served) -> None:
    text = (SERVER / "jobtemplates" / "sample-job-template-1.yaml").read_bytes()
    response = server.client.post("/api/v3/job-templates/yaml", content=text, headers=YAML)
    assert response.status_code == 200, response.text
    made = response.json()["definition"]
    assert server.get(f"/job-templates/{made['job_type']}?version={made['version']}")["definition"] == made


# ----------------------------------------------------------------------------------------- bodies of the API
def test_a_definition_of_the_fixtures(server: Served) -> None:
    given = body("sample-workflow-create-request")
    made = server.post("/workflows", given)["workflow_definition"]
    wanted = body("sample-workflow-create-response")["workflow_definition"]
    assert made.keys() >= {"metadata", "workflow", "is_active", "is_latest", "internal_id"}
    assert made["workflow"]["id"] == given["workflow"]["id"]
    missing = wanted.keys() - made.keys() - {"enriched_extras"}
    assert not missing


def started(server: Served, workflow_id: str) -> dict[str, Any]:
    request = body("sample-workflow-start-request")
    given = {"foo", "auu", "aaa"} & request["run_params"].keys()
    assert given
    return server.start(workflow_id, **{**request, "initiator": {"type": "manual"}})


def test_a_run_of_the_fixtures(server: Served) -> None:
    """Start, stop, restart, kill: the answers have the fields of Maestro's."""
    server.push("fixed", sleep("s"))
    made = started(server, "fixed")
    assert made.keys() == body("sample-workflow-start-response").keys()
    assert started(server, "fixed")["status"] == "DUPLICATED"
    server.step_is("fixed", "s", "RUNNING")
    stopped = server.put("/workflows/fixed/instances/1/actions/stop")
    assert stopped.keys() == body("sample-workflow-instance-stop-response").keys()
    server.ended("fixed", 1, "STOPPED")
    again = {**body("sample-workflow-restart-request"), "request_id": "5e1d5c4e-0d3d-4b53-8a4c-1c2f6b2f0a11"}
    # The fixtures belong to different runs: what the start has set may not be changed by a restart.
    again["run_params"] = {
        name: param
        for name, param in again["run_params"].items()
        if "start" not in param.get("mode", "").lower()
    }
    restarted = server.post("/workflows/fixed/instances/1/actions/restart", again)
    assert restarted.keys() == body("sample-workflow-restart-response").keys()
    server.until("/workflows/fixed/instances/1/runs/2", lambda run: run["status"] == "IN_PROGRESS")
    killed = server.put("/workflows/fixed/instances/1/actions/kill")
    assert killed.keys() == body("sample-workflow-instance-kill-response").keys()
    server.ended("fixed", 1, "FAILED")
    unblocked = server.put("/workflows/fixed/instances/1/actions/unblock")
    assert unblocked.keys() == body("sample-workflow-instance-unblock-response").keys()
    assert server.get("/workflows/fixed/overview").keys() <= body(
        "sample-workflow-overview-response"
    ).keys() | {
        "step_concurrency",
        "latest_instance_id",
        "active_version_id",
    }


def test_a_step_of_the_fixtures(server: Served) -> None:
    server.push("fixed-step", sleep("s"))
    server.start("fixed-step")
    server.step_is("fixed-step", "s", "RUNNING")
    path = "/workflows/fixed-step/instances/1/steps/s/actions"
    assert server.put(f"{path}/stop").keys() == body("sample-step-stop-response").keys()
    server.ended("fixed-step", 1, "STOPPED")
    restarted = server.post(f"{path}/restart", body("sample-step-restart-request"))
    assert restarted.keys() <= body("sample-step-restart-response").keys() | {"step_attempt_id", "step_id"}
    server.put("/workflows/fixed-step/actions/kill", 202)


def test_the_other_bodies(server: Served) -> None:
    server.push("fixed-properties")
    update = server.post(
        "/workflows/fixed-properties/properties", body("sample-workflow-properties-update-request")
    )
    assert update["owner"] == "testowner"
    server.post(
        "/workflows/fixed-properties/properties", body("sample-workflow-properties-update-request-reset")
    )
    activated = server.put("/workflows/fixed-properties/versions/1/actions/activate")
    assert activated.keys() == body("sample-workflow-activate-response").keys()
    deactivated = server.put("/workflows/fixed-properties/actions/deactivate")
    assert deactivated.keys() == body("sample-workflow-deactivate-response").keys()
    server.post("/tag-permits", body("sample-tag-permit-request"))
    assert server.get("/tag-permits/tag1")["source"] == "test"
    signal = server.post("/signals", body("sample-signal-create-request"))
    assert (signal["name"], signal["instance_id"]) == ("signal_a", "test-request-id")
    server.post("/job-templates", body("sample-job-template-create-request"))
    page = server.get("/workflows/fixed-properties/versions/pagination?first=1")
    assert page.keys() == body("sample-pagination-result").keys()
    assert page["page_info"].keys() == body("sample-pagination-result")["page_info"].keys()
    narrow = body("sample-breakpoint-create-request")
    server.post("/workflows/steps/breakpoints", {**narrow, "workflow_id": "fixed-properties"}, 400)
    assert "must name" in server.put("/output-data", 400, json=body("sample-output-data-request"))["message"]
