"""`stretto config show`: values, where they came from, masks, problems."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stretto.cli.main import cli
from stretto.config.catalogue import SETTINGS

FILE = """\
[database]
url = "postgresql://u:${PASSWORD:hush}@h/db"
[node]
trust = "9s"
"""
UNITS = "which is none of ms, s, m, h, d"
KINDS = "memory, sqlite, postgresql, mariadb, mysql"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("STRETTO_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def show(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["config", "show", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "hush" not in result.output
    return result


def shown(*arguments: str) -> Any:
    result = show("--json", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_every_setting_is_shown(folder: Path) -> None:
    lines = show().stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(SETTINGS)
    assert (
        lines[0] == f"{'database.url':32}  sqlite:///{folder}/home/.local/share/stretto/stretto.db  default"
    )
    assert all(line.endswith("  default") for line in lines)


def test_where_values_come_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "stretto.toml").write_text(FILE)
    monkeypatch.setenv("STRETTO_NODE_WATCH", "5s")
    result = show("--changed", "--set", "node.calls_at_once=5")
    assert result.stdout == (
        "database.url        postgresql://u:***@h/db  stretto.toml:2\n"
        "node.trust          9s                       stretto.toml:4\n"
        "node.watch          5s                       STRETTO_NODE_WATCH\n"
        "node.calls_at_once  5                        --set node.calls_at_once\n"
    )


def test_sections_and_settings_can_be_chosen() -> None:
    lines = show("params", "node.trust").stdout.splitlines()
    names = ["node.trust", "params.entries", "params.size", "params.visits", "params.memory"]
    assert [line.split()[0] for line in lines] == names


def test_nothing_that_is_changed() -> None:
    assert (show("--changed").exit_code, show("--changed").stdout) == (0, "")


def test_names_that_do_not_exist() -> None:
    result = show("node.trusst")
    assert result.exit_code == 2
    assert "there is no section and no setting `node.trusst`; did you mean `node.trust`?" in result.stderr
    assert show("qqqqq").stderr.endswith("no setting `qqqqq`\n")


def test_as_json(folder: Path) -> None:
    (folder / "stretto.toml").write_text(FILE)
    names = ["database.url", "node.trust", "node.calls_at_once", "limits.empty_workflow", "engine.leaves"]
    found = shown(*names, "--database", "mysql://u:hush@h/db")
    assert found["file"] == "stretto.toml"
    values = {each["name"]: (each["value"], each["origin"]) for each in found["settings"]}
    assert values == {
        "database.url": ("mysql://u:***@h/db", {"source": "flag", "name": "--database"}),
        "node.trust": ("9s", {"source": "file", "name": "stretto.toml", "line": 4, "column": 1}),
        "node.calls_at_once": (1_000, {"source": "default"}),
        "engine.leaves": (None, {"source": "default"}),
        "limits.empty_workflow": (True, {"source": "default"}),
    }
    assert found["settings"][0]["variable"] == "STRETTO_DATABASE_URL"


def test_as_json_without_a_file() -> None:
    assert shown("params")["file"] is None


def test_the_file_can_be_named(folder: Path) -> None:
    (folder / "other.yaml").write_text("node: {trust: 9s}\n")
    assert show("node.trust", "--config", "other.yaml").stdout == "node.trust  9s  other.yaml:1\n"


def test_problems(folder: Path) -> None:
    (folder / "stretto.toml").write_text('[node]\ntrust = "15min"\ncalls_at_once = 0\n')
    result = show("--database", "postgres://u:hush@h/db")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        f'stretto.toml:2:1: node.trust: "15min" has the unit `min`, {UNITS} [bad-duration]',
        "    hint: did you mean `15m`?",
        "stretto.toml:3:1: node.calls_at_once: it must be at least 1 [out-of-range]",
        f"--database: database.url: the kind of database is none of {KINDS} [unknown-value]",
        "    hint: did you mean `postgresql`?",
        "3 problems in the settings",
    ]


def test_one_problem() -> None:
    assert show("--set", "x=1").stderr.endswith("\n1 problem in the settings\n")


def test_problems_as_json() -> None:
    result = show("--json", "--set", "node.calls_at_once=0")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {
        "problems": [
            {
                "origin": {"source": "flag", "name": "--set node.calls_at_once"},
                "problem": {
                    "code": "out-of-range",
                    "path": "node.calls_at_once",
                    "message": "it must be at least 1",
                },
            }
        ]
    }


def test_the_group_says_what_it_has() -> None:
    result = CliRunner().invoke(cli, ["config", "--help"])
    assert result.exit_code == 0
    assert "show" in result.output
