"""Whatever a step does in a process, it ends when it is told to: on a stop, a kill and a timeout."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.processes import lives
from tests.flow_engine.stubborn import HARD, LIMITED, warm
from tests.waiting import until

from stretto import Engine, Run
from stretto.definition import parse_all

MARK = "STUBBORN_TEST"
GRACE = 0.5  # seconds
SHELL = """
workflow:
  id: piped
  steps:
    - step:
        id: pipes
        type: Shell
        timeout: {timeout}
        retry_policy: {{timeout_retry_limit: 0}}
        params:
          script:
            type: STRING
            value: |
              trap '' TERM
              (sleep 300 | sleep 300) &
              setsid sleep 300 &
              echo "$$$$ $!" > {file}.part; mv {file}.part {file}
              sleep 300 | sleep 300
"""


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """What all processes of a test have in their environment, however far they have run away."""
    monkeypatch.setenv(MARK, str(tmp_path))
    return f"{MARK}={tmp_path}"


def marked(mark: str) -> list[int]:
    """Processes of a test beside ourselves that live."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and int(each.name) != os.getpid():
            try:
                around = (each / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in around and lives(int(each.name)):
                found.append(int(each.name))
    return found


async def pids_in(file: Path) -> list[int]:
    await until(file.exists)
    return [int(each) for each in (await asyncio.to_thread(file.read_text)).split()]


async def gone(pids: list[int]) -> None:
    await until(lambda: not any(map(lives, pids)), f"the end of {pids}")


def engine() -> Engine:
    return Engine("memory", config={"runtimes.grace": f"{GRACE}s"}, workers=1, stop_within=5)


async def ended(run: Run[Any], file: Path, how: str) -> tuple[str, str, str | None, list[int]]:
    pids = await pids_in(file)
    assert how == "timeout" or all(map(lives, pids))  # its time may be over before we look
    if how == "stop":
        await run.terminate("enough")
    elif how == "kill":
        await run.kill("enough")
    result = await run.wait(60)
    (step,) = result.steps.values()
    return result.status, step.status, step.error, pids


EXPECTED = {
    "stop": ("STOPPED", "STOPPED"),
    "kill": ("FAILED", "FATALLY_FAILED"),
    "timeout": ("FAILED", "TIMED_OUT"),
}
IN_MAESTRO = {**EXPECTED, "timeout": ("TIMED_OUT", "TIMED_OUT")}


@pytest.mark.parametrize("how", EXPECTED)
@pytest.mark.parametrize("name", HARD)
def test_functions_end(name: str, how: str, tmp_path: Path, mark: str) -> None:
    async def work() -> None:
        flow = (LIMITED if how == "timeout" else HARD)[name]
        async with engine() as opened:
            await opened.run(warm)
            run = await opened.submit(flow, file=str(tmp_path / "pids"))
            status, step, error, pids = await ended(run, tmp_path / "pids", how)
            assert (status, step) == EXPECTED[how], error
            await gone(pids)
        assert marked(mark) == []

    asyncio.run(work())


@pytest.mark.parametrize("how", EXPECTED)
def test_a_pipeline_with_grandchildren_ends(how: str, tmp_path: Path, mark: str) -> None:
    """One that ignores the request, and one that has a session of its own."""

    async def work() -> None:
        timeout = 4 if how == "timeout" else 3_600
        (definition,) = parse_all(SHELL.format(timeout=timeout, file=tmp_path / "pids"))
        async with engine() as opened:
            run = await opened.submit(definition)
            status, step, error, pids = await ended(run, tmp_path / "pids", how)
            assert (status, step) == IN_MAESTRO[how], error
            await gone(pids)
        assert marked(mark) == []

    asyncio.run(work())
