"""Fields that Maestro's answers always have, and those that they have only sometimes."""

from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, shell, sleep

FACTS = {"workflow_instance_id", "step_instance_uuid", "step_attempt_id", "step_id"}
SATISFIED = "maestro_step_satisfied"
START = "/workflows/some/versions/latest/actions/start"


def step_of(server: Served, workflow_id: str, step_id: str, instance: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/workflows/{workflow_id}/instances/{instance}/steps/{step_id}")
    return found


def waits(step_id: str) -> dict[str, Any]:
    return {"step": {"id": step_id, "type": "NoOp", "signal_dependencies": [{"name": "never-comes"}]}}


def details(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in record.get("timeline", ()) if each["type"] == "DETAILS"]


# ------------------------------------------------------------------------------------- parameters of a step
def test_a_step_that_runs_has_the_parameters_of_every_step(server: Served) -> None:
    server.push("sleeper", sleep("s"))
    server.start("sleeper")
    params = server.step_is("sleeper", "s", "RUNNING")["params"]
    assert params.keys() == {*FACTS, SATISFIED, "sleep_seconds"}
    satisfied = params[SATISFIED]
    assert satisfied.pop("evaluated_time") > 0
    assert satisfied == {"value": True, "type": "BOOLEAN", "evaluated_result": True}
    server.put("/workflows/sleeper/instances/1/actions/stop")


def test_the_facts_about_a_step_are_those_of_its_attempt(server: Served) -> None:
    server.push("facts", LOOP)
    server.start("facts")
    server.ended("facts")
    loop = step_of(server, "facts", "each")
    assert loop["params"].keys() == {*FACTS, SATISFIED, "loop_params", "loop_index"}
    inner = step_of(server, loop["artifacts"]["maestro_foreach"]["foreach_workflow_id"], "inner", 3)
    results = {name: inner["params"][name]["evaluated_result"] for name in FACTS}
    assert results == {
        "workflow_instance_id": 3,
        "step_instance_uuid": inner["step_uuid"],
        "step_attempt_id": 1,
        "step_id": "inner",
    }
    assert inner["params"]["step_id"]["source"] == "SYSTEM_DEFAULT"
    assert inner["params"]["step_id"]["mode"] == "CONSTANT"


def test_a_step_that_is_not_reached_is_not_satisfied(server: Served) -> None:
    first = {"step": {"id": "a", "type": "NoOp", "transition": {"successors": {"b": "1 > 2"}}}}
    server.push("unreached", first, noop("b", "c"), noop("c"))
    server.start("unreached")
    server.ended("unreached")
    for step_id in ("b", "c"):
        found = step_of(server, "unreached", step_id)
        assert found["runtime_state"]["status"] == "UNSATISFIED"
        assert {name: each["value"] for name, each in found["params"].items()} == {SATISFIED: False}


def test_a_step_that_waits_for_signals_has_no_evaluated_parameters_yet(server: Served) -> None:
    server.push("waiter", waits("w"))
    server.start("waiter")
    assert server.step_is("waiter", "w", "WAITING_FOR_SIGNALS")["params"].keys() == {SATISFIED}
    server.put("/workflows/waiter/instances/1/steps/w/actions/skip")
    server.ended("waiter")
    assert step_of(server, "waiter", "w")["params"].keys() == {SATISFIED}


# ----------------------------------------------------------------------------------------------- empty maps
def test_empty_maps_are_shown(server: Served) -> None:
    server.push("empty", noop("a", "each"), LOOP)
    server.start("empty")
    assert server.ended("empty")["run_params"] == {}
    assert step_of(server, "empty", "a")["definition"]["step"]["params"] == {}
    for step_id in ("a", "each"):
        assert step_of(server, "empty", step_id)["signal_outputs"] == {}


def test_what_is_not_there_yet_is_no_empty_map(server: Served) -> None:
    server.push("unfinished", waits("w"))
    server.start("unfinished")
    assert "signal_outputs" not in server.step_is("unfinished", "w", "WAITING_FOR_SIGNALS")
    server.put("/workflows/unfinished/instances/1/actions/kill")
    server.ended("unfinished", 1, "FAILED")
    assert "signal_outputs" not in step_of(server, "unfinished", "w")


def test_the_configuration_of_a_restart_has_the_parameters_that_it_may_give(server: Served) -> None:
    server.push("config", noop("a"))
    server.start("config")
    server.ended("config")
    path = "/workflows/config/instances/1"
    server.post(f"{path}/actions/restart", {"restart_policy": "RESTART_FROM_BEGINNING"})
    config = server.until(path, lambda run: run["status"] == "SUCCEEDED" and run["workflow_run_id"] == 2)
    config = config["run_config"]["restart_config"]
    assert (config["restart_params"], "step_restart_params" in config) == ({}, False)
    server.post(f"{path}/steps/a/actions/restart", {"restart_policy": "RESTART_FROM_BEGINNING"})
    config = server.until(path, lambda run: run["status"] == "SUCCEEDED" and run["workflow_run_id"] == 3)
    config = config["run_config"]["restart_config"]
    assert (config["step_restart_params"], "restart_params" in config) == ({"a": {}}, False)


# ------------------------------------------------------------------------------------------------- timeouts
def test_only_a_timeout_that_is_defined_is_shown(server: Served) -> None:
    limited = sleep("s")
    limited["step"]["timeout"] = "2 hours"
    workflow = {"id": "limited", "timeout": 86_400, "steps": [limited, sleep("free")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    server.push("unlimited", sleep("s"))
    for name in ("limited", "unlimited"):
        server.start(name)
        server.step_is(name, "s", "RUNNING")
    server.step_is("limited", "free", "RUNNING")
    assert server.get("/workflows/limited/instances/1")["timeout_in_millis"] == 86_400_000
    assert step_of(server, "limited", "s")["timeout_in_millis"] == 7_200_000
    assert "timeout_in_millis" not in step_of(server, "limited", "free")
    assert "timeout_in_millis" not in server.get("/workflows/unlimited/instances/1")
    for name in ("limited", "unlimited"):
        server.put(f"/workflows/{name}/instances/1/actions/stop")


# -------------------------------------------------------------------------------------------------- retries
@pytest.mark.parametrize(("verb", "end"), [("stop", "STOPPED"), ("kill", "FATALLY_FAILED")])
def test_what_ended_badly_for_good_is_not_retryable(server: Served, verb: str, end: str) -> None:
    name = f"retry-{verb}"
    server.push(name, sleep("s"), LOOP)
    server.start(name)
    assert server.step_is(name, "s", "RUNNING")["step_retry"]["retryable"] is True
    server.put(f"/workflows/{name}/instances/1/steps/s/actions/{verb}")
    assert server.step_is(name, "s", end)["step_retry"]["retryable"] is False


def test_a_failure_that_is_ignored_is_not_retryable_and_loops_show_the_default_policy(server: Served) -> None:
    ignored = shell("s", "exit 1")
    ignored["step"]["failure_mode"] = "IGNORE_FAILURE"
    server.push("ignored", ignored, LOOP)
    server.start("ignored")
    server.ended("ignored")
    found = step_of(server, "ignored", "s")
    assert found["runtime_state"]["status"] == "COMPLETED_WITH_ERROR"
    assert (found["step_retry"]["retryable"], found["step_retry"]["error_retry_limit"]) == (False, 0)
    retry = step_of(server, "ignored", "each")["step_retry"]
    assert (retry["error_retry_limit"], retry["platform_retry_limit"], retry["retryable"]) == (2, 10, True)


# ------------------------------------------------------------------------------------------------- failures
def check_failure(event: dict[str, Any]) -> None:
    assert (event["status"], event["retryable"]) == ("INTERNAL_ERROR", False)
    assert event["message"]
    assert event["errors"]


def test_a_step_that_can_not_evaluate_its_parameters_says_so_in_details(server: Served) -> None:
    bad = {"step": {"id": "b", "type": "NoOp", "params": {"x": {"expression": "no + 1", "type": "LONG"}}}}
    server.push("bad-params", noop("a", "b"), bad)
    server.start("bad-params")
    server.ended("bad-params", 1, "FAILED")
    found = step_of(server, "bad-params", "b")
    assert found["runtime_state"]["status"] == "INTERNALLY_FAILED"
    assert found["params"].keys() == {SATISFIED}
    (event,) = details(found)
    check_failure(event)


def test_a_subworkflow_that_is_not_there_is_an_error_in_details(server: Served) -> None:
    params = {"subworkflow_id": {"value": "nobody-pushed-it", "type": "STRING"}}
    server.push("orphan", {"subworkflow": {"id": "s", "params": params}})
    server.start("orphan")
    server.ended("orphan", 1, "FAILED")
    (event,) = details(step_of(server, "orphan", "s"))
    check_failure(event)


def test_a_failure_of_the_work_itself_is_no_error_of_the_engine(server: Served) -> None:
    server.push("worked", shell("s", "exit 3"))
    server.start("worked")
    server.ended("worked", 1, "FAILED")
    assert details(step_of(server, "worked", "s")) == []


def test_a_condition_fails_after_the_work_is_done(server: Served) -> None:
    first = {"step": {"id": "a", "type": "NoOp", "transition": {"successors": {"b": "missing > 2"}}}}
    server.push("late", first, noop("b"))
    server.start("late")
    run = server.ended("late", 1, "FAILED")
    found = step_of(server, "late", "a")
    assert found["runtime_state"].keys() >= {"wait_permit_time", "start_time", "execute_time", "finish_time"}
    assert found["params"].keys() == {*FACTS, SATISFIED}
    assert found["signal_outputs"] == {}
    assert run["aggregated_info"]["step_aggregated_views"]["a"]["start_time"] > 0
    ((_ordinal, began, ended),) = run["runtime_overview"]["step_overview"]["INTERNALLY_FAILED"]["steps"]
    assert began <= ended
    check_failure(*details(found))


def test_the_name_of_a_signal_fails_after_the_work_is_done(server: Served) -> None:
    first = {"step": {"id": "a", "type": "NoOp", "signal_outputs": [{"name": "got-${missing}"}]}}
    server.push("late-signal", first)
    server.start("late-signal")
    server.ended("late-signal", 1, "FAILED")
    found = step_of(server, "late-signal", "a")
    assert (found["runtime_state"]["status"], "finish_time" in found["runtime_state"]) == (
        "INTERNALLY_FAILED",
        True,
    )
    check_failure(*details(found))


# ------------------------------------------------------------------------------------ runs that never began
def test_a_run_that_can_not_begin_has_neither_a_start_nor_parameters(server: Served) -> None:
    params = {"n": {"value": 1, "type": "LONG"}, "m": {"expression": "5 % n", "type": "LONG"}}
    workflow = {"id": "unbegun", "params": params, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    zero = {"n": {"value": 0, "type": "LONG"}}
    server.start("unbegun", run_params=zero, persist_failed_run=True)
    run = server.ended("unbegun", 1, "FAILED")
    assert not run.keys() & {"execution_id", "start_time", "runtime_overview", "params"}
    assert run["run_params"] == zero
    assert [each.get("status") for each in run["timeline"][1:]] == ["INTERNAL_ERROR", "CREATED", "FAILED"]
    check_failure(*details(run))
    body = {"restart_policy": "RESTART_FROM_BEGINNING", "run_params": {"n": {"value": 2, "type": "LONG"}}}
    server.post("/workflows/unbegun/instances/1/actions/restart", body)
    assert server.ended("unbegun")["execution_id"]


def test_a_run_that_is_dropped_was_never_executed(server: Served) -> None:
    server.push("dropped", sleep("s"), run_strategy="FIRST_ONLY")
    server.start("dropped")
    assert server.start("dropped")["status"] == "STOPPED"
    run = server.ended("dropped", 2, "STOPPED")
    assert not run.keys() & {"execution_id", "runtime_overview"}
    assert run["start_time"] == run["end_time"] == run["create_time"]
    first = server.until("/workflows/dropped/instances/1", lambda found: "runtime_overview" in found)
    assert first["execution_id"] == first["workflow_uuid"]
    server.put("/workflows/dropped/instances/1/actions/stop")


# ---------------------------------------------------------------------------------------- errors of requests
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (START, {"run_params": {"params": {"type": "LONG", "value": 1}}}),
        (START, {"run_params": {f"p{n}": {"type": "LONG", "value": n} for n in range(129)}}),
        ("/tag-permits", {"tag": "t", "max_allowed": -5}),
        ("/signals", {"name": "not:a:valid*name"}),
        (
            "/workflows",
            {"properties": {"owner": "ann"}, "workflow": {"id": "z", "timeout": "0s", "steps": [noop("a")]}},
        ),
    ],
)
def test_a_request_that_makes_no_sense_lists_its_errors(server: Served, path: str, body: Any) -> None:
    server.push("some")
    if "run_params" in body:
        body = {"initiator": {"type": "manual"}, **body}
    refused = server.post(path, body, 400)
    assert refused["status"] == "BAD_REQUEST"
    assert refused["errors"]


def test_what_is_not_possible_now_lists_no_errors(server: Served) -> None:
    server.push("over", noop("a"))
    server.start("over")
    server.ended("over")
    assert "errors" not in server.put("/workflows/over/instances/1/actions/stop", 400)


# ---------------------------------------------------------------------------------------------- unblocking
def test_unblocking_stands_on_the_timelines_of_the_runs(server: Served) -> None:
    server.push("blocked", shell("s", "exit 1"), run_strategy="STRICT_SEQUENTIAL")
    server.start("blocked")
    server.ended("blocked", 1, "FAILED")
    answer = server.put("/workflows/blocked/instances/1/actions/unblock")
    assert (answer["timeline_event"]["type"], bool(answer["timeline_event"]["reason"])) == ("ACTION", True)
    server.start("blocked")
    server.ended("blocked", 2, "FAILED")
    assert server.put("/workflows/blocked/actions/unblock")["reason"]
    for instance in (1, 2):
        run = server.get(f"/workflows/blocked/instances/{instance}")
        (event,) = [each for each in run["timeline"] if each["type"] == "ACTION"]
        assert (event["action"], event["author"], bool(event["reason"])) == ("UNBLOCK", "ann", True)
        assert run["status"] == "FAILED"
    (line,) = server.get("/workflows/blocked/timeline")["timeline_events"]
    assert "version" in line["log"]


# ------------------------------------------------------------------------------------------- type of a step
def test_an_expression_reads_the_type_of_a_step_as_a_constant(server: Served) -> None:
    asks = {"expression": "params.getFromStep('step_type_info')", "type": "STRING"}
    slept, each = sleep("s", 0), dict[str, Any](LOOP["foreach"])
    loop = {**each, "id": "f"}
    slept["step"]["params"]["kind"] = asks
    loop["params"] = {**each["params"], "kind": asks}
    server.push("kinds", slept, {"foreach": loop})
    server.start("kinds")
    server.ended("kinds")
    kinds = [step_of(server, "kinds", each)["params"]["kind"]["evaluated_result"] for each in ("s", "f")]
    assert kinds == ["SLEEP", "FOREACH"]
