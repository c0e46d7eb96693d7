"""Wrong requests, and the bodies that say so: Maestro's for what an action refuses, RFC 9457 for the rest."""

from typing import Any

import pytest
from tests.api.serving import JSON, YAML, Served

from stretto.api.errors import on_problem
from stretto.api.request_ids import id_of
from stretto.model.errors import Unavailable

MAESTRO = {"status", "message", "errors", "retryable"}
PROBLEM = {"type", "title", "status", "detail", "instance", "request_id"}
WF = "/workflows"
STEP = f"{WF}/w/instances/1/steps/a"
AGAIN = {"restart_policy": "RESTART_FROM_BEGINNING"}
OTHER = {"id": "y", "steps": [{"step": {"id": "a", "type": "NoOp"}}]}
TEMPLATE = {"job_type": "j", "step_type": "NoOp", "version": "v"}

# method, path, body, status, word of Maestro's body; None: a problem of RFC 9457
WRONG: list[tuple[str, str, Any, int, str | None]] = [
    ("GET", f"{WF}/nobody/versions/latest", None, 404, "NOT_FOUND"),
    ("GET", f"{WF}/w/versions/99", None, 404, "NOT_FOUND"),
    ("GET", f"{WF}/w/versions/0", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/oldest", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/99999999999999999999", None, 404, "NOT_FOUND"),
    ("GET", f"{WF}/w/versions/pagination", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/pagination?first=1&last=1", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/pagination?first=201", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/pagination?first=1&cursor=abc", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/versions/pagination?first=1&cursor=99999999999999999999", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/nobody/overview", None, 404, "NOT_FOUND"),
    ("GET", f"{WF}/w/properties-snapshot/17", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/instances/1/runs/x", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/w/instances/77", None, 404, "NOT_FOUND"),
    ("GET", f"{WF}/w/instances/x", None, 400, None),
    ("GET", f"{WF}/w/instances/-1", None, 400, None),
    ("GET", f"{WF}/w/instances?first=x", None, 400, None),
    ("GET", f"{STEP}?enriched=maybe", None, 400, None),
    ("GET", f"{WF}/w/instances/77/steps/a", None, 404, "NOT_FOUND"),
    ("GET", "/tag-permits/none", None, 404, "NOT_FOUND"),
    ("GET", "/job-templates/none", None, 404, "NOT_FOUND"),
    ("GET", "/signals/x/instances/y", None, 400, "BAD_REQUEST"),
    ("GET", f"{WF}/steps/breakpoints", None, 400, None),
    ("GET", f"{WF}/steps/breakpoints?workflowId=w&stepId=zz", None, 400, "BAD_REQUEST"),
    ("GET", "/nothing", None, 404, None),
    ("DELETE", f"{WF}/nobody", None, 404, "NOT_FOUND"),
    ("DELETE", f"{WF}/w/properties/tag/none", None, 404, "NOT_FOUND"),
    ("DELETE", f"{WF}/steps/breakpoints?workflowId=w&stepId=a", None, 404, "NOT_FOUND"),
    ("PATCH", WF, None, 405, None),
    ("PUT", f"{WF}/w/versions/9/actions/activate", None, 404, "NOT_FOUND"),
    ("PUT", f"{WF}/w/instances/77/actions/stop", None, 404, "NOT_FOUND"),
    ("PUT", f"{WF}/w/instances/77/steps/a/actions/skip", None, 404, "NOT_FOUND"),
    ("PUT", "/output-data", {}, 400, "BAD_REQUEST"),
    ("POST", WF, {"workflow": {"id": "x", "steps": []}}, 400, "BAD_REQUEST"),
    ("POST", WF, {"workflow": {"id": "x"}, "metadata": 1, "create_time": 2}, 400, "BAD_REQUEST"),
    ("POST", f"{WF}/w/versions/latest/actions/start", {}, 400, "BAD_REQUEST"),
    ("POST", f"{WF}/w/versions/latest/actions/start", {"initiator": {"type": "x"}}, 400, "BAD_REQUEST"),
    (
        "POST",
        f"{WF}/w/instances/77/actions/restart",
        AGAIN,
        404,
        "NOT_FOUND",
    ),
    ("POST", f"{WF}/w/instances/1/actions/restart", {"restart_policy": "x"}, 400, "BAD_REQUEST"),
    ("POST", f"{WF}/w/properties", {"tags": ["x"]}, 400, "BAD_REQUEST"),
    ("POST", "/tag-permits", {"tag": "x", "max_allowed": "many"}, 400, "BAD_REQUEST"),
    ("POST", "/job-templates", {}, 400, "BAD_REQUEST"),
    ("POST", "/signals", {"name": "maestro_x"}, 400, "BAD_REQUEST"),
    ("POST", f"{WF}/steps/breakpoints", {"workflow_id": "w"}, 400, "BAD_REQUEST"),
]


@pytest.fixture(scope="module", autouse=True)
def workflow(server: Served) -> None:
    server.push("w")
    server.start("w")
    server.ended("w")


@pytest.mark.parametrize(("method", "path", "body", "status", "word"), WRONG, ids=lambda each: str(each)[:40])
def test_a_wrong_request(
    server: Served, method: str, path: str, body: Any, status: int, word: str | None
) -> None:
    response = server.client.request(method, f"/api/v3{path}", json=body)
    assert response.status_code == status, response.text
    found = response.json()
    if word is not None:
        assert response.headers["content-type"] == "application/json"
        assert found.keys() <= MAESTRO
        assert found["status"] == word
        assert found["message"]
    elif status != 200:
        assert response.headers["content-type"] == "application/problem+json"
        assert found.keys() == PROBLEM
        assert found["status"] == status


START = {"initiator": {"type": "manual"}}
MISSPELT: list[tuple[str, str, Any]] = [
    ("GET", f"{WF}/nihgtly/overview", None),
    ("GET", f"{WF}/nihgtly/versions/latest", None),
    ("GET", f"{WF}/nihgtly/instances/1", None),
    ("GET", f"{WF}/nihgtly/instances/1/runs/1", None),
    ("GET", f"{WF}/nihgtly/instances/1/steps/a", None),
    ("POST", f"{WF}/nihgtly/versions/latest/actions/start", START),
    ("POST", f"{WF}/nihgtly/instances/1/actions/restart", AGAIN),
    ("PUT", f"{WF}/nihgtly/instances/1/actions/stop", None),
    ("PUT", f"{WF}/nihgtly/actions/unblock", None),
    ("DELETE", f"{WF}/nihgtly", None),
]


@pytest.mark.parametrize(("method", "path", "body"), MISSPELT)
def test_a_misspelt_workflow(server: Served, method: str, path: str, body: Any) -> None:
    server.push("nightly")
    response = server.client.request(method, f"/api/v3{path}", json=body)
    assert response.status_code == 404, response.text
    assert response.json().keys() <= MAESTRO
    assert response.json()["message"].endswith("did you mean `nightly`?)")


# --------------------------------------------------------------------------------------------------- users
NEEDS_A_USER = [
    (
        "POST",
        WF,
        {
            "properties": {"owner": "x"},
            "workflow": {"id": "y", "steps": [{"step": {"id": "a", "type": "NoOp"}}]},
        },
    ),
    (
        "PUT",
        f"{WF}/actions/validate",
        {"workflow": {"id": "y", "steps": [{"step": {"id": "a", "type": "NoOp"}}]}},
    ),
    ("POST", f"{WF}/w/properties", {}),
    ("POST", f"{WF}/w/properties/tag", "x"),
    ("DELETE", f"{WF}/w/properties/tag/x", None),
    ("DELETE", f"{WF}/w", None),
    ("POST", f"{WF}/w/versions/1/actions/start", {"initiator": {"type": "manual"}}),
    ("PUT", f"{WF}/w/actions/deactivate", None),
    ("PUT", f"{WF}/w/versions/1/actions/activate", None),
    ("PUT", f"{WF}/w/actions/stop", None),
    ("PUT", f"{WF}/w/actions/kill", None),
    ("PUT", f"{WF}/w/actions/unblock", None),
    ("POST", f"{WF}/w/instances/1/actions/restart", AGAIN),
    *(("PUT", f"{WF}/w/instances/1/actions/{verb}", None) for verb in ("stop", "kill", "unblock")),
    *(("PUT", f"{WF}/w/instances/1/runs/1/actions/{verb}", None) for verb in ("stop", "kill", "unblock")),
    ("POST", f"{STEP}/actions/restart", AGAIN),
    *(("PUT", f"{STEP}/actions/{verb}", None) for verb in ("stop", "kill", "skip", "bypass")),
    ("POST", f"{WF}/steps/breakpoints", {"workflow_id": "w", "step_id": "a"}),
    ("DELETE", f"{WF}/steps/breakpoints?workflowId=w&stepId=a", None),
    ("PUT", f"{WF}/steps/breakpoints/w/instances/1/runs/1/steps/a/attempts/1/actions/resume", None),
    ("PUT", "/breakpoints/w:a/actions/resume", None),
    ("POST", "/breakpoints", {"workflow_id": "w", "step_id": "a"}),
    ("DELETE", "/breakpoints?workflowId=w&stepId=a", None),
    *(("PUT", f"{WF}/w/instances/1/actions/{verb}", None) for verb in ("pause", "resume")),
    ("POST", f"{WF}/w/instances/1/runs/1/steps/a/attempts/1/callback", {}),
    ("PUT", f"{WF}/w/instances/1/runs/1/actions/release", None),
    ("POST", "/bulk", {"action": "STOP", "ids": []}),
    ("PUT", "/bulk/none/actions/cancel", None),
    ("POST", "/tag-permits", {"tag": "x", "max_allowed": 1}),
    (
        "POST",
        "/job-templates",
        {
            "owner": "a",
            "status": "b",
            "support": "c",
            "definition": {"job_type": "j", "step_type": "NoOp", "version": "v"},
        },
    ),
]


@pytest.mark.parametrize(("method", "path", "body"), NEEDS_A_USER, ids=lambda each: str(each)[:40])
@pytest.mark.parametrize("headers", [{}, {"user": ""}], ids=["nobody", "empty"])
def test_who_changes_something_must_say_who_they_are(
    server: Served, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    with server.stranger() as client:
        response = client.request(method, f"/api/v3{path}", json=body, headers=headers)
    assert response.status_code == 400, response.text
    assert "user name" in response.json()["message"]


def test_what_can_not_be_tried_is_not_done(server: Served) -> None:
    answer = server.client.post("/api/v3/signals?dry_run=true", json={"name": "tried"})
    assert answer.status_code == 400
    assert "can not be tried" in answer.json()["message"]
    assert server.get("/signals/tried/instances/latest") == ""
    assert server.client.get("/api/v3/signals?dry_run=true").status_code == 200
    answer = server.client.post("/api/v3/signals?not_dry_run=1", json={"name": "tried"})
    assert "no parameter [not_dry_run]" in answer.json()["message"]


def test_who_reads_need_not(server: Served) -> None:
    with server.stranger() as client:
        assert client.get("/api/v3/workflows/w/versions/latest").status_code == 200
        assert client.post("/api/v3/signals", json={"name": "anonymous/one"}).status_code == 200
        assert client.delete("/api/v3/tag-permits/x").status_code == 200
        assert client.delete("/api/v3/job-templates/x").status_code == 200


# ------------------------------------------------------------------------------------------- content types
@pytest.mark.parametrize(
    ("path", "given", "wanted"),
    [
        ("/workflows", "text/plain", "application/json"),
        ("/workflows", "application/yaml", "application/json"),
        ("/workflows/yaml", "application/json", "application/yaml"),
        ("/job-templates/yaml", "application/json", "application/yaml"),
        ("/signals", "application/x-www-form-urlencoded", "application/json"),
    ],
)
def test_other_content_types(server: Served, path: str, given: str, wanted: str) -> None:
    headers = {"content-type": given}
    response = server.client.post(f"/api/v3{path}", content=b"{}", headers=headers)
    assert response.status_code == 415
    assert wanted in response.json()["detail"]
    assert server.client.post(f"/api/v3{path}", content=b"{}").status_code == 415


@pytest.mark.parametrize(
    "given", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json"]
)
def test_json_by_other_names(server: Served, given: str) -> None:
    response = server.client.post("/api/v3/signals", content=b"{}", headers={"content-type": given})
    assert response.status_code == 400


def test_actions_without_a_body_take_any_type(server: Served) -> None:
    for headers in ({}, JSON, YAML, {"content-type": "text/plain"}):
        assert server.client.put("/api/v3/workflows/w/actions/unblock", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "body", [b"{", b"[", b'{"name": "a", "name": "b"}', b'{"name": "\\u0000"}', b"\xff", b"NaN"]
)
def test_rubbish_in_bodies(server: Served, body: bytes) -> None:
    response = server.client.post("/api/v3/signals", content=body, headers=JSON)
    assert response.status_code == 400
    assert response.json()["message"].startswith("JSON parse error")


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/workflows", b'{"workflow": {"id": "x", "steps": 1}}', "JSON parse error"),
        ("/workflows", b'{"workflow": {"id": "x"}, "properties": 1}', "JSON parse error"),
        ("/workflows", b'{"properties": {"owner": "ann"}}', "Validation failure"),
        ("/workflows", b'{"workflow": {"id": "x", "steps": [], "params": {"p": {}}}}', "JSON parse error"),
        (
            "/workflows",
            b'{"workflow": {"id": "x", "steps": [], "params": {"p": {"type": "LONG"}}}}',
            "JSON parse error",
        ),
        ("/signals", b"{}", "Validation failure"),
        ("/job-templates", b'{"owner": "ann"}', "Validation failure"),
        ("/job-templates", b'{"owner": "ann", "status": 1}', "JSON parse error"),
        ("/job-templates/yaml", b"owner: [", "YAML parse error"),
        ("/job-templates/yaml", b"owner: []", "YAML parse error"),
        ("/job-templates/yaml", b"owner: ann", "Validation failure"),
        ("/job-templates/yaml", b"--- {}\n--- {}\n", "YAML parse error"),
        ("/job-templates/yaml", b"", "YAML parse error"),
        ("/workflows/yaml", b"workflow: [", "YAML parse error"),
        (
            "/workflows/yaml",
            b"workflow: {id: x, owner: a, jobs: [{job: {id: a, type: Nap}}]}",
            "YAML parse error",
        ),
    ],
)
def test_a_refused_body_says_what_kind_of_text_it_is(
    server: Served, path: str, body: bytes, kind: str
) -> None:
    """As in Maestro, a required field is validated once the body has been parsed."""
    headers = YAML if path.endswith("yaml") else JSON
    response = server.client.post(f"/api/v3{path}", content=body, headers=headers)
    assert response.status_code == 400
    assert response.json()["message"].startswith(f"{kind}: ")


# -------------------------------------------------------------------------------------------------- faults
def test_what_is_our_fault_says_nothing_of_the_inside(
    server: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_args: Any, **_rest: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(server.desk.store, "tag", broken)
    response = server.client.get("/api/v3/tag-permits/x", headers={"x-request-id": "r7"})
    assert response.status_code == 500
    assert response.json()["status"] == "INTERNAL_ERROR"
    assert "r7" in response.json()["message"]
    assert "secret" not in response.text
    assert "secret detail" in caplog.text


def test_a_database_that_is_away(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: Any, **_rest: Any) -> None:
        raise Unavailable("the database does not answer")

    monkeypatch.setattr(server.desk.store, "tag", away)
    response = server.client.get("/api/v3/tag-permits/x")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.json()["retryable"] is True
    monkeypatch.setattr(server.desk.store, "probe", away)
    ready = server.client.get("/ready")
    assert ready.status_code == 503
    assert ready.json() == {"status": "OUT_OF_SERVICE", "reason": "the database does not answer"}
    assert server.client.get("/health").status_code == 200


def test_a_request_that_did_not_come_by_the_door_has_no_id() -> None:
    assert id_of({}) == "unknown"
    assert on_problem.__doc__
