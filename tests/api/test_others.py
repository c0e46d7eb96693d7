"""Endpoints 25, 26 and 49 to 59, and the flatten views: permits, templates, signals, output data, loops."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from tests.api.serving import LOOP, YAML, Served, noop, shell, sleep


# ----------------------------------------------------------------------------------------------- permits
def test_tag_permits(server: Served) -> None:
    assert server.post("/tag-permits", {"tag": "db/main", "max_allowed": 2, "why": "small"}) == ""
    found = server.get("/tag-permits/db%2Fmain")
    assert (found["tag"], found["max_allowed"], found["why"]) == ("db/main", 2, "small")
    assert len(found["timeline"]) == 1
    server.post("/tag-permits", {"tag": "db/main", "max_allowed": 0})
    assert len(server.get("/tag-permits/db%2Fmain")["timeline"]) == 2
    for _ in range(2):
        assert server.delete("/tag-permits/db%2Fmain") == ""
    assert server.get("/tag-permits/db%2Fmain", 404)["status"] == "NOT_FOUND"
    wrong: tuple[Any, ...] = (
        {"tag": "x"},
        {"tag": "x", "max_allowed": -1},
        {"tag": "", "max_allowed": 1},
        {"tag": "x", "max_allowed": 1, "timeline": []},
        [],
        "x",
    )
    for bad in wrong:
        assert server.post("/tag-permits", bad, 400)["status"] == "BAD_REQUEST"


def test_steps_wait_for_permits(server: Served) -> None:
    step = {"step": {"id": "s", "type": "Sleep", "transition": {}, "tags": ["scarce"]}}
    step["step"]["params"] = {"sleep_seconds": {"value": 3_600, "type": "LONG"}}
    server.post("/tag-permits", {"tag": "scarce", "max_allowed": 1})
    server.push("permitted", step)
    server.start("permitted")
    server.step_is("permitted", "s", "RUNNING")
    server.start("permitted")
    server.step_is("permitted", "s", "WAITING_FOR_PERMITS", 2)
    server.delete("/tag-permits/scarce")
    server.step_is("permitted", "s", "RUNNING", 2)
    server.put("/workflows/permitted/actions/kill", 202)


def test_tags_of_workflow_properties_and_run_limit_no_step(server: Served) -> None:
    """Each of these tags has a limit of 0: whoever took a permit for it would wait for ever."""
    labels = ("label-workflow", "label-properties", "label-run")
    for label in labels:
        server.post("/tag-permits", {"tag": label, "max_allowed": 0})
    server.push("labelled-child", noop("in"))
    named = {"subworkflow_id": "labelled-child", "subworkflow_version": "latest"}
    params = {name: {"value": value, "type": "STRING"} for name, value in named.items()}
    child = {"subworkflow": {"id": "sub", "transition": {}, "params": params}}
    own = {"step": {"id": "own", "type": "NoOp", "transition": {}, "tags": ["label-own"]}}
    workflow = {"id": "labelled", "tags": ["label-workflow"], "steps": [noop("a"), own, child]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.post("/workflows/labelled/properties/tag", "label-properties")
    server.start("labelled", runtime_tags=["label-run"])
    server.ended("labelled")
    steps = server.get("/workflows/labelled/instances/1/steps")
    assert {each["step_id"]: [tag["name"] for tag in each["tags"]] for each in steps} == {
        "a": [],
        "own": ["label-own"],
        "sub": [],
    }
    (inner,) = server.get("/workflows/labelled-child/instances/1/steps")
    assert inner["tags"] == []
    for label in labels:
        assert [each["workflow_id"] for each in server.get(f"/instances?tag={label}")["elements"]] == [
            "labelled"
        ]
        server.delete(f"/tag-permits/{label}")


# --------------------------------------------------------------------------------------------- templates
def template(job_type: str, version: str = "default", **more: Any) -> dict[str, Any]:
    definition = {"job_type": job_type, "step_type": "NoOp", "version": version, **more}
    return {"owner": "ann", "status": "ok", "support": "me", "definition": definition, "colour": "red"}


def test_job_templates(server: Served) -> None:
    made = server.post("/job-templates", template("spark"))
    assert made["metadata"]["version_author"] == "ann"
    assert made["metadata"]["colour"] == "red"
    assert made["definition"]["job_type"] == "spark"
    text = json.dumps(template("spark", "v2", description="new"))
    second = server.client.post("/api/v3/job-templates/yaml", content=text, headers=YAML).json()
    assert second["definition"]["description"] == "new"
    assert server.get("/job-templates/spark") == made
    assert server.get("/job-templates/spark?version=v2") == second
    assert [each["definition"]["job_type"] for each in server.get("/job-templates?version=v2")] == ["spark"]
    assert "spark" in [each["definition"]["job_type"] for each in server.get("/job-templates")]
    assert (
        server.delete("/job-templates/spark?version=v2") == "Deleted [1] versions of job template [spark][v2]"
    )
    assert "version=" not in server.get("/job-templates/spark?version=v2", 404)["message"]
    assert "version=" in server.get("/job-templates/sprak", 404)["message"]
    assert server.delete("/job-templates/spark").startswith("Deleted [1]")
    assert server.delete("/job-templates/spark").startswith("Deleted [0]")
    server.post("/job-templates", {"owner": "ann"}, 400)
    server.post("/job-templates", template("a b"), 400)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"version_author": "eve"}, "[version_author] can not be given"),
        ({"create_time": 5}, "[create_time] can not be given"),
        (template("x" * 129), "at most 128 characters"),
        (template("spark", "v__1"), "[v__1] can not be a template version (letters"),
        (template("spark", description="x" * 16_385), "The description of job template [spark] is too long"),
        (
            template("spark", step_type="Sparky"),
            "The step type [Sparky] of job template [spark] is not known",
        ),
    ],
)
def test_bad_job_templates(wrong: dict[str, Any], told: str, server: Served) -> None:
    refused = server.post("/job-templates", {**template("spark"), **wrong}, 400)
    assert told in refused["message"]
    server.get("/job-templates/spark", 404)


def test_a_template_gives_a_step_its_parameters(server: Served) -> None:
    seconds = {"sleep_seconds": {"value": 0, "type": "LONG"}}
    params = {"color": {"value": "blue", "type": "STRING"}}
    server.post("/job-templates", template("painted", step_type="Sleep", params=params))
    server.push(
        "painting",
        {"step": {"id": "s", "type": "Sleep", "sub_type": "painted", "transition": {}, "params": seconds}},
    )
    server.start("painting")
    server.ended("painting")
    found = server.get("/workflows/painting/instances/1/steps/s")
    assert found["params"]["color"]["evaluated_result"] == "blue"


# ----------------------------------------------------------------------------------------------- signals
def test_signals(server: Served) -> None:
    made = server.post("/signals", {"name": "table/ready", "params": {"day": 7}, "note": "x"})
    assert (made["name"], made["seq_id"], made["params"], made["payload"]) == (
        "table/ready",
        1,
        {"day": 7},
        {"note": "x"},
    )
    refused = server.post("/signals", {"name": "table/ready", "params": {"day": 7}}, 409)
    assert refused["status"] == "CONFLICT"
    second = server.post("/signals", {"name": "table/ready", "request_id": "again", "params": {"day": 7}})
    assert (second["seq_id"], second["instance_id"]) == (2, "again")
    unnamed = server.post("/signals", {"name": "table/ready", "request_id": "", "params": {"day": 7}}, 409)
    assert unnamed["message"] == refused["message"]  # an empty id is none
    path = "/signals/table%2Fready/instances"
    assert server.get(f"{path}/1") == made
    assert server.get(f"{path}/latest") == second
    assert server.get(f"{path}/9") == ""
    assert server.get(f"{path}/99999999999999999999") == ""
    assert server.get("/signals/nothing/instances/latest") == ""
    server.get(f"{path}/newest", 400)
    for bad in ({}, {"name": ""}, {"name": "x", "params": {"a": [1]}}):
        server.post("/signals", bad, 400)


def announcing(step_id: str, expression: str) -> dict[str, Any]:
    """A step that announces the signal `out`, with a parameter and a payload."""
    value = {"expression": expression, "type": "LONG"}
    payload = {"free": {"value": 1, "type": "LONG"}, "rows": {"expression": "n * 2", "type": "LONG"}}
    output = {"name": "out", "params": {"k": value}, "payload": payload}
    step = {"id": step_id, "type": "NoOp", "transition": {}, "signal_outputs": [output]}
    return {"step": {**step, "params": {"n": {"value": 3, "type": "LONG"}}}}


def test_output_signals_of_steps(server: Served) -> None:
    """Two runs announce the same: it is stored once, its trigger fires once, and each step knows which."""
    trigger: dict[str, Any] = {"definitions": {"out": {}}}
    workflow = {"id": "downstream", "signal_triggers": [trigger], "steps": [noop("s")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.push("upstream", announcing("a", "n + 1"), noop("b"))
    for instance in (1, 2):
        server.start("upstream")
        server.ended("upstream", instance)
    told = [server.get(f"/workflows/upstream/instances/{each}/steps/a")["signal_outputs"] for each in (1, 2)]
    assert all(each["info"]["message"] == "Signal step outputs have been completed." for each in told)
    (first,), (second,) = (each["outputs"] for each in told)
    same = {"name": "out", "params": {"k": 4}, "payload": {"free": 1, "rows": 6}}
    signal = server.get("/signals/out/instances/1")
    assert first == {**same, "signal_id": 1, "announce_time": signal["create_time"]}
    assert second == {**same, "signal_id": -1}
    assert signal["payload"]["signal_source"]["workflow_instance_id"] == 1
    assert server.get("/workflows/upstream/instances/1/steps/b")["signal_outputs"] == {}
    assert server.get("/signals/out/instances/2") == ""
    server.post("/signals", {"name": "out", "params": {"k": 4}}, 409)
    server.post("/signals", {"name": "out", "params": {"k": 5}})
    server.ended("downstream", 2)
    ids = [
        each["initiator"]["signal_id_map"]["out"]
        for each in server.get("/workflows/downstream/instances?first=9")["elements"]
    ]
    assert sorted(ids) == [1, 2]


def test_steps_that_never_come_to_their_signals_have_no_signal_outputs(server: Served) -> None:
    broken = {"step": {"id": "bad", "type": "NoOp", "transition": {}}}
    broken["step"]["params"] = {"p": {"expression": "1 / 0", "type": "LONG"}}
    undecided = noop("edge")
    undecided["step"]["params"] = {"zero": {"value": 0, "type": "LONG"}}
    undecided["step"]["transition"] = {"successors": {"end": "1 / zero > 1"}}
    server.push("silent", broken, undecided, noop("end"), sleep("slow"))
    server.start("silent")
    for step_id in ("bad", "edge"):
        server.step_is("silent", step_id, "INTERNALLY_FAILED")
    server.put("/workflows/silent/actions/kill", 202)
    server.ended("silent", status="FAILED")
    steps = server.get("/workflows/silent/instances/1/steps")
    assert {each["step_id"]: each.get("signal_outputs") for each in steps} == {
        "bad": None,
        "edge": {},  # its signals are announced before its edges are decided
        "slow": None,
    }


def test_a_signal_lets_a_step_go(server: Served) -> None:
    step = noop("w")
    step["step"]["signal_dependencies"] = [{"name": "go"}]
    server.push("signalled", step)
    server.start("signalled")
    server.step_is("signalled", "w", "WAITING_FOR_SIGNALS")
    server.client.post("/api/v3/signals", json={"name": "go"}, headers={"user": ""})
    server.ended("signalled")


# ------------------------------------------------------------------------------------------- output data
def test_output_data_of_a_running_step(server: Served) -> None:
    server.push("reporting", shell("s", "sleep 600"))
    server.start("reporting")
    server.step_is("reporting", "s", "RUNNING")
    place = {
        "workflow_id": "reporting",
        "workflow_instance_id": 1,
        "workflow_run_id": 1,
        "step_id": "s",
        "step_attempt_id": 1,
    }
    body = {**place, "artifacts": {"report": {"rows": 7}}}
    assert server.put("/output-data", json=body) == ""
    server.put("/workflows/reporting/instances/1/steps/s/actions/kill")
    server.ended("reporting", 1, "FAILED")
    assert "has ended" in server.put("/output-data", 400, json=body)["message"]
    assert "must name" in server.put("/output-data", 400, json={"workflow_id": "reporting"})["message"]
    server.put("/output-data", 404, json={**body, "step_attempt_id": 9})
    server.put("/output-data", 400, json={**body, "step_attempt_id": "x"})


# ------------------------------------------------------------------------------------------------- loops
@pytest.fixture(scope="module")
def looped(server: Served) -> str:
    """The inline id of a loop that has ended."""
    server.push("looped", LOOP)
    server.start("looped")
    server.ended("looped")
    artifact = server.get("/workflows/looped/instances/1/steps/each")["artifacts"]["maestro_foreach"]
    found: str = artifact["foreach_workflow_id"]
    return found


def test_iterations_are_instances(server: Served, looped: str) -> None:
    page = server.get(f"/workflows/{looped}/instances?first=10")
    assert [each["workflow_instance_id"] for each in page["elements"]] == [3, 2, 1]
    version = server.get(f"/workflows/{looped}/versions/1")
    assert version["workflow"]["steps"][0]["step"]["id"] == "inner"


FLAT = "/views/flatten/workflows/looped/instances/1/runs/1/steps/inner"


@pytest.mark.usefixtures("looped")
def test_flatten_views(server: Served) -> None:
    page = server.get(f"{FLAT}?first=2")
    assert [each["iteration_rank"] for each in page["elements"]] == ["11", "12"]
    assert [each["loop_params"] for each in page["elements"]] == [{"i": 7}, {"i": 8}]
    assert page["page_info"]["has_next_page"] is True
    rest = server.get(f"{FLAT}?first=2&cursor={page['page_info']['end_cursor']}")
    assert [each["iteration_rank"] for each in rest["elements"]] == ["13"]
    wanted = urlsafe_b64encode(b'{"i": 8}').decode().rstrip("=")
    found = server.get(f"{FLAT}?first=9&loopParams={wanted}&statuses=succeeded,FATALLY_FAILED")
    assert [each["iteration_rank"] for each in found["elements"]] == ["12"]
    assert server.get(f"{FLAT}?first=9&statuses=RUNNING")["elements"] == []
    assert server.get(f"{FLAT}/iterations/3")["step_runtime_state"]["status"] == "SUCCEEDED"
    server.get(f"{FLAT}/iterations/4", 404)
    summary = server.get(f"{FLAT}/summary?statusCount=true&valueCount=2")
    assert summary["count_by_status"] == {"SUCCEEDED": 3}
    assert summary["range"] == [1, 3]
    assert summary["loop_param_values"] == {"i": [7, 8]}
    assert summary["representative_iteration"]["step_id"] == "inner"
    assert "representative_iteration" not in server.get(f"{FLAT}/summary?representative=false")


@pytest.mark.usefixtures("looped")
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("?first=1&statuses=HAPPY", 400),
        ("?first=1&loopParams=%21", 400),
        ("?first=1&loopParams=WzFd", 400),
        ("?first=1&loopParams=a", 400),
        ("?first=1&cursor=x", 400),
        ("/iterations/x", 400),
        ("/summary?valueCount=-1", 400),
    ],
)
def test_bad_views(server: Served, query: str, status: int) -> None:
    server.get(FLAT + query, status)


def test_views_of_steps_outside_of_loops(server: Served) -> None:
    server.push("flat", sleep("s"))
    server.start("flat")
    path = "/views/flatten/workflows/flat/instances/1/runs/1/steps"
    server.get(f"{path}/s?first=1", 400)
    server.get(f"{path}/z?first=1", 404)
    server.put("/workflows/flat/actions/kill", 202)


def test_a_filter_that_can_not_be_read_is_named(server: Served, looped: str) -> None:
    assert looped
    path = "/views/flatten/workflows/looped/instances/1/runs/1/steps/inner?first=1&loopParams="
    for wrong in ("xx", "W10", "a"):
        assert server.get(path + wrong, 400)["message"].startswith(f"Invalid loopParams [{wrong}] (base64 of")


def test_the_reason_of_an_end_is_told_once(server: Served) -> None:
    server.push("undeclared", shell("s", "sleep 1"))
    server.start("undeclared")
    server.step_is("undeclared", "s", "RUNNING")
    place = {"workflow_id": "undeclared", "workflow_instance_id": 1, "workflow_run_id": 1}
    params = {"nobody": {"value": "x", "type": "STRING"}}
    body = {**place, "step_id": "s", "step_attempt_id": 1, "params": params}
    server.put("/output-data", json=body)
    step = server.step_is("undeclared", "s", "INTERNALLY_FAILED")
    told = [line["message"] for line in step["timeline"] if line["type"] == "LOG"]
    assert told == ["Invalid output parameter [nobody]: the step does not declare it"]
