"""`stretto graph` and `stretto schema`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stretto.cli import graph
from stretto.cli.main import cli
from stretto.definition import parse
from stretto.definition.schema import definition_schema
from stretto.runtimes.listing import built_in_schemas

TEXT = "workflow: {id: one, jobs: [job: {id: a, type: noop, transition: b}, job: {id: b, type: noop}]}\n"
TWO = TEXT + "---\nworkflow: {id: two, jobs: [job: {id: c, type: noop}]}\n"


def run(*arguments: str, given: str = TWO) -> Result:
    result = CliRunner().invoke(cli, ["graph", *arguments], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_tree_of_every_workflow() -> None:
    assert run("-").stdout == "one: 2 steps\na [NoOp]\nb [NoOp]\n\ntwo: 1 step\nc [NoOp]\n"


def test_one_of_them() -> None:
    assert run("-", "--workflow", "two").stdout == "two: 1 step\nc [NoOp]\n"
    result = run("-", "--workflow", "three")
    assert (result.exit_code, "`three` is not in the file; it has one, two" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("form", "start"), [("mermaid", "flowchart"), ("dot", "digraph"), ("svg", "<svg"), ("json", "{")]
)
def test_other_formats(form: str, start: str) -> None:
    result = run("-", "--format", form, given=TEXT)
    assert (result.exit_code, result.stdout.startswith(start)) == (0, True)
    if form == "json":
        assert [node["id"] for node in json.loads(result.stdout)["nodes"]] == ["a", "b"]


def test_into_a_file(tmp_path: Path) -> None:
    target = tmp_path / "x.svg"
    assert run("-", "--format", "svg", "-o", str(target), given=TEXT).stdout == ""
    assert target.read_text(encoding="utf-8").startswith("<svg")
    result = run("-", "-o", str(tmp_path / "no" / "x.svg"), given=TEXT)
    assert result.exit_code != 0
    assert "No such file" in result.stderr


def test_a_file_that_is_not_there_is_named() -> None:
    result = run("nowhere.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("nowhere.yaml: there is no such file")


def test_what_is_not_valid_is_not_drawn() -> None:
    result = run("-", given=TEXT.replace("transition: b", "transition: x"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("-:1:")
    assert "problem; `stretto validate` shows more" in result.stderr


def test_a_file_that_is_not_there() -> None:
    result = run("nowhere.yaml")
    assert (result.exit_code, "there is no such file" in result.stderr) == (2, True)


def test_plain_characters_where_others_can_not_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        encoding = "ascii"

    text = TEXT.replace("transition: b", "transition: [b, c]").replace(
        "]}\n", ", job: {id: c, type: noop}]}\n"
    )
    assert "├─ b" in run("-", given=text).stdout
    workflow = parse(text).workflow
    monkeypatch.setattr("sys.stdout", Terminal())
    assert "|- b" in graph._tree(workflow)


def test_schema() -> None:
    result = CliRunner().invoke(cli, ["schema"])
    assert json.loads(result.stdout) == definition_schema(built_in_schemas())
