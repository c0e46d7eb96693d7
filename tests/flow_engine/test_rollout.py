"""An old and a new release on one database: runs go on where their functions are known, and none fails."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.flow_engine.flows import finish
from tests.flow_engine.release import SETTINGS, base, before
from tests.flow_engine.release_new import after, extra, family, grandparent, listed, many
from tests.waiting import until

from stretto.cli.main import cli
from stretto.flow.engine import Engine, Run
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import RunStatus

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = {"old": HERE / "release.py", "new": HERE / "release_new.py"}
IDS = {"old": ["release_before"], "new": ["release_after", "release_mapped", "release_family"]}
PATH = os.environ.get("PYTHONPATH")
WITHIN = 240.0  # seconds after which a test that waits for something gives up


class Fleet:
    """The processes of both releases."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def start(self, name: str) -> None:
        """`old1`, `new2`: a release, and a number."""
        self._processes[name] = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-P", FILES[name.rstrip("0123456789")], self.url],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), PATH)))},
            stdout=subprocess.PIPE,
            text=True,
        )
        stdout = self._processes[name].stdout
        assert stdout is not None
        assert stdout.readline() == "ready\n"

    def stop(self, name: str, number: int = signal.SIGTERM) -> None:
        process = self._processes.pop(name)
        process.send_signal(number)
        assert process.wait(WITHIN) in {0, -number}
        assert process.stdout is not None
        process.stdout.close()

    def replace(self, old: str, new: str, number: int = signal.SIGTERM) -> None:
        """Roll: the next process runs before the last one ends."""
        self.start(new)
        self.stop(old, number)

    def end(self) -> None:
        for name in list(self._processes):
            self.stop(name, signal.SIGKILL)


@contextmanager
def fleet(url: str) -> Iterator[Fleet]:
    made = Fleet(url)
    try:
        yield made
    finally:
        made.end()


async def submit(engine: Engine, ids: list[str], count: int) -> list[Run[Any]]:
    return [await engine.submit(each, number=number) for number in range(count) for each in ids]


async def all_succeeded(engine: Engine, runs: list[Run[Any]]) -> None:
    await engine.wait_all(runs, timeout=WITHIN)
    ended = [(run.key.workflow_id, await run.status(), (await run.wait()).error) for run in runs]
    assert ended == [(run.key.workflow_id, RunStatus.SUCCEEDED, None) for run in runs]


async def rolling(url: str, count: int) -> None:
    """Runs while the new release is deployed, rolled back, and deployed again. The engine that submits them
    is a process of neither release, and knows the functions of the new one no more than the old one does.
    """
    with fleet(url) as releases:
        await asyncio.to_thread(releases.start, "old1")
        await asyncio.to_thread(releases.start, "new1")  # which publishes its workflows
        await asyncio.to_thread(releases.replace, "new1", "old2")  # and is rolled back
        async with Engine(url, config=SETTINGS) as engine:
            runs = await submit(engine, IDS["old"], count) + await submit(engine, IDS["new"], count)
            await all_succeeded(engine, runs[:count])
            child = await last_child(engine, 2 * count)
            for run, function in ((runs[count], "extra"), (runs[count + 1], "listed"), (child, "extra")):
                assert f"no running process knows the function `release_{function}`" in await first_wait(run)
            await asyncio.to_thread(releases.start, "new2")  # beside the old ones, which own runs
            await all_succeeded(engine, runs)
            assert [await run.result() for run in runs[count : count + 3]] == [0, [0, 10], 0]
            runs = await submit(engine, IDS["new"], count)
            await asyncio.to_thread(releases.replace, "new2", "old3")  # back, under way
            runs += await submit(engine, IDS["new"], count) + await submit(engine, IDS["old"], count)
            await all_succeeded(engine, runs[-count:])
            for old, new in (("old1", "new3"), ("old2", "new4"), ("old3", "new5")):
                await asyncio.to_thread(releases.replace, old, new)
            await all_succeeded(engine, runs)


async def last_child(engine: Engine, number: int) -> Run[Any]:
    """The last instance of a workflow that is submitted, and started as a subworkflow as often."""

    async def there() -> Run[Any] | None:
        try:
            return await engine.get("release_after", number)
        except NotFound:
            return None

    return await until(there, f"release_after/{number}", WITHIN)


async def first_wait(run: Run[Any]) -> str:
    """Why a run waits, once it waits for a function."""

    async def waits() -> str:
        said = str(await run.why())
        assert "no running process" in said or not (await run.status()).is_terminal, (run.key, said)
        return said if "no running process" in said else ""

    return await until(waits, patience=WITHIN)


def test_runs_survive_a_deployment_forwards_and_back(url: str) -> None:
    finish(rolling(url, 1), WITHIN)


@pytest.mark.prove
@pytest.mark.parametrize("database", ["url", "postgresql_url"])
def test_44_runs_survive_a_deployment(database: str, request: pytest.FixtureRequest) -> None:
    finish(rolling(request.getfixturevalue(database), 4), WITHIN)


@pytest.mark.prove
def test_200_runs_survive_releases_that_come_and_go_and_are_killed(postgresql_url: str) -> None:
    async def work() -> None:
        dice = random.Random(7)  # noqa: S311 - dice, not secrets
        with fleet(postgresql_url) as releases:
            names = ["new2", "old1"]
            for name in names:
                await asyncio.to_thread(releases.start, name)
            async with Engine(postgresql_url, submit_only=True) as engine:
                runs: list[Run[Any]] = []
                for number in range(3, 13):
                    runs += await submit(engine, ["release_before", *IDS["new"]], 5)
                    name = f"{dice.choice(['old', 'new'])}{number}"
                    how = dice.choice([signal.SIGTERM, signal.SIGKILL])
                    await asyncio.to_thread(releases.replace, names.pop(0), name, how)
                    names.append(name)
                await asyncio.to_thread(releases.start, "new99")
                await all_succeeded(engine, runs)
                assert len(runs) == 200

    finish(work(), WITHIN)


# ------------------------------------------------------------------------------------- inside one process
def test_a_submit_only_engine_owns_and_runs_nothing(url: str) -> None:
    async def work() -> None:
        async with Engine(url, submit_only=True) as engine:
            run = await engine.submit(before, number=3)
            assert await run.status() is RunStatus.CREATED
            assert await engine.functions() == []
            host = engine._opened()
            assert await host.store.nodes() == []
            host.app.hurry()
            async with Engine(url, modules=["tests.flow_engine.release"]) as worker:
                assert await run.result() == 3
                assert [each.name for each in await worker.functions()] == ["release_base"]
            assert (await engine.get("release_before", 1)).id == run.id

    finish(work())


def test_a_submit_only_engine_needs_a_database_that_others_can_open() -> None:
    with pytest.raises(InvalidRequest, match="submit_only needs a database that other processes can open"):
        Engine("memory", submit_only=True)


def test_functions_that_are_registered_while_an_engine_runs_let_steps_begin(url: str) -> None:
    async def work() -> None:
        async with Engine(url, submit_only=True) as client, Engine(url) as engine:
            engine.register(base)
            run = await client.submit(after, number=2)
            assert "knows the function" in await first_wait(run)
            engine.register(extra)
            await engine.publish(before)  # by which other processes are told, too
            assert await run.result() == 20

    finish(work())


def test_without_a_time_to_wait_a_step_fails_at_once(url: str) -> None:
    async def work() -> None:
        async with (
            Engine(url, submit_only=True) as client,
            Engine(url, config={"engine.function_within": "0s"}),
        ):
            run = await client.submit(after, number=2)
            result = await run.wait(WITHIN)
            assert result.status is RunStatus.FAILED
            assert "no running process knows the function `release_base`. Deploy" in str(result.error)

    finish(work())


def test_why_of_a_parent_names_the_function_that_its_child_waits_for(url: str) -> None:
    async def work() -> None:
        async with Engine(url, submit_only=True) as client, Engine(url) as engine:
            engine.register(base, listed)
            for flow in (family, grandparent, many):
                run = await client.submit(flow, number=2)
                said = await first_wait(run)
                assert "no running process knows the function `release_extra`" in said
                assert "] of run [release_after][" in said
                (blocker,) = (await run.why()).blockers
                assert (blocker.kind, blocker.ref) == ("function", "release_extra")

    finish(work())


def test_why_and_show_say_which_function_nobody_knows(url: str) -> None:
    async def work() -> None:
        async with Engine(url, submit_only=True) as client, Engine(url) as engine:
            engine.register(base)
            await first_wait(await client.submit(after, number=2))

    finish(work())
    for command in ("why", "show"):
        shown = CliRunner().invoke(cli, [command, "release_after/1", "--db", url])
        assert shown.exit_code == 0, shown.output
        assert "no running process knows the function `release_extra`" in shown.output.replace("\n", " ")
