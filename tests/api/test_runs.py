"""Endpoints 12 and 20 to 33: starting, reading, ending and restarting instances."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.api.serving import LOOP, Served, noop, served, shell, sleep

from stretto.config import Config
from stretto.config.settings import ExpressionSettings
from stretto.engine.settings import EngineSettings
from stretto.node.settings import NodeSettings
from stretto.params import ParamLimits

START = "/workflows/{}/versions/latest/actions/start"
MANUAL = {"initiator": {"type": "manual"}}


# ---------------------------------------------------------------------------------------------- starting
def test_a_start_answers_with_its_ids(server: Served) -> None:
    server.push("started")
    made = server.start("started")
    event = made.pop("timeline_event")
    assert event["type"] == "LOG"
    assert made.pop("workflow_uuid")
    assert made == {
        "workflow_id": "started",
        "workflow_version_id": 1,
        "workflow_instance_id": 1,
        "workflow_run_id": 1,
        "status": "CREATED",
    }
    assert server.ended("started")["initiator"] == {"type": "MANUAL", "depth": 0, "user": "ann"}


def test_a_repeated_request_has_the_ids_of_the_first(server: Served) -> None:
    server.push("repeated")
    ours = str(uuid4())
    first = server.start("repeated", request_id=ours)
    again = server.start("repeated", request_id=ours)
    assert (first["status"], again["status"]) == ("CREATED", "DUPLICATED")
    assert again["workflow_instance_id"] == first["workflow_instance_id"] == 1
    assert again["workflow_uuid"] == ours


def test_parameters_tags_and_artifacts_come_with_a_start(server: Served) -> None:
    day = {"day": {"value": "20260101", "type": "STRING"}}
    workflow = {"id": "given", "params": day, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start(
        "given",
        run_params={"day": {"value": "20260202", "type": "string"}},
        runtime_tags=["mine"],
        artifacts={"note": {"text": "x"}},
        request_time=1_700_000_000_000,
    )
    found = server.ended("given")
    assert found["params"]["day"]["evaluated_result"] == "20260202"
    assert found["params"]["day"]["source"] == "LAUNCH"
    assert found["run_config"]["runtime_tags"][0]["name"] == "mine"
    assert found["artifacts"]["note"] == {"text": "x"}
    assert found["request_time"] == 1_700_000_000_000


def test_parameters_that_can_not_be_evaluated(server: Served) -> None:
    server.push("hopeless")
    bad = {"n": {"expression": "1/0;", "type": "LONG"}}
    refused = server.post(START.format("hopeless"), {**MANUAL, "run_params": bad}, 400)
    assert refused["status"] == "BAD_REQUEST"
    made = server.start("hopeless", run_params=bad, persist_failed_run=True)
    assert made["status"] == "CREATED"
    server.ended("hopeless", made["workflow_instance_id"], "FAILED")


def test_a_long_expression_does_not_hold_others_up() -> None:
    """It is evaluated in a process of its own."""
    text = "x = 0; for (int i = 0; i < 2000; i += 1) { x = x + 1; } return x;"
    with served(Config(node=NodeSettings(engine=EngineSettings(expression_visits=1_000)))) as brief:
        brief.push("long")
        brief.start("long", run_params={"n": {"expression": text, "type": "LONG"}})
        assert brief.ended("long")["params"]["n"]["evaluated_result"] == 2_000


def test_an_expression_that_never_ends_is_refused() -> None:
    """The process in which it is evaluated is killed; the server answers others all the while."""
    inner = "for (int j = 0; j < 20000; j += 1) { x = x + 1; }"
    text = f"x = 0; for (int i = 0; i < 20000; i += 1) {{ {inner} }} return x;"
    limits = ParamLimits(visits=10**12, memory=10**15)
    with served(Config(expressions=ExpressionSettings(within=1_000), params=limits)) as quick:
        quick.push("endless")
        body = {**MANUAL, "run_params": {"n": {"expression": text, "type": "LONG"}}}
        refused = quick.post(START.format("endless"), body, 400)
        assert "within the 1 s" in refused["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"initiator": {"type": "magic"}}, 400),
        ({"initiator": {"type": "foreach", "ancestors": []}}, 400),
        ({**MANUAL, "run_params": {"a": 1}}, 400),
        ({**MANUAL, "colour": "red"}, 400),
        ({**MANUAL, "request_time": "now"}, 400),
        ({"initiator": {"type": "TIME", "trigger_uuid": "x", "trigger_time": 1}}, 409),
    ],
)
def test_bad_starts(server: Served, body: object, status: int) -> None:
    server.push("bad-starts")
    assert server.post(START.format("bad-starts"), body, status)["message"]


def test_unknown_workflows_and_versions(server: Served) -> None:
    assert server.post(START.format("nobody"), MANUAL, 404)["status"] == "NOT_FOUND"
    server.push("versioned")
    assert server.post("/workflows/versioned/versions/7/actions/start", MANUAL, 404)["status"] == "NOT_FOUND"


def test_first_only_drops_the_second(server: Served) -> None:
    server.push("first-only", sleep("s"), run_strategy="FIRST_ONLY")
    assert [server.start("first-only")["status"] for _ in range(2)] == ["CREATED", "STOPPED"]
    server.put("/workflows/first-only/actions/kill", 202)


# ----------------------------------------------------------------------------------------------- reading
def test_action_maps(server: Served) -> None:
    found = server.get("/workflows/instances/action-map")
    assert found["FAILED"] == ["RESTART", "UNBLOCK"]
    assert found["IN_PROGRESS"][:2] == ["STOP", "KILL"]
    steps = server.get("/workflows/steps/instances/action-map")
    assert steps["WAITING_FOR_SIGNALS"] == ["STOP", "KILL", "SKIP", "BYPASS_STEP_DEPENDENCIES"]
    assert "NOT_CREATED" not in steps


def test_an_instance(server: Served) -> None:
    server.push("read", noop("a", "b"), noop("b"))
    server.start("read")
    found = server.ended("read")
    assert found["correlation_id"] == "read:1:1"
    assert found["execution_id"] == found["workflow_uuid"]
    assert list(found["runtime_dag"]) == ["a", "b"]
    overview = found["runtime_overview"]
    assert overview["total_step_count"] == 2
    assert overview["step_overview"]["SUCCEEDED"]["cnt"] == 2
    assert overview["rollup_overview"]["total_leaf_count"] == 2
    views = found["aggregated_info"]["step_aggregated_views"]
    assert {step: view["status"] for step, view in views.items()} == {"a": "SUCCEEDED", "b": "SUCCEEDED"}
    assert any(event["type"] == "STATUS" for event in found["timeline"])
    plain = server.get("/workflows/read/instances/1?enriched=false")
    assert not any(event["type"] == "STATUS" for event in plain.get("timeline", []))
    for run in ("1", "latest", "0"):
        one = server.get(f"/workflows/read/instances/1/runs/{run}")
        assert "aggregated_info" not in one
    assert "aggregated_info" in server.get("/workflows/read/instances/1/runs/1?aggregated=true")


def test_pages_of_instances_and_runs(server: Served) -> None:
    server.push("listed")
    for instance in (1, 2, 3):
        server.start("listed")
        server.ended("listed", instance)
    page = server.get("/workflows/listed/instances?first=2")
    assert [each["workflow_instance_id"] for each in page["elements"]] == [3, 2]
    assert page["total_count"] == 3
    assert page["page_info"]["has_next_page"] is True
    assert all("aggregated_info" in each for each in page["elements"])
    plain = server.get("/workflows/listed/instances?last=1&aggregated=false")["elements"]
    assert [each["workflow_instance_id"] for each in plain] == [1]
    body = {"restart_policy": "RESTART_FROM_BEGINNING"}
    server.post("/workflows/listed/instances/1/actions/restart", body)
    server.until("/workflows/listed/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    runs = server.get("/workflows/listed/instances/1/runs?first=5")
    assert [each["workflow_run_id"] for each in runs["elements"]] == [2, 1]
    assert server.get("/workflows/listed/instances?first=1&cursor=1")["elements"] == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/workflows/nobody/instances/1", 404),
        ("/workflows/looked/instances/9", 404),
        ("/workflows/looked/instances/9999999999999999999", 400),
        ("/workflows/looked/instances/one", 400),
        ("/workflows/looked/instances/1/runs/7", 404),
        ("/workflows/looked/instances/1/runs/99999999999999999999", 404),
        ("/workflows/looked/instances/1/runs/newest", 400),
        ("/workflows/looked/instances/1/runs/1?enriched=perhaps", 400),
    ],
)
def test_what_is_not_there(server: Served, path: str, status: int) -> None:
    if server.client.get("/api/v3/workflows/looked/versions/1").status_code == 404:
        server.push("looked")
        server.start("looked")
    server.ended("looked")
    server.get(path, status)


# ------------------------------------------------------------------------------------------------ ending
@pytest.mark.parametrize(("verb", "status"), [("stop", "STOPPED"), ("kill", "FAILED")])
@pytest.mark.parametrize("place", ["instances/1", "instances/1/runs/1"])
def test_ending_a_run(server: Served, verb: str, status: str, place: str) -> None:
    name = f"{verb}-{'run' if 'runs' in place else 'instance'}"
    server.push(name, sleep("s"))
    server.start(name)
    server.step_is(name, "s", "RUNNING")
    path = f"/workflows/{name}/{place}/actions/{verb}"
    found = server.put(path)
    assert found["completed"] is False
    assert found["workflow_instance_status"] == "IN_PROGRESS"
    assert (found["workflow_instance_id"], found["workflow_run_id"]) == (1, 1)
    event = found["timeline_event"]
    assert (event["type"], event["level"], event.keys() & {"action", "author"}) == ("LOG", "INFO", set())
    assert f"asked to {verb} run" in event["message"]
    server.ended(name, 1, status)
    again = server.put(path)
    assert (again["completed"], again["workflow_instance_status"]) == (True, status)
    other = "kill" if verb == "stop" else "stop"
    assert "Cannot terminate" in server.put(f"/workflows/{name}/{place}/actions/{other}", 400)["message"]


def test_a_queued_run_ends_at_once(server: Served) -> None:
    server.push("queued", sleep("s"), run_strategy="SEQUENTIAL")
    server.start("queued")
    server.start("queued")
    found = server.get("/workflows/queued/instances/2")
    assert found["status"] == "CREATED"
    assert "execution_id" not in found
    stopped = server.put("/workflows/queued/instances/2/actions/stop")
    assert (stopped["completed"], stopped["workflow_instance_status"]) == (True, "STOPPED")
    server.put("/workflows/queued/actions/kill", 202)


def test_only_the_newest_run_can_be_ended(server: Served) -> None:
    server.push("newest")
    server.start("newest")
    server.ended("newest")
    assert (
        "not the latest run"
        in server.put("/workflows/newest/instances/1/runs/7/actions/stop", 400)["message"]
    )
    server.put("/workflows/newest/instances/5/actions/stop", 404)
    server.put("/workflows/newest/instances/1/actions/unblock", 400)
    server.put("/workflows/newest/instances/1/runs/1/actions/unblock", 400)


def test_unblocking_a_run(server: Served) -> None:
    server.push("unblocked", sleep("s"), run_strategy="STRICT_SEQUENTIAL")
    server.start("unblocked")
    server.step_is("unblocked", "s", "RUNNING")
    server.put("/workflows/unblocked/instances/1/actions/kill")
    server.ended("unblocked", 1, "FAILED")
    found = server.put("/workflows/unblocked/instances/1/runs/1/actions/unblock")
    assert (found["completed"], found["workflow_instance_status"]) == (True, "FAILED")
    assert server.put("/workflows/unblocked/instances/1/actions/unblock")["info"] != found["info"]


# -------------------------------------------------------------------------------------------- restarting
def test_restarts(server: Served, tmp_path: Path) -> None:
    go = tmp_path / "go"
    server.push("again", shell("s", f"until test -e {go}; do sleep 0.05; done; exit 1", "t"), noop("t"))
    server.start("again")
    go.touch()
    server.ended("again", 1, "FAILED")
    go.unlink()
    path = "/workflows/again/instances/1/actions/restart"
    made = server.post(path, {"restart_policy": "RESTART_FROM_INCOMPLETE", "request_id": str(uuid4())})
    assert (made["status"], made["workflow_run_id"], made["workflow_instance_id"]) == ("CREATED", 2, 1)
    assert "non-terminal" in server.post(path, {"restart_policy": "restart_from_beginning"}, 400)["message"]
    go.touch()
    server.until("/workflows/again/instances/1/runs/2", lambda run: run["status"] == "FAILED")
    params = {"x": {"value": 1, "type": "LONG"}}
    made = server.post(path, {"restart_policy": "RESTART_FROM_BEGINNING", "run_params": params})
    found = server.until("/workflows/again/instances/1/runs/3", lambda run: run["status"] == "FAILED")
    assert found["params"]["x"]["evaluated_result"] == 1
    assert found["run_config"]["policy"] == "RESTART_FROM_BEGINNING"
    server.post(path, {}, 400)
    server.post(path, {"restart_policy": "SOMEHOW"}, 400)
    server.post(path, {"restart_policy": "RESTART_FROM_SPECIFIC"}, 400)
    server.post(
        "/workflows/again/instances/9/actions/restart", {"restart_policy": "RESTART_FROM_BEGINNING"}, 404
    )


# ------------------------------------------------------------------------------------------------ counting
def test_a_restart_counts_the_leaves_of_earlier_runs(server: Served) -> None:
    child = {"subworkflow": {"id": "sub", "params": {"subworkflow_id": {"value": "leafy", "type": "STRING"}}}}
    server.push("leafy", noop("x"), noop("y"))
    server.push("counted", noop("a", "each"), LOOP, child, shell("s", "exit 1"))
    server.start("counted")
    first = server.ended("counted", 1, "FAILED")["runtime_overview"]["rollup_overview"]
    assert first["total_leaf_count"] == 7  # a, three of the loop, two of the child, s
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE"}
    server.post("/workflows/counted/instances/1/actions/restart", body)
    path = "/workflows/counted/instances/1/runs/2"
    found = server.until(path, lambda run: run["status"] == "FAILED")["runtime_overview"]
    assert found["total_step_count"] == 1
    assert found["rollup_overview"]["total_leaf_count"] == 7
    assert found["rollup_overview"]["overview"]["SUCCEEDED"]["cnt"] == 6
    assert found["rollup_overview"]["overview"]["FATALLY_FAILED"]["ref"] == {"counted:2": ["1:s:1"]}


def test_an_iteration_counts_its_leaves(server: Served) -> None:
    numbers = {"j": {"value": [1, 2], "type": "LONG_ARRAY"}}
    inner = {
        "id": "deep",
        "params": {"loop_params": {"type": "MAP", "value": numbers}},
        "steps": [noop("leaf")],
    }
    server.push("iterated", {"foreach": {**LOOP["foreach"], "steps": [noop("first"), {"foreach": inner}]}})
    server.start("iterated")
    server.ended("iterated")
    step = server.get("/workflows/iterated/instances/1/steps/each")
    inline = step["artifacts"]["maestro_foreach"]["foreach_workflow_id"]
    found = server.get(f"/workflows/{inline}/instances/2")["runtime_overview"]["rollup_overview"]
    assert found == {"total_leaf_count": 3, "overview": {"SUCCEEDED": {"cnt": 3}}}
    assert server.get(f"/workflows/{inline}/versions/1") == server.get(f"/workflows/{inline}/versions/ACTIVE")
    server.get(f"/workflows/{inline}/versions/2", 404)
    server.get(f"/workflows/{inline}/versions/first", 400)


def test_what_ended_in_the_queue_was_never_carried_out(server: Served) -> None:
    server.push("waiting", sleep("s"), run_strategy="SEQUENTIAL")
    server.start("waiting")
    server.step_is("waiting", "s", "RUNNING")
    server.start("waiting")
    server.put("/workflows/waiting/instances/2/actions/stop")
    assert "execution_id" not in server.ended("waiting", 2, "STOPPED")
    server.put("/workflows/waiting/instances/1/actions/stop")
    assert server.ended("waiting", 1, "STOPPED")["execution_id"]


# ------------------------------------------------------------------------------------------------ timeouts
def timed(server: Served, workflow_id: str, timeout: str, minutes: int, *steps: dict[str, Any]) -> None:
    params = {"minutes": {"value": 1, "type": "LONG"}}
    workflow = {"id": workflow_id, "timeout": timeout, "params": params, "steps": list(steps)}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.start(workflow_id, run_params={"minutes": {"value": minutes, "type": "LONG"}})


def test_a_timeout_is_told_after_the_end_too(server: Served) -> None:
    step = noop("a")
    step["step"]["timeout"] = "${minutes} min"
    timed(server, "timed", "2h", 5, step, noop("b"))
    assert server.ended("timed")["timeout_in_millis"] == 7_200_000
    path = "/workflows/timed/instances/1/steps"
    assert server.get(f"{path}/a")["timeout_in_millis"] == 300_000
    assert "timeout_in_millis" not in server.get(f"{path}/b")  # the default is the engine's


def test_a_timeout_that_ended_a_run_is_none(server: Served) -> None:
    timed(server, "untimed", "${minutes} min", 0, noop("a"))
    assert "timeout_in_millis" not in server.ended("untimed", 1, "FAILED")


# ------------------------------------------------------------------------------ what could not be evaluated
def test_a_restart_evaluates_what_the_run_before_could_not(server: Served) -> None:
    params = {"x": {"value": 1, "type": "LONG"}, "y": {"expression": "10 / x", "type": "LONG"}}
    workflow = {"id": "divided", "params": params, "steps": [shell("s", "test ${y}${z} = 5here")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    given = {"x": {"value": 0, "type": "LONG"}, "z": {"value": "here", "type": "STRING"}}
    server.start("divided", run_params=given, persist_failed_run=True)
    server.ended("divided", 1, "FAILED")
    path = "/workflows/divided/instances/1/actions/restart"
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE"}
    assert "Failed to evaluate param [y]" in server.post(path, body, 400)["message"]
    server.post(path, {**body, "run_params": {"x": {"value": 2, "type": "LONG"}}})
    found = server.until("/workflows/divided/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    told = {
        name: (found["params"][name]["evaluated_result"], found["params"][name]["source"]) for name in "xyz"
    }
    assert told == {"x": (2, "RESTART"), "y": (5, "DEFINITION"), "z": ("here", "LAUNCH")}
    assert found["params"]["RUN_TS"]["evaluated_result"]
