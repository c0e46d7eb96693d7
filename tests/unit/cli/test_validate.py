"""`stretto validate`: messages, exit codes, JSON, several files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stretto.cli.files import read_file
from stretto.cli.main import cli
from stretto.definition import Limits
from stretto.model.problem import Code

GOOD = '{"workflow": {"id": "a", "steps": [{"step": {"id": "s", "type": "NoOp"}}]}}'
EDGE = '"transition": {"successors": {"t": "true"}}'
BAD = f'{{"workflow": {{"id": "a",\n "steps": [{{"step": {{"id": "s", "type": "NoOp", {EDGE}}}}}]}}}}'


COLUMN = BAD.splitlines()[1].index('"t"') + 1


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(GOOD)
    (tmp_path / "bad.json").write_text(BAD)
    return tmp_path


def run(*arguments: str, given: bytes | None = None) -> Result:
    result = CliRunner().invoke(cli, ["validate", *arguments], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_valid_file() -> None:
    result = run("good.json")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "good.json: valid: a (1 step)\n", "")


def test_a_file_with_several_definitions(folder: Path) -> None:
    (folder / "two.yaml").write_text("workflow: {id: a}\n---\nworkflow: {id: b}\n")
    assert run("two.yaml").stdout == "two.yaml: valid: a (0 steps)\ntwo.yaml: valid: b (0 steps)\n"


def test_problems_go_to_the_error_stream() -> None:
    result = run("bad.json")
    assert (result.exit_code, result.stdout) == (2, "")
    first, last = result.stderr.splitlines()
    path = "workflow.steps[0].step.transition.successors.t"
    said = "the successor `t` of step `s` does not exist in steps [unknown-step]"
    assert first == f"bad.json:2:{COLUMN}: {path}: {said}"
    assert last == "bad.json: 1 problem"


def test_hints_have_a_line_of_their_own(folder: Path) -> None:
    (folder / "typo.json").write_text('{"workflow": {"id": "a", "stebs": []}}')
    assert "    hint: did you mean `steps`?\n" in run("typo.json").stderr


def test_every_file_is_checked() -> None:
    result = run("nowhere.json", "bad.json", "good.json", ".")
    assert result.exit_code == 2
    assert "nowhere.json: there is no such file [unreadable]" in result.stderr
    assert "bad.json: 1 problem" in result.stderr
    assert ".: this is a folder, give the files in it [unreadable]" in result.stderr
    assert result.stdout == "good.json: valid: a (1 step)\n"


def test_json() -> None:
    result = run("--json", "good.json", "bad.json", "nowhere.json")
    assert (result.exit_code, result.stderr) == (2, "")
    files: list[dict[str, Any]] = json.loads(result.stdout)["files"]
    assert [each["valid"] for each in files] == [True, False, False]
    assert files[0] == {
        "file": "good.json",
        "valid": True,
        "workflows": ["a"],
        "problems": [],
        "warnings": [],
    }
    [problem] = files[1]["problems"]
    assert (problem["code"], problem["line"], problem["column"]) == (Code.UNKNOWN_STEP, 2, COLUMN)
    assert [each["code"] for each in files[2]["problems"]] == [Code.UNREADABLE]


def test_standard_input() -> None:
    assert run("-", given=GOOD.encode()).stdout == "-: valid: a (1 step)\n"
    assert run("-", given=b"workflow: {id: y}").stdout == "-: valid: y (0 steps)\n"
    assert run("-", given=b"").exit_code == 2
    assert "too-large" in run("--maestro-limits", "-", given=b" " * 300_000).stderr


def test_too_large(folder: Path) -> None:
    (folder / "big.yaml").write_bytes(b"#" * 300_000)
    assert "the text has 300,000 bytes, the limit is 262,144" in run("--maestro-limits", "big.yaml").stderr


def test_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    problem = read_file("-", Limits())
    assert "standard input is closed" in str(problem)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(folder: Path) -> None:
    (folder / "good.json").chmod(0)
    assert "Permission denied [unreadable]" in run("good.json").stderr


def test_names_that_no_file_can_have() -> None:
    assert "[unreadable]" in run("a\0b").stderr
    assert "[unreadable]" in run("x" * 5_000).stderr


def test_names_that_are_no_text(folder: Path) -> None:
    name = os.fsdecode(b"\xff.json")
    (folder / name).write_text(GOOD)
    assert run(name).stdout == "\ufffd.json: valid: a (1 step)\n"
    assert json.loads(run("--json", name).stdout)["files"][0]["file"] == "\ufffd.json"


def test_a_loop_of_links(folder: Path) -> None:
    (folder / "loop.json").symlink_to("loop.json")
    assert "[unreadable]" in run("loop.json").stderr


def test_the_ending_decides_the_form(folder: Path) -> None:
    for name, ok in (("x.json", False), ("x.yaml", True), ("x.YML", True), ("x.txt", True)):
        (folder / name).write_text("workflow: {id: a}\n")
        assert (run(name).exit_code == 0) is ok


def test_first_version() -> None:
    result = run("--first-version", "good.json")
    assert (result.exit_code, "[missing-owner]" in result.stderr) == (2, True)


def test_templates(folder: Path) -> None:
    (folder / "t.yaml").write_text("workflow: {id: a, jobs: [job: {id: j, type: spark}]}\n")
    assert run("t.yaml").exit_code == 2
    assert run("--template", "spark=Notebook", "t.yaml").exit_code == 0
    for bad in ("spark", "=x", "spark="):
        result = run("--template", bad, "t.yaml")
        assert (result.exit_code, "NAME=TYPE" in result.stderr) == (2, True)


def test_no_file_at_all() -> None:
    assert run().exit_code == 2


def test_a_warning_is_shown_and_forbids_nothing(folder: Path) -> None:
    (folder / "odd.yaml").write_text(
        "workflow: {id: w, jobs: [{job: {id: a, type: NoOp, retries: 3}}]}", encoding="utf-8"
    )
    result = run("odd.yaml")
    assert (result.exit_code, result.stdout) == (0, "odd.yaml: valid: w (1 step)\n")
    assert result.stderr.startswith("odd.yaml:1:52: warning: workflow.jobs[0].job.retries: `retries` is not ")
    assert "[not-a-field]\n    hint: write `+retry`" in result.stderr
    (found,) = json.loads(run("--json", "odd.yaml").stdout)["files"]
    assert (found["valid"], found["problems"]) == (True, [])
    assert [each["code"] for each in found["warnings"]] == ["not-a-field"]


PUSHED = """\
workflow:
  id: pushed
  {field}
  steps: [{{step: {{id: s, type: NoOp, params: {{p: {{type: LONG, {param}}}}}}}}}]
"""
FLOWS = """
from stretto import step, workflow

@step
def work() -> None: ...

@workflow({option})
def flow() -> None:
    work()
"""


@pytest.mark.parametrize(
    ("field", "param", "said"),
    [
        ("timeout: 0", "value: 1", "workflow.timeout: pushed: timeout [0 ms]/[0] cannot be non-positive"),
        ("params: {t: {type: LONG, value: 0}}\n  timeout: ${t}", "value: 1", "cannot be non-positive"),
        ("params: {a: {type: LONG, expression: b}, b: {type: LONG, expression: a}}", "value: 1", "cyclic"),
        ("params: {a: {type: LONG, expression: nobody + 1}}", "value: 1", "nothing has that name"),
        ("params: {a: {type: LONG, expression: 1 / 0}}", "value: 1", "pushed: "),
        ("params: {a: {type: LONG, value: 1, validator: param > 5}}", "value: 1", "pushed: "),
    ],
)
def test_what_a_push_refuses_is_refused_here(folder: Path, field: str, param: str, said: str) -> None:
    (folder / "pushed.yaml").write_text(PUSHED.format(field=field, param=param))
    result = run("pushed.yaml")
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_what_a_push_refuses_of_a_python_file_is_refused_here(folder: Path) -> None:
    (folder / "timed_flows.py").write_text(FLOWS.format(option="timeout=0"))
    result = run("timed_flows.py")
    assert (result.exit_code, "`timeout` is 0" in result.stderr) == (2, True), result.stderr


def test_a_workflow_without_steps_is_a_warning(folder: Path) -> None:
    (folder / "empty.yaml").write_text("workflow: {id: empty}\n")
    result = run("empty.yaml")
    assert result.exit_code == 0
    assert "warning: workflow.steps: empty: the workflow has no steps" in result.stderr
