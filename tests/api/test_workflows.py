"""Endpoints 1 to 19: definitions, properties and what is done to whole workflows."""

import json
from typing import Any

import pytest
from tests.api.serving import JSON, YAML, Served, noop, shell, sleep

DSL = (
    "workflow: {id: %s, owner: ann, dag: sequential,"
    " jobs: [{job: {id: a, type: NoOp}}, {job: {id: b, type: NoOp}}]}"
)


def definition(workflow_id: str, **more: object) -> dict[str, object]:
    return {"properties": {"owner": "ann"}, "workflow": {"id": workflow_id, "steps": [noop("a")]}, **more}


# ----------------------------------------------------------------------------------------- definitions
def test_a_push_answers_with_the_version(server: Served) -> None:
    body = definition("pushed", source="git", git_info={"branch": "main"})
    made = server.post("/workflows", body)["workflow_definition"]
    assert made["metadata"]["workflow_id"] == "pushed"
    assert made["metadata"]["workflow_version_id"] == 1
    assert made["metadata"]["version_author"] == "ann"
    assert made["metadata"]["source"] == "git"
    assert made["metadata"]["git_info"] == {"branch": "main"}
    assert made["properties_snapshot"]["owner"] == "ann"
    assert made["is_active"] is made["is_latest"] is made["is_default"] is True
    assert made["activated_by"] == "ann"
    assert made["internal_id"] >= 10_000
    assert made["workflow"]["steps"][0]["step"]["transition"] == {}
    again = server.post("/workflows", {**body, "is_active": False})["workflow_definition"]
    assert again["metadata"]["workflow_version_id"] == 2
    assert again["is_active"] is False
    assert "activate_time" not in again
    assert again["internal_id"] == made["internal_id"]


def test_a_push_in_yaml(server: Served) -> None:
    response = server.client.post("/api/v3/workflows/yaml", content=DSL % "yamled", headers=YAML)
    made = response.json()["workflow_definition"]
    assert made["workflow"]["steps"][0]["step"]["transition"] == {"successors": {"b": "true"}}
    assert made["properties_snapshot"]["step_concurrency"] == 20


def test_jobs_in_yaml_may_name_a_template(server: Served) -> None:
    template = {"job_type": "nothing", "step_type": "NoOp", "version": "default"}
    server.post("/job-templates", {"owner": "ann", "status": "x", "support": "y", "definition": template})
    text = "workflow: {id: templated, owner: ann, jobs: [{job: {id: a, type: nothing}}]}"
    made = server.client.post("/api/v3/workflows/yaml", content=text, headers=YAML).json()
    step = made["workflow_definition"]["workflow"]["steps"][0]["step"]
    assert (step["type"], step["sub_type"]) == ("NoOp", "nothing")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "JSON parse error"),
        (b"", "JSON parse error"),
        (b"null", "JSON parse error"),
        (b'{"workflow": {"id": "x", "steps": []}}', "Validation failure"),
        (b'{"workflow": {"id": "x", "steps": [], "colour": 1}}', "unknown field"),
        (b'{"properties": {"owner": "ann"}}', "missing"),
        (b'{"workflow_id": "x", "workflow": {"id": "x", "steps": []}}', "workflow_id"),
    ],
)
def test_bad_definitions(server: Served, body: bytes, said: str) -> None:
    response = server.client.post("/api/v3/workflows", content=body, headers=JSON)
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/json"
    found = response.json()
    assert found["status"] == "BAD_REQUEST"
    assert said in str(found)


def test_every_problem_of_a_definition_is_in_the_answer(server: Served) -> None:
    steps = [{"step": {"id": "a b", "type": "NoOp", "transition": {"successors": {"z": "true"}}}}]
    found = server.post("/workflows", {"workflow": {"id": "bad", "steps": steps}}, 400)
    assert found["message"] == '400 BAD_REQUEST "Validation failure"'
    assert any(each.startswith("workflow.steps[0].step.id") for each in found["errors"])
    assert len(found["errors"]) >= 3  # the id, the successor, and no owner


def test_tags_do_not_come_with_a_push(server: Served) -> None:
    body = definition("tagging")
    body["properties"] = {"owner": "ann", "tags": ["x"]}
    assert "tag" in str(server.post("/workflows", body, 400)["errors"])


def test_versions_by_name_and_number(server: Served) -> None:
    server.push("versions")
    server.push("versions")
    for name, number in (("1", 1), ("latest", 2), ("ACTIVE", 2), ("default", 2)):
        found = server.get(f"/workflows/versions/versions/{name}")
        assert found["metadata"]["workflow_version_id"] == number
    assert server.get("/workflows/versions/versions/3", 404)["status"] == "NOT_FOUND"
    assert server.get("/workflows/versions/versions/newest", 400)["status"] == "BAD_REQUEST"
    assert "[nobody]" in server.get("/workflows/nobody/versions/latest", 404)["message"]


def test_an_enriched_version_has_merged_parameters(server: Served) -> None:
    server.push("rich")
    assert "enriched_extras" not in server.get("/workflows/rich/versions/latest")
    extras = server.get("/workflows/rich/versions/latest?enriched=true")["enriched_extras"]
    assert "RUN_TS" in extras["workflow_params"]
    assert "a" in extras["step_params"]


def test_pages_of_versions(server: Served) -> None:
    for _ in range(5):
        server.push("paged")
    path = "/workflows/paged/versions/pagination"

    def page(query: str) -> tuple[list[int], dict[str, object]]:
        found = server.get(f"{path}?{query}")
        assert found["total_count"] == 5
        ids = [each["metadata"]["workflow_version_id"] for each in found["elements"]]
        return ids, found["page_info"]

    ids, info = page("first=2")
    assert ids == [5, 4]
    assert info == {
        "start_cursor": "5",
        "end_cursor": "4",
        "has_previous_page": False,
        "has_next_page": True,
        "start_index": 1,
    }
    assert page("first=2&cursor=4")[0] == [3, 2]
    assert page("last=2")[0] == [2, 1]
    assert page("last=2&cursor=2")[0] == [4, 3]
    assert page("first=2&cursor=")[0] == [5, 4]
    for bad in ("", "first=1&last=1", "first=0", "first=201", "last=-1", "first=1&cursor=x"):
        assert server.get(f"{path}?{bad}", 400)["status"] == "BAD_REQUEST"
    assert server.get(f"{path}?first=many", 400)["title"] == "Bad Request"


def test_an_overview(server: Served) -> None:
    server.push("seen", sleep("s"), run_strategy="SEQUENTIAL")
    found = server.get("/workflows/seen/overview")
    assert "latest_instance_id" not in found
    server.start("seen")
    server.start("seen")
    found = server.until("/workflows/seen/overview", lambda now: now["nonterminal_instances"]["IN_PROGRESS"])
    assert found["nonterminal_instances"] == {"CREATED": 1, "IN_PROGRESS": 1, "PAUSED": 0}
    assert found["failed_instances"] == 0
    assert found["latest_instance_id"] == 2
    assert found["properties_snapshot"]["run_strategy"]["rule"] == "SEQUENTIAL"
    server.put("/workflows/seen/actions/kill", 202)
    assert server.get("/workflows/nobody/overview", 404)["status"] == "NOT_FOUND"


def test_a_timeline(server: Served) -> None:
    server.push("lined")
    server.put("/workflows/lined/actions/deactivate")
    found = server.get("/workflows/lined/timeline")
    assert found["workflow_id"] == "lined"
    assert [each["author"] for each in found["timeline_events"]] == ["ann", "ann"]
    assert "deactivated" in found["timeline_events"][0]["log"]
    assert server.get("/workflows/nobody/timeline") == {"workflow_id": "nobody", "timeline_events": []}


def test_a_deleted_workflow_is_gone(server: Served) -> None:
    server.push("gone")
    event = server.delete("/workflows/gone")
    assert event["type"] == "LOG"
    assert "[gone]" in event["message"]
    assert server.get("/workflows/gone/versions/latest", 404)["status"] == "NOT_FOUND"
    assert server.delete("/workflows/gone", 404)["status"] == "NOT_FOUND"
    assert server.delete("/workflows/maestro_foreach_x_11_y", 422)["status"] == "UNPROCESSABLE_ENTITY"


# ------------------------------------------------------------------------------------------- properties
def test_properties_are_changed_and_set_back(server: Served) -> None:
    server.push("proper")
    path = "/workflows/proper/properties"
    found = server.post(path, {"description": "mine", "step_concurrency": 3, "run_strategy": "first_only"})
    assert (found["workflow_id"], found["author"], found["owner"]) == ("proper", "ann", "ann")
    assert found["step_concurrency"] == 3
    assert found["run_strategy"]["rule"] == "FIRST_ONLY"
    found = server.post(path, {"reset_step_concurrency": True, "reset_run_strategy_rule": True})
    assert "step_concurrency" not in found
    assert found["description"] == "mine"
    latest = server.get("/workflows/proper/properties-snapshot/LATEST")
    assert latest == found
    server.get("/workflows/proper/properties-snapshot/1", 400)
    server.get("/workflows/nobody/properties-snapshot/latest", 404)
    server.post(path, {"reset_step_concurrency": True, "step_concurrency": 1}, 400)
    server.post(path, {"colour": "red"}, 400)
    server.post("/workflows/nobody/properties", {}, 404)


def test_properties_obey_the_rules_of_a_push(server: Served) -> None:
    server.push("ruled")
    path = "/workflows/ruled/properties"
    wrong = {
        "description": "x" * 16_385,
        "step_concurrency": 0,
        "run_strategy": {"rule": "SEQUENTIAL", "workflow_concurrency": 3},
        "alerting": {"tct": {"completed_by_hour": 1, "duration_minutes": 3}},
    }
    refused = server.post(path, wrong, 400)
    assert refused["message"] == '400 BAD_REQUEST "Validation failure"'
    assert [each.partition(":")[0] for each in refused["errors"]] == [
        "description",
        "step_concurrency",
        "run_strategy.workflow_concurrency",
        "alerting.tct",
    ]
    server.post(path, {"run_strategy": {"rule": "PARALLEL", "workflow_concurrency": 1_001}}, 400)
    assert "step_concurrency" not in server.get("/workflows/ruled/properties-snapshot/latest")


def test_properties_that_somebody_else_has_changed(server: Served) -> None:
    server.push("matched")
    seen = server.get("/workflows/matched/properties-snapshot/latest")["create_time"]
    path = "/workflows/matched/properties"
    first = server.post(path, {"description": "one"}, params={"if_match": seen})
    refused = server.post(path, {"description": "two"}, 409, params={"if_match": seen})
    assert f"are those of [{first['create_time']}], not [{seen}]" in refused["message"]
    assert refused["errors"][0].startswith("User [ann] changed them at 20")
    assert server.get("/workflows/matched/properties-snapshot/latest")["description"] == "one"
    server.post(path, {"description": "two"}, params={"if_match": first["create_time"]})
    server.post(path, {"description": "three"}, 400, params={"if_match": "x"})


def test_a_strategy_that_can_not_go_on_is_a_failed_precondition(server: Served) -> None:
    server.push("busy", sleep("s"))
    server.start("busy")
    server.start("busy")
    server.until("/workflows/busy/overview", lambda now: now["nonterminal_instances"]["IN_PROGRESS"] == 2)
    refused = server.post("/workflows/busy/properties", {"run_strategy": "FIRST_ONLY"}, 412)
    assert refused["status"] == "PRECONDITION_FAILED"
    server.put("/workflows/busy/actions/kill", 202)


def test_tags(server: Served) -> None:
    server.push("tagged")
    path = "/workflows/tagged/properties/tag"
    assert [each["name"] for each in server.post(path, "nightly")["tags"]] == ["nightly"]
    found = server.post(path, {"name": "team/data", "namespace": "platform", "colour": "red"})
    (own,) = [each for each in found["tags"] if each["name"] == "team/data"]
    assert own["colour"] == "red"
    assert own["creator"] == "ann"
    left = server.delete(f"{path}/team%2Fdata")
    assert [each["name"] for each in left["tags"]] == ["nightly"]
    server.delete(f"{path}/team%2Fdata", 404)
    server.post(path, 7, 400)
    kept = server.push("tagged", tags=[])["workflow_definition"]["properties_snapshot"]
    assert [each["name"] for each in kept["tags"]] == ["nightly"]


# ---------------------------------------------------------------------------------------------- actions
def test_validation(server: Served) -> None:
    event = server.put("/workflows/actions/validate", json=definition("checked"))
    assert (event["type"], event["action"], event["author"]) == ("ACTION", "VALIDATE", "ann")
    text = DSL % "checked"
    event = server.put("/workflows/actions/validate/yaml", content=text, headers=YAML)
    assert event["action"] == "VALIDATE"
    server.get("/workflows/checked/versions/latest", 404)
    bad = server.put("/workflows/actions/validate", 400, json={"workflow": {"id": "x", "steps": []}})
    assert bad["errors"]
    bad = server.put("/workflows/actions/validate/yaml", 400, content="workflow: [", headers=YAML)
    assert bad["message"].startswith("YAML parse error")
    cyclic = {"a": {"expression": "b;", "type": "LONG"}, "b": {"expression": "a;", "type": "LONG"}}
    body = definition("checked")
    body["workflow"] = {"id": "checked", "steps": [noop("a")], "params": cyclic}
    assert "cyclic" in server.put("/workflows/actions/validate", 400, json=body)["message"]


def test_switching_versions(server: Served) -> None:
    server.push("switched")
    server.push("switched")
    found = server.put("/workflows/switched/versions/1/actions/activate")
    assert (found["workflow_version_id"], found["timeline_event"]["action"]) == (1, "ACTIVATE")
    assert server.put("/workflows/switched/versions/1/actions/activate")["workflow_version_id"] == 0
    found = server.put("/workflows/switched/actions/deactivate")
    assert (found["workflow_id"], found["workflow_version_id"]) == ("switched", 0)
    server.get("/workflows/switched/versions/active", 404)
    server.put("/workflows/switched/versions/9/actions/activate", 404)
    server.put("/workflows/nobody/actions/deactivate", 404)


def test_ending_all_runs(server: Served) -> None:
    server.push("many", sleep("s"), run_strategy="SEQUENTIAL")
    for _ in range(3):
        server.start("many")
    server.until("/workflows/many/overview", lambda now: now["nonterminal_instances"]["IN_PROGRESS"])
    event = server.put("/workflows/many/actions/stop", 202)
    assert (event["type"], event["action"]) == ("ACTION", "STOP")
    assert event["reason"]
    for instance in (1, 2, 3):
        server.ended("many", instance, "STOPPED")
    assert server.put("/workflows/many/actions/kill", 202)["action"] == "KILL"
    assert server.put("/workflows/many/actions/unblock")["action"] == "UNBLOCK"


def test_strict_queues_go_on_when_they_are_unblocked(server: Served) -> None:
    server.push("strict", sleep("s"), run_strategy="STRICT_SEQUENTIAL")
    server.start("strict")
    server.start("strict")
    server.step_is("strict", "s", "RUNNING")
    server.put("/workflows/strict/instances/1/actions/kill")
    server.ended("strict", 1, "FAILED")
    assert server.get("/workflows/strict/instances/2")["status"] == "CREATED"
    server.put("/workflows/strict/actions/unblock")
    server.step_is("strict", "s", "RUNNING", instance=2)
    server.put("/workflows/strict/actions/kill", 202)


def test_a_push_and_a_check_warn_of_names_that_nobody_declares(server: Served) -> None:
    body = {
        "properties": {"owner": "ann"},
        "workflow": {"id": "unknown-names", "steps": [shell("a", "echo $f")]},
    }
    warning = (
        "warning: workflow.steps[0].step.params.command.value: `f` is read, and nothing here gives it a value"
        " (for a shell variable write `$$f`) [unknown-param]"
    )
    made = server.post("/workflows?include=warnings", body)
    assert made["warnings"] == [warning]
    assert "warnings" not in server.post("/workflows", body)
    checked = server.post("/workflows/actions/validate", body)
    assert checked["message"] == f"Workflow [unknown-names] is valid; {warning}"
    body["workflow"] = {"id": "known-names", "steps": [noop("a")]}
    assert server.post("/workflows?include=warnings", body)["warnings"] == []


def test_templates_of_the_server_are_known_where_warnings_are_asked_for(server: Served) -> None:
    template = {"job_type": "warned-spark", "step_type": "NoOp", "version": "default", "params": {}}
    server.post("/job-templates", {"owner": "a", "status": "x", "support": "y", "definition": template})
    step = {"step": {"id": "a", "type": "NoOp", "sub_type": "warned-spark"}}
    body = {"properties": {"owner": "ann"}, "workflow": {"id": "of-a-template", "steps": [step]}}
    assert server.post("/workflows?include=warnings", body)["warnings"] == []
    assert server.post("/workflows/actions/validate", body)["message"] == "Workflow [of-a-template] is valid"
    step["step"]["sub_type"] = "warned-sparc"
    (warning,) = server.post("/workflows?include=warnings", body)["warnings"]
    assert "the job template `warned-sparc` is not known here" in warning


def test_a_version_of_a_template_that_there_is_not_is_told(server: Served) -> None:
    template = {"job_type": "versioned", "step_type": "NoOp", "version": "v1", "params": {}}
    server.post("/job-templates", {"owner": "a", "status": "x", "support": "y", "definition": template})
    step = {"step": {"id": "a", "type": "NoOp", "sub_type": "versioned", "sub_type_version": "v1"}}
    body: dict[str, Any] = {"properties": {"owner": "ann"}, "workflow": {"id": "of-v", "steps": [step]}}
    assert server.post("/workflows?include=warnings", body)["warnings"] == []
    text = {"text": json.dumps(body)}
    assert server.post("/definitions/check", text)["problems"] == []
    step["step"]["sub_type_version"] = "v2"
    wrong = "the job template `versioned`, version `v2`, is not known here"
    (warning,) = server.post("/workflows?include=warnings", body)["warnings"]
    assert wrong in warning
    assert wrong in server.post("/workflows/actions/validate", body)["message"]
    (found,) = server.post("/definitions/check", {"text": json.dumps(body)})["problems"]
    assert found["message"] == wrong
    server.start("of-v")
    server.ended("of-v")
    timeline = server.get("/workflows/of-v/instances/1/runs/1/steps/a/attempts/latest")["timeline"]
    said = [line["message"] for line in timeline if line.get("level") == "WARN"]
    assert said == ["There is no job template [versioned][v2]: nothing is taken from it"]


def test_a_push_names_what_it_can_include(server: Served) -> None:
    body = {"properties": {"owner": "ann"}, "workflow": {"id": "include-what", "steps": [noop("a")]}}
    refused = server.post("/workflows?include=warning", body, status=400)
    assert "did you mean `warnings`" in str(refused)
    server.get("/workflows/include-what/versions/latest", 404)


def test_a_start_says_what_a_queued_run_waits_for_where_it_is_asked(server: Served) -> None:
    server.push("why-queued", sleep("s"), run_strategy="SEQUENTIAL")
    start = "/workflows/why-queued/versions/latest/actions/start"
    server.post(start, {"initiator": {"type": "manual"}})
    plain = server.post(start, {"initiator": {"type": "manual"}})
    asked = server.post(f"{start}?include=queued", {"initiator": {"type": "manual"}})
    assert "queued" not in plain
    assert plain["detail"] == "queued, blocked by running why-queued/1"
    assert asked["queued"] == {"hold": "BUSY", "blocked_by": ["why-queued/1"]}
    server.put("/workflows/why-queued/actions/kill", 202)


def test_restarts_say_what_a_queued_run_waits_for_where_it_is_asked(server: Served) -> None:
    server.push("why-again", shell("s", "exit 1"), run_strategy="SEQUENTIAL")
    server.start("why-again")
    server.ended("why-again", 1, "FAILED")
    server.push("why-again", sleep("s"), run_strategy="SEQUENTIAL")
    server.start("why-again")
    server.step_is("why-again", "s", "RUNNING", instance=2)
    place, request = "/workflows/why-again/instances/1", {"restart_policy": "RESTART_FROM_BEGINNING"}
    restarted = server.post(f"{place}/actions/restart?include=queued", {**request, "request_id": "r1"})
    assert restarted["queued"]["blocked_by"] == ["why-again/2"]
    assert "queued" not in server.post(f"{place}/actions/restart", {**request, "request_id": "r1"})
    server.put("/workflows/why-again/actions/kill", 202)
