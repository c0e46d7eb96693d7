"""`stretto logs` says where the output of Python functions in threads goes, and how to have it kept."""

from pathlib import Path

import pytest
from tests.unit.cli.running.files import stretto

from stretto import Engine, step, workflow

HINT = "a Python function; in a thread it prints to the output of its program or server"


@step
def speak() -> None:
    print("hello")  # noqa: T201


@step(isolation="process")
def speak_apart() -> None:
    print("hello")  # noqa: T201


@step(isolation="process")
def be_quiet() -> None: ...


@workflow
def speaking() -> None:
    speak()
    speak_apart()
    be_quiet()


def test_the_output_of_threads_is_said_to_be_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    with Engine(url).sync() as engine:
        engine.run(speaking)
    assert "hello" in capsys.readouterr().out
    said = stretto("logs", "speaking/1:speak", "--database", url)
    assert said.exit_code == 0
    assert "speaking/1:speak has printed nothing" in said.stderr
    assert f"hint: `speak` is {HINT}" in said.stderr
    assert '`@step(isolation="process")`' in said.stderr
    kept = stretto("logs", "speaking/1:speak_apart", "--database", url)
    assert (kept.stdout, kept.stderr) == ("hello\n", "")
    assert HINT in stretto("logs", "speaking/1:be_quiet", "--database", url).stderr
