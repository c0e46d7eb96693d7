"""`stretto logs` beside a run that goes on, is killed, and continued: each a process of its own."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.command import STRETTO
from tests.acceptance.processes import PATIENCE, Running, until

SLOW = """
workflow:
  id: slow
  steps:
    - step:
        id: load
        type: Shell
        params:
          command:
            type: STRING
            value: |
              echo "try $$STRETTO_ATTEMPT"; echo warned >&2
              while ! test -e go; do sleep 0.05; done
              if ! test -e passed; then touch passed; exit 3; fi
              printf 'done'
        retry_policy: {error_retry_limit: 2, backoff: {type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1}}
        transition: {successors: {after: "true"}}
    - step: {id: after, type: Shell, params: {command: {type: STRING, value: echo after it}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("STRETTO_"):
            monkeypatch.delenv(name)
    (tmp_path / "slow.yaml").write_text(SLOW)
    return tmp_path


def logs(folder: Path, *arguments: str) -> list[str]:
    with Running("logs", *arguments, folder=folder) as command:
        code, out, err = command.ended()
    assert (code, err) == (0, "")
    return out.splitlines()


def has_printed(folder: Path) -> None:
    def is_there() -> bool:
        files = list((folder / ".stretto/stretto.logs/slow/0k").glob("1.1.w*.pack"))
        return bool(files) and all(word in files[-1].read_text() for word in ("try 1\n", "warned\n"))

    until(is_there, "the first output")


def line_of(command: Running) -> str:
    assert command.process.stdout is not None
    return command.process.stdout.readline()


def test_lines_are_seen_while_they_come_and_the_end_with_the_run(folder: Path) -> None:
    with Running("run", "slow.yaml", folder=folder) as run:
        has_printed(folder)
        with (
            Running("logs", "-f", "slow/1:load", folder=folder) as step,
            Running("logs", "--follow", "slow/1", "--stream", "stdout", folder=folder) as whole,
        ):
            assert {line_of(step), line_of(step)} == {"try 1\n", "warned\n"}
            assert line_of(whole) == "load  | try 1\n"
            assert run.process.poll() is None
            (folder / "go").touch()
            code, out, err = step.ended()
            assert (code, err) == (0, "")
            assert sorted(out.splitlines()) == ["done", "try 2", "warned"]
            code, out, err = whole.ended()
            assert (code, err) == (0, "")
            assert out.splitlines() == ["load/2 | try 2", "load/2 | done", "after | after it"]
        assert run.ended()[0] == 0


def test_what_was_printed_before_a_kill_is_there(folder: Path) -> None:
    (folder / "passed").touch()
    with Running("run", "slow.yaml", folder=folder) as run:
        has_printed(folder)
        run.killed()
    assert sorted(logs(folder, "slow/1:load")) == ["try 1", "warned"]
    (folder / "go").touch()
    with Running("run", "slow.yaml", "--resume", folder=folder) as run:
        assert run.ended()[0] == 0
    lines = logs(folder, "slow/1:load")
    assert sorted(lines[:2]) == sorted(lines[2:4]) == ["try 1", "warned"]
    assert lines[4:] == ["done"]
    packs = [path.read_text() for path in (folder / ".stretto/stretto.logs/slow/0k").iterdir()]
    assert len(packs) == 2  # each process has its own
    assert all(text.startswith("# slow/1/1:load/1 ") for text in packs)  # the same attempt, launched twice


def test_an_interrupt_is_quiet(folder: Path) -> None:
    with Running("run", "slow.yaml", folder=folder) as run:
        has_printed(folder)
        with Running("logs", "-f", "slow/1:load", folder=folder) as command:
            line_of(command)
            command.send(signal.SIGINT)
            code, _, err = command.ended()
            assert (code, err) == (130, "")
        run.killed()


def test_a_reader_that_has_enough_is_no_error(folder: Path) -> None:
    text = "workflow: {id: many, jobs: [{job: {id: a, type: Shell, command: seq 100000}}]}"
    (folder / "many.yaml").write_text(text)
    with Running("run", "many.yaml", folder=folder) as run:
        assert run.ended()[0] == 0
    command = f"'{STRETTO}' logs many/1:a | head -n 2"
    done = subprocess.run(  # noqa: S602 - our own command
        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.stdout, done.stderr) == ("1\n2\n", "")
    assert len(logs(folder, "many/1:a")) == 100_000
