"""Warnings about workflows in Python files, as those about definitions in YAML."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stretto.cli.main import cli
from stretto.cli.python_files import flows_of

DOUBTFUL = """
from stretto import step, workflow

@step(retry_if="nope > 1", retries=2)
def risky(n: int) -> int:
    return n

@workflow
def one() -> int:
    return risky(1)
"""
USER = """
from doubtful import one
from stretto import step, workflow

@step
def plain(n: int) -> int:
    return n

@workflow
def outer(used: int = 2) -> int:
    plain(used)
    return one()
"""
FINE = """
from stretto import step, workflow

@step(retry_if="result > 1", retries=2)
def plain(n: int) -> int:
    return n

@workflow
def fine(n: int, m: int = 2) -> list[int]:
    return plain.map([plain(n), plain(m)])
"""
TEXT = "`nope` is read, and nothing here gives it a value [unknown-param]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in {"doubtful": DOUBTFUL, "user": USER, "fine": FINE}.items():
        (tmp_path / f"{name}.py").write_text(text)
    yield tmp_path
    for name in ("doubtful", "user", "fine"):
        sys.modules.pop(name, None)
    flows_of.cache_clear()


def stretto(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def test_a_name_that_nobody_declares_is_a_warning_at_its_workflow() -> None:
    result = stretto("validate", "doubtful.py")
    assert result.exit_code == 0
    assert f"doubtful.py:8:1: warning: workflow.steps[0].step.retry_policy.retry_if: {TEXT}" in result.stderr
    assert "hint: declare `nope` as a parameter" in result.stderr


def test_it_is_among_the_results_for_programs() -> None:
    (found,) = json.loads(stretto("validate", "--json", "doubtful:one").stdout)["files"]
    assert (found["valid"], found["problems"]) == (True, [])
    assert [(each["code"], each["path"].partition(":")[0]) for each in found["warnings"]] == [
        ("unknown-param", "one")
    ]


def test_a_workflow_of_another_file_is_named_and_told_once() -> None:
    lines = stretto("validate", "user.py:outer").stderr.splitlines()
    assert [line for line in lines if TEXT in line] == [
        f"user.py:outer: warning: one: workflow.steps[0].step.retry_policy.retry_if: {TEXT}"
    ]


def test_what_is_meant_is_not_doubted() -> None:
    result = stretto("validate", "fine.py")
    assert result.output == "fine.py: valid: fine (5 steps)\n"
