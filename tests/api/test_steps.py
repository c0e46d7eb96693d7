"""Endpoints 34 to 48: steps, what is done to them, breakpoints."""

from typing import Any

import pytest
from tests.api.serving import JSON, Served, noop, served, shell, sleep

from stretto.api.settings import ServerSettings
from stretto.config import Config

WAITS = {
    "step": {
        "id": "w",
        "type": "NoOp",
        "transition": {},
        "signal_dependencies": [{"name": "never/comes"}],
    }
}


def running(server: Served, name: str, *steps: dict[str, Any]) -> str:
    """A run whose step `s` sleeps; the path of its instance."""
    server.push(name, *(steps or (sleep("s"),)))
    server.start(name)
    server.step_is(name, "s", "RUNNING")
    return f"/workflows/{name}/instances/1"


# ----------------------------------------------------------------------------------------------- reading
def test_a_step(server: Served) -> None:
    server.push("step", noop("a", "b"), noop("b"))
    server.start("step")
    server.ended("step")
    found = server.get("/workflows/step/instances/1/steps/a")
    assert (found["step_id"], found["step_attempt_id"], found["step_instance_id"]) == ("a", 1, 3)
    assert found["runtime_state"]["status"] == "SUCCEEDED"
    assert found["definition"]["step"]["type"] == "NoOp"
    assert found["transition"]["successors"]["b"]["evaluated_result"] is True
    assert found["step_retry"]["error_retries"] == 0
    assert any(event["type"] == "STATUS" for event in found["timeline"])
    plain = server.get("/workflows/step/instances/1/steps/a?enriched=false")
    assert not any(event["type"] == "STATUS" for event in plain.get("timeline", []))
    one = "/workflows/step/instances/1/runs/1/steps/a/attempts"
    assert server.get(f"{one}/1")["step_uuid"] == server.get(f"{one}/LATEST")["step_uuid"]
    for path in ("/workflows/step/instances/1/steps", "/workflows/step/instances/1/runs/latest/steps"):
        assert [each["step_id"] for each in server.get(path)] == ["a", "b"]


def test_steps_that_are_not_there(server: Served) -> None:
    server.push("bare", sleep("s", 3_600, "t"), noop("t"))
    server.start("bare")
    server.step_is("bare", "s", "RUNNING")
    base = "/workflows/bare/instances/1"
    server.get(f"{base}/steps/z", 404)
    server.get(f"{base}/steps/t", 404)
    server.get(f"{base}/runs/1/steps/s/attempts/2", 404)
    server.get(f"{base}/runs/1/steps/s/attempts/99999999999999999999", 404)
    server.get(f"{base}/runs/1/steps/t/attempts/latest", 404)
    server.get(f"{base}/runs/1/steps/s/attempts/last", 400)
    server.get(f"{base}/runs/7/steps", 404)
    assert server.get("/workflows/bare/instances/9/steps") == []
    server.put(f"{base}/actions/kill")


# ------------------------------------------------------------------------------------------------ ending
@pytest.mark.parametrize(
    ("verb", "ends", "run"),
    [
        ("stop", "STOPPED", "STOPPED"),
        ("kill", "FATALLY_FAILED", "FAILED"),
        ("skip", "SKIPPED", "SUCCEEDED"),
    ],
)
def test_ending_a_step(server: Served, verb: str, ends: str, run: str) -> None:
    path = running(server, f"step-{verb}")
    found = server.put(f"{path}/steps/s/actions/{verb}")
    assert (found["step_id"], found["step_attempt_id"], found["workflow_run_id"]) == ("s", 1, 1)
    assert found["step_runtime_state"]["status"] == ends
    event = found["timeline_event"]
    assert (event["type"], event["level"], event.keys() & {"action", "author"}) == ("LOG", "INFO", set())
    assert f"took action [{verb.upper()}]" in event["message"]
    server.ended(f"step-{verb}", 1, run)
    if verb != "skip":
        assert server.put(f"{path}/steps/s/actions/{verb}", 400)["status"] == "BAD_REQUEST"


def test_who_does_not_wait_hears_only_that_it_was_asked(server: Served) -> None:
    path = running(server, "not-blocking")
    found = server.put(f"{path}/steps/s/actions/stop?blocking=false")
    assert "step_runtime_state" not in found
    server.ended("not-blocking", 1, "STOPPED")


def test_a_step_that_ended_can_be_skipped(server: Served) -> None:
    server.push("skip-later", shell("s", "exit 1", "t"), noop("t"))
    server.start("skip-later")
    server.ended("skip-later", 1, "FAILED")
    found = server.put("/workflows/skip-later/instances/1/steps/s/actions/skip")
    assert found["workflow_run_id"] == 2
    server.until("/workflows/skip-later/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")


def test_a_wait_for_signals_can_be_ended(server: Served) -> None:
    server.push("bypassed", WAITS)
    server.start("bypassed")
    server.step_is("bypassed", "w", "WAITING_FOR_SIGNALS")
    path = "/workflows/bypassed/instances/1/steps/w/actions/bypass"
    found = server.put(path)
    event = found["timeline_event"]
    assert (event["type"], "BYPASS_STEP_DEPENDENCIES" in event["message"]) == ("LOG", True)
    assert found["step_runtime_state"]["status"] != "WAITING_FOR_SIGNALS"
    assert found["step_runtime_state"]["wait_signal_time"]
    server.ended("bypassed")
    server.put(path, 400)


def test_who_does_not_wait_for_a_bypass_is_told_no_state(server: Served) -> None:
    server.push("bypassed-at-once", WAITS)
    server.start("bypassed-at-once")
    server.step_is("bypassed-at-once", "w", "WAITING_FOR_SIGNALS")
    path = "/workflows/bypassed-at-once/instances/1/steps/w/actions/bypass?blocking=false"
    assert "step_runtime_state" not in server.put(path)
    server.ended("bypassed-at-once")


def test_a_bypass_in_front_of_slow_work_tells_how_far_the_step_is(server: Served) -> None:
    waits = sleep("w")
    waits["step"]["signal_dependencies"] = WAITS["step"]["signal_dependencies"]
    server.push("bypassed-slow", waits)
    server.start("bypassed-slow")
    server.step_is("bypassed-slow", "w", "WAITING_FOR_SIGNALS")
    state = server.put("/workflows/bypassed-slow/instances/1/steps/w/actions/bypass")["step_runtime_state"]
    assert state["status"] in {"EVALUATING_PARAMS", "WAITING_FOR_PERMITS", "STARTING", "RUNNING"}
    assert "end_time" not in state
    server.put("/workflows/bypassed-slow/instances/1/actions/kill")


def test_actions_on_what_is_not_there(server: Served) -> None:
    path = running(server, "wrong-steps")
    for verb in ("stop", "kill", "bypass"):
        server.put(f"{path}/steps/z/actions/{verb}", 404)
    server.put(f"{path}/steps/s/actions/bypass", 400)
    server.put(f"{path}/steps/z/actions/skip", 404)
    server.put("/workflows/wrong-steps/instances/9/steps/s/actions/stop", 404)
    server.put(f"{path}/actions/kill")


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner that is too late for whoever waits: the end comes all the same."""

    async def nothing(_message_id: int) -> None:
        """There is no outcome yet."""

    config = Config(server=ServerSettings(action_within=100))
    with served(config) as made:
        path = running(made, "late")
        monkeypatch.setattr(made.desk.store, "outcome", nothing)
        found = made.put(f"{path}/steps/s/actions/stop", 408)
        assert found["status"] == "REQUEST_TIMEOUT"
        assert found["retryable"] is True
        made.ended("late", 1, "STOPPED")


# -------------------------------------------------------------------------------------------- restarting
def test_restarting_a_step(server: Served) -> None:
    server.push("step-again", shell("s", "exit 1", "t"), noop("t"))
    server.start("step-again")
    server.ended("step-again", 1, "FAILED")
    path = "/workflows/step-again/instances/1/steps/s/actions/restart"
    params = {"command": {"value": "true", "type": "STRING", "mode": "MUTABLE"}}
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "step_run_params": params}
    made = server.post(path, body)
    assert (made["status"], made["workflow_run_id"], made["step_id"]) == ("CREATED", 2, "s")
    server.until("/workflows/step-again/instances/1/runs/2", lambda run: run["status"] == "SUCCEEDED")
    server.post(path, {}, 400)
    server.post(path, {"restart_policy": "RESTART_FROM_INCOMPLETE", "upstream_restart_mode": "UP"}, 400)


def test_restarting_a_step_while_its_run_goes_on(server: Served) -> None:
    server.push("both", shell("s", "exit 1"), sleep("t"))
    server.start("both")
    server.step_is("both", "s", "FATALLY_FAILED")
    path = "/workflows/both/instances/1/steps/s/actions/restart"
    made = server.post(path, {"restart_policy": "RESTART_FROM_INCOMPLETE"})
    assert (made["workflow_run_id"], made["step_attempt_id"]) == (1, 2)
    first = server.get("/workflows/both/instances/1/runs/1/steps/s/attempts/1")
    second = server.get("/workflows/both/instances/1/runs/1/steps/s/attempts/2")
    assert [each["step_retry"]["manual_retries"] for each in (first, second)] == [0, 1]
    assert (
        "only one that failed"
        in server.post(
            path.replace("steps/s", "steps/t"), {"restart_policy": "RESTART_FROM_INCOMPLETE"}, 400
        )["message"]
    )
    server.put("/workflows/both/instances/1/actions/kill")


PLACE = "/workflows/steps/breakpoints"


def test_breakpoints(server: Served) -> None:
    server.push("broken", noop("a", "b"), noop("b"))
    made = server.post(PLACE, {"workflow_id": "broken", "step_id": "b"})
    assert (made["workflow_id"], made["step_id"], made["created_by"]) == ("broken", "b", "ann")
    query = "?workflowId=broken&stepId=b"
    assert server.get(PLACE + query) == [made]
    narrow = {"workflow_id": "broken", "step_id": "b", "workflow_instance_id": 1}
    assert "send only workflow_id and step_id" in server.post(PLACE, narrow, 400)["message"]
    server.start("broken")
    server.start("broken")
    for instance in (1, 2):
        server.step_is("broken", "b", "PAUSED", instance)
    paused = server.get(f"{PLACE}/paused-step-attempts{query}")
    assert [each["workflow_instance_id"] for each in paused] == [1, 2]
    assert paused[0]["step_attempt_id"] == paused[0]["workflow_version_id"] == 1
    one = f"{PLACE}/broken/instances/1/runs/1/steps/b/attempts/1/actions/resume"
    assert server.put(one, headers=JSON)["step_id"] == "b"
    server.ended("broken", 1)
    server.put(one, 404)
    gone = server.delete(PLACE + query)
    assert (gone["workflow_id"], gone["step_id"]) == ("broken", "b")
    assert (gone["timeline_event"]["type"], gone["timeline_event"]["level"]) == ("LOG", "INFO")
    server.ended("broken", 2)
    assert server.get(PLACE + query) == []
    server.delete(PLACE + query, 404)


def test_a_breakpoint_may_go_and_hold_what_it_has(server: Served) -> None:
    server.push("held", noop("a"))
    server.post(PLACE, {"workflow_id": "held", "step_id": "a"})
    server.start("held")
    server.step_is("held", "a", "PAUSED")
    server.delete(f"{PLACE}?workflowId=held&stepId=a&resume=false")
    server.step_is("held", "a", "PAUSED")
    server.put("/workflows/held/instances/1/actions/kill")


def test_a_breakpoint_outlives_the_version_that_had_its_step(server: Served) -> None:
    server.push("older", noop("a"), noop("b"))
    server.post(PLACE, {"workflow_id": "older", "step_id": "b"})
    for instance in (1, 2):
        server.start("older")
        server.step_is("older", "b", "PAUSED", instance)
    server.push("older", noop("a"))
    query = "?workflowId=older&stepId=b"
    assert [each["created_by"] for each in server.get(PLACE + query)] == ["ann"]
    assert len(server.get(f"{PLACE}/paused-step-attempts{query}")) == 2
    assert server.put("/breakpoints/older:b/actions/resume")["info"] == 2
    server.ended("older", 1)
    server.start("older")  # the new version has no such step
    server.ended("older", 3)
    server.delete(PLACE + query)
    server.get(PLACE + query, 400)
    server.delete(PLACE + query, 400)
    server.put("/breakpoints/older:b/actions/resume", 400)


def test_a_step_that_is_held_can_be_let_go_when_it_is_not_in_the_newest_version(server: Served) -> None:
    server.push("later", noop("b"))
    server.post(PLACE, {"workflow_id": "later", "step_id": "b"})
    server.start("later")
    server.step_is("later", "b", "PAUSED")
    server.delete(f"{PLACE}?workflowId=later&stepId=b&resume=false")
    server.push("later", noop("a"))
    server.delete(f"{PLACE}?workflowId=later&stepId=b")
    server.ended("later", 1)


def test_bad_breakpoints(server: Served) -> None:
    server.push("unbroken")
    server.post(PLACE, {"workflow_id": "unbroken", "step_id": "z"}, 400)
    server.post(PLACE, {"workflow_id": "unbroken", "step_id": "a", "workflow_instance_id": 1}, 400)
    server.post(PLACE, {"workflow_id": "nobody", "step_id": "a"}, 404)
    server.post(PLACE, {"step_id": "a"}, 400)
    assert "workflowId" in server.get(f"{PLACE}?stepId=a", 400)["detail"]
