"""What `--app` imports, and by which names its functions are known."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from stretto.cli.applications import load_apps
from stretto.server.functions import Functions

FLOWS = """
from stretto import step, workflow
from os.path import basename  # of another module


@step
def extract(day: str) -> int:
    return len(day)


@step(name="own name")
def named() -> int:
    return 1


def plain(rows: int) -> int:
    return rows


def _private() -> int:
    return 1


def numbers():
    yield 1


@workflow
def inner(day: str) -> int:
    return extract(day)


@workflow
def week(day: str = "monday") -> int:
    return inner(day)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_file_brings_steps_plain_functions_and_workflows(folder: Path) -> None:
    (folder / "appflows.py").write_text(FLOWS)
    app = load_apps(["appflows.py"])
    assert sorted(each.name for each in app.functions) == [
        "appflows:extract",
        "appflows:plain",
        "extract",
        "named",
        "own name",
        "plain",
    ]
    assert sorted(app.flows) == ["inner", "week"]
    assert Functions(app.flows.values(), app.functions).names == {each.name for each in app.functions}


def test_a_file_is_imported_once_however_often_it_is_named(folder: Path) -> None:
    (folder / "apponce.py").write_text("with open('seen', 'a') as file:\n    file.write('x')\n")
    load_apps(["apponce.py", str(folder / "apponce.py"), "apponce"])
    assert (folder / "seen").read_text() == "x"


def test_names_that_two_functions_have_are_used_in_full(folder: Path) -> None:
    code = folder / "jobs"
    code.mkdir()
    for name in ("appone", "apptwo", "_hidden"):
        (code / f"{name}.py").write_text("def load() -> int:\n    return 1\n")
    assert sorted(each.name for each in load_apps(["jobs"]).functions) == ["appone:load", "apptwo:load"]


def test_a_package_brings_what_is_inside(folder: Path) -> None:
    package = folder / "apppackage"
    (package / "inside").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("raise SystemExit(3)\n")
    (package / "jobs.py").write_text("def count() -> int:\n    return 1\n")
    (package / "inside" / "__init__.py").write_text("def deep() -> int:\n    return 1\n")
    wanted = ["apppackage.inside:deep", "apppackage.jobs:count", "count", "deep"]
    assert sorted(each.name for each in load_apps(["apppackage"]).functions) == wanted
    assert sorted(each.name for each in load_apps([str(package)]).functions) == wanted


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("appnothing", "`appnothing`: it can not be imported: ModuleNotFoundError"),
        ("appnothing.py", "`appnothing.py`: there is no such file"),
        ("not a module", "neither a module nor a file nor a folder"),
        ("empty", "there is no Python file in this folder"),
        ("appbroken.py", "`appbroken.py:1`: SyntaxError"),
        ("apprefused.py", "`apprefused.py:4`: "),
        ("appjobs", "`appjobs`: `appjobs/appwrong.py:2`: it can not be imported: TypeError"),
    ],
)
def test_what_can_not_be_imported_ends_the_command(folder: Path, name: str, said: str) -> None:
    (folder / "empty").mkdir()
    (folder / "appbroken.py").write_text("def broken(:\n")
    (folder / "appjobs").mkdir()
    (folder / "appjobs" / "appwrong.py").write_text("\nint(no=1)\n")
    (folder / "apprefused.py").write_text(
        "from stretto.model.errors import InvalidRequest\n\n\nraise InvalidRequest('no', hint='do it')\n"
    )
    with pytest.raises(click.BadParameter) as caught:
        load_apps([name])
    assert said in caught.value.message
    assert caught.value.exit_code == 2
