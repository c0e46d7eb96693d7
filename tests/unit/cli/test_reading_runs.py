"""`stretto runs`, `stretto show`, `stretto why` and `stretto db` on a database with a history."""

import json
import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from tests.unit.cli.running.files import FAILING, PAIR, as_json, stretto

from stretto.cli.style import width_of
from stretto.flow.engine import Engine

LOOP = """
properties: {owner: ann}
workflow:
  id: loop
  steps:
    - foreach:
        id: each
        params: {loop_params: {type: MAP, value: {day: {type: LONG_ARRAY, value: [1, 2, 3]}}}}
        steps:
          - step:
              id: odd
              type: Shell
              params: {command: {type: STRING, value: "test $day = 2"}}
              retry_policy:
                error_retry_limit: 1
                backoff: {type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1}
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which some things were run."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "pair.yaml").write_text(PAIR)
    (folder / "failing.yaml").write_text(FAILING)
    (folder / "loop.yaml").write_text(LOOP)
    with chdir(folder):
        for file in ("pair.yaml", "failing.yaml", "pair.yaml", "loop.yaml"):
            stretto("run", file)
    return folder


IGNORED = """
workflow:
  id: %s
  steps:
    - step:
        id: sh
        type: Shell
        failure_mode: %s
        params: {command: {type: STRING, value: "echo broken >&2; exit 3"}}
        retry_policy: {error_retry_limit: 0}
"""


@pytest.mark.parametrize("parent", [False, True])
def test_a_failure_that_is_ignored_has_its_reason(tmp_path: Path, *, parent: bool) -> None:
    steps = [IGNORED % ("child", "FAIL_AFTER_RUNNING" if parent else "IGNORE_FAILURE")]
    if parent:
        steps.append(
            "workflow: {id: parent, steps: [{subworkflow: {id: sub, failure_mode: IGNORE_FAILURE, params: "
            "{subworkflow_id: {type: STRING, value: child}}}}]}"
        )
    (tmp_path / "w.yaml").write_text("---\n".join(steps))
    with chdir(tmp_path):
        name = "parent" if parent else "child"
        assert stretto("run", "w.yaml", "--workflow", name).exit_code == 0
        shown = stretto("show", f"{name}/1").stdout
        if parent:
            assert "\n  subworkflow run child/1\n" in stretto("show", "parent/1:sub").stdout
            assert "started by parent/1:sub, 20" in stretto("show", "child/1").stdout
    wanted = "the subworkflow run child/1 ended FAILED" if parent else "exit"
    assert any("COMPLETED_WITH_ERROR: " in line and wanted in line for line in shown.splitlines()), shown


RETURNING = """
from stretto import step, workflow


@step
def price(n: int) -> float:
    if n == 3:
        raise ValueError("no price")
    return n * 1.5


@workflow
def priced(n: int) -> float:
    return price(n)
"""


def test_a_function_that_failed_has_no_result(tmp_path: Path) -> None:
    (tmp_path / "priced.py").write_text(RETURNING)
    with chdir(tmp_path):
        stretto("run", "priced.py", "-p", "n=2")
        assert "\n  result    3.0  (output)\n" in stretto("show", "priced/1:price").stdout
        stretto("run", "priced.py", "-p", "n=3")
        failed = stretto("show", "priced/2:price").stdout
    assert "\n  n         3\n" in failed
    assert "\n  result    (no value)\n" in failed


@pytest.fixture(autouse=True)
def here(history: Path) -> Iterator[None]:
    with chdir(history):
        yield


# ------------------------------------------------------------------------------------------------------- runs
def test_runs_newest_first() -> None:
    lines = stretto("runs").stdout.splitlines()
    assert [line.split()[1:3] for line in lines] == [
        ["loop/1", "FAILED"],
        ["pair/2", "SUCCEEDED"],
        ["failing/1", "FAILED"],
        ["pair/1", "SUCCEEDED"],
    ]
    assert "3 done" in lines[1]
    assert lines[2].endswith("1 failed  bad: exit code 3: one two")


def test_filters() -> None:
    assert len(stretto("runs", "--workflow", "pair").stdout.splitlines()) == 2
    assert len(stretto("runs", "--status", "failed", "--status", "SUCCEEDED").stdout.splitlines()) == 4
    short = stretto("runs", "--limit", "1").stdout.splitlines()
    assert len(short) == 2
    assert "there are older ones" in short[1]
    none = stretto("runs", "--workflow", "pair", "--status", "STOPPED")
    assert none.stdout.startswith("no runs that fit in .stretto/stretto.db")


def test_runs_for_programs() -> None:
    made = as_json(stretto("runs", "--json", "--limit", "3"))
    assert made["more"] is True
    assert made["runs"][2]["run"] == "failing/1/1"
    assert made["runs"][2]["error"] == {"step_id": "bad", "text": "exit code 3: one\ntwo"}
    assert "error" not in made["runs"][1]


def test_bad_options() -> None:
    assert stretto("runs", "--status", "broken").exit_code == 2
    assert stretto("runs", "--limit", "0").exit_code == 2


def test_where_nothing_was_run(tmp_path: Path) -> None:
    with chdir(tmp_path):
        result = stretto("runs")
        assert result.exit_code == 0
        assert result.stdout == "no runs in .stretto/stretto.db; `stretto run FILE` makes one\n"
        assert as_json(stretto("runs", "--json")) == {"runs": [], "more": False}
        assert stretto("show", "pair/1").exit_code == 2
        assert "nothing was run here yet" in stretto("why", "pair/1").stderr
        assert os.listdir() == []  # noqa: PTH208 - nothing is made by looking


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            "pare",
            "no runs that fit in .stretto/stretto.db: there is no workflow [pare], did you mean `pair`?",
        ),
        ("zzz", "no runs that fit in .stretto/stretto.db: there is no workflow [zzz]"),
    ],
)
def test_runs_of_a_workflow_that_does_not_exist(wrong: str, said: str) -> None:
    result = stretto("runs", "--workflow", wrong)
    assert (result.exit_code, result.stdout) == (0, f"{said}\n")


def test_in_memory_there_is_nothing_to_read() -> None:
    assert "nothing was run here yet" in stretto("runs", "--db", "memory:").stderr


# ------------------------------------------------------------------------------------------------------- show
def test_a_run() -> None:
    lines = stretto("show", "pair/2").stdout.splitlines()
    assert lines[0].startswith("✓ pair/2 SUCCEEDED ")
    assert lines[1].startswith("  version 1, started by ")
    assert lines[2:5] == ["Parameters", "  table  sales", "  days   [1, 2]"]
    steps = lines[lines.index("Steps") + 1 : lines.index("Timeline")]
    assert [line.split()[:3] for line in steps] == [
        ["✓", "first", "Shell"],
        ["✓", "each", "foreach"],
        ["✓", "last", "Shell"],
    ]
    assert steps[1].endswith("2 iterations")
    assert lines[-1].endswith("SUCCEEDED")


def test_a_run_that_failed() -> None:
    text = stretto("show", "failing/1/1").stdout
    assert "FATALLY_FAILED: exit code 3: one two" in text
    assert "○ after" in text
    assert "NOT_CREATED" in text


def test_iterations_that_did_not_end_well_are_named() -> None:
    text = stretto("show", "loop/1").stdout
    assert "3 iterations, 2 failed: each[1] (day=1), each[3] (day=3)" in text
    why = stretto("why", "loop/1").stdout
    assert "each: 3 iterations, 2 failed: each[1] (day=1), each[3] (day=3)" in why
    assert "3 iterations, 2 failed: each[1] (day=1)" in stretto("why", "loop/1:each").stdout
    step = stretto("show", "loop/1:each").stdout.splitlines()
    assert step[2:4] == ["Iterations", "  3 iterations, 2 failed: each[1] (day=1), each[3] (day=3)"]
    one = stretto("show", "loop/1:each[3]").stdout
    assert one.startswith("✗ loop/1:each[3] FAILED")
    assert "\n  day         3\n" in one
    assert "started by foreach" in one


def test_a_step() -> None:
    text = stretto("show", "pair/1:first").stdout
    assert "\n  Shell, version 1, attempt 1 of 1, 20" in text
    assert "RUNNING" not in text
    assert "  RUNNING\n" in stretto("show", "pair/1:first", "--timeline").stdout
    assert '\n  command  echo rows=7 >> "$STRETTO_OUTPUT"\n' in text
    assert "\n  rows     7  (output)\n" in text
    assert "Attempts" not in text
    assert "\nstdout\n  sales 7\n" in stretto("show", "pair/1:last").stdout


def test_a_step_that_was_tried_again() -> None:
    text = stretto("show", "loop/1:each[1].odd").stdout
    assert "attempt 2 of 2" in text
    assert "\nAttempts\n  1  USER_FAILED " in text
    assert text.count("exit code 1") >= 2
    first = stretto("show", "loop/1:each[1].odd/1").stdout
    assert "attempt 1 of 2" in first


def test_show_for_programs() -> None:
    made = as_json(stretto("show", "pair/1", "--json"))
    assert made["run"]["workflow_instance_id"] == 1
    assert [each["step_id"] for each in made["steps"]] == ["first", "each", "last"]
    step = as_json(stretto("show", "failing/1:bad", "--json"))
    assert step["step"]["artifacts"]["shell"]["exit_code"] == 3
    assert step["attempts"][0]["status"] == "FATALLY_FAILED"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (
            "pair/9",
            "there is no run pair/9 in .stretto/stretto.db\n    hint: the newest of this workflow: pair/2",
        ),
        ("pair/1/7", "there is no run pair/1/7"),
        ("pare/1", "did you mean `pair`?"),
        ("zzz/1", "the newest runs there: loop/1, pair/2, failing/1, pair/1"),
        ("pair/1:none", "Cannot find [none] of the path [none] in workflow [pair]"),
        ("pair/1:each[9]", "Cannot find iteration [9]"),
        ("pair/1:first/4", "Cannot find step attempt pair/1:first/4"),
        ("failing/1:after", "Cannot find a step attempt failing/1:after"),
        ("pair", "`pair` names no run"),
    ],
)
def test_what_is_not_there(address: str, message: str) -> None:
    result = stretto("show", address)
    assert result.exit_code == 2
    assert message in result.stderr


def test_each_run_of_an_instance_goes_by_its_own_name(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    (tmp_path / "failing.yaml").write_text(FAILING.replace("exit 3", f"test -e {flag}"))
    with chdir(tmp_path):
        stretto("run", "failing.yaml")
        flag.touch()
        with Engine("sqlite:///.stretto/stretto.db").sync() as engine:
            again = engine.get("failing", 1).restart()
            assert again.wait(60).status == "SUCCEEDED"
            assert "has ended FAILED" in engine.get("failing", 1, 1).why().sentence
            assert "has ended SUCCEEDED" in again.why().sentence
        assert stretto("show", "failing/1/1").stdout.startswith("✗ failing/1/1 FAILED")
        assert stretto("show", "failing/1/1:bad").stdout.startswith("✗ failing/1/1:bad FATALLY_FAILED")
        assert stretto("show", "failing/1").stdout.startswith("✓ failing/1/2 SUCCEEDED")
        assert stretto("why", "failing/1/1").stdout.startswith(
            "failing/1/1 FAILED: run failing/1/1 has ended"
        )
        assert "✗ bad FATALLY_FAILED" in stretto("why", "failing/1/1:bad").stdout
        assert "✓ bad SUCCEEDED" in stretto("why", "failing/1:bad").stdout
        names = [line.split()[1] for line in stretto("runs").stdout.splitlines()]
        assert names == ["failing/1/2", "failing/1/1"]
        failed = stretto("runs", "--status", "failed").stdout.splitlines()
        assert [line.split()[1] for line in failed] == ["failing/1/1"]


# ------------------------------------------------------------------------------------------------------- why
def test_why_a_run_has_ended() -> None:
    assert stretto("why", "pair/1").stdout == "pair/1 SUCCEEDED: run pair/1 has ended SUCCEEDED\n"


def test_why_a_step_is_where_it_is() -> None:
    lines = stretto("why", "failing/1", "bad").stdout.splitlines()
    assert lines[0] == "✗ bad FATALLY_FAILED"
    assert lines[1].startswith("    it ended FATALLY_FAILED: exit code 3: one")
    assert stretto("why", "failing/1:after").stdout.startswith(
        "○ after NOT_CREATED\n    the run ended FAILED"
    )


def test_why_of_a_step_inside_a_loop() -> None:
    assert "odd FATALLY_FAILED" in stretto("why", "loop/1:each[1].odd").stdout
    assert "odd SUCCEEDED" in stretto("why", "loop/1", "each[2].odd").stdout
    assert stretto("why", "loop/1:each[3]").stdout.startswith(
        "loop/1:each[3] FAILED: run loop/1:each[3] has ended FAILED"
    )
    beyond = stretto("why", "loop/1:each[9].odd")
    assert beyond.exit_code == 2
    assert "Cannot find iteration [9] of step [each]" in beyond.stderr


def test_a_path_with_a_typo() -> None:
    for path in ("eech", "eech[1].odd"):
        result = stretto("show", f"loop/1:{path}")
        assert (result.exit_code, "did you mean `each`?" in result.stderr) == (2, True)


def test_why_for_programs() -> None:
    assert as_json(stretto("why", "failing/1:bad", "--json"))["status"] == "FATALLY_FAILED"
    assert as_json(stretto("why", "failing/1", "--json"))["sentence"].startswith("run ")


def test_why_a_workflow_is_not_started() -> None:
    lines = stretto("why", "pair").stdout.splitlines()
    assert lines == ["pair: version 1 of workflow [pair] has no trigger in force"]
    wrong = stretto("why", "pair", "first")
    assert (wrong.exit_code, "a step is of a run" in wrong.stderr) == (2, True)
    assert stretto("why", "absent").exit_code == 2
    assert "names no run" in stretto("why", "pair:first").stderr


def test_why_of_nothing() -> None:
    result = stretto("why", "failing/1", "none")
    assert (result.exit_code, "Run failing/1 has no step [none]" in result.stderr) == (2, True)
    assert "did you mean `first`?" in stretto("why", "pair/1", "frist").stderr


# ------------------------------------------------------------------------------------------------------- db
def test_upkeep(tmp_path: Path) -> None:
    with chdir(tmp_path):
        missing = stretto("db", "check")
        assert missing.exit_code == 1
        assert missing.stdout.startswith(".stretto/stretto.db: empty;")
        assert "there is no database" in stretto("db", "vacuum").stderr
        assert stretto("db", "upgrade").stdout.startswith(".stretto/stretto.db has schema ")
        assert stretto("db", "check").exit_code == 0
        assert stretto("db", "vacuum").stdout == ".stretto/stretto.db is vacuumed\n"


def test_upkeep_of_what_can_not_be(tmp_path: Path) -> None:
    assert "nothing to look after" in stretto("db", "check", "--db", "memory:").stderr
    result = stretto("db", "upgrade", "--db", f"sqlite:///{tmp_path}/none/x.db")
    assert (result.exit_code, "there is no folder" in result.stderr) == (2, True)
    (tmp_path / "text.db").write_text(json.dumps({"not": "a database"}) * 100)
    assert stretto("db", "upgrade", "--db", f"sqlite:///{tmp_path}/text.db").exit_code == 2


# ------------------------------------------------------------------------------------------------- widths
@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("words", [("runs",), ("show", "failing/1"), ("show", "loop/1"), ("show", "pair/1")])
def test_tables_fit_into_the_terminal(
    words: tuple[str, ...], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = stretto(*words).stdout.splitlines()
    tables = [line for line in lines if line.strip()[:1] in set("✓✗○▶")]
    assert tables
    assert all(width_of(line) <= width for line in tables)


def test_a_wide_terminal_shows_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    piped = stretto("runs").stdout
    monkeypatch.setenv("COLUMNS", "60")
    assert len(stretto("runs").stdout) < len(piped)
    assert len(stretto("runs").stdout.splitlines()) == len(piped.splitlines())
