"""`stretto run` obeys every kind of setting: definitions, parameters, expressions."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.running.files import stretto

QUIET = ("--db", "memory:")
COUNTING = "for (int i = 0; i < 200; i += 1) { x = x + 1; } return x;"
RUN = f"""
workflow:
  id: sums
  a: 1
  b: 2
  '!total<long>': 'int x = 0; {COUNTING}'
  jobs:
    - job: {{id: only, type: NoOp}}
"""
STEP = f"""
workflow:
  id: sums
  jobs:
    - job: {{id: first, type: NoOp, '!total<long>': 'int x = 0; {COUNTING}', transition: [second]}}
    - job: {{id: second, type: NoOp}}
"""
ENDLESS = """
workflow:
  id: sums
  jobs:
    - job: {id: first, type: NoOp, '!total<long>': 'int x = 0; while (true) { x = 1; } return x;'}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(RUN)
    (tmp_path / "step.yaml").write_text(STEP)
    (tmp_path / "endless.yaml").write_text(ENDLESS)
    return tmp_path


def outcome(file: str, *settings: str) -> tuple[int, str, str]:
    """Exit code, what became of the run, and everything that was said."""
    flags = [word for each in settings for word in ("--set", each)]
    result = stretto("run", file, *QUIET, "--json", *flags)
    status = json.loads(result.stdout)["status"] if result.stdout else ""
    return result.exit_code, status, result.stdout + result.stderr


@pytest.mark.parametrize("file", ["run.yaml", "step.yaml"])
def test_with_the_defaults_all_is_well(file: str) -> None:
    assert outcome(file)[:2] == (0, "SUCCEEDED")


@pytest.mark.parametrize(
    "setting",
    ["expressions.loop=50", "expressions.visits=300", "expressions.length=20", "expressions.memory=500"],
)
def test_limits_of_expressions_hold_for_parameters_of_a_run(setting: str) -> None:
    code, _, text = outcome("run.yaml", setting)
    assert code == 2
    assert "total" in text


@pytest.mark.parametrize("setting", ["expressions.loop=50", "expressions.visits=300"])
def test_limits_of_expressions_hold_for_parameters_of_a_step(setting: str) -> None:
    assert outcome("step.yaml", setting)[:2] == (1, "FAILED")


def test_the_limits_hold_in_the_other_process_too() -> None:
    """A few visits are allowed here: so it is evaluated there."""
    assert outcome("step.yaml", "engine.expression_visits=10")[:2] == (0, "SUCCEEDED")
    code, status, text = outcome("step.yaml", "engine.expression_visits=10", "expressions.loop=50")
    assert (code, status) == (1, "FAILED")
    assert "loop" in text.lower()


def test_how_long_an_expression_may_take_elsewhere() -> None:
    code, status, text = outcome(
        "endless.yaml",
        "expressions.within=1s",
        "expressions.workers=1",
        "expressions.loop=2000000000",
        "expressions.visits=2000000000",
    )
    assert (code, status) == (1, "FAILED")
    assert "1" in text


def test_how_many_parameters_a_request_may_carry() -> None:
    result = stretto("run", "run.yaml", *QUIET, "-p", "a=3", "-p", "b=4", "--set", "params.entries=1")
    assert result.exit_code == 2
    assert "can carry 1 parameters" in result.stderr


def test_how_large_parameters_may_be(folder: Path) -> None:
    (folder / "large.yaml").write_text(
        f"workflow: {{id: w, a: {'x' * 2_000}, jobs: [{{job: {{id: j, type: NoOp}}}}]}}"
    )
    assert outcome("large.yaml")[:2] == (0, "SUCCEEDED")
    code, _, text = outcome("large.yaml", "params.size=1KB")
    assert code == 2
    assert "1,024" in text or "1024" in text


def test_what_a_definition_may_contain() -> None:
    code, _, text = outcome("step.yaml", "limits.steps=1")
    assert code == 2
    assert "steps" in text


def test_a_step_size_limit_holds_for_steps(folder: Path) -> None:
    (folder / "large.yaml").write_text(
        f"workflow: {{id: w, jobs: [{{job: {{id: j, type: NoOp, a: {'x' * 40_000}}}}}]}}"
    )
    assert outcome("large.yaml")[:2] == (0, "SUCCEEDED")
    assert outcome("large.yaml", "params.size=20KB")[:2] == (1, "FAILED")
