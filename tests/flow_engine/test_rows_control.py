"""Control, retries, pools and crashes, by the rows of the union of features: one test for each row."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.flow_engine.flows import CALLS, GATES, finish, say, seen, something_else, talk
from tests.flow_engine.test_stopping import row_of
from tests.waiting import PATIENCE, until, wait_until

from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.errors import WrongState
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.run_snapshot import NewestAttempts, read_newest_run
from stretto.store.opening import open_store


@step
async def sleep_long() -> None:
    CALLS.append("asleep")
    await asyncio.Event().wait()


def test_row_88_what_is_stopped_ends_soon_and_says_why(
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    @workflow(id="sleeper")
    def sleeper() -> None:
        before = sleep_long()
        say("never").after(before)  # type: ignore[attr-defined]

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(sleeper)
            await seen("asleep")
            with at_most(12):
                await run.terminate("the day is over")
                result = await run.wait()
            assert result.status is RunStatus.STOPPED
            assert "the day is over" in (result.error or "")
            assert any("the day is over" in str(line) for line in result.timeline)
            assert result.steps["sleep_long"].status is StepStatus.STOPPED
            assert "say" not in result.steps

    finish(work())
    assert CALLS == ["asleep"]


def test_row_91_nothing_begins_in_a_paused_run() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.pause()
            GATES["gate"].set()
            await seen("end gate")

            async def stored() -> bool:
                return (await run.progress()).done == 2

            await until(stored)
            await something_else(engine)
            progress = await run.progress()
            assert (progress.status, progress.done) == (RunStatus.PAUSED, 2)
            assert "three" not in CALLS

    finish(work())


def test_row_92_a_resumed_run_repeats_nothing() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            await run.pause()
            await run.resume()
            await run.pause()
            GATES["gate"].set()
            await seen("end gate")
            await run.resume()
            assert await run.result(30) == "three"
            assert {each.attempt for each in (await run.steps()).values()} == {1}

    finish(work())
    assert CALLS == ["one", "begin gate", "end gate", "three"]


def test_row_93_what_does_not_fit_the_state_is_refused() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            with pytest.raises(WrongState, match="can not resume run talk/1: it is IN_PROGRESS") as wrong:
                await run.resume()
            assert wrong.value.status == 400
            assert "run.pause()" in (wrong.value.hint or "")
            assert await run.status() is RunStatus.IN_PROGRESS
            GATES["gate"].set()
            await run.wait(30)
            with pytest.raises(WrongState, match="can not terminate run talk/1: it is SUCCEEDED"):
                await run.terminate("too late")
            assert await run.status() is RunStatus.SUCCEEDED

    finish(work())


class Flaky:
    """Fails a few times."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.at: list[float] = []

    def __call__(self) -> str:
        self.at.append(time.monotonic())
        self.left -= 1
        if self.left >= 0:
            raise ValueError("not yet")
        return "at last"


def test_row_101_errors_are_tried_again_with_growing_pauses() -> None:
    flaky = Flaky(2)

    @step(name="flaky", retries=2, retry_delay=1, backoff=2)
    async def again() -> str:
        return flaky()

    @workflow(id="stubborn")
    def stubborn() -> str:
        return again()

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(stubborn)
            assert await run.result(30) == "at last"
            result = await run.look()
            assert result.steps["flaky"].attempt == 3

    finish(work())
    first, second = flaky.at[1] - flaky.at[0], flaky.at[2] - flaky.at[1]
    assert first >= 0.9
    assert second >= 1.9


def test_row_102_an_expression_says_whether_to_try_again() -> None:
    flaky = Flaky(2)

    @step(name="given_up", retries=2, retry_delay=1, retry_if="1 > 2")
    async def once() -> str:
        return flaky()

    @workflow(id="resigned")
    def resigned() -> str:
        return once()

    async def work() -> None:
        async with Engine("memory") as engine:
            result = await (await engine.submit(resigned)).wait(30)
            assert result.status is RunStatus.FAILED
            assert result.steps["given_up"].attempt == 1

    finish(work())
    assert len(flaky.at) == 1


def test_row_106_a_pool_of_one_runs_one_after_the_other_and_grows() -> None:
    running: list[int] = []
    most: list[int] = []
    meeting: list[threading.Barrier] = []

    def busy() -> None:
        running.append(1)
        most.append(len(running))
        if meeting:
            meeting[0].wait(30)
        else:
            time.sleep(0.1)
        running.pop()

    @step(name="narrow", pool="db")
    def narrow(number: int) -> int:
        busy()
        return number

    @workflow(id="crowd", run_strategy="parallel")
    def crowd(numbers: list[int]) -> list[int]:
        return narrow.map(numbers)

    async def work() -> None:
        async with Engine("memory", pools={"db": 1}) as engine:
            assert await engine.run(crowd, numbers=[1, 2, 3]) == [1, 2, 3]
            assert max(most) == 1
            meeting.append(threading.Barrier(3))  # nobody goes on alone
            engine.resize_pool("db", 3)
            (status,) = engine.pool_status("db")
            assert (status.size, status.free) == (3, 3)
            assert await engine.run(crowd, numbers=[1, 2, 3]) == [1, 2, 3]

    finish(work())


PROGRAM = """
import asyncio, sys
from stretto import Engine, step, workflow

def note(line):
    with open(sys.argv[2], "a") as file:
        file.write(line + "\\n")

@step
async def work(number: int, before: int) -> int:
    note(f"begin {number}")
    await asyncio.sleep(0.05)
    note(f"end {number}")
    return number

@workflow
def chain() -> int:
    last = 0
    for number in range(1, 13):
        last = work(number, last)
    return last

async def main():
    async with Engine(sys.argv[1]) as engine:
        run = await engine.submit(chain, request_id="only")
        note(f"value {await run.result()}")

asyncio.run(main())
"""


def run_to_its_end(program: Path, url: str, log: Path) -> int:
    command = [sys.executable, str(program), url, str(log)]
    return subprocess.run(command, check=False, timeout=100).returncode  # noqa: S603 - our own


def crash(program: Path, url: str, log: Path, after: float) -> None:
    """Kill a program a while after it has done something."""
    known = log.read_text()
    with subprocess.Popen([sys.executable, str(program), url, str(log)]) as process:  # noqa: S603 - our own
        wait_until(lambda: log.read_text() != known or process.poll() is not None)
        assert log.read_text() != known
        time.sleep(after)
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.prove)])
def test_row_145_a_program_that_is_killed_goes_on(url: str, tmp_path: Path, kills: int) -> None:
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(PROGRAM)
    log.touch()
    dice = random.Random(145)  # noqa: S311 - dice, not secrets
    for _ in range(kills):
        crash(program, url, log, dice.uniform(0, 0.1))
    assert run_to_its_end(program, url, log) == 0
    lines = log.read_text().splitlines()
    assert lines[-1] == "value 12"
    steps = finish(_attempts(url))
    assert {name: count for name, (_, count) in steps.items() if count != 1} == {}
    assert all(status is StepStatus.SUCCEEDED for status, _ in steps.values())
    # A step that has ended is not begun again: the next one begins only once its end is stored.
    for number in range(1, 13):
        begins = [at for at, line in enumerate(lines) if line == f"begin {number}"]
        later = [at for at, line in enumerate(lines) if line == f"begin {number + 1}"]
        assert begins
        assert not later or max(begins) < min(later)


async def _attempts(url: str) -> dict[str, tuple[StepStatus, int]]:
    store = await open_store(url)
    try:
        row = await read_newest_run(store, "chain", 1)
        assert row is not None
        found = {}
        for each in await store.attempts(NewestAttempts((row.key,))):
            found[each.key.step_id] = each.record.status, each.key.number
        return found
    finally:
        await store.close()


def test_row_146_a_signal_pauses_the_run_and_the_next_program_ends_it(
    url: str, tmp_path: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    program, log = tmp_path / "program.py", tmp_path / "log"
    source = PROGRAM.replace(
        "    async with Engine(sys.argv[1]) as engine:\n",
        "    loop, task = asyncio.get_running_loop(), asyncio.current_task()\n"
        "    loop.add_signal_handler(15, task.cancel)\n"
        "    async with Engine(sys.argv[1]) as engine:\n",
    )
    program.write_text(source)
    log.touch()
    command = [sys.executable, str(program), url, str(log)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
    wait_until(lambda: "end 3" in log.read_text())
    with at_most(30):
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) != 0
    row = finish(row_of(url, "chain"))
    assert row.record.status is RunStatus.PAUSED
    assert run_to_its_end(program, url, log) == 0
    lines = log.read_text().splitlines()
    assert lines[-1] == "value 12"
    assert sorted(line for line in lines if line.startswith("begin")) == sorted(
        f"begin {number}" for number in range(1, 13)
    )
