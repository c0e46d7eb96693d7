"""What Maestro does not have, and the forms that its documents print."""

from typing import Any

import pytest
from tests.api.serving import LOOP, Served, noop, served, sleep

from stretto.engine.records import RunKey
from stretto.ports.rows import NodeId

PUT_OR_POST = pytest.mark.parametrize("method", ["PUT", "POST"])


def act(server: Served, method: str, path: str, status: int = 200, **rest: Any) -> Any:
    response = server.client.request(method, f"/api/v3{path}", **rest)
    assert response.status_code == status, response.text
    return response.json() if response.content else ""


# --------------------------------------------------------------------------------------- actions, both ways
@PUT_OR_POST
def test_actions_by_put_and_by_post(server: Served, method: str) -> None:
    name = f"by-{method.lower()}"
    server.push(name, sleep("s"))
    path = f"/workflows/{name}"
    act(server, method, f"{path}/versions/latest/actions/activate")
    body = {"initiator": {"type": "manual"}}
    act(server, method, f"{path}/versions/latest/actions/start", json=body)
    server.step_is(name, "s", "RUNNING")
    act(server, method, f"{path}/instances/1/steps/s/actions/kill")
    server.ended(name, 1, "FAILED")
    again = {"restart_policy": "RESTART_FROM_BEGINNING"}
    act(server, method, f"{path}/instances/1/actions/restart", json=again)
    act(server, method, f"{path}/instances/1/actions/stop")
    act(server, method, f"{path}/actions/stop", 202)
    definition = {"properties": {"owner": "ann"}, "workflow": {"id": "x", "steps": [noop("a")]}}
    assert act(server, method, "/workflows/actions/validate", json=definition)["action"] == "VALIDATE"


@PUT_OR_POST
def test_breakpoints_by_their_short_path(server: Served, method: str) -> None:
    name = f"short-{method.lower()}"
    server.push(name, noop("a"))
    made = server.post("/breakpoints", {"workflow_id": name, "step_id": "a"})
    assert made in server.get("/breakpoints?first=100")["elements"]
    for instance in (1, 2):
        server.start(name)
        server.step_is(name, "a", "PAUSED", instance)
        paused = server.get("/paused")["elements"]
        assert [each["workflow_instance_id"] for each in paused if each["workflow_id"] == name][
            -1
        ] == instance
    event = act(server, method, f"/breakpoints/{name}:a/actions/resume")
    assert (event["action"], event["info"]) == ("RESUME", 2)
    for instance in (1, 2):
        server.ended(name, instance)
    server.start(name)
    server.step_is(name, "a", "PAUSED", 3)
    server.delete(f"/breakpoints?workflowId={name}&stepId=a")
    server.ended(name, 3)
    refused = act(server, method, f"/breakpoints/{name}:a/actions/resume", 404)
    assert f"Step [a] of workflow [{name}] has no breakpoint" in refused["message"]
    act(server, method, "/breakpoints/rubbish/actions/resume", 404)


# --------------------------------------------------------------------------------------------------- lists
def test_all_workflows(server: Served) -> None:
    for name in ("list-a", "list-b"):
        server.push(name)
    server.post("/workflows/list-b/properties/tag", "marked")
    server.start("list-a")
    server.ended("list-a")
    page = server.get("/workflows?prefix=list-&first=1")
    assert [each["workflow_id"] for each in page["elements"]] == ["list-a"]
    assert page["page_info"]["has_next_page"] is True
    rest = server.get(f"/workflows?prefix=list-&first=9&cursor={page['page_info']['end_cursor']}")
    assert [each["workflow_id"] for each in rest["elements"]] == ["list-b"]
    marked = server.get("/workflows?tag=marked&owner=ann")["elements"]
    assert [each["workflow_id"] for each in marked] == ["list-b"]
    assert marked[0]["run_strategy"]["rule"] == "PARALLEL"
    assert server.get("/workflows?owner=nobody")["elements"] == []
    (rich,) = server.get("/workflows?prefix=list-a&include=recent,OUTCOMES,next")["elements"]
    instance, run, code, start, duration = rich["recent"][0]
    assert (instance, run, code) == (1, 1, "s")
    assert start > 0 <= duration
    assert rich["outcomes"][0]["statuses"] == {"SUCCEEDED": 1}
    (none,) = server.get("/workflows?prefix=list-a&include=outcomes&since=99999999999999")["elements"]
    assert none["outcomes"] == []
    assert "did you mean" in server.get("/workflows?include=recents", 400)["message"]


def test_all_runs(server: Served) -> None:
    server.push("runs-a")
    server.push("runs-b", sleep("s"))
    server.start("runs-a", runtime_tags=["odd"])
    server.ended("runs-a")
    server.start("runs-b")
    server.step_is("runs-b", "s", "RUNNING")

    def found(query: str) -> list[str]:
        return [each["workflow_id"] for each in server.get(f"/instances?{query}")["elements"]]

    assert found("workflow=runs-a") == ["runs-a"]
    assert found("workflow=runs-b&status=in_progress,PAUSED") == ["runs-b"]
    assert found("workflow=runs-b&status=SUCCEEDED") == []
    assert found("tag=odd") == ["runs-a"]
    assert found("correlation_id=runs-a:1:1") == ["runs-a"]
    assert found("workflow=runs-a&until=1") == []
    assert found("workflow=runs-a&since=1&roots=true&owner=ann") == ["runs-a"]
    (line,) = server.get("/instances?workflow=runs-a")["elements"]
    assert line["counts"] == {"SUCCEEDED": 1}
    assert line["initiator"]["type"] == "MANUAL"
    assert server.get("/instances?status=HAPPY", 400)["status"] == "BAD_REQUEST"
    assert server.get("/instances?since=-1", 400)["title"] == "Bad Request"
    server.put("/workflows/runs-b/actions/kill", 202)


def test_lists_of_signals_tags_and_properties(server: Served) -> None:
    for number in ("first", "second"):
        server.post("/signals", {"name": "many/of", "request_id": number})
    names = {each["name"]: each["last_seq"] for each in server.get("/signals?first=200")["elements"]}
    assert names["many/of"] == 2
    page = server.get("/signals/many%2Fof/instances?first=1")
    assert server.get("/signal-instances?name=many/of&first=1") == page
    assert [each["seq_id"] for each in page["elements"]] == [2]
    server.post("/tag-permits", {"tag": "used", "max_allowed": 3})
    uses = {each["tag"]: each for each in server.get("/tag-permits")["elements"]}
    assert (uses["used"]["max_allowed"], uses["used"]["held"], uses["used"]["waiting"]) == (3, 0, 0)
    server.push("told")
    server.post("/workflows/told/properties", {"description": "second"})
    history = server.get("/workflows/told/properties-snapshot")["elements"]
    assert [each.get("description") for each in history] == ["second", None]


# ------------------------------------------------------------------------------------------------ waiting
def test_why(server: Served) -> None:
    server.push("slow", sleep("s", 3_600, "t"), noop("t"), run_strategy="SEQUENTIAL")
    server.start("slow")
    server.start("slow")
    server.step_is("slow", "s", "RUNNING")
    running = server.get("/workflows/slow/instances/1/why")
    assert (running["status"], running["steps"][0]["step_id"]) == ("IN_PROGRESS", "s")
    assert running["steps"][0]["reasons"]
    queued = server.get("/workflows/slow/instances/2/why")
    assert queued["status"] == "CREATED"
    assert queued["sentence"]
    assert [each["kind"] for each in queued["blockers"]] == ["strategy"]
    assert running["blockers"][0]["kind"] == "timer"
    assert running["next_check"] > running["since"]
    step = server.get("/workflows/slow/instances/1/steps/t/why")
    assert (step["step_id"], step["status"]) == ("t", "NOT_CREATED")
    assert step["blockers"] == [
        {
            "kind": "predecessor",
            "ref": "s",
            "since": step["since"],
            "detail": step["sentence"],
            "moves_when": "s ends well",
            "actions": [],
        }
    ]
    server.get("/workflows/slow/instances/1/steps/z/why", 404)
    for run in ("1", "latest"):
        assert server.get(f"/workflows/slow/instances/1/runs/{run}/why")["status"] == running["status"]
        assert server.get(f"/workflows/slow/instances/1/runs/{run}/steps/t/why") == step
    server.get("/workflows/slow/instances/1/runs/2/why", 404)
    server.get("/workflows/slow/instances/1/runs/x/why", 400)
    server.get("/workflows/slow/instances/1/runs/1/steps/z/why", 404)
    server.put("/workflows/slow/actions/kill", 202)


@PUT_OR_POST
def test_pause_and_resume(server: Served, method: str) -> None:
    name = f"hold-{method.lower()}"
    server.push(name, sleep("s", 3_600, "t"), noop("t"))
    server.start(name)
    server.step_is(name, "s", "RUNNING")
    path = f"/workflows/{name}/instances/1"
    event = act(server, method, f"{path}/actions/pause")["timeline_event"]
    assert (event["type"], event["level"]) == ("LOG", "INFO")
    assert "asked to pause" in event["message"]
    server.put(f"{path}/steps/s/actions/skip")
    server.until(path, lambda run: run["status"] == "PAUSED")
    assert act(server, method, f"{path}/actions/pause", 400)["status"] == "BAD_REQUEST"
    act(server, method, f"{path}/actions/resume")
    server.ended(name)


def test_a_step_that_waits_for_an_answer(server: Served) -> None:
    server.push("asking", {"step": {"id": "ask", "type": "Wait", "transition": {}}})
    for instance, approved, end in ((1, True, "SUCCEEDED"), (2, False, "FAILED")):
        server.start("asking")
        server.step_is("asking", "ask", "RUNNING", instance)
        path = f"/workflows/asking/instances/{instance}/runs/1/steps/ask/attempts/1/callback"
        found = server.post(path, {"approved": approved, "message": "looked at", "request_id": "r1"})
        assert found["step_id"] == "ask"
        server.ended("asking", instance, end)
        server.post(path, {}, 400)
    (line,) = server.get("/workflows/asking/instances/2/runs/1/steps/ask/attempts")
    assert (line["step_attempt_id"], line["status"]) == (1, "FATALLY_FAILED")


def test_who_holds_and_who_waits(server: Served) -> None:
    step = sleep("s")
    step["step"]["tags"] = ["few/of"]
    server.post("/tag-permits", {"tag": "few/of", "max_allowed": 1})
    server.push("crowd", step)
    server.start("crowd")
    server.step_is("crowd", "s", "RUNNING")
    server.start("crowd")
    server.step_is("crowd", "s", "WAITING_FOR_PERMITS", 2)
    (holder,) = server.get("/tag-permits/few%2Fof/holders")["elements"]
    assert server.get("/holders?tag=few/of")["elements"] == [holder]
    assert (holder["ref"]["workflow_instance_id"], holder["ref"]["step_id"]) == (1, "s")
    assert holder["granted_at"]
    (waiter,) = server.get("/tag-permits/few%2Fof/waiters")["elements"]
    assert server.get("/waiters?tag=few/of")["elements"] == [waiter]
    assert server.get("/waiters", 400)["title"] == "Bad Request"
    assert (waiter["ref"]["workflow_instance_id"], waiter["place"]) == (2, 1)
    assert "place" not in holder
    assert "blocked_by" not in holder
    (blocked,) = waiter["blocked_by"]
    assert (blocked["tag"], blocked["held"], blocked["max_allowed"]) == ("few/of", 1, 1)
    assert (blocked["holders"], blocked["ahead"]) == ([holder["ref"]], [])
    for path in ("/workflows/crowd/instances/2/why", "/workflows/crowd/instances/2/steps/s/why"):
        (blocker,) = server.get(path)["blockers"]
        assert (blocker["kind"], blocker["ref"], blocker["blocked_by"]) == ("permit", "few/of", blocked)
        assert blocker["detail"].endswith("few/of: 1 of 1 are held, by crowd/1/1:s/1")
    server.put("/workflows/crowd/actions/kill", 202)
    listening = noop("w")
    match = {"day": {"param": {"value": 7, "type": "LONG"}, "operator": "="}}
    listening["step"]["signal_dependencies"] = [{"name": "late/one", "match_params": match}]
    server.push("listening", listening)
    server.start("listening")
    server.step_is("listening", "w", "WAITING_FOR_SIGNALS")
    (wait,) = server.get("/signals/late%2Fone/waiters")["elements"]
    assert server.get("/signal-waiters?name=late/one")["elements"] == [wait]
    assert wait["ref"]["workflow_id"] == "listening"
    assert "day" in wait["match_params"]
    server.put("/workflows/listening/actions/kill", 202)


def test_schedules(server: Served) -> None:
    trigger = {"type": "CRON", "cron": "0 0 1 1 *", "timezone": "UTC"}
    workflow = {"id": "yearly", "time_triggers": [trigger], "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    (line,) = [each for each in server.get("/schedules")["elements"] if each["workflow_id"] == "yearly"]
    assert line["trigger"]["cron"] == "0 0 1 1 *"
    assert line["next_fire"] > 1_700_000_000_000


# ------------------------------------------------------------------------------------------------ nesting
def test_paths_and_children(server: Served) -> None:
    server.push("leaf", noop("l"))
    params = {
        "subworkflow_id": {"value": "leaf", "type": "STRING"},
        "subworkflow_version": {"value": "latest", "type": "STRING"},
    }
    server.push("trunk", LOOP, {"subworkflow": {"id": "sub", "transition": {}, "params": params}})
    server.start("trunk")
    server.ended("trunk")
    base = "/workflows/trunk/instances/1/runs/latest/resolve"
    found = server.get(base, params={"path": "each[2].inner"})
    assert (found["workflow_instance_id"], found["step_id"], found["step_attempt_id"]) == (2, "inner", 1)
    assert server.get(base, params={"path": "sub.l"})["workflow_id"] == "leaf"
    server.get(base, 404, params={"path": "each[9]"})
    assert server.get(base)["root"]["workflow_id"] == "trunk"  # without a path: the run itself
    inside = f"/workflows/{found['workflow_id']}/instances/2/runs/1/resolve"
    assert server.get(inside)["path"] == "each[2]"
    children = server.get("/workflows/trunk/instances/1/runs/1/steps/sub/attempts/1/children")
    assert [each["workflow_id"] for each in children["elements"]] == ["leaf"]
    assert children["elements"][0]["parent"]["step_id"] == "sub"


# ------------------------------------------------------------------------------------------------ the server
def test_who_am_i(server: Served) -> None:
    assert server.get("/me") == {
        "user": "ann",
        "roles": ["ADMIN", "AUTHOR", "RUNNER", "VIEWER"],
        "auth": "none",
    }
    with server.stranger() as client:
        assert "user" not in client.get("/api/v3/me").json()


def test_step_types_and_the_schema(server: Served) -> None:
    types = {each["type"]: each for each in server.get("/step-types")}
    assert "command" in types["Shell"]["schema"]["properties"]
    assert "schema" not in types["NoOp"]
    assert (types["Shell"]["runnable"], types["Shell"]["origin"]) == (True, "built in")
    assert (types["foreach"]["runnable"], "problem" in types["foreach"]) == (True, False)
    missing = types["Titus"]
    assert (missing["runnable"], missing["problem"]) == (False, "no package that brings it is installed")
    assert types["foreach"]["description"].startswith("Runs its steps once")
    assert "command" in types["Shell"]["snippet"]
    schema = server.get("/definitions/schema")
    assert schema["title"] == "Stretto workflow definition"


def test_step_types_name_the_functions_that_running_processes_know() -> None:
    with served() as made:

        def python() -> dict[str, Any]:
            lines: dict[str, dict[str, Any]] = {each["type"]: each for each in made.get("/step-types")}
            assert [name for name, line in lines.items() if "functions" in line] == ["Python"]
            return lines["Python"]

        assert (python()["functions"], python()["function_count"]) == ([], 0)
        made.run(made.desk.store.join(NodeId("one"), None, ["flows:b", "flows:a"]))
        made.run(made.desk.store.join(NodeId("two"), None, ["flows:b", "flows:c"]))
        assert python()["functions"] == ["flows:a", "flows:b", "flows:c"]
        assert python()["function_count"] == 3
        made.run(made.desk.store.leave(NodeId("two")))
        assert python()["functions"] == ["flows:a", "flows:b"]
        made.run(made.desk.store.advertise(NodeId("one"), [f"flows:f{number:04}" for number in range(1_001)]))
        assert python()["functions"][-1] == "flows:f0999"
        assert python()["function_count"] == 1_001


def test_nodes_and_runs_that_were_set_aside() -> None:
    with served() as made:
        (node,) = made.get("/nodes")
        assert node["state"] == "ALIVE"
        groups = made.until("/groups", lambda found: all(each.get("node") for each in found))
        assert [each["group"] for each in groups] == [*range(128)]
        assert {each["node"] for each in groups} == {node["node"]}
        assert made.get("/quarantine")["elements"] == []
        queue = made.until("/queue", lambda found: found["messages"]["value"] == 0)
        assert queue == {"pools": [], "messages": {"value": 0, "exact": True}}
        made.push("aside", sleep("s"))
        made.start("aside")
        made.step_is("aside", "s", "RUNNING")
        made.put("/workflows/aside/instances/1/actions/pause")  # what is done waits no more
        made.until("/queue", lambda found: found["messages"]["value"] == 0)
        path = "/workflows/aside/instances/1/runs/1/actions/release"
        assert "not in quarantine" in made.put(path, 404)["message"]
        released: list[RunKey] = []

        async def release(run: RunKey) -> bool:
            released.append(run)
            return True

        made.desk.store.release_run = release  # type: ignore[method-assign]
        assert made.put(path) == ""
        assert released == [RunKey("aside", 1, 1)]
