"""`stretto runtimes`: what is listed and shown, and what other commands make of the types that are here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.runtimes.packages import install, on_path, runtime

from stretto.cli.main import cli

SHOUT = """
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to\\nshout."},
        "times": {"type": "integer", "default": 1},
    },
    "required": ["text"],
}
Runtime.params = lambda self, step: Injected(schema=SCHEMA)
"""


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    with on_path(tmp_path / "site", monkeypatch) as folder:
        install(folder, "shouting", {"Shout": "shout:Runtime"}, {"shout": runtime() + SHOUT}, "2.1")
        yield folder


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_list(path: Path) -> None:
    install(path, "broken", {"Broken": "nothing:Here"}, {})
    lines = run("runtimes", "list").stdout.splitlines()
    assert "Shell       built in      usable" in lines
    assert "Shout       shouting 2.1  usable" in lines
    [broken] = [line for line in lines if line.startswith("Broken")]
    assert broken.startswith("Broken      broken 1.0    not usable  the runtime of Broken steps, broken 1.0")
    assert [line for line in lines if line.startswith("Titus")] == [
        "Titus       -             not usable  no package that brings it is installed"
    ]


def test_the_list_as_json() -> None:
    found = json.loads(run("runtimes", "list", "--json").stdout)["runtimes"]
    [shout] = [each for each in found if each["type"] == "Shout"]
    assert shout == {
        "type": "Shout",
        "origin": "shouting 2.1",
        "entry_point": "shout:Runtime",
        "usable": True,
        "params": [
            {"name": "text", "type": "a text", "required": True, "description": "What to\nshout."},
            {"name": "times", "type": "a whole number", "default": 1},
        ],
    }


def test_one_type() -> None:
    result = run("runtimes", "show", "sHOUT")
    assert result.exit_code == 0
    assert result.stdout == (
        "Shout  shouting 2.1\n"
        "  made by shout:Runtime\n"
        "  text   a text, required: What to shout.\n"
        "  times  a whole number, default 1\n"
    )


def test_types_of_ours() -> None:
    assert "  needs one of: command, script\n" in run("runtimes", "show", "Shell").stdout
    assert run("runtimes", "show", "NoOp").stdout == "NoOp  built in\n  no parameters of its own\n"


def test_one_type_as_json() -> None:
    [found] = json.loads(run("runtimes", "show", "Shout", "--json").stdout)
    assert found["schema"]["required"] == ["text"]


def test_one_that_can_not_be_used() -> None:
    result = run("runtimes", "show", "Titus")
    assert result.exit_code == 1
    assert result.stdout.startswith("Titus  -\n  not usable: no package that brings it is installed\n")


def test_one_that_is_refused_stands_below_ours(path: Path) -> None:
    install(path, "greedy", {"Shell": "greedy:Runtime"}, {"greedy": runtime()})
    result = run("runtimes", "show", "shell")
    assert result.exit_code == 0
    assert result.stdout.index("Shell  built in") < result.stdout.index("Shell  greedy 1.0")
    assert (
        "the type Shell comes with Stretto; that of greedy 1.0 (greedy:Runtime) is not used" in result.stdout
    )


def test_one_that_is_not_there() -> None:
    result = run("runtimes", "show", "Shoot")
    assert result.exit_code == 2
    assert "there is no type `Shoot` here; did you mean `Shout`?" in result.stderr
    assert "there are Http, Join" in run("runtimes", "show", "qqqq").stderr


FLOW = "workflow: {id: w, steps: [{step: {id: a, type: %s, params: {text: {type: LONG, value: 5}}}}]}"


def test_validate_knows_the_types_and_their_parameters(tmp_path: Path) -> None:
    for kind, code, said in (
        ("Shout", 2, "the parameter `text` of step `a`, of type Shout, must be a text, not 5 [bad-param]"),
        ("Shout2", 2, "did you mean `Shout`?"),
        ("NoOp", 0, ""),
    ):
        (tmp_path / "w.yaml").write_text(FLOW % kind)
        for more in ((), ("--maestro-limits",)):
            result = run("validate", "w.yaml", *more)
            assert result.exit_code == code
            assert said in result.stderr


def test_the_schema_knows_them_too(path: Path) -> None:
    install(path, "broken", {"Broken": "nothing:Here"}, {})
    schema = json.loads(run("schema").stdout)
    kinds = {
        each["if"]["properties"]["type"]["anyOf"][0]["enum"][0]
        for each in schema["$defs"]["TypedStep"]["allOf"]
    }
    assert kinds == {"Python", "Shell", "Shout"}
