"""`stretto logs` says where the output of Python functions in threads goes, and how to have it kept."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.running.files import stretto

from stretto import INJECTED, Engine, StepContext, step, workflow

HINT = "a Python function; in a thread of an `Engine` it prints to the output of its program"


@step
def speak() -> None:
    print("hello")  # noqa: T201


@step(isolation="process")
def speak_apart() -> None:
    print("hello")  # noqa: T201


@step(isolation="process")
def be_quiet() -> None: ...


@step
def speak_in_many_ways() -> None:
    print("hello")  # noqa: T201
    sys.stderr.write("a warning\n")
    logging.getLogger("shop.orders").error("no stock")


@step
async def speak_in_the_loop(ctx: StepContext = INJECTED) -> None:
    print("hello, loop")  # noqa: T201
    ctx.logger.error("told the logger")


@step
def be_silent() -> None: ...


@workflow
def speaking_in_many_ways() -> None:
    speak_in_many_ways()
    speak_in_the_loop()
    be_silent()


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


def test_an_engine_keeps_the_output_of_threads_if_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/runs.db"
    before = sys.stdout
    with Engine(url, capture_output=True).sync() as engine:
        assert sys.stdout is not before
        engine.run(speaking_in_many_ways)
    assert sys.stdout is before
    seen = capsys.readouterr()
    assert ("hello\n" in seen.out, "hello, loop\n" in seen.out, "a warning\n" in seen.err) == (
        True,
        True,
        True,
    )

    def kept(step_id: str, *options: str) -> str:
        return stretto("logs", f"speaking_in_many_ways/1:{step_id}", "--database", url, *options).stdout

    assert kept("speak_in_many_ways", "--stream", "stdout") == "hello\n"
    assert "a warning\n" in kept("speak_in_many_ways", "--stream", "stderr")
    assert kept("speak_in_the_loop") == "hello, loop\nERROR told the logger\n"
    assert kept("be_silent") == ""


FLOWS = """
import logging, sys
from stretto import step, workflow

logging.basicConfig(level=logging.INFO, format="%(message)s")

@step
def speak() -> None:
    print("hello")
    logging.getLogger("shop").info("in stock")

@step
async def speak_later() -> None:
    print("hello, loop")

@workflow
def flow() -> None:
    speak()
    speak_later()
"""


def test_stretto_run_keeps_the_output_of_threads(tmp_path: Path) -> None:
    """In a process of its own: the handler that the file makes belongs to that."""
    (tmp_path / "flows.py").write_text(FLOWS)
    ran = in_process(tmp_path, "run", "flows.py:flow")
    assert ran.returncode == 0, ran.stderr
    assert ("hello\n" in ran.stdout, "in stock\n" in ran.stderr) == (True, True)
    logs = in_process(tmp_path, "logs", "flow/1:speak", "--json").stdout
    found = {(each["stream"], each["text"]) for each in map(json.loads, logs.splitlines())}
    assert found == {("stdout", "hello"), ("stderr", "in stock")}
    assert in_process(tmp_path, "logs", "flow/1:speak_later").stdout == "hello, loop\n"


def in_process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stretto", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
