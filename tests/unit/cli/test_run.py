"""`stretto run`: real runs in this process, on real databases."""

import json
import re
from pathlib import Path

import pytest
from tests.unit.cli.running.files import FAILING, PAIR, as_json, said, stretto

from stretto.cli import run
from stretto.cli.running.log import Log
from stretto.cli.running.screen import Screen

QUIET = ("--db", "memory:")
TOOK = re.compile(r" \d+\.\ds")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "pair.yaml").write_text(PAIR)
    (tmp_path / "failing.yaml").write_text(FAILING)
    return tmp_path


# --------------------------------------------------------------------------------------------------- the view
def test_only_a_terminal_that_can_do_it_is_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(run._view(None), Screen)
    assert isinstance(run._view("plain"), Log)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(run._view(None), Log)


def test_two_databases_are_one_too_many() -> None:
    result = stretto("run", "pair.yaml", "--db", "memory:", "--database", "sqlite:///other.db")
    assert result.exit_code == 2
    assert "Invalid value for '--database' / '--db': it is given twice; keep one of them" in result.stderr


# ------------------------------------------------------------------------------------------------ the outcome
def test_a_run_that_succeeds() -> None:
    result = stretto("run", "pair.yaml")
    lines = [TOOK.sub("", line) for line in said(result)]
    assert result.exit_code == 0, result.output
    assert lines == [
        "pair/1, version 1, .stretto/stretto.db",
        "✓ first SUCCEEDED",
        "✓ each SUCCEEDED (2 of 2)",
        "✓ last SUCCEEDED",
        "✓ pair/1 SUCCEEDED",
    ]


def test_a_run_that_fails_says_why_and_where_to_look() -> None:
    result = stretto("run", "failing.yaml")
    assert result.exit_code == 1
    assert said(result)[-4:] == [
        said(result)[-4],
        "bad: exit code 3: one",
        "    two",
        "More: stretto show failing/1:bad",
    ]
    assert "✗ failing/1 FAILED" in said(result)[-4]


def test_in_memory_nothing_is_kept(folder: Path) -> None:
    result = stretto("run", "failing.yaml", *QUIET)
    assert result.exit_code == 1
    assert "in memory: nothing is kept" in result.stdout
    assert "More:" not in result.stdout
    assert not (folder / ".stretto").exists()


def test_the_folder_of_the_database_keeps_itself_out_of_version_control(folder: Path) -> None:
    stretto("run", "pair.yaml")
    assert (folder / ".stretto" / ".gitignore").read_text() == "*\n"
    assert (folder / ".stretto" / "stretto.db").exists()


def test_from_standard_input() -> None:
    assert stretto("run", "-", *QUIET, given=PAIR.encode()).exit_code == 0


# ----------------------------------------------------------------------------------------------- for programs
def test_one_object_at_the_end() -> None:
    result = stretto("run", "pair.yaml", "--json")
    made = as_json(result)
    assert (result.exit_code, result.stderr) == (0, "")
    assert made["run"] == "pair/1/1"
    assert made["status"] == "SUCCEEDED"
    assert made["interrupted"] is False
    assert made["database"] == ".stretto/stretto.db"
    steps = {each["step_id"]: each for each in made["steps"]}
    assert steps["first"]["outputs"] == {"rows": 7}
    assert steps["each"]["iterations"] == {"ended": 2, "failed": 0, "total": 2}
    assert steps["last"]["status"] == "SUCCEEDED"
    assert made["start_time"] <= made["end_time"]


def test_a_line_for_each_change() -> None:
    result = stretto("run", "failing.yaml", "--json-lines", *QUIET)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [each["type"] for each in lines if each["type"] != "step"] == ["begun", "ended"]
    bad = [each for each in lines if each["type"] == "step"][-1]
    assert (bad["step_id"], bad["status"]) == ("bad", "FATALLY_FAILED")
    assert bad["reason"].startswith("exit code 3")
    assert lines[-1]["steps"][1] == {"step_id": "after", "status": "NOT_CREATED"}


# ------------------------------------------------------------------------------------------------- parameters
def test_parameters_have_the_declared_type() -> None:
    made = as_json(stretto("run", "pair.yaml", "--json", "-p", "table=a $b", "-p", "days=4,5,6"))
    assert made["steps"][1]["iterations"]["total"] == 3
    shown = stretto("show", "pair/1").stdout
    assert "table  a $b\n" in shown
    assert "days   [4, 5, 6]\n" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("tabel=x", "no parameter `tabel`; it has table (STRING), days (LONG_ARRAY); did you mean `table`?"),
        ("days=1,two", "Param [days] is a LONG_ARRAY: expected whole numbers with commas between"),
        ("table", "`table` is not NAME=VALUE"),
        ("=x", "`=x` is not NAME=VALUE"),
    ],
)
def test_parameters_that_are_wrong(given: str, message: str, folder: Path) -> None:
    result = stretto("run", "pair.yaml", "-p", given)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (folder / ".stretto").exists()


def test_all_wrong_parameters_at_once() -> None:
    result = stretto("run", "pair.yaml", "-p", "a=1", "-p", "days=x", "-p", "table=1", "-p", "table=2")
    assert result.exit_code == 2
    for message in ("no parameter `a`", "Param [days]", "`table` is given twice"):
        assert message in result.stderr


def test_a_workflow_without_parameters_says_so(folder: Path) -> None:
    (folder / "none.yaml").write_text("workflow: {id: none, jobs: [{job: {id: a, type: NoOp}}]}")
    assert "it has none" in stretto("run", "none.yaml", "-p", "a=1").stderr


def test_a_parameter_that_nobody_may_change() -> None:
    result = stretto("run", "failing.yaml", "-p", "mode=b")
    assert result.exit_code == 2
    assert "CONSTANT" in result.stderr


STEPS = """
workflow:
  id: steps
  params: {n: {type: LONG, value: 1}}
  steps:
    - step: {id: a, type: NoOp, params: {m: {type: LONG, expression: n * 10}}}
    - step: {id: b, type: NoOp, params: {m: {type: LONG, value: 5}}}
"""


def test_parameters_of_single_steps(folder: Path) -> None:
    (folder / "steps.yaml").write_text(STEPS)
    given = ("--step-param", "a:n=2", "--step-param", "b:m=7")
    assert stretto("run", "steps.yaml", *given).exit_code == 0
    assert "m  20\n" in stretto("show", "steps/1:a").stdout
    assert "m  7\n" in stretto("show", "steps/1:b").stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("aa:n=2", "workflow `steps` has no step `aa`; did you mean `a`?"),
        ("a:n=x", "Param [n] is a LONG: expected a whole number"),
        ("a=2", "`a=2` is not STEP:NAME=VALUE"),
    ],
)
def test_parameters_of_single_steps_that_are_wrong(given: str, message: str, folder: Path) -> None:
    (folder / "steps.yaml").write_text(STEPS)
    result = stretto("run", "steps.yaml", "--step-param", given)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (folder / ".stretto").exists()


def test_a_run_that_goes_on_has_its_parameters_of_steps() -> None:
    result = stretto("run", "pair.yaml", "--resume", "--step-param", "a:n=2")
    assert result.exit_code == 2
    assert "leave --step-param or --resume out" in result.stderr


def test_default_parameters_can_be_given() -> None:
    assert stretto("run", "pair.yaml", "-p", "TARGET_RUN_DATE=20261101", *QUIET).exit_code == 0


# ---------------------------------------------------------------------------------------------------- files
def test_a_file_with_problems_has_the_messages_of_validate(folder: Path) -> None:
    (folder / "bad.yaml").write_text("workflow: {id: bad, jobs: [{job: {id: a, type: Shel}}]}")
    ran, validated = stretto("run", "bad.yaml"), stretto("validate", "bad.yaml")
    assert ran.exit_code == 2
    assert ran.stderr == validated.stderr
    assert not (folder / ".stretto").exists()


def test_a_file_that_is_not_there() -> None:
    result = stretto("run", "none.yaml")
    assert (result.exit_code, "there is no such file" in result.stderr) == (2, True)


def test_an_empty_file(folder: Path) -> None:
    (folder / "empty.yaml").write_text("")
    assert stretto("run", "empty.yaml").exit_code == 2


TWO = """
workflow:
  id: parent
  jobs:
    - job: {id: before, type: NoOp, transition: [child]}
    - subworkflow: {id: child, subworkflow_id: kid}
---
workflow: {id: kid, jobs: [{job: {id: k, type: Shell, command: echo kid}}]}
"""


def test_workflows_of_one_file_can_run_each_other(folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO)
    assert stretto("run", "two.yaml").exit_code == 0
    assert "kid/1 " in stretto("runs", "--workflow", "kid").stdout
    shown = stretto("show", "parent/1:child.k").stdout
    assert "\nstdout\n  kid\n" in shown


def test_which_workflow(folder: Path) -> None:
    (folder / "two.yaml").write_text(TWO)
    assert as_json(stretto("run", "two.yaml", "--workflow", "kid", "--json", *QUIET))["run"] == "kid/1/1"
    result = stretto("run", "two.yaml", "--workflow", "kit")
    assert result.exit_code == 2
    assert "`kit` is not in the file; it has parent, kid" in result.stderr


def test_a_type_that_nothing_here_can_run(folder: Path) -> None:
    loop = "{foreach: {id: f, ranges: {i: {to: 2}}, jobs: [{job: {id: a, type: Notebook}}]}}"
    (folder / "h.yaml").write_text(f"workflow: {{id: h, jobs: [{loop}]}}")
    result = stretto("run", "h.yaml", *QUIET)
    assert result.exit_code == 2
    assert "step `a` of workflow `h` has the type Notebook" in result.stderr
    assert "types that can be run here: NoOp, Python, Shell, Sleep, Wait" in result.stderr


# -------------------------------------------------------------------------------------------------- versions
def test_the_same_content_is_not_published_again(folder: Path) -> None:
    versions = [as_json(stretto("run", "pair.yaml", "--json"))["workflow_version_id"] for _ in range(2)]
    assert versions == [1, 1]
    (folder / "pair.yaml").write_text(PAIR.replace("sales", "orders"))
    assert as_json(stretto("run", "pair.yaml", "--json"))["workflow_version_id"] == 2
    (folder / "pair.yaml").write_text(PAIR.replace("sales", "orders").replace("owner: ann", "owner: bob"))
    assert as_json(stretto("run", "pair.yaml", "--json"))["workflow_version_id"] == 3  # other properties


def test_who_runs_a_workflow_without_an_owner_owns_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "zoe")
    stretto("run", "failing.yaml")
    assert "started by zoe" in stretto("show", "failing/1").stdout
    assert as_json(stretto("show", "failing/1:bad", "--json"))["step"]["owner"] == "zoe"
    assert as_json(stretto("run", "failing.yaml", "--json"))["workflow_version_id"] == 1


def test_triggers_are_not_switched_on(folder: Path) -> None:
    text = "properties: {owner: ann}\nworkflow: {id: t, time_triggers: [{cron: '0 0 * * *', type: CRON}],"
    (folder / "t.yaml").write_text(text + " steps: [{step: {id: a, type: NoOp}}]}")
    result = stretto("run", "t.yaml")
    assert result.exit_code == 0
    assert "the triggers of `t` are not switched on" in result.stdout


# ---------------------------------------------------------------------------------------------------- resume
def test_nothing_to_go_on_with() -> None:
    result = stretto("run", "pair.yaml", "--resume")
    assert result.exit_code == 2
    assert "there is no unfinished run of workflow `pair` here" in result.stderr
    stretto("run", "failing.yaml")
    result = stretto("run", "failing.yaml", "--resume")
    assert "; the newest, failing/1, ended FAILED\n" in result.stderr
    assert "hint: leave --resume out" in result.stderr


def test_options_that_exclude_each_other() -> None:
    assert "leave --param or --resume out" in stretto("run", "pair.yaml", "--resume", "-p", "table=x").stderr
    assert "--resume needs one that is kept" in stretto("run", "pair.yaml", "--resume", *QUIET).stderr


# -------------------------------------------------------------------------------------------------- databases
def test_a_database_by_its_address(folder: Path) -> None:
    assert stretto("run", "failing.yaml", "--db", "sqlite:///own.db").exit_code == 1
    assert (folder / "own.db").exists()
    result = stretto("run", "failing.yaml", "--database", "sqlite:///own.db")
    assert "More: stretto show failing/2:bad --db sqlite:///own.db" in result.stdout


def test_a_database_by_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRETTO_DATABASE_URL", f"sqlite:///{folder}/env.db")
    assert stretto("run", "pair.yaml").exit_code == 0
    assert (folder / "env.db").exists()
    monkeypatch.delenv("STRETTO_DATABASE_URL")
    (folder / "s.toml").write_text('[database]\nurl = "sqlite:///toml.db"\n')
    result = stretto("run", "failing.yaml", "--config", "s.toml", "--set", "node.stop_within=1s")
    assert "failing/1:bad --config s.toml --set node.stop_within=1s" in result.stdout


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite:////no/such/folder/x.db", "there is no folder /no/such/folder"),
        ("oracle://x", "the kind of database is none of"),
        ("runs.db", "the address of a database begins with its kind"),
    ],
)
def test_databases_that_can_not_be_used(address: str, message: str) -> None:
    result = stretto("run", "pair.yaml", "--db", address)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_that_can_not_be_made(folder: Path) -> None:
    (folder / ".stretto").write_text("a file")
    result = stretto("run", "pair.yaml")
    assert result.exit_code == 2
    assert "the folder .stretto for the database can not be made here" in result.stderr
    assert "--db memory:" in result.stderr


def test_a_parameter_of_25_000_times_25_000_passes_is_refused(folder: Path) -> None:
    loops = (
        "long s = 0; for (int i = 0; i < 25000; i += 1) { for (int j = 0; j < 25000; j += 1) { s += 1; } }"
    )
    params = (
        f"params: {{n: {{type: LONG, expression: '{loops} return s + m;'}}, m: {{type: LONG, value: 1}}}}"
    )
    (folder / "costly.yaml").write_text(
        f"workflow: {{id: costly, {params}, steps: [{{step: {{id: a, type: NoOp}}}}]}}"
    )
    result = stretto("run", "costly.yaml", "--param", "m=2", *QUIET)
    assert result.exit_code == 2
    assert "[n] takes more steps or memory" in result.stderr
