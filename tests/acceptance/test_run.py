"""`stretto run` with real processes: outcomes, interrupts, a kill -9 in the middle, and going on."""

import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.acceptance.command import STRETTO
from tests.acceptance.processes import Running, lives, number_in, until
from tests.waiting import PATIENCE

CHAIN = """
workflow:
  id: chain
  owner: ann
  jobs:
    - job: {id: first, type: Shell, command: echo one >> log.txt, transition: [long]}
    - job:
        id: long
        type: Shell
        command: 'echo $$$$ > pid.txt; test -e go || sleep 60; echo two >> log.txt'
        transition: [last]
    - job: {id: last, type: Shell, command: echo three >> log.txt}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("STRETTO_"):
            monkeypatch.delenv(name)
    (tmp_path / "chain.yaml").write_text(CHAIN)
    return tmp_path


def stretto(folder: Path, *arguments: str) -> tuple[int, str, str]:
    with Running(*arguments, folder=folder) as command:
        return command.ended()


def interrupted_twice(command: Running) -> None:
    """Two that come together would be one."""
    command.send(signal.SIGINT)
    command.until_it_says("Ctrl-C ends it now")
    command.send(signal.SIGINT)


def log(folder: Path) -> list[str]:
    return (folder / "log.txt").read_text().split()


# --------------------------------------------------------------------------------------------------- outcomes
def test_to_the_end(folder: Path) -> None:
    (folder / "go").touch()
    code, out, err = stretto(folder, "run", "chain.yaml")
    assert (code, err) == (0, "")
    assert "chain/1 SUCCEEDED" in out.splitlines()[-1]
    assert log(folder) == ["one", "two", "three"]


def test_a_failure(folder: Path) -> None:
    text = CHAIN.replace("echo one >> log.txt", "exit 7").replace("id: first,", "id: first, failure_mode: x,")
    (folder / "bad.yaml").write_text(text)
    code, _, err = stretto(folder, "run", "bad.yaml")
    assert code == 2
    assert "failure_mode" in err
    steps = [{"step": {"id": "a", "type": "Shell", "retry_policy": {"error_retry_limit": 0}}}]
    steps[0]["step"]["params"] = {"command": {"type": "STRING", "value": "exit 7"}}
    (folder / "f.json").write_text(json.dumps({"workflow": {"id": "f", "steps": steps}}))
    code, out, err = stretto(folder, "run", "f.json", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["steps"][0]["reason"] == "exit code 7"


def test_a_step_may_call_stretto_itself(folder: Path) -> None:
    text = (
        f"workflow: {{id: w, jobs: [{{job: {{id: a, type: Shell, command: '{STRETTO} runs > inner.txt'}}}}]}}"
    )
    (folder / "w.yaml").write_text(text)
    assert stretto(folder, "run", "w.yaml")[0] == 0
    assert "w/1" in (folder / "inner.txt").read_text()


# --------------------------------------------------------------------------------------------------- a kill
def test_killed_in_the_middle_and_continued(folder: Path) -> None:
    """Nobody waits for the lease of a process that is seen to be gone: this one would last for longer than
    the test has patience.
    """
    lease = ("--set", "node.expiry=10m", "--set", "node.watch_longer=11m")
    with Running("run", "chain.yaml", *lease, folder=folder) as command:
        pid = number_in(folder / "pid.txt")
        command.killed()
        until(lambda: not lives(pid), "the end of the command")
    assert log(folder) == ["one"]
    (folder / "go").touch()
    code, out, _ = stretto(folder, "run", "chain.yaml", "--resume")
    assert code == 0
    assert "chain/1 goes on; it was IN_PROGRESS" in out
    assert log(folder) == ["one", "two", "three"]
    assert stretto(folder, "run", "chain.yaml", "--resume")[0] == 2


def test_without_resume_a_new_run_starts(folder: Path) -> None:
    """What was cut short goes on first: the run strategy lets one run at a time."""
    with Running("run", "chain.yaml", folder=folder) as command:
        number_in(folder / "pid.txt")
        command.killed()
    (folder / "go").touch()
    code, out, _ = stretto(folder, "run", "chain.yaml")
    assert code == 0
    assert "chain/2 SUCCEEDED" in out.splitlines()[-1]
    _, listed, _ = stretto(folder, "runs", "--json")
    assert [(each["run"], each["status"]) for each in json.loads(listed)["runs"]] == [
        ("chain/2/1", "SUCCEEDED"),
        ("chain/1/1", "SUCCEEDED"),
    ]


# ------------------------------------------------------------------------------------------------- interrupts
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_lets_work_end_and_says_how_to_go_on(folder: Path, number: int, code: int) -> None:
    with Running("run", "chain.yaml", "--db", "sqlite:///own.db", folder=folder) as command:
        pid = number_in(folder / "pid.txt")
        command.send(number)
        until(lambda: "PAUSED" in stretto(folder, "runs", "--db", "sqlite:///own.db")[1], "the pause")
        assert lives(pid)
        os.kill(pid, signal.SIGTERM)  # the command ends, as it would have by itself
        ended, out, _ = command.ended()
    assert ended == code
    assert "waiting up to 30s for chain/1:long to end; Ctrl-C ends it now" in out
    assert out.splitlines()[-2:] == [
        "chain/1 was interrupted and is paused. Go on with:",
        "  stretto run chain.yaml --db sqlite:///own.db --resume",
    ]


def test_a_second_interrupt_ends_it_at_once(
    folder: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    with Running("run", "chain.yaml", folder=folder) as command:
        pid = number_in(folder / "pid.txt")
        interrupted_twice(command)
        with at_most(20):
            code, out, _ = command.ended()
        assert not lives(pid)
    assert code == 130
    assert "Go on with:" in out
    (folder / "go").touch()
    assert stretto(folder, "run", "chain.yaml", "--resume")[0] == 0
    assert log(folder) == ["one", "two", "three"]


def test_an_interrupted_run_is_stopped_by_a_new_one(folder: Path) -> None:
    with Running("run", "chain.yaml", "--set", "node.stop_within=500ms", folder=folder) as command:
        number_in(folder / "pid.txt")
        command.send(signal.SIGINT)
        assert command.ended()[0] == 130
    (folder / "go").touch()
    code, out, _ = stretto(folder, "run", "chain.yaml")
    assert code == 0
    assert "chain/1, interrupted before, is stopped; --resume goes on instead" in out
    _, listed, _ = stretto(folder, "runs", "--json")
    assert json.loads(listed)["runs"][1]["status"] == "STOPPED"


def test_in_memory_an_interrupt_is_the_end(folder: Path) -> None:
    with Running("run", "chain.yaml", "--db", "memory:", folder=folder) as command:
        number_in(folder / "pid.txt")
        interrupted_twice(command)
        code, out, _ = command.ended()
    assert code == 130
    assert "nothing of it is kept" in out


def test_the_reader_goes_away(folder: Path) -> None:
    with Running("run", "chain.yaml", "--set", "node.stop_within=500ms", folder=folder) as command:
        assert command.process.stdout is not None
        pid = number_in(folder / "pid.txt")
        command.process.stdout.close()
        os.kill(pid, signal.SIGTERM)  # there is something to tell, and nobody to hear it
        code = command.process.wait(60)
        assert command.process.stderr is not None
        assert command.process.stderr.read() == ""
        assert not lives(pid)
    assert code == 141
    assert "PAUSED" in stretto(folder, "runs")[1]


# --------------------------------------------------------------------------------------------------- together
def test_two_at_once_on_one_database(folder: Path) -> None:
    job = "{job: {id: a, type: Shell, command: 'sleep 1; echo other >> log.txt'}}"
    (folder / "other.yaml").write_text(f"workflow: {{id: other, jobs: [{job}]}}")
    with Running("run", "chain.yaml", folder=folder) as first:
        number_in(folder / "pid.txt")
        code, out, _ = stretto(folder, "run", "other.yaml")
        assert code == 0
        assert "other/1 SUCCEEDED" in out
        interrupted_twice(first)
        assert first.ended()[0] == 130
    assert "other" in log(folder)


# --------------------------------------------------------------------------------------------------- terminal
def test_on_a_terminal(folder: Path) -> None:
    (folder / "go").touch()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [STRETTO, "run", "chain.yaml"],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "80", "LINES": "24", "PYTHONIOENCODING": "utf-8"},
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], PATIENCE)[0]:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    assert process.wait(PATIENCE) == 0
    os.close(ours)
    text = seen.decode()
    assert text.startswith("\x1b[?25l")
    assert text.endswith("\x1b[?25h")
    assert "\x1b[J" in text
    assert "✓" in text
    assert "3 of 3 steps done" in text
