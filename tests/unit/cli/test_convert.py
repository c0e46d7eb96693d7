"""`stretto convert`: the ordinary definition, whatever form it was written in."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stretto.cli.main import cli
from stretto.definition import parse

DSL = """
workflow:
  id: etl
  owner: alice
  dag: sequential
  jobs:
    - job: {id: a, type: NoOp}
    - job: {id: b, type: NoOp}
"""
TWO = """
workflows:
  jobs: [{job_id: j, func_key: f}]
  definitions:
    - {workflow_id: one, tasks: [{task_id: t, job_id: j}]}
    - {workflow_id: two, tasks: [{task_id: t, job_id: j}]}
"""


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_json_is_the_model(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["convert", "-"], input=DSL)
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert [next(iter(step.values()))["id"] for step in made["workflow"]["steps"]] == ["a", "b"]


def test_yaml_is_read_back_as_the_same_definition(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["convert", "-", "--to", "yaml"], input=DSL)
    assert parse(result.stdout) == parse(DSL)


def test_several_workflows_need_a_choice_for_json_only(runner: CliRunner) -> None:
    refused = runner.invoke(cli, ["convert", "-"], input=TWO)
    assert refused.exit_code == 2
    assert "one, two" in refused.stderr
    assert runner.invoke(cli, ["convert", "-", "--to", "yaml"], input=TWO).stdout.count("workflow:") == 2
    chosen = runner.invoke(cli, ["convert", "-", "--workflow", "two"], input=TWO)
    assert json.loads(chosen.stdout)["workflow"]["id"] == "two"
    unknown = runner.invoke(cli, ["convert", "-", "--workflow", "three"], input=TWO)
    assert unknown.exit_code == 2
    assert "it has one, two" in unknown.stderr


def test_a_file_is_written_or_the_reason_said(runner: CliRunner, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert runner.invoke(cli, ["convert", "-", "-o", str(target)], input=DSL).exit_code == 0
    assert json.loads(target.read_text())["workflow"]["id"] == "etl"
    missing = runner.invoke(cli, ["convert", "-", "-o", str(tmp_path / "no" / "out.json")], input=DSL)
    assert missing.exit_code != 0
    assert "out.json" in missing.stderr


def test_a_bad_definition_is_not_converted(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["convert", "-"], input="workflow: {id: x, steps: 5}")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "wrong-type" in result.stderr
