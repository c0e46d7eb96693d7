"""A reader that goes away early ends a command quietly, with the documented exit code."""

import subprocess
from pathlib import Path

import pytest
from tests.acceptance.command import STRETTO
from tests.acceptance.processes import PATIENCE

HELLO = "workflow: {id: hello, owner: ann, jobs: [{job: {id: say, type: Shell, command: seq 50000}}]}"
CLOSED = 141


def piped(folder: Path, command: str) -> tuple[int, str, str]:
    """The exit code of the command before the pipe, what its reader saw, and what was complained of."""
    script = f"'{STRETTO}' {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(  # noqa: S603 - our own command
        ["/bin/bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pipes")
    (made / "hello.yaml").write_text(HELLO)
    assert piped(made, "run hello.yaml | cat")[0] == 0
    return made


@pytest.mark.parametrize(
    "command",
    [
        "runs",
        "show hello/1",
        "why hello/1",
        "--help",
        "runs --json",
        "runtimes list",
        "schema",
        "config show",
        "logs hello/1:say",
    ],
)
def test_a_reader_that_reads_nothing(folder: Path, command: str) -> None:
    assert piped(folder, f"{command} | true") == (CLOSED, "", "")


def test_a_reader_that_has_enough(folder: Path) -> None:
    assert piped(folder, "logs hello/1:say | head -n 1") == (CLOSED, "1\n", "")


def test_errors_into_a_closed_pipe(folder: Path) -> None:
    code, _, complaint = piped(folder, "show nope/1 2>&1 >/dev/null | true")
    assert code in {2, CLOSED}
    assert complaint == ""


def test_nobody_goes_away(folder: Path) -> None:
    assert piped(folder, "runs | cat")[0] == 0
    assert piped(folder, "show nope/1 | cat")[0] == 2
    assert piped(folder, "--help | cat")[0] == 0
    assert piped(folder, "nope | cat")[0] == 2
