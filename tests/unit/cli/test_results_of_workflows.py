"""What a workflow function returned, as `stretto run` and `stretto show` print it."""

from pathlib import Path

import pytest
from tests.api.serving import served
from tests.unit.cli.running.files import stretto

SOURCE = """
from stretto import step, workflow

@step
def double(number: int) -> int:
    return 2 * number

@step
def words(text: str) -> dict[str, str]:
    return {"said": text}

@step
def fail() -> int:
    raise ValueError("no")

@workflow
def doubles(numbers: list[int]) -> list[int]:
    return double.map(numbers)

@workflow
def saying(text: str = "a\\x1b[31m line\\nand more") -> dict[str, str]:
    return words(text)

@workflow
def failing() -> int:
    return fail()

@workflow
def nothing() -> None:
    double(1)

@workflow
def outer() -> list[int]:
    return doubles([5])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "results.py").write_text(SOURCE)
    return tmp_path


def result_shown(*arguments: str) -> list[str]:
    """The lines below the title."""
    lines = stretto("show", *arguments).stdout.splitlines()
    if "Result" not in lines:
        return []
    below = lines[lines.index("Result") + 1 :]
    return [line.strip() for line in below[: below.index("Timeline")]]


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("doubles", ["-p", "numbers=[1, 2]"], "[2, 4]"),
        ("doubles", ["-p", "numbers=[]"], "[]"),
        ("outer", [], "[10]"),
    ],
)
def test_the_result_is_printed_and_shown(name: str, given: list[str], result: str) -> None:
    ran = stretto("run", f"results.py:{name}", *given)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines()[-1] == f"result: {result}"
    assert result_shown(f"{name}/1") == [result]


def test_a_text_can_not_write_lines_or_control_the_terminal() -> None:
    ran = stretto("run", "results.py:saying")
    assert ran.stdout.splitlines()[-1].startswith('result: {"said":')
    assert "\x1b" not in ran.stdout
    assert len(result_shown("saying/1")) == 1


@pytest.mark.parametrize("name", ["failing", "nothing"])
def test_who_returns_nothing_has_no_result(name: str) -> None:
    assert "result:" not in stretto("run", f"results.py:{name}").stdout
    assert result_shown(f"{name}/1") == []


@pytest.mark.parametrize(
    ("returns", "shown"),
    [
        ({"step": "a", "param": "x", "type": "LONG"}, ["5"]),
        ({"step": "a", "param": "y", "type": "LONG"}, []),
        ({"step": "b", "param": "x", "type": "LONG"}, []),
        ({"step": "a"}, []),
        ("a", []),
    ],
)
def test_a_server_shows_the_result_that_the_definition_names(returns: object, shown: list[str]) -> None:
    step = {"id": "a", "type": "NoOp", "params": {"x": {"type": "LONG", "value": 5}}}
    body = {"properties": {"owner": "ann"}, "workflow": {"id": "wf", "steps": [{"step": step}]}}
    with served() as server:
        server.post("/workflows", {**body, "returns": returns})
        server.start("wf")
        server.ended("wf", 1)
        assert result_shown("wf/1", "--server", server.url) == shown
