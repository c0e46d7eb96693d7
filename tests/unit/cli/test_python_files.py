"""Workflows in Python on the command line."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stretto.cli.main import cli
from stretto.cli.python_files import flows_of

FLOWS = """
from datetime import date
from stretto import step, workflow

TOLD = []

@step
async def extract(day: date) -> list[int]:
    return [day.day]

@step
def load(rows: list[int], factor: int) -> int:
    return sum(rows) * factor

@workflow(on_status={"succeeded": lambda change: print("told", change.id)})
def etl(day: date, factor: int = 2) -> int:
    return load(extract(day), factor)

@workflow
def whole(names: dict[str, int] | None = None) -> int:
    return etl(day=date(2026, 11, 15))
"""
USER = """
from flows import etl
"""
WRONG = """
from stretto import step, workflow

@step
def one() -> int:
    return 1

@workflow
def branching() -> None:
    if one() > 1:
        one()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "flows.py").write_text(FLOWS)
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    before = set(sys.modules)
    flows_of.cache_clear()
    yield tmp_path
    for name in set(sys.modules) - before:
        if name in {"flows", "user", "wrong", "bad", "package", "package.flows", "package.neighbour"}:
            del sys.modules[name]
    flows_of.cache_clear()


def stretto(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def result_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def outputs(found: dict[str, Any]) -> dict[str, Any]:
    return {step["step_id"]: step.get("outputs", {}).get("result") for step in found["steps"]}


@pytest.mark.parametrize("name", ["flows.py:etl", "flows:etl", "user.py:etl"])
def test_a_workflow_is_run(folder: Path, name: str) -> None:
    del folder
    found = result_of(stretto("run", name, "-p", "day=2026-11-15", "--db", "memory:", "--json"))
    assert outputs(found) == {"extract": [15], "load": 30}


@pytest.mark.parametrize("name", ["package/flows.py:etl", "package.flows:etl"])
def test_a_file_in_a_package_is_its_module(folder: Path, name: str) -> None:
    """Its functions have the names that importers know, and it may import its neighbours."""
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "flows.py").rename(folder / "package" / "neighbour.py")
    (folder / "package" / "flows.py").write_text("from .neighbour import etl\n")
    found = result_of(stretto("run", name, "-p", "day=2026-11-15", "--db", "memory:", "--json"))
    assert outputs(found) == {"extract": [15], "load": 30}
    assert "package.neighbour:extract" in stretto("convert", name, "--to", "yaml").stdout


def test_a_file_in_a_folder_that_no_import_can_name(folder: Path) -> None:
    (folder / "no-package").mkdir()
    (folder / "no-package" / "__init__.py").write_text("")
    (folder / "flows.py").rename(folder / "no-package" / "flows.py")
    shown = stretto("convert", "no-package/flows.py:etl", "--to", "yaml").stdout
    assert "flows:extract" in shown
    assert "package.flows:extract" not in shown


def test_with_those_that_it_runs(folder: Path) -> None:
    found = result_of(stretto("run", str(folder / "flows.py:whole"), "--db", "memory:", "--json"))
    assert found["status"] == "SUCCEEDED"
    result = stretto("run", "flows.py", "--workflow", "whole", "-p", 'names={"a": 1}', "--db", "memory:")
    assert result.exit_code == 0
    assert "told etl/1" in result.stdout


def test_functions_are_remembered_and_runs_go_on(folder: Path) -> None:
    del folder
    assert stretto("run", "flows.py:etl", "-p", "day=2026-11-15").exit_code == 0
    result = stretto("run", "flows.py:etl", "--resume")
    assert result.exit_code == 2
    assert "no unfinished run" in result.stderr


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["-p", "day=2026-11-15", "-p", "factor=two"], "factor"),
        (["-p", "day=2026-11-15", "-p", "day=2026-11-16"], "`day` is given twice"),
        (["-p", "factor=two", "-p", "factor=3", "-p", "factor=4"], "`factor` is given twice"),
        ([], "the workflow `etl` needs `day`"),
        (["-p", "days=1"], "has no parameter `days`"),
    ],
)
def test_bad_parameters(folder: Path, given: list[str], text: str) -> None:
    del folder
    result = stretto("run", "flows.py:etl", *given, "--db", "memory:")
    assert result.exit_code == 2
    assert text in result.stderr


def test_validate_and_graph(folder: Path) -> None:
    result = stretto("validate", "flows.py", "flows.py:whole")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "flows.py: valid: etl (2 steps)",
        "flows.py: valid: whole (2 steps)",
        "flows.py:whole: valid: whole (2 steps)",
        "flows.py:whole: valid: etl (2 steps)",
    ]
    assert "extract [Python]" in stretto("graph", "flows.py:etl").stdout
    assert "id: etl" in stretto("convert", "flows.py:etl", "--to", "yaml").stdout
    (folder / "a:b").write_text("workflow: {id: plain, jobs: []}")  # a file that only looks like Python
    assert "plain" in stretto("validate", "a:b").output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere.py", "there is no such file"),
        ("nowhere:etl", "it can not be imported: ModuleNotFoundError"),
        ("flows.py:elt", "there is no workflow `elt` in it [unknown-value]\n    hint: did you mean `etl`?"),
        ("flows.py:zzzzzz", "hint: it has etl, whole"),
        ("user.py", "there is no workflow in it [empty]\n    hint: name one that it imports: user.py:etl"),
        ("empty.py", "hint: write @workflow"),
        ("empty.py:etl", "there is no workflow `etl` in it [unknown-value]"),
        ("wrong.py", "wrong.py:10:1: "),
        ("syntax.py", "syntax.py:2:1: SyntaxError"),
        ("raising.py", "raising.py:3:1: it can not be imported: ZeroDivisionError"),
        ("leaving.py", "it can not be imported: SystemExit"),
        ("lambdas.py", "lambdas.py:3:1: "),
    ],
)
def test_what_can_not_be_used(folder: Path, name: str, text: str) -> None:
    (folder / "empty.py").write_text("")
    (folder / "syntax.py").write_text("x = 1\ndef f(:\n")
    (folder / "raising.py").write_text("x = 1\n\n1 / 0\n")
    (folder / "leaving.py").write_text("exit(3)\n")
    (folder / "lambdas.py").write_text("from stretto import step\n\nstep(lambda: 1)\n")
    result = stretto("validate", name)
    assert result.exit_code == 2
    assert text in result.stderr
    first = result.stderr.splitlines()[0]
    assert first.count(f"{name}:") == 1, first  # the message does not repeat the place


MISSING = """
from stretto import step, workflow

@step(retries=0, failure_mode="IGNORE_FAILURE")
def broken() -> int:
    raise ValueError("broken")

@workflow
def child() -> int:
    return broken()

@workflow
def parent() -> int:
    return child()
"""


def test_a_missing_result_is_shown_as_none_and_not_as_its_placeholder(folder: Path) -> None:
    (folder / "flows.py").write_text(MISSING)
    assert stretto("run", "flows.py:parent", "--db", "sqlite:///r.db").exit_code == 0
    for step in ("child/1:broken", "parent/1:return"):
        words = stretto("show", step, "--db", "sqlite:///r.db").stdout.split()
        assert words[words.index("result") + 1 :][:2] == ["(no", "value)"]
        shown = json.loads(stretto("show", step, "--json", "--db", "sqlite:///r.db").stdout)
        assert "evaluated_result" not in shown["step"]["params"]["result"]


RAISING = """
from stretto import step, workflow

@step
def one() -> int:
    return 1

@workflow
def bad() -> int:
    one()
    return {}["missing"]

@workflow
def good() -> int:
    return one()
"""
CAN_NOT_BE_MADE = "the workflow `bad` can not be made: KeyError: 'missing'"


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "flows.py"),
        ("convert", "flows.py", "--to", "yaml"),
        ("run", "flows.py:bad", "--db", "memory:"),
        ("graph", "flows.py:bad"),
        ("serve", "--app", "flows.py", "--port", "0"),
        ("serve", "--load", "flows.py:bad", "--port", "0"),
    ],
    ids=" ".join,
)
def test_what_a_workflow_function_raises_is_a_mistake_at_its_line(
    folder: Path, words: tuple[str, ...]
) -> None:
    (folder / "flows.py").write_text(RAISING)
    result = stretto(*words)
    assert result.exit_code == 2
    assert result.exception is None or isinstance(result.exception, SystemExit)
    said = result.output.replace("\n", " ")
    assert re.search(f"flows.py(:bad)?:11:(1:)? {re.escape(CAN_NOT_BE_MADE)}", said), said


def test_a_workflow_runs_beside_one_with_a_mistake(folder: Path) -> None:
    (folder / "flows.py").write_text(RAISING)
    found = result_of(stretto("run", "flows.py:good", "--db", "memory:", "--json"))
    assert outputs(found) == {"one": 1}
