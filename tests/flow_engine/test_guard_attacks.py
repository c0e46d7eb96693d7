"""A step that stops, traces or kills the processes that look after it ends as any other; nothing is left."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.flow_engine.guard_attacks import ATTACKS, GRANDPARENT, LIMITED_ATTACKS, SHELL, attack, script
from tests.flow_engine.stubborn import warm
from tests.flow_engine.test_stubborn import (
    EXPECTED,
    IN_MAESTRO,
    ended,
    engine,
    gone,
    mark,
    marked,
    pids_in,
)
from tests.unit.runtimes.workers.stand import stat, wait_until

from stretto import Engine

__all__ = ["mark"]

ROOT = Path(__file__).parents[2]


async def works(opened: Engine, folder: Path) -> None:
    """The next steps find processes that serve them."""
    result = await (await opened.submit(script("true", folder / "next", then="true"))).wait(60)
    assert result.status == "SUCCEEDED", result.steps


@pytest.mark.parametrize("how", EXPECTED)
@pytest.mark.parametrize("name", SHELL)
def test_a_command_that_attacks_its_guard_ends(name: str, how: str, tmp_path: Path, mark: str) -> None:
    file = tmp_path / "pids"

    async def work() -> None:
        timeout = 4 if how == "timeout" else 3_600
        async with engine() as opened:
            run = await opened.submit(script(attack(name, str(file), sys.executable), file, timeout=timeout))
            status, step, error, pids = await ended(run, file, how)
            if name == "traces" and (tmp_path / "pids.traced").read_text() != "True":
                pytest.skip("this machine lets no process trace its parent")
            assert (status, step) == IN_MAESTRO[how], error
            await gone(pids)
            await works(opened, tmp_path)
        assert marked(mark) == []

    asyncio.run(work())


@pytest.mark.parametrize("name", ["stops", "stops it and its parent"])
def test_a_command_that_stops_its_guard_and_exits(name: str, tmp_path: Path, mark: str) -> None:
    file = tmp_path / "pids"

    async def work() -> None:
        async with engine() as opened:
            run = await opened.submit(script(attack(name, str(file), sys.executable), file, then="exit 3"))
            result = await run.wait(60)
            assert result.steps["attacks"].error == "exit code 3"
            await gone(await pids_in(file))
        assert marked(mark) == []

    asyncio.run(work())


@pytest.mark.parametrize("line", ["kill -9 $$PPID", f"kill -9 {GRANDPARENT} $$PPID"])
def test_a_command_that_kills_its_guard_fails(line: str, tmp_path: Path, mark: str) -> None:
    file = tmp_path / "pids"

    async def work() -> None:
        async with engine() as opened:
            then = f"{line}; sleep 300"
            result = await (await opened.submit(script("true", file, then=then))).wait(60)
            assert result.steps["attacks"].error == "the process that looked after the command is gone"
            await gone(await pids_in(file))
            await works(opened, tmp_path)
        assert marked(mark) == []

    asyncio.run(work())


@pytest.mark.parametrize("how", EXPECTED)
@pytest.mark.parametrize("name", ATTACKS)
def test_a_function_that_stops_processes_ends(name: str, how: str, tmp_path: Path, mark: str) -> None:
    file = tmp_path / "pids"

    async def work() -> None:
        async with engine() as opened:
            await opened.run(warm)
            run = await opened.submit(
                (LIMITED_ATTACKS if how == "timeout" else ATTACKS)[name], file=str(file)
            )
            status, step, error, pids = await ended(run, file, how)
            assert (status, step) == EXPECTED[how], error
            await gone(pids)
            await opened.run(warm)
        assert marked(mark) == []

    asyncio.run(work())


class Attacked:
    """An engine in a process of its own, whose command stops the engine, the fork server and the guard."""

    def __init__(self, folder: Path, timeout: int) -> None:
        self.file = folder / "pids"
        self.process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "tests.flow_engine.attacked", str(self.file), str(timeout)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Attacked":
        try:
            wait_until(self.file.exists)
            wait_until(lambda: stat(self.process.pid)[0] == "T")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_an_engine_that_is_killed_while_all_are_stopped_takes_its_work_along(
    tmp_path: Path, mark: str
) -> None:
    with Attacked(tmp_path, 3_600) as attacked:
        attacked.process.kill()
        wait_until(lambda: marked(mark) == [])


def test_an_engine_that_is_resumed_ends_work_whose_time_is_over(tmp_path: Path, mark: str) -> None:
    with Attacked(tmp_path, 1) as attacked:
        attacked.process.send_signal(signal.SIGCONT)
        said, _ = attacked.process.communicate(timeout=60)
        assert said == "TIMED_OUT\n"
        assert marked(mark) == []
