"""`/api/v1`, the surface of the task engine: every endpoint, and what each refuses."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.acceptance import processes
from tests.api import task_functions
from tests.api.serving import LOOP, Served, noop, served, shell, sleep
from tests.waiting import wait_until

from stretto.api.settings import ServerSettings
from stretto.api.v1 import listing, words
from stretto.api.v1.publishing import _with_defaults
from stretto.config import Config
from stretto.definition import parse_all
from stretto.model.errors import Unavailable
from stretto.model.status import RunStatus, StepStatus
from stretto.runtimes.python.function import function_of
from stretto.runtimes.settings import RuntimeSettings

YAML = """
workflows:
  jobs:
    - {job_id: base, func_key: "os.path:basename", description: the last part}
    - {job_id: mine, func_key: "os.path:nothing"}
  definitions:
    - workflow_id: {name}
      description: two tasks
      tasks:
        - task_id: first
          job_id: base
          description: of ${day} at ${rates}
          params: {p: /a/b.txt, result: ""}
        - {task_id: second, job_id: base, params: {p: /c/d}, dependencies: [first], timeout: 90}
    - workflow_id: {name}_other
      tasks: [{task_id: only, job_id: mine}]
"""
HASTY = Config(server=ServerSettings(action_within=200), runtimes=RuntimeSettings(grace=5_000))
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def call(server: Served, method: str, path: str, status: int = 200, **rest: Any) -> Any:
    """The data of an answer; of a refusal the whole of it. Nobody says who they are."""
    with server.stranger() as client:
        response: httpx.Response = client.request(method, f"/api/v1{path}", **rest)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    if status != 200:
        assert body["code"] == status
        return body
    assert (body["code"], body["message"]) == (0, "success")
    return body["data"]


def upload(server: Served, name: str) -> Any:
    return call(server, "POST", "/workflows", json={"content": YAML.replace("{name}", name)})


def until(server: Served, path: str, status: str) -> Any:
    def whole() -> Any:
        found = server.client.get(f"/api/v1{path}").json()["data"]
        return found if found["status"] == status else None

    return wait_until(whole, f"{path} {status}")


# -------------------------------------------------------------------------------------------------- workflows
def test_upload_read_run(server: Served) -> None:
    made = upload(server, "files")
    assert made == {"id": "files", "version": 1, "workflow_ids": ["files", "files_other"]}
    assert upload(server, "files")["version"] == 1  # nothing is new
    found = call(server, "GET", "/workflows/files")
    assert (found["status"], found["version"], found["task_count"]) == ("ENABLED", 1, 2)
    assert found["description"] == "two tasks"
    assert MOMENT.fullmatch(found["created_at"])
    first, second = found["tasks"]
    assert (first["function"], first["timeout"], first["dependencies"]) == ("os.path:basename", "30.0s", [])
    assert (second["timeout"], second["dependencies"]) == ("1m30s", ["first"])
    started = call(server, "POST", "/workflows/files/execute", json={"params": {"day": 3, "rates": [1, 0.5]}})
    assert started == {"instance_id": "files:1", "workflow_id": "files", "version": 1, "status": "Ready"}
    done = until(server, "/instances/files:1", "Success")
    assert done["params"] == {"day": 3, "rates": [1, 0.5]}
    assert done["progress"] == {
        "total": 2,
        "completed": 2,
        "running": 0,
        "failed": 0,
        "pending": 0,
        "running_task_ids": [],
        "pending_task_ids": [],
    }
    assert MOMENT.fullmatch(done["finished_at"])
    assert re.fullmatch(r"\d+\.\ds", done["duration"])
    tasks = call(server, "GET", "/instances/files:1/tasks")
    assert (tasks["total"], tasks["has_more"]) == (2, False)
    assert tasks["items"][0]["result"] == {"result": "b.txt"}
    assert [each["status"] for each in tasks["items"]] == ["Success", "Success"]


def test_a_function_that_nobody_has(server: Served) -> None:
    """One attempt, and then it has failed: there are no retries unless somebody asks for them."""
    upload(server, "nobody")
    call(server, "POST", "/workflows/nobody_other/execute")
    until(server, "/instances/nobody_other:1", "Failed")
    (task,) = call(server, "GET", "/instances/nobody_other:1/tasks")["items"]
    assert (task["status"], task["attempt"]) == ("Failed", 1)
    assert "there is no `nothing` in it" in task["error"]
    (line,) = call(server, "GET", "/workflows/nobody_other/history")["items"]
    assert (line["id"], line["status"]) == ("nobody_other:1", "Failed")
    assert "there is no `nothing` in it" in line["error"]


def test_a_function_that_no_process_knows_is_refused(server: Served) -> None:
    content = YAML.replace("{name}", "unknown").replace('"os.path:nothing"', "count_rows")
    refusal = call(server, "POST", "/workflows", 400, json={"content": content})
    assert "`count_rows`, which no running process knows" in str(refusal)
    call(server, "GET", "/workflows/unknown", 404)


def test_defaults_hold_inside_loops_and_where_nothing_is_said() -> None:
    (definition,) = parse_all(
        """
        workflow:
          id: w
          steps:
            - foreach:
                id: each
                params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1]}}}}
                steps: [{step: {id: in, type: NoOp, retry_policy: {error_retry_limit: 5}, timeout: 7}}]
            - subworkflow: {id: sub, params: {subworkflow_id: {type: STRING, value: x}}}
            - step: {id: a, type: Python, params: {script: {type: STRING, value: "1"}}}
        """
    )
    steps: Any = _with_defaults(definition, ()).workflow.steps
    each, sub, step = steps
    inner = each.steps[0]
    assert (inner.timeout, inner.retry_policy.error_retry_limit) == (7, 5)
    assert sub == definition.workflow.steps[1]
    assert (step.timeout, step.retry_policy.error_retry_limit) == (30, 0)


def test_an_empty_workflow_succeeds_at_once(server: Served) -> None:
    call(server, "POST", "/workflows", json={"content": "workflow: {id: empty, steps: []}"})
    call(server, "POST", "/workflows/empty/execute", json={})
    assert until(server, "/instances/empty:1", "Success")["progress"]["total"] == 0


def test_delete(server: Served) -> None:
    upload(server, "goes")
    assert call(server, "DELETE", "/workflows/goes_other") == {"id": "goes_other"}
    assert "Cannot find" in call(server, "GET", "/workflows/goes_other", 404)["message"]


def test_lists(server: Served) -> None:
    server.push("listed", shell("a", "exit $fails"))
    server.put("/workflows/listed/actions/deactivate")
    for number in range(5):
        server.start("listed", run_params={"fails": {"type": "LONG", "value": number % 2}})
    for number in range(1, 6):
        server.ended("listed", number, "FAILED" if number % 2 == 0 else "SUCCEEDED")
    server.post("/workflows/listed/instances/1/actions/restart", {"restart_policy": "RESTART_FROM_BEGINNING"})
    server.until("/workflows/listed/instances/1", lambda run: run["workflow_run_id"] == 2)
    server.ended("listed", 1)

    def ids(path: str) -> tuple[list[str], int, bool]:
        found = call(server, "GET", path)
        return [each["id"] for each in found["items"]], found["total"], found["has_more"]

    history = "/workflows/listed/history"
    assert ids(history) == ([f"listed:{number}" for number in (5, 4, 3, 2, 1)], 5, False)
    assert ids(f"{history}?limit=2") == (["listed:5", "listed:4"], 5, True)
    assert ids(f"{history}?limit=2&offset=4") == (["listed:1"], 5, False)
    assert ids(f"{history}?order=asc&limit=2&offset=1") == (["listed:2", "listed:3"], 5, True)
    assert ids(f"{history}?status=failed") == (["listed:4", "listed:2"], 2, False)
    assert ids(f"{history}?status=Running") == ([], 0, False)
    every, total, _more = ids("/instances?limit=100")
    assert len(set(every)) == len(every) == total
    assert "listed:1" in every
    assert "listed:4" in ids("/instances?status=Failed")[0]
    found = call(server, "GET", "/workflows?limit=100")
    (line,) = [each for each in found["items"] if each["id"] == "listed"]
    assert (line["status"], line["version"]) == ("DISABLED", 1)
    assert MOMENT.fullmatch(line["updated_at"])
    assert call(server, "GET", "/workflows?limit=1")["has_more"]


# -------------------------------------------------------------------------------------------------- instances
def test_progress_pause_resume_cancel(server: Served) -> None:
    server.push("held", sleep("now", 3_600, "later"), noop("later"), LOOP)
    server.start("held")
    server.step_is("held", "now", "RUNNING")
    server.step_is("held", "each", "SUCCEEDED")
    found = call(server, "GET", "/instances/held:1")
    assert found["status"] == "Running"
    assert found["progress"] == {
        "total": 3,
        "completed": 1,
        "running": 1,
        "failed": 0,
        "pending": 1,
        "running_task_ids": ["now"],
        "pending_task_ids": ["later"],
    }
    assert "duration" not in found
    assert "Cannot resume" in call(server, "POST", "/instances/held:1/resume", 400)["message"]
    assert call(server, "POST", "/instances/held:1/pause")["status"] == "Paused"
    assert call(server, "POST", "/instances/held:1/resume")["status"] == "Running"
    done = call(server, "POST", "/instances/held:1/cancel")
    assert done["status"] == "Terminated"
    assert (done["progress"]["failed"], done["progress"]["pending"]) == (1, 0)
    tasks = call(server, "GET", "/instances/held:1/tasks")["items"]
    assert [each["status"] for each in tasks] == ["Terminated", "Skipped", "Success"]
    refused = call(server, "POST", "/instances/held:1/cancel", 400)
    assert refused["message"] == "Cannot cancel instance [held:1]: it has ended Terminated"
    refused = call(server, "POST", "/instances/held:1/pause", 400)
    assert refused["message"] == "Cannot pause instance [held:1]: it is Terminated"


def test_who_waits_does_not_wait_for_ever(tmp_path: Path) -> None:
    """Work that does not end by itself is given time; the answer does not take as long."""
    deaf = tmp_path / "deaf"
    with served(HASTY) as server:
        server.push("slow", shell("s", f"trap '' TERM; touch {deaf}; sleep 600"))
        server.start("slow")
        server.step_is("slow", "s", "RUNNING")
        processes.until(deaf.exists)
        assert call(server, "POST", "/instances/slow:1/cancel")["status"] == "Running"


def test_the_counts_of_progress_add_up_at_each_moment(server: Served) -> None:
    names = [f"s{number}" for number in range(12)]
    steps = [
        shell(name, "exit 1" if name == "s7" else "true", *names[at + 1 : at + 2])
        for at, name in enumerate(names)
    ]
    server.push("sums", *steps)
    call(server, "POST", "/workflows/sums/execute")
    ended, counts = False, {}
    while not ended:
        found = call(server, "GET", "/instances/sums:1")
        counts = found["progress"]
        assert counts["total"] == 12
        assert sum(counts[name] for name in ("completed", "running", "failed", "pending")) == 12
        ended = found["status"] == "Failed"
    assert (counts["failed"], counts["pending"]) == (1, 0)


def test_history_of_thirty(server: Served) -> None:
    upload(server, "thirty")
    for _ in range(30):
        call(server, "POST", "/workflows/thirty_other/execute")
    found = call(server, "GET", "/workflows/thirty_other/history")
    assert (len(found["items"]), found["total"], found["has_more"]) == (20, 30, True)
    listed = {each["id"] for each in call(server, "GET", "/workflows?limit=100")["items"]}
    assert {"thirty", "thirty_other"} <= listed


def test_what_is_not_counted_has_no_total(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.push("many", noop("a"))
    for _ in range(3):
        server.start("many")
    server.ended("many", 3)
    monkeypatch.setattr(listing, "COUNTED", 1)
    monkeypatch.setattr(listing, "MOST_ON_A_PAGE", 1)
    for path in ("/workflows/many/history?", "/instances?", "/workflows/many/history?status=success&"):
        found = call(server, "GET", f"{path}limit=1")
        assert (len(found["items"]), found["has_more"], "total" in found) == (1, True, False)
    found = call(server, "GET", "/workflows/many/history?limit=3")
    assert (len(found["items"]), found["total"], found["has_more"]) == (3, 3, False)


def test_a_strategy_that_starts_nothing(server: Served) -> None:
    server.push("one", sleep("s"), run_strategy="FIRST_ONLY")
    call(server, "POST", "/workflows/one/execute")
    assert call(server, "POST", "/workflows/one/execute")["status"] == "Terminated"
    call(server, "POST", "/instances/one:1/cancel")


# ---------------------------------------------------------------------------------- values of any type
def tasks_yaml(name: str, *tasks: str) -> str:
    """A workflow whose jobs are the functions of `tests.api.task_functions`."""
    jobs = "".join(
        f"    - {{job_id: {each}, func_key: 'tests.api.task_functions:{each}'}}\n"
        for each in ("echo", "describe", "fail", "spread", "spread_out")
    )
    body = "".join(f"        - {task}\n" for task in tasks)
    return f"workflows:\n  jobs:\n{jobs}  definitions:\n    - workflow_id: {name}\n      tasks:\n{body}"


def execute(server: Served, name: str, *tasks: str, status: str = "Success", **body: Any) -> Any:
    """The instance and its tasks by id, once the instance has ended."""
    call(server, "POST", "/workflows", json={"content": tasks_yaml(name, *tasks)})
    started = call(server, "POST", f"/workflows/{name}/execute", json=body)
    found = until(server, f"/instances/{started['instance_id']}", status)
    items = call(server, "GET", f"/instances/{started['instance_id']}/tasks")["items"]
    return found, {each["id"]: each for each in items}


VALUES: list[Any] = [
    7,
    -0.5,
    True,
    "text with $ and 'quotes' and \"more\"",
    "null",
    "",
    None,
    [],
    {},
    [1, 2],
    [1, "a", None, [2.5, {}]],
    [{"a": 1}, {"b": [{"c": None}]}],
    {"a": {"b": [1, "x"]}, "c": None},
    2**70,
    [1, -(2**70)],
    {"$stretto": ["float", "nan"]},
    {"$stretto": ["float", "-inf"]},
    [0.5, {"$stretto": ["float", "inf"]}],
    {"a": {"$stretto": ["float", "nan"]}},
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values_of_every_type_reach_functions_and_come_back(server: Served, number: int) -> None:
    """In the text of the workflow, in `params` through a placeholder, and in `task_params`."""
    value, name = VALUES[number], f"values_{number}"
    written = json.dumps(value).replace("$", "$$")
    found, tasks = execute(
        server,
        name,
        f"{{task_id: fixed, job_id: echo, params: {{value: {written}}}}}",
        "{task_id: given, job_id: echo, params: {value: '${p}'}}",
        "{task_id: own, job_id: echo}",
        "{task_id: over, job_id: echo, params: {value: '${p}'}}",
        params={"p": value},
        task_params={"own": {"value": value}, "over": {"value": value}},
    )
    for task in ("fixed", "given", "own", "over"):
        assert tasks[task]["result"] == {"result": value}, task
        assert type(tasks[task]["result"]["result"]) is type(value)
    assert found["result"] == dict.fromkeys(("fixed", "given", "own", "over"), value)
    assert found["params"] == {"p": value}


def test_placeholders_inside_of_values(server: Served) -> None:
    _, tasks = execute(
        server,
        "placeholders",
        "{task_id: a, job_id: describe, params: {value: {rows: '${n}', list: ['${n}', 'n=${n}', "
        "'${objects}', {deep: '${none}'}]}, text: 'n=${n}, ${objects}', texts: ['x${n}', y], "
        "own: '${value}', "
        "money: 'costs $$5 and $ 6', nested: [{k: 'costs $$5', n: '${n}'}]}}",
        params={"n": 3, "objects": [{"a": 1}], "none": None},
    )
    rows = {"rows": 3, "list": [3, "n=3", [{"a": 1}], {"deep": None}]}
    found = {name: value for name, (_kind, value) in tasks["a"]["result"]["result"].items()}
    assert found.pop("own") is not None
    assert found == {
        "value": rows,
        "text": 'n=3, [{"a":1}]',
        "texts": ["x3", "y"],
        "money": "costs $5 and $ 6",
        "nested": [{"k": "costs $5", "n": 3}],
    }


def test_result_mapping_and_results_of_objects(server: Served) -> None:
    found, tasks = execute(
        server,
        "mapping",
        "{task_id: first, job_id: echo, params: {value: {rows: 3, parts: [{a: 1}, ~]}}}",
        "{task_id: second, job_id: echo, dependencies: [first], result_mapping: {value: first.parts}}",
    )
    assert tasks["second"]["result"] == {"result": [{"a": 1}, None]}
    assert found["result"]["first"] == {"rows": 3, "parts": [{"a": 1}, None]}


def test_instances_have_their_version(server: Served) -> None:
    found, _ = execute(server, "versions", "{task_id: a, job_id: echo}")
    assert found["version"] == 1
    call(server, "POST", "/workflows", json={"content": tasks_yaml("versions", "{task_id: b, job_id: echo}")})
    started = call(server, "POST", "/workflows/versions/execute")
    assert started["version"] == 2
    lines = call(server, "GET", "/workflows/versions/history")["items"]
    assert [each["version"] for each in lines] == [2, 1]
    lines = call(server, "GET", "/instances?limit=100")["items"]
    assert {each["id"]: each["version"] for each in lines}["versions:1"] == 1
    assert call(server, "GET", "/instances/versions:1")["version"] == 1


def test_failed_subtasks_have_their_errors(server: Served) -> None:
    _, tasks = execute(
        server,
        "subtasks",
        "{task_id: parent, job_id: spread, params: {reasons: [no disk, no net]}}",
        "{task_id: plain, job_id: fail, params: {reason: no luck}}",
        status="Failed",
    )
    parent = tasks["parent"]
    assert (parent["status"], tasks["plain"]["error"]) == ("Failed", "ValueError: no luck")
    assert parent["subtasks"] == [
        {"id": "part_0", "status": "Failed", "error": "ValueError: no disk"},
        {"id": "part_1", "status": "Failed", "error": "ValueError: no net"},
        {"id": "good", "status": "Success"},
    ]
    assert "part_0: ValueError: no disk; part_1: ValueError: no net" in parent["error"]
    assert "subtasks" not in tasks["plain"]


def test_subtasks_keep_their_errors_when_their_task_times_out(server: Served) -> None:
    _, tasks = execute(
        server, "timeouts", "{task_id: parent, job_id: spread_out, timeout: 3}", status="Failed"
    )
    parent = tasks["parent"]
    retried = "timed out; before its retry it had failed: ValueError: no net"
    assert {each["id"]: each["error"] for each in parent["subtasks"]} == {
        "failed": "ValueError: no disk",
        "retried": retried,
        "going_on": "timed out",
    }
    assert parent["error"] == f"timed out: failed: ValueError: no disk; retried: {retried}"


def test_parameters_that_the_workflow_does_not_have_are_refused(server: Served) -> None:
    task = "{task_id: a, job_id: echo, params: {value: ['${days}', 'of ${region}']}}"
    call(server, "POST", "/workflows", json={"content": tasks_yaml("known", task)})

    def refusal(**params: Any) -> str:
        body = call(server, "POST", "/workflows/known/execute", 400, json={"params": params})
        return str(body["message"])

    assert refusal(days=1, regoin="eu") == (
        "Workflow [known] has no parameter [regoin] (did you mean `region`?)"
    )
    assert refusal(zzz=1, qqq=2) == "Workflow [known] has no parameter [zzz], [qqq] (it has days, region)"
    call(server, "POST", "/workflows", json={"content": tasks_yaml("none", "{task_id: a, job_id: echo}")})
    refused = call(server, "POST", "/workflows/none/execute", 400, json={"params": {"x": 1}})
    assert refused["message"] == "Workflow [none] has no parameter [x] (it has none)"


def test_parameters_of_workflows_that_other_surfaces_made(server: Served) -> None:
    """Declared, read by a command, or read by a template, which is not looked into."""
    text = {"type": "STRING", "value": "null", "format": "json"}
    body: dict[str, Any] = {
        "id": "others",
        "params": {"rows": text, "n": {"type": "LONG", "value": 1}},
        "steps": [],
    }
    body["steps"] = [shell("a", "echo $word")]
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": body})
    given = {"rows": [{"a": None}], "n": 2, "word": "x"}
    call(server, "POST", "/workflows/others/execute", json={"params": given})
    assert until(server, "/instances/others:1", "Success")["params"] == given
    found = server.get("/workflows/others/instances/1")["params"]["rows"]["evaluated_result"]
    assert found == '[{"a":null}]'
    call(server, "POST", "/workflows/others/execute", json={"params": {"n": 3}})
    server.push("outer", {"template": {"id": "t", "sub_type": "others"}})
    call(server, "POST", "/workflows/outer/execute", json={"params": {"word": "y"}})
    until(server, "/instances/outer:1", "Success")


def test_misspelt_parameters_of_tasks_fail_at_the_start(server: Served) -> None:
    """Nobody knows the function before it is imported. What another parameter reads is no argument."""
    _, tasks = execute(
        server,
        "misspelt",
        "{task_id: a, job_id: echo, params: {vlaue: 3}}",
        "{task_id: b, job_id: echo}",
        "{task_id: fine, job_id: echo, params: {base: 3, value: '${base}'}}",
        "{task_id: any, job_id: describe, params: {other: 3}}",
        status="Failed",
        task_params={"b": {"valu": 3}},
    )
    said = "the function `tests.api.task_functions:echo` takes no `{}`: did you mean `value`?"
    assert tasks["a"]["error"] == said.format("vlaue")
    assert tasks["b"]["error"] == said.format("valu")
    assert tasks["fine"]["result"] == {"result": 3}
    assert tasks["any"]["result"]["result"]["other"] == ["int", 3]


def test_misspelt_parameters_of_known_functions_are_refused(server: Served) -> None:
    functions = [function_of(each, each.__name__) for each in (task_functions.echo, task_functions.describe)]
    for each in functions:
        server.run(server.desk.store.put_function(each.record()))
    (node,) = [each.node for each in server.run(server.desk.store.nodes())]
    server.run(server.desk.store.advertise(node, [each.name for each in functions]))
    text = """
      workflows:
        jobs: [{job_id: echo, func_key: echo}, {job_id: describe, func_key: describe}]
        definitions:
          - workflow_id: pushed
            tasks:
              - {task_id: a, job_id: echo, params: {vlaue: 3, zzz: 1}}
              - {task_id: b, job_id: describe, params: {other: 3}}
              - {task_id: c, job_id: echo, params: {base: 1, value: "of ${base}"}}
    """
    refusal = call(server, "POST", "/workflows", 400, json={"content": text})
    said = (
        "workflow.steps[a].params.{0}: step `a` of workflow `pushed`: "
        "the function `echo` takes no `{0}` ({1})"
    )
    assert refusal["errors"] == [
        f"{said.format('vlaue', 'did you mean `value`?')} [unknown-field]",
        f"{said.format('zzz', 'it takes value')} [unknown-field]",
    ]
    call(server, "GET", "/workflows/pushed", 404)


# --------------------------------------------------------------------------------------------------- refusals
def test_of_a_text_that_is_not_valid_nothing_is_published(server: Served) -> None:
    """The second definition has a cycle, which only the rules see."""
    text = """
      workflows:
        jobs: [{job_id: j, func_key: "shop.jobs:count"}]
        definitions:
          - {workflow_id: before, tasks: [{task_id: a, job_id: j}]}
          - workflow_id: round
            tasks: [{task_id: a, job_id: j, dependencies: [b]}, {task_id: b, job_id: j, dependencies: [a]}]
    """
    assert "cycle" in call(server, "POST", "/workflows", 400, json={"content": text})["message"]
    call(server, "GET", "/workflows/before", 404)


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/workflows/absent", 404, "Cannot find workflow"),
        ("DELETE", "/workflows/absent", 404, "Cannot find workflow"),
        ("POST", "/workflows/absent/execute", 404, "Cannot find workflow"),
        ("GET", "/workflows/absent/history", 404, "Cannot find workflow"),
        ("GET", "/instances/absent", 404, "Cannot find instance [absent] (an id is such as etl:12)"),
        ("GET", "/instances/absent:1", 404, "absent"),
        ("GET", "/instances/absent:1/tasks", 404, "absent"),
        ("POST", "/instances/absent:1/pause", 404, "absent"),
        ("POST", "/instances/absent:1/resume", 404, "absent"),
        ("POST", "/instances/absent:1/cancel", 404, "absent"),
        ("GET", "/instances?status=wrong", 400, "Invalid status [wrong] (Ready, Running"),
        ("GET", "/instances?limit=0", 400, "limit"),
        ("GET", "/instances?limit=101", 400, "limit"),
        ("GET", "/instances?offset=-1", 400, "offset"),
        ("GET", "/workflows?limit=x", 400, "limit"),
        ("GET", "/workflows/w/history?order=up", 400, "Invalid order [up]"),
        ("POST", "/workflows", 400, "content"),
        ("PUT", "/workflows", 405, "Method Not Allowed"),
    ],
)
def test_refusals(server: Served, method: str, path: str, status: int, said: str) -> None:
    if status == 405:
        assert server.client.request(method, f"/api/v1{path}").status_code == 405
    else:
        assert said in call(server, method, path, status)["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/workflows/nihgtly"),
        ("DELETE", "/workflows/nihgtly"),
        ("POST", "/workflows/nihgtly/execute"),
        ("GET", "/workflows/nihgtly/history"),
        ("GET", "/instances/nihgtly:1"),
        ("GET", "/instances/nihgtly:1/tasks"),
        ("POST", "/instances/nihgtly:1/cancel"),
    ],
)
def test_a_misspelt_workflow(server: Served, method: str, path: str) -> None:
    server.push("nightly")
    assert "did you mean `nightly`?" in call(server, method, path, 404)["message"]


def test_bodies_that_are_none(server: Served) -> None:
    text = {"content-type": "text/plain"}
    assert call(server, "POST", "/workflows", 415, content=b"x", headers=text)["code"] == 415
    kind = {"content-type": "application/json"}
    assert "JSON" in call(server, "POST", "/workflows", 400, content=b"{", headers=kind)["message"]
    for content in ("", "- a", "workflows: {definitions: [{workflow_id: a, tasks: [{task_id: b}]}]}"):
        assert call(server, "POST", "/workflows", 400, json={"content": content})["message"]
    both = "workflows: {definitions: [{workflow_id: a, tasks: [{task_id: b}, {task_id: c}]}]}"
    assert len(call(server, "POST", "/workflows", 400, json={"content": both})["errors"]) == 2
    rule = "workflow: {id: a, steps: [{step: {id: b, type: OfNobody}}]}"
    assert "OfNobody" in call(server, "POST", "/workflows", 400, json={"content": rule})["message"]


def test_our_own_faults(
    server: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_args: Any, **_rest: Any) -> Any:
        raise ZeroDivisionError

    async def is_away(*_args: Any, **_rest: Any) -> Any:
        raise Unavailable("the database is away", hint="wait")

    monkeypatch.setattr(type(server.desk.store), "workflows", is_away)
    assert call(server, "GET", "/workflows", 503)["message"] == "the database is away (wait)"
    monkeypatch.setattr(type(server.desk.store), "workflows", fails)
    assert "under request id [" in call(server, "GET", "/workflows", 500)["message"]
    assert "ZeroDivisionError" in caplog.text


# ------------------------------------------------------------------------------------------------------ words
def test_words() -> None:
    assert words.instance_word(RunStatus.CREATED) == "Ready"
    assert words.instance_word(RunStatus.TIMED_OUT) == "TimeoutFailed"
    assert words.task_word(StepStatus.NOT_CREATED, is_over=False) == "Pending"
    assert words.task_word(StepStatus.WAITING_FOR_SIGNALS, is_over=False) == "Pending"
    assert words.task_word(StepStatus.USER_FAILED, is_over=False) == "Retry"
    assert words.task_word(StepStatus.USER_FAILED, is_over=True) == "Failed"
    assert words.task_word(StepStatus.UNSATISFIED, is_over=False) == "Skipped"
    assert [words.duration(0, each) for each in (None, 1_234, 184_000, 3_725_000)] == [
        None,
        "1.2s",
        "3m4s",
        "1h2m",
    ]
    assert words.duration(None, 1) is None
    assert words.moment(None) is None
