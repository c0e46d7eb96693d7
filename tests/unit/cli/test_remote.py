"""`stretto push`, `start`, `stop`, `restart`, and `show`, `runs`, `why` with a server."""

import json
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from tests.api.serving import LOOP, PATIENCE, Served, noop, served, shell, sleep
from tests.unit.cli.running.files import FAILING, PAIR, as_json
from tests.unit.cli.running.files import stretto as called

from stretto.cli.database import Place
from stretto.cli.remote import watching
from stretto.cli.serve_notices import tell_start
from stretto.config import Config

NAMES = iter(range(1_000_000))


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as made:
        yield made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("NO_COLOR", "1")
    with chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def stretto(server: Served) -> Callable[..., Result]:
    """The command, on the server."""
    return lambda *arguments: called(*arguments, "--server", server.url)


def fresh(prefix: str = "cli") -> str:
    return f"{prefix}{next(NAMES)}"


def told(result: Result) -> list[str]:
    """What was said, without times and how long it took."""
    assert result.exit_code == 0, result.output
    return [re.sub(r"^\d\d:\d\d:\d\d | \d+\.\ds$", "", line) for line in result.stdout.splitlines()]


# ----------------------------------------------------------------------------------------------------- push
def test_push(stretto: Any, server: Served, folder: Path) -> None:
    one, two = fresh(), fresh()
    (folder / "one.yaml").write_text(FAILING.replace("id: failing", f"id: {one}"))
    (folder / "two.yaml").write_text(PAIR.replace("id: pair", f"id: {two}"))
    assert told(stretto("push", "one.yaml", "two.yaml")) == [f"{one}: version 1", f"{two}: version 1"]
    made = as_json(stretto("push", "one.yaml", "--json", "--user", "bob", "--force"))
    assert made == {"pushed": [{"workflow_id": one, "workflow_version_id": 2}], "unchanged": []}
    owner = server.get(f"/workflows/{two}/properties-snapshot/latest")["owner"]
    assert owner == "ann"  # as its file says; who pushes a file that says nothing owns it
    assert server.get(f"/workflows/{one}/properties-snapshot/latest")["owner"] not in {"ann", "bob"}


def test_what_has_not_changed_is_not_sent(stretto: Any, server: Served, folder: Path) -> None:
    one, two = fresh(), fresh()
    (folder / "one.yaml").write_text(FAILING.replace("id: failing", f"id: {one}"))
    (folder / "two.yaml").write_text(PAIR.replace("id: pair", f"id: {two}"))
    for file, name in (("one.yaml", one), ("two.yaml", two)):
        assert told(stretto("push", file)) == [f"{name}: version 1"]
        assert told(stretto("push", file)) == [f"{name}: version 1, unchanged"]
        assert server.get(f"/workflows/{name}/overview")["latest_version_id"] == 1
        assert told(stretto("push", file, "--force")) == [f"{name}: version 2"]
    made = as_json(stretto("push", "one.yaml", "two.yaml", "--json"))
    assert made["pushed"] == []
    assert made["unchanged"] == [{"workflow_id": each, "workflow_version_id": 2} for each in (one, two)]


def test_what_has_changed_is_sent(stretto: Any, folder: Path) -> None:
    """The workflow, or a property."""
    name, file = fresh(), folder / "flow.yaml"
    text = FAILING.replace("id: failing", f"id: {name}")
    for number, changed in enumerate(
        (text, text.replace("exit 3", "exit 4"), f"properties: {{description: x}}{text}"), 1
    ):
        file.write_text(changed)
        assert told(stretto("push", "flow.yaml")) == [f"{name}: version {number}"]
        assert told(stretto("push", "flow.yaml")) == [f"{name}: version {number}, unchanged"]


def active(server: Served, name: str) -> tuple[int | None, int]:
    """The active version, and the newest."""
    found = server.get(f"/workflows/{name}/overview")
    return found.get("active_version_id"), found["latest_version_id"]


def test_what_is_switched_off_stays_off(stretto: Any, server: Served, folder: Path) -> None:
    name, file = fresh(), folder / "flow.yaml"
    file.write_text(FAILING.replace("id: failing", f"id: {name}"))
    stretto("push", "flow.yaml")
    server.put(f"/workflows/{name}/actions/deactivate", headers={"user": "bob"})
    off = f"{name}: version 1, unchanged, switched off by bob; --force switches it on"
    assert [told(stretto("push", "flow.yaml")) for _ in range(2)] == [[off], [off]]
    assert active(server, name) == (None, 1)
    assert "; bob switched it off at " in stretto("why", name).stdout
    (row,) = as_json(stretto("push", "flow.yaml", "--json"))["unchanged"]
    assert row["note"] == "switched off by bob; --force switches it on"
    assert told(stretto("push", "flow.yaml", "--force")) == [f"{name}: version 2"]
    assert active(server, name) == (2, 2)
    server.put(f"/workflows/{name}/versions/1/actions/activate", headers={"user": "ann"})
    older = f"{name}: version 2, unchanged, version 1 is active, chosen by ann; --force switches it on"
    assert told(stretto("push", "flow.yaml")) == [older]
    assert active(server, name) == (1, 2)


def test_what_was_never_switched_on_is(stretto: Any, server: Served, folder: Path) -> None:
    """A version that a push, or a run of the file, made without switching it on."""
    name, file = fresh(), folder / "flow.yaml"
    text = FAILING.replace("id: failing", f"id: {name}")
    for number, changed in enumerate((text, text.replace("exit 3", "exit 4")), 1):
        file.write_text(f"is_active: false\n{changed}")
        assert told(stretto("push", "flow.yaml")) == [f"{name}: version {number}"]
        assert told(stretto("push", "flow.yaml")) == [f"{name}: version {number}, unchanged"]
        assert active(server, name) == (None if number == 1 else 1, number)
        file.write_text(changed)
        assert told(stretto("push", "flow.yaml")) == [f"{name}: version {number}, unchanged, switched on"]
        assert active(server, name) == (number, number)


def test_the_api_always_makes_a_version(server: Served) -> None:
    name = fresh()
    for number in (1, 2):
        made = server.push(name)["workflow_definition"]
        assert made["metadata"]["workflow_version_id"] == number


def test_templates_of_the_server_are_known(stretto: Any, server: Served, folder: Path) -> None:
    kind, name = fresh("Spark"), fresh()
    definition = {"job_type": kind, "step_type": "Shell", "version": "default", "params": {}}
    server.post("/job-templates", {"owner": "ann", "status": "x", "support": "y", "definition": definition})
    (folder / "spark.yaml").write_text(
        f"workflow: {{id: {name}, jobs: [{{job: {{id: a, type: {kind}, command: 'true'}}}}]}}"
    )
    assert told(stretto("push", "spark.yaml")) == [f"{name}: version 1"]
    step = server.get(f"/workflows/{name}/versions/1")["workflow"]["steps"][0]["step"]
    assert (step["type"], step["sub_type"]) == ("Shell", kind)
    assert told(stretto("push", "spark.yaml")) == [f"{name}: version 1, unchanged"]
    other = stretto("push", "spark.yaml", "--template", f"{kind}=NoOp")  # an option counts more
    assert "does not match the current step type [NOOP]" in other.stderr


def test_push_warns_of_a_version_of_a_template_that_there_is_not(
    stretto: Any, server: Served, folder: Path
) -> None:
    kind, name = fresh("kit"), fresh()
    for version in ("default", "v1"):
        kit = {"job_type": kind, "step_type": "NoOp", "version": version}
        server.post("/job-templates", {"owner": "ann", "status": "x", "support": "y", "definition": kit})
    text = f"""workflow:
  id: {name}
  steps:
    - step: {{id: a, type: NoOp, sub_type: {kind}, sub_type_version: v1}}
    - step: {{id: b, type: NoOp, sub_type: {kind}}}
"""
    (folder / "kit.yaml").write_text(text)
    assert stretto("push", "kit.yaml").stderr == ""
    (folder / "kit.yaml").write_text(text.replace("v1", "v2"))
    said = stretto("push", "kit.yaml").stderr
    assert f"warning: workflow.steps[0].step.sub_type_version: the job template `{kind}`" in said
    assert "version `v2`, is not known here" in said
    assert stretto("push", "kit.yaml", "--force", "--template", f"{kind}=NoOp").stderr == ""


def test_push_warns_of_names_that_nobody_declares(stretto: Any, folder: Path) -> None:
    name = fresh()
    text = PAIR.replace("id: pair", f"id: {name}").replace("echo $table ", "echo $table $f ")
    (folder / "one.yaml").write_text(text)
    result = stretto("push", "one.yaml")
    assert result.exit_code == 0
    assert re.search(
        r"^one.yaml:\d+:\d+: warning: .*`f` is read, and nothing here gives it a value", result.stderr
    )
    assert "hint: for a shell variable write `$$f`" in result.stderr
    assert f"{name}: version 1" in result.stdout


def test_push_warns_of_names_in_python(stretto: Any, folder: Path) -> None:
    text = """
from stretto import step, workflow

@step(retry_if="nope > 1", retries=2)
def risky(n: int) -> int:
    return n

@workflow
def doubted() -> int:
    return risky(1)
"""
    (folder / "doubted.py").write_text(text)
    result = stretto("push", "doubted.py:doubted", "--allow-unknown-functions")
    assert result.exit_code == 0
    assert "`nope` is read, and nothing here gives it a value" in result.stderr


def test_a_failure_is_told_once(stretto: Any, folder: Path) -> None:
    """Its event has the details, and a line beside it the message."""
    name = fresh()
    (folder / "one.yaml").write_text(
        f"workflow: {{id: {name}, steps: [{{step: {{id: a, type: NoOp, params: "
        "{n: {type: LONG, expression: nobody + 1}}}}]}"
    )
    stretto("push", "one.yaml")
    stretto("start", name, "--wait")
    shown = stretto("show", f"{name}/1:a").stdout
    assert shown.count("nothing has that name") == 1


def test_nothing_is_pushed_if_something_is_wrong(stretto: Any, server: Served, folder: Path) -> None:
    name = fresh()
    (folder / "good.yaml").write_text(FAILING.replace("id: failing", f"id: {name}"))
    (folder / "bad.yaml").write_text("workflow:\n  id: x\n  stps: []\n")
    result = stretto("push", "good.yaml", "bad.yaml")
    assert result.exit_code == 2
    assert "bad.yaml:3:3:" in result.stderr
    server.get(f"/workflows/{name}/versions/latest", 404)


def test_the_server_has_the_last_word(stretto: Any, folder: Path) -> None:
    good, name = fresh(), fresh()
    steps = "[{step: {id: a, type: OfNobody}}, {step: {id: b, type: OfNobody}}]"
    (folder / "good.yaml").write_text(FAILING.replace("id: failing", f"id: {good}"))
    (folder / "odd.yaml").write_text(f"workflow: {{id: {name}, steps: {steps}}}")
    result = stretto("push", "good.yaml", "odd.yaml", "--json")
    assert result.exit_code == 2
    assert [each["workflow_id"] for each in json.loads(result.stdout)["pushed"]] == [good]
    assert result.stderr.count("`OfNobody` is not a step type") == 2  # one by one


# ---------------------------------------------------------------------------------------------------- start
def test_start(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name)
    assert told(stretto("start", name)) == [f"{name}/1, version 1: started"]
    assert told(stretto("start", name, "--wait"))[-1] == f"✓ {name}/2 SUCCEEDED"
    made = as_json(stretto("start", name, "--version", "1", "--json"))
    assert (made["run"], made["status"]) == (f"{name}/3/1", "CREATED")
    made = as_json(stretto("start", name, "--json", "--follow"))
    assert (made["run"], made["status"]) == (f"{name}/4/1", "SUCCEEDED")
    assert made["end_time"] >= made["start_time"]


def test_follow(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, noop("a", "b"), sleep("b", 1, "c"), noop("c"))
    assert told(stretto("start", name, "--follow")) == [
        f"{name}/1, version 1: started",
        "✓ a SUCCEEDED",
        "▶ b RUNNING",
        "✓ b SUCCEEDED",
        "✓ c SUCCEEDED",
        f"✓ {name}/1 SUCCEEDED",
    ]


def test_a_run_that_fails(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, shell("bad", "echo no >&2; exit 3"))
    result = stretto("start", name, "--follow")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert re.fullmatch(r".{9}✗ bad FATALLY_FAILED \S+: exit code 3: no", lines[-4])
    assert lines[-3].startswith(f"✗ {name}/1 FAILED")
    assert lines[-2].endswith("is FATALLY_FAILED: exit code 3: no")
    assert lines[-1] == f"More: stretto show {name}/1 --server {server.url}"


def test_parameters_have_the_types_of_the_workflow(stretto: Any, server: Served) -> None:
    name = fresh()
    params = {"days": {"type": "LONG_ARRAY", "value": [1]}, "table": {"type": "STRING", "value": "a"}}
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "params": params, "steps": [noop("a")]}}
    server.post("/workflows", body)
    stretto("start", name, "-p", "days=4,5", "-p", "table=$x", "--wait")
    found = server.get(f"/workflows/{name}/instances/1")["params"]
    assert (found["days"]["evaluated_result"], found["table"]["evaluated_result"]) == ([4, 5], "$x")
    for wrong, said in (
        ("days=x", "LONG_ARRAY"),
        ("tabel=x", "did you mean `table`"),
        ("x", "not NAME=VALUE"),
    ):
        result = stretto("start", name, "-p", wrong)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_parameter_without_a_default_is_given_at_each_start(
    stretto: Any, server: Served, folder: Path
) -> None:
    (folder / "flows.py").write_text("""
from stretto import workflow


@workflow
def required(items: list[int], options: dict[str, str], note: str = "none") -> list[int]:
    return items
""")
    told(stretto("push", "flows.py"))
    given = ("-p", "items=1,2", "-p", 'options={"a": "$b"}')
    assert told(stretto("start", "required", *given, "--wait"))[-1] == "✓ required/1 SUCCEEDED"
    found = server.get("/workflows/required/instances/1")["params"]
    assert found["items"]["evaluated_result"] == [1, 2]
    assert found["options"]["evaluated_result"] == '{"a": "$b"}'
    for wrong, said in (
        ((), "needs `items` (LONG_ARRAY) and `options` (STRING)"),
        (given[:2], "needs `options` (STRING)"),
        (("-p", "items=x"), "LONG_ARRAY: expected whole numbers"),
        (("-p", "itms=1"), "has items (LONG_ARRAY), options (STRING), note (STRING); did you mean `items`?"),
    ):
        result = stretto("start", "required", *wrong)
        assert result.exit_code == 2
        assert said in result.stderr
    printed = folder / "required.yaml"
    printed.write_text(called("convert", "flows.py", "--to", "yaml").stdout)
    assert called("run", str(printed), "--db", "memory:").exit_code == 2
    assert called("run", str(printed), "--db", "memory:", *given).exit_code == 0


def test_a_request_that_was_seen_before(stretto: Any, server: Served) -> None:
    name, request = fresh(), fresh("request")
    server.push(name)
    stretto("start", name, "--request-id", request)
    again = told(stretto("start", name, "--request-id", request))
    assert again == [f"{name}/1, version 1: this request has started it before"]
    empty = stretto("start", name, "--request-id", "")
    assert (empty.exit_code, "the request id is empty" in empty.stderr) == (2, True)


def test_a_request_id_used_with_other_parameters_is_refused(stretto: Any, server: Served) -> None:
    name, request = fresh(), fresh("request")
    params = {"table": {"value": "orders", "type": "STRING"}}
    workflow = {"id": name, "params": params, "steps": [noop("a")]}
    server.post("/workflows", {"properties": {"owner": "ann"}, "workflow": workflow})
    ask = ("start", name, "--request-id", request)
    stretto(*ask, "-p", "table=sales")
    result = stretto(*ask, "-p", "table=returns")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"[{request}] of workflow [{name}] belongs to run {name}/1" in result.stderr
    assert "started with other parameters: table" in result.stderr
    assert "use another request id to start a new run" in result.stderr
    assert stretto(*ask, "-p", "table=sales").exit_code == 0
    found = server.get(f"/workflows/{name}/instances", params={"first": 10})["elements"]
    assert [each["workflow_instance_id"] for each in found] == [1]


def test_a_strategy_that_starts_nothing(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), run_strategy="FIRST_ONLY")
    stretto("start", name)
    result = stretto("start", name)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{name}/2, version 1: stopped, blocked by running {name}/1: ")
    made = as_json(stretto("start", name, "--json"))
    assert made["status"] == "STOPPED"
    assert made["detail"].startswith(f"stopped, blocked by running {name}/1: ")
    stretto("stop", f"{name}/1")


def test_a_run_that_waits_is_not_started(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), run_strategy="SEQUENTIAL")
    assert told(stretto("start", name)) == [f"{name}/1, version 1: started"]
    assert told(stretto("start", name)) == [f"{name}/2, version 1: queued, blocked by running {name}/1"]
    made = as_json(stretto("start", name, "--json"))
    assert (made["status"], made["detail"]) == ("CREATED", f"queued, blocked by running {name}/1")
    path = f"/workflows/{name}/versions/latest/actions/start?include=queued"
    answer = server.post(path, {"initiator": {"type": "manual"}})
    assert answer["queued"] == {"hold": "BUSY", "blocked_by": [f"{name}/1"]}
    stretto("stop", f"{name}/1")


def test_a_failed_run_blocks_a_strict_queue(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, shell("s", "exit 1"), run_strategy="STRICT_SEQUENTIAL")
    stretto("start", name, "--wait")
    assert told(stretto("start", name)) == [f"{name}/2, version 1: queued, blocked by failed {name}/1"]


# -------------------------------------------------------------------------------------------- stop, restart
def test_stop(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, sleep("s"), sleep("t"))
    for _ in range(2):
        stretto("start", name)
    for each in "st":
        server.step_is(name, each, "RUNNING")
    assert told(stretto("stop", f"{name}/1:s")) == [f"{name}/1:s: STOPPED"]
    assert as_json(stretto("stop", f"{name}/1:t", "--kill", "--json"))["step_id"] == "t"
    server.ended(name, 1, "FAILED")
    server.step_is(name, "s", "RUNNING", 2)
    told_so = stretto("stop", f"{name}/2", "--user", "bob", "--reason", "wrong table").stdout
    assert re.search(rf"User \[bob\] asked to stop run {name}/2.*wrong table", told_so)
    server.ended(name, 2, "STOPPED")
    listed = stretto("runs", "--workflow", name).stdout
    assert re.search(rf"^✗ {name}/2 .* 2 stopped$", listed, re.MULTILINE), listed
    stretto("start", name)
    stretto("stop", f"{name}/3/1", "--kill")
    server.ended(name, 3, "FAILED")
    for flags, verb in (([], "stopped"), (["--kill"], "killed")):
        late = stretto("stop", f"{name}/{2 if flags else 3}", *flags)
        assert late.exit_code == 2
        how = "STOPPED" if flags else "FAILED"
        assert f"has already ended {how}, so it can not be {verb}" in late.stderr
    assert "Cannot find [absent]" in stretto("stop", f"{name}/3:absent").stderr


def test_stop_an_iteration(stretto: Any, server: Served) -> None:
    name = fresh()
    inner = {"foreach": {**LOOP["foreach"], "steps": [sleep("inner")]}}
    server.push(name, inner)
    stretto("start", name)
    server.until(
        f"/workflows/{name}/instances/1/runs/1/resolve?path=each[1].inner",
        lambda found: found.get("step_attempt_id") == 1,
    )
    for flags in ([], ["--kill"]):
        result = stretto("stop", f"{name}/1:each[{1 + len(flags)}]", *flags)
        assert result.exit_code == 0, result.output
    stretto("stop", f"{name}/1")


def test_each_problem_of_a_push_is_said_once(stretto: Any, folder: Path) -> None:
    steps = [
        {
            "step": {
                "id": each,
                "type": "Python",
                "params": {"function": {"type": "STRING", "value": f"x:{each}"}},
            }
        }
        for each in ("one", "two")
    ]
    (folder / "lost.json").write_text(json.dumps({"workflow": {"id": fresh(), "steps": steps}}))
    result = stretto("push", str(folder / "lost.json"))
    assert result.exit_code == 2
    assert [result.stderr.count(f"step `{each}` of workflow") for each in ("one", "two")] == [1, 1]
    assert "(and 1 more)" in result.stderr


def asking(step_id: str, *then: str) -> dict[str, Any]:
    edges = {"successors": dict.fromkeys(then, "true")}
    share = {"share": {"type": "LONG", "value": 1}}
    return {"step": {"id": step_id, "type": "Wait", "params": share, "transition": edges}}


def test_answer_before_and_after_a_step_asks(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, asking("gate", "ask"), asking("ask"))
    stretto("start", name)
    early = ("answer", f"{name}/1:ask", "-p", "share=25", "--note", "fine", "--request-id", "r")
    for _ in range(2):
        assert told(stretto(*early)) == [f"Accepted: user [root] approved step {name}/1:ask/1"]
    made = as_json(stretto("answer", f"{name}/1:gate", "--json"))
    assert (made["step_id"], made["step_attempt_id"]) == ("gate", 1)
    server.ended(name, 1, "SUCCEEDED")
    ask = server.get(f"/workflows/{name}/instances/1/runs/1/steps/ask/attempts/1")
    assert ask["params"]["share"]["evaluated_result"] == 25
    stretto("start", name)
    server.step_is(name, "gate", "RUNNING", 2)
    assert told(stretto("answer", f"{name}/2:gate", "--reject")) == [
        f"Accepted: user [root] refused step {name}/2:gate/1"
    ]
    server.ended(name, 2, "FAILED")


def test_answers_that_make_no_sense(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, asking("gate"), {"foreach": {**LOOP["foreach"], "steps": [sleep("inner")]}})
    stretto("start", name)
    server.until(
        f"/workflows/{name}/instances/1/runs/1/resolve?path=each[1].inner",
        lambda found: found.get("step_attempt_id") == 1,
    )
    for address, flags, said in (
        (f"{name}/1", [], "name the step: RUN:STEP"),
        (f"{name}/1:each[1]", [], "leads to a run, not to a step"),
        (f"{name}/1:gate", ["-p", "shar=1"], "step `gate` has no parameter `shar`; it has share (LONG)"),
        (f"{name}/1:each[1].inner", [], "it is not a Wait step"),
    ):
        result = stretto("answer", address, *flags)
        assert result.exit_code == 2, result.output
        assert said in result.stderr
    stretto("stop", f"{name}/1")


def test_restart(stretto: Any, server: Served, folder: Path) -> None:
    name, mark = fresh(), folder / "mark"
    params = {"word": {"type": "STRING", "value": "a"}}
    steps = [noop("first", "second"), shell("second", f"test -e {mark}")]
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "params": params, "steps": steps}}
    server.post("/workflows", body)
    assert stretto("start", name, "--wait").exit_code == 1
    assert stretto("restart", f"{name}/1", "--wait").exit_code == 1
    mark.touch()
    again = told(stretto("restart", f"{name}/1", "--follow"))
    assert again[0] == f"{name}/1/3, version 1: started"
    assert "✓ second SUCCEEDED" in again
    assert "✓ first SUCCEEDED" not in again
    whole = told(stretto("restart", f"{name}/1", "--all", "-p", "word=b", "--follow"))
    assert "✓ first SUCCEEDED" in whole
    assert server.get(f"/workflows/{name}/instances/1")["params"]["word"]["evaluated_result"] == "b"
    begin = told(stretto("restart", f"{name}/1", "--from", "second", "--wait"))
    assert begin == [f"{name}/1/5, version 1: started", f"✓ {name}/1/5 SUCCEEDED"]
    assert told(stretto("restart", f"{name}/1:second"))[0].startswith(f"{name}/1/6")
    for both in ((f"{name}/1", "--from", "second"), (f"{name}/1:second",)):
        refused = stretto("restart", *both, "--all")
        assert (refused.exit_code, "choose one" in refused.stderr) == (2, True)


GIVEN = {"n": {"type": "LONG", "value": 1}}


def push_readers(server: Served, *more: dict[str, Any]) -> str:
    """Two steps after each other that read `n`; the second has `own`, too, and `n` in one of its own."""
    name, first, second = fresh(), noop("first", "second"), noop("second")
    first["step"]["params"] = {"seen": {"expression": "n * 10", "type": "LONG"}}
    second["step"]["params"] = {
        "seen": {"expression": "n * 10 + own", "type": "LONG"},
        "own": {"value": 0, "type": "LONG"},
    }
    steps = [first, second, *more]
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "params": GIVEN, "steps": steps}}
    server.post("/workflows", body)
    return name


def seen(server: Served, name: str) -> list[int]:
    path = f"/workflows/{name}/instances/1/steps"
    return [
        server.get(f"{path}/{each}")["params"]["seen"]["evaluated_result"] for each in ("first", "second")
    ]


def test_restart_from_a_step_with_other_parameters(stretto: Any, server: Served) -> None:
    name = push_readers(server)
    assert stretto("start", name, "--wait").exit_code == 0
    told(stretto("restart", f"{name}/1", "--from", "second", "-p", "n=7", "-p", "own=2", "--wait"))
    assert seen(server, name) == [10, 72]
    told(stretto("restart", f"{name}/1:first", "-p", "n=8", "--wait"))
    assert seen(server, name) == [80, 80]  # the run's parameter has changed: also for what follows
    told(stretto("restart", f"{name}/1:first", "--step-param", "first:n=9", "--wait"))
    assert seen(server, name) == [90, 80]
    told(stretto("restart", f"{name}/1", "--all", "--step-param", "second:n=3", "--wait"))
    assert seen(server, name) == [80, 30]


def test_start_with_parameters_of_steps(stretto: Any, server: Served) -> None:
    name = push_readers(server)
    told(stretto("start", name, "-p", "n=2", "--step-param", "second:own=5", "--wait"))
    assert seen(server, name) == [20, 25]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["restart", "W/1:first", "-p", "m=7"], "step `first` and workflow `W` have no parameter `m`"),
        (["restart", "W/1:first", "-p", "n=x"], "whole number"),
        (["restart", "W/1:first", "--step-param", "second:n=1"], "can not change parameters of `second`"),
        (["restart", "W/1", "--step-param", "firts:n=1"], "no step `firts`; did you mean `first`"),
        (["restart", "W/1", "--step-param", "first=1"], "`first=1` is not STEP:NAME=VALUE"),
        (["start", "W", "--step-param", "zzzz:n=1"], "no step `zzzz`; it has first, second"),
        (["start", "W", "--step-param", "second:onw=1"], "they have n (LONG), seen (LONG), own (LONG)"),
        (["start", "W", "--step-param", "second:onw=1"], "did you mean `own`"),
    ],
)
def test_parameters_of_steps_that_are_refused(
    stretto: Any, server: Served, arguments: list[str], said: str
) -> None:
    name = push_readers(server)
    assert stretto("start", name, "--wait").exit_code == 0
    result = stretto(*(each.replace("W", name) for each in arguments))
    assert result.exit_code == 2
    assert said.replace("W", name) in result.stderr


def test_restart_an_iteration_with_another_value(stretto: Any, server: Served) -> None:
    inner = noop("inner")
    inner["step"]["params"] = {"seen": {"expression": "n * 10", "type": "LONG"}}
    name = push_readers(server, {"foreach": {**LOOP["foreach"], "steps": [inner]}})
    assert stretto("start", name, "--wait").exit_code == 0
    told(stretto("restart", f"{name}/1:each[2]", "--all", "-p", "n=6", "--wait"))
    place = server.get(f"/workflows/{name}/instances/1/runs/2/resolve?path=each[2].inner")
    path = f"/workflows/{place['workflow_id']}/instances/{place['workflow_instance_id']}/steps/inner"
    assert server.get(path)["params"]["seen"]["evaluated_result"] == 60


def test_restart_an_iteration(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, LOOP)
    stretto("start", name, "--wait")
    result = stretto("restart", f"{name}/1:each[2]", "--all", "--wait")
    assert result.exit_code == 0, result.output
    assert f"{name}/1/2" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["restart", "w/1:a", "--from", "b"], "name the step once"),
        (["restart", "w/1:a", "-p", "x=1"], "Cannot find workflow instance"),
        (["restart", "w"], "names no run"),
        (["start", "absent"], "Cannot find workflow"),
        (["start", "absent", "-p", "x=1"], "Cannot find workflow"),
        (["stop", "absent/1"], "absent"),
        (["show", "absent/1"], "absent"),
        (["why", "absent/1"], "absent"),
        (["runs", "--db", "memory:"], "--server and --database name different targets"),
        (["start", "w", "--user", "Jürgen"], "can not be sent"),
        (["start", ""], "a name is empty"),
        (["start", "w", "--server", "localhost:1"], "it is given twice; keep one of them"),
    ],
)
def test_refusals(stretto: Any, arguments: list[str], said: str) -> None:
    result = stretto(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["start", "nihgtly"], ["stop", "nihgtly/1"], ["restart", "nihgtly/1"], ["show", "nihgtly/1"]],
)
def test_a_misspelt_workflow(stretto: Any, server: Served, arguments: list[str]) -> None:
    server.push("nightly")
    result = stretto(*arguments)
    assert result.exit_code == 2
    assert "did you mean `nightly`?" in result.stderr


def test_runs_of_a_misspelt_workflow(stretto: Any, server: Served) -> None:
    server.push("nightly")
    result = stretto("runs", "--workflow", "nihgtly")
    said = "Cannot find workflow [nihgtly] (did you mean `nightly`?)"
    assert told(result) == [f"no runs that fit at {server.url}: {said}"]
    assert told(stretto("runs", "--workflow", "nightly")) == [
        f"no runs that fit at {server.url}; `stretto start WORKFLOW` makes one"
    ]


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        result = called("why", "w/1", "--server", address, "--set", "client.answer_within=50ms")
    assert result.exit_code == 2
    assert "hint: look what keeps it busy, or wait longer: --set client.answer_within=2m" in result.stderr


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = called("start", "w", "--server", f"127.0.0.1:{port}")
    assert result.exit_code == 2
    assert f"there is no server at http://127.0.0.1:{port}" in result.stderr
    assert "hint: start one with `stretto serve`, or name another: --server URL" in result.stderr
    result = called("start", "w", "--server", "ftp://x")
    assert result.exit_code == 2
    assert "not the address of a server" in result.stderr


# --------------------------------------------------------------------------------------------------- reading
def test_show_runs_why(stretto: Any, server: Served) -> None:
    name = fresh()
    server.push(name, LOOP, shell("bad", "exit 3"))
    stretto("start", name, "--wait")
    shown = stretto("show", f"{name}/1").stdout
    assert f"✗ {name}/1 FAILED" in shown
    assert "3 iterations" in shown
    assert "FATALLY_FAILED: exit code 3" in shown
    assert stretto("show", f"{name}/1/1:each[2]").stdout.startswith(f"✓ {name}/1/1:each[2] SUCCEEDED")
    step = stretto("show", f"{name}/1:bad").stdout
    assert step.startswith(f"✗ {name}/1:bad FATALLY_FAILED")
    assert {"run", "steps"} == as_json(stretto("show", f"{name}/1", "--json")).keys()
    lines = stretto("runs", "--workflow", name, "--status", "failed").stdout.splitlines()
    assert [line.split()[1:3] for line in lines] == [[f"{name}/1/1", "FAILED"]]
    none = stretto("runs", "--workflow", name, "--status", "stopped").stdout
    assert none == f"no runs that fit at {server.url}; `stretto start WORKFLOW` makes one\n"
    assert "has ended FAILED" in stretto("why", f"{name}/1").stdout
    assert "bad FATALLY_FAILED" in stretto("why", f"{name}/1:bad").stdout


def test_each_run_of_an_instance_goes_by_its_own_name(stretto: Any, server: Served, folder: Path) -> None:
    name, flag = fresh(), folder / "flag"
    server.push(name, shell("s", f"test -e {flag}"))
    stretto("start", name, "--wait")
    flag.touch()
    stretto("restart", f"{name}/1", "--wait")
    first, newest = f"{name}/1/1", f"{name}/1/2"
    assert stretto("show", first).stdout.startswith(f"✗ {first} FAILED")
    assert stretto("show", f"{first}:s").stdout.startswith(f"✗ {first}:s FATALLY_FAILED")
    assert stretto("show", f"{name}/1").stdout.startswith(f"✓ {newest} SUCCEEDED")
    assert stretto("why", first).stdout.startswith(f"{first} FAILED: run {first} has ended FAILED")
    assert "✗ s FATALLY_FAILED" in stretto("why", f"{first}:s").stdout
    assert "✓ s SUCCEEDED" in stretto("why", f"{name}/1:s").stdout
    assert [line.split()[1] for line in told(stretto("runs", "--workflow", name))] == [newest, first]
    failed = told(stretto("runs", "--workflow", name, "--status", "failed"))
    assert [line.split()[1] for line in failed] == [first]


def test_why_a_workflow_is_not_started(stretto: Any, server: Served) -> None:
    name = fresh()
    triggers = {
        "signal_triggers": [{"definitions": {f"go-{name}": {}}, "condition": "nobody > 1"}],
        "time_triggers": [{"type": "CRON", "cron": "0 12 1 1 *", "timezone": "UTC"}],
    }
    body = {"properties": {"owner": "ann"}, "workflow": {"id": name, "steps": [noop("a")], **triggers}}
    server.post("/workflows", body)
    server.post("/signals", {"name": f"go-{name}"})
    path = f"/workflows/{name}/why"
    found = server.until(path, lambda why: any(each.get("trouble") for each in why["triggers"]))
    assert "1 of them in trouble" in found["sentence"]
    shown = stretto("why", name).stdout
    assert f"it starts a run for each signal [go-{name}], if [nobody > 1] holds" in shown
    assert "started no run, and its signals are used up" in shown
    assert re.search(r"it starts a run at 12:00 on day 1 .*in January \(UTC\) \(in ", shown)
    assert as_json(stretto("why", name, "--json"))["workflow_id"] == name


def test_loops_that_did_not_go_well(stretto: Any, server: Served) -> None:
    name = fresh()
    loop = {**LOOP["foreach"], "steps": [shell("inner", "test $i != 8")]}
    inside = noop("inside")
    inside["step"]["params"] = {"n": {"expression": "n + 1", "type": "LONG"}}
    again = {
        "id": "again",
        "condition": "n < 2",
        "params": {"loop_params": {"type": "MAP", "value": {"n": {"value": 0, "type": "LONG"}}}},
        "steps": [inside],
    }
    server.push(name, {"foreach": loop}, {"while": again})
    followed = stretto("start", name, "--follow").stdout
    assert re.search(r"^.{9}  each: 3 iterations, 1 failed: each\[2\] \(i=8\)$", followed, re.MULTILINE)
    assert re.search(r"^.{9}  again: 2 iterations$", followed, re.MULTILINE)
    shown = stretto("show", f"{name}/1").stdout
    assert "3 iterations, 1 failed: each[2] (i=8)" in shown
    assert re.search(r"again +while .*2 iterations$", shown, re.MULTILINE)
    assert "each: 3 iterations, 1 failed: each[2] (i=8)" in stretto("why", f"{name}/1").stdout
    assert "3 iterations, 1 failed: each[2] (i=8)" in stretto("why", f"{name}/1:each").stdout
    assert "Iterations\n  3 iterations, 1 failed: each[2] (i=8)\n" in stretto("show", f"{name}/1:each").stdout
    assert "Iterations\n  2 iterations\n" in stretto("show", f"{name}/1:again").stdout
    assert "inner FATALLY_FAILED" in stretto("why", f"{name}/1:each[2].inner").stdout
    assert stretto("why", f"{name}/1:each[2]").stdout.startswith(f"{name}/1:each[2] FAILED: ")


def test_a_while_that_failed(stretto: Any, server: Served) -> None:
    name = fresh()
    again = {
        "id": "again",
        "condition": "n < 2",
        "params": {"loop_params": {"type": "MAP", "value": {"n": {"value": 0, "type": "LONG"}}}},
        "steps": [shell("inside", "exit 3")],
    }
    server.push(name, {"while": again})
    stretto("start", name, "--wait")
    assert "1 iteration, 1 failed: again[1] (n=0)" in stretto("show", f"{name}/1").stdout


def test_a_loop_is_seen_while_it_goes_on(
    stretto: Any, server: Served, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "TELL_EVERY", 0.05)
    name, go = fresh(), folder / "go"
    inner = shell("inner", f"test $i != 8 || while ! test -e {go}; do sleep 0.02; done")
    server.push(name, {"foreach": {**LOOP["foreach"], "concurrency": 3, "steps": [inner]}})

    def release() -> None:
        path = f"/workflows/{name}/instances/1/steps/each"
        server.until(path, lambda found: "SUCCEEDED" in json.dumps(found["artifacts"]))
        released.wait(PATIENCE)
        go.touch()

    released = threading.Event()
    echo = click.echo

    def heard(text: Any = None, **options: Any) -> None:
        if text is not None and " of 3 iterations" in str(text):
            released.set()
        echo(text, **options)

    monkeypatch.setattr(click, "echo", heard)
    thread = threading.Thread(target=release)
    thread.start()
    followed = stretto("start", name, "--follow").stdout
    thread.join()
    assert re.search(r"each: [12] of 3 iterations$", followed, re.MULTILINE)
    assert re.search(r"each: 3 iterations$", followed, re.MULTILINE)


def test_a_server_that_is_set(server: Served, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    name = fresh()
    server.push(name)
    server.start(name)
    server.ended(name)
    monkeypatch.setenv("STRETTO_CLIENT_SERVER", server.url)
    assert f"{name}/1 SUCCEEDED" in called("show", f"{name}/1").stdout
    assert told(called("start", name)) == [f"{name}/2, version 1: started"]
    assert called("show", f"{name}/1", "--db", "sqlite:///none.db").exit_code == 2
    monkeypatch.delenv("STRETTO_CLIENT_SERVER")
    (folder / "stretto.toml").write_text(f'[client]\nserver = "{server.url}"\n')
    assert f"{name}/1 SUCCEEDED" in called("show", f"{name}/1").stdout
    (folder / "stretto.toml").write_text("[client]\nserver = 8080\n")
    assert "`8080` is not the address of a server" in called("show", f"{name}/1").stderr


# ------------------------------------------------------------------------------------------------------ serve
def test_commands_to_try_are_called_as_this_one_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    def tried() -> str:
        tell_start("http://127.0.0.1:1", Place("memory://", Config(), ()), {"api"}, {"w": 1})
        return click.unstyle(capsys.readouterr().out)

    own = folder / "stretto"
    own.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert "  stretto start w --follow --server http://127.0.0.1:1\n" in tried()
    monkeypatch.setattr(sys, "argv", [str(own)])
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert f"  {own} show w/1 --server http://127.0.0.1:1\n" in tried()
    monkeypatch.setattr(shutil, "which", lambda _name: str(own))
    assert "  stretto runs --server http://127.0.0.1:1\n" in tried()
