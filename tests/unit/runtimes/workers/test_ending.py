"""Functions that are told to end: gone within their grace, with everything that they started."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.unit.runtimes.workers.stand import (
    Heard,
    in_group,
    job,
    lives,
    pids_in,
    read,
    value_of,
    wait_until,
    with_context,
    with_workers,
)
from tests.waiting import PATIENCE, until

from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.messages import Line
from stretto.runtimes.workers.pool import Workers

GENTLE = ("spins", "sleeps")
BY_FORCE = ("ignores", "swallows", "blocks_signals", "holds_gil", "has_children")
SLACK = 20.0  # seconds; for a machine that is busy with something else
FOR_EVER = 1_000.0  # seconds: who gets so many to end has ended by himself

Bound = Callable[[float], AbstractContextManager[None]]


async def ended(workers: Workers, asked: Job, file: Path, grace: float, bound: Bound) -> None:
    """A function that runs is ended, within the bound; nothing of it is left then."""
    task = asyncio.create_task(workers.of(None).call(asked, lambda: grace))
    pids = await pids_in(file)
    assert len(in_group(pids[0])) >= 1
    with bound(grace % FOR_EVER + SLACK):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not lives(pids[0])
    wait_until(lambda: not in_group(pids[0]) and not any(map(lives, pids)))


def test_functions_are_interrupted(tmp_path: Path, at_most: Bound) -> None:
    async def work(workers: Workers) -> None:
        for name in GENTLE:
            file = tmp_path / name
            await ended(workers, job(name, file=str(file)), file, FOR_EVER, at_most)
        assert value_of(await workers.of(None).call(job("add", a=1, b=1))) == 2

    with_workers(work)


def test_functions_that_do_not_listen_are_killed(tmp_path: Path, at_most: Bound) -> None:
    async def work(workers: Workers) -> None:
        for name in BY_FORCE:
            file = tmp_path / name
            await ended(workers, job(name, file=str(file)), file, 0.3, at_most)
        assert value_of(await workers.of(None).call(job("add", a=1, b=1))) == 2

    with_workers(work)


def test_a_function_may_clean_up(tmp_path: Path, at_most: Bound) -> None:
    async def work(workers: Workers) -> None:
        for name, make in (("awaits", job), ("cleans", with_context)):
            file, cleaned = tmp_path / name, tmp_path / f"{name}.cleaned"
            heard = Heard()
            asked = make(name, heard, file=str(file), cleaned=str(cleaned))
            await ended(workers, asked, file, FOR_EVER, at_most)
            assert cleaned.exists()
            assert heard.said == ([Line("cleaning", "INFO")] if name == "cleans" else [])

    with_workers(work)


def test_a_coroutine_may_wait_for_its_end(tmp_path: Path, at_most: Bound) -> None:
    async def work(workers: Workers) -> None:
        heard = Heard()
        file = tmp_path / "pids"
        asked = with_context("waits_cancelled", heard, file=str(file))
        await ended(workers, asked, file, FOR_EVER, at_most)
        assert heard.said == [Line("I was told", "INFO")]

    with_workers(work)


def test_no_patience_at_all(tmp_path: Path, at_most: Bound) -> None:
    async def work(workers: Workers) -> None:
        file = tmp_path / "first"
        await ended(workers, job("sleeps", file=str(file)), file, 0.0, at_most)
        file = tmp_path / "second"
        task = asyncio.create_task(workers.of(None).call(job("swallows", file=str(file)), lambda: 1_000.0))
        (pid,) = await pids_in(file)
        task.cancel()
        await until((tmp_path / "second.told").exists)
        assert lives(pid)
        task.cancel()  # the second time
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not lives(pid)

    with_workers(work)


# ------------------------------------------------------------------------------------- the death of an engine
ENGINE = """
import asyncio, os, sys, time
from pathlib import Path
sys.path[:] = {path!r}
from tests.waiting import PATIENCE, until
from tests.unit.runtimes.workers.stand import job, Kept
from stretto.runtimes.workers.pool import Workers
from stretto.runtimes.workers.limits import WorkerLimits

async def main():
    workers = Workers({{"default": WorkerLimits(size=3)}}, sink=Kept())
    pool = workers.of(None)
    names = {names!r}
    calls = [pool.call(job(name, file=f"{folder}/{{name}}")) for name in names]
    tasks = [asyncio.create_task(each) for each in calls]
    await until(lambda: all(Path("{folder}", name).exists() for name in names))
    if {forks!r} and not os.fork():  # somebody who has a copy of all our sockets, and lives on
        open("{folder}/copy", "w").write(str(os.getpid()))
        time.sleep(1000)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


def killed(names: tuple[str, ...], folder: Path, bound: AbstractContextManager[None], *, forks: bool) -> None:
    """Kill an engine whose functions run; nothing of them is left, within the bound."""
    code = textwrap.dedent(ENGINE).format(path=sys.path, names=names, folder=folder, forks=forks)
    engine = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)  # noqa: S603
    try:
        files = [*names, "copy"] if forks else names
        wait_until(lambda: all(read(folder / name) for name in files))
        pids = [pid for name in names for pid in read(folder / name)]
        groups = [read(folder / name)[0] for name in names]
        assert all(map(lives, pids))
        engine.kill()
        with bound:
            wait_until(lambda: not any(map(lives, pids)) and not any(map(in_group, groups)))
        assert all(map(lives, read(folder / "copy")))
    finally:
        engine.kill()
        engine.wait()
        for pid in in_group(engine.pid):
            os.kill(pid, signal.SIGKILL)


ALL = ("spins", "holds_gil", "has_children")


@pytest.mark.parametrize(("names", "forks"), [(ALL, False), (("ignores", "has_children"), True)])
def test_nothing_outlives_an_engine_that_is_killed(
    names: tuple[str, ...], forks: bool, tmp_path: Path, at_most: Bound
) -> None:
    killed(names, tmp_path, at_most(2.0 + SLACK / 4), forks=forks)  # something for a machine that is busy


@pytest.mark.prove
def test_nothing_ever_outlives_an_engine_that_is_killed(tmp_path: Path, at_most: Bound) -> None:
    for number in range(50):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Where many wait for each processor, a kill has to wait for one, too.
        is_busy = os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
        killed(ALL, folder, at_most(2.0 + is_busy * SLACK / 4), forks=number % 2 == 1)


@pytest.mark.parametrize("module", ["tests.flow_engine.hangs", "tests.flow_engine.stubborn_import"])
def test_a_call_that_is_ended_during_its_import_does_not_use_up_its_grace(module: str) -> None:
    """No function has begun that could need the time, and an import may swallow the interruption."""

    async def work(workers: Workers) -> None:
        pool = workers.of(None)
        task = asyncio.create_task(pool.call(job("f", module=module), lambda: 3_600.0))
        await until(lambda: pool.pids)
        task.cancel()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(asyncio.CancelledError):
                await task

    with_workers(work)


def test_a_call_that_is_ended_before_it_begins(tmp_path: Path, at_most: Bound) -> None:
    """While its process is being started, and while its module is being imported."""

    async def work(workers: Workers) -> None:
        for pause in (0.0, 0.05, 0.3):
            file = tmp_path / f"never {pause}"
            task = asyncio.create_task(workers.of(None).call(job("sleeps", file=str(file)), lambda: 60.0))
            await asyncio.sleep(pause)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        late = asyncio.create_task(
            workers.of(None).call(job("f", module="tests.flow_engine.hangs"), lambda: 60.0)
        )
        await asyncio.sleep(1.0)
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late

    with at_most(2 * SLACK):
        with_workers(work)
