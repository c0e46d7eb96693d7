"""Commands that are ended: gently, then by force, with everything that they have started."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.unit.runtimes.contexts import Told
from tests.unit.runtimes.processes import left_of, wait_for, wait_until
from tests.waiting import at_least

from stretto.ports.runtime import Done, PlatformError, Stopped
from stretto.runtimes.process import Process, started
from stretto.runtimes.shell import ShellRuntime
from stretto.runtimes.workers.server import Server

# Each prints a line when it is there with all that it starts: so many processes, at least.
HARD = {
    "pipeline": (4, "(sleep 61 | sleep 62) & sleep 63 | (echo up >&2; cat)"),
    "ignores": (2, "trap '' TERM; sleep 61 & echo up >&2; while :; do sleep 0.05; done"),
    "away": (3, "setsid sleep 61 & setsid sh -c 'sleep 62; :' & sleep 0.1; echo up >&2; wait"),
    "forgotten": (2, "(setsid setsid sleep 61 &) ; sleep 0.1; echo up >&2; exec sleep 63"),
    "deaf-and-away": (
        2,
        "setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' & sleep 0.1; echo up >&2; wait",
    ),
}
ENDS_BY_ITSELF = {"pipeline", "away", "forgotten"}


async def running(runtime: ShellRuntime, name: str, **params: Any) -> Told:
    """A command that is there."""
    least, text = HARD[name]
    told = Told(step=f"{name}-{os.getpid()}-{uuid4()}", command=text, **params)
    await runtime.start(told.ctx)
    await wait_for(lambda: len(left_of(told.ctx.launch)) >= least)
    await wait_for(lambda: any(work.process and work.process.err.size for work in runtime._work.values()))
    return told


def with_runtime(work: Callable[[ShellRuntime], Awaitable[None]], grace: float = 20.0) -> None:
    async def run() -> None:
        runtime = ShellRuntime(lambda: 1_000, grace=grace)
        try:
            await work(runtime)
        finally:
            await runtime.close()

    asyncio.run(run())


@pytest.mark.parametrize("name", HARD)
def test_when_a_stop_is_answered_nothing_is_left(
    name: str, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = await running(runtime, name)
        with at_most(10) if name in ENDS_BY_ITSELF else at_least(0.3):
            assert isinstance(await runtime.terminate(told.ctx), Stopped)
        assert left_of(told.ctx.launch) == []
        assert told.said == []

    with_runtime(work, grace=1_000.0 if name in ENDS_BY_ITSELF else 0.3)


def test_closing_at_once_leaves_nothing(at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    async def work(runtime: ShellRuntime) -> None:
        all_of_them = [await running(runtime, name) for name in HARD]
        runtime.kill_all()
        with at_most(10):
            await runtime.close()
        assert [left_of(each.ctx.launch) for each in all_of_them] == [[]] * len(HARD)

    with_runtime(work)


def test_what_a_command_leaves_behind_ends_with_it() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(step=f"leaves-{os.getpid()}", command="setsid sleep 61 & (sleep 62 &); echo done")
        await runtime.start(told.ctx)
        assert isinstance(await told.result(), Done)
        assert left_of(told.ctx.launch) == []

    with_runtime(work)


def test_whoever_is_asked_has_time_to_clean_up(tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        # The shell ends at once; what it has started takes a moment, in its group and outside of it.
        body = "trap 'sleep 0.2; echo $0 >> cleaned; exit' TERM; echo $0 >> up; while :; do sleep 0.05; done"
        text = 'sh -c "$BODY" one & setsid sh -c "$BODY" two & sleep 60'
        told = Told(step=f"cleans-{os.getpid()}", command=text, env={"BODY": body}, cwd=str(tmp_path))
        await runtime.start(told.ctx)
        await wait_for(lambda: (tmp_path / "up").exists() and len((tmp_path / "up").read_text()) == 8)
        await runtime.terminate(told.ctx)
        assert sorted((tmp_path / "cleaned").read_text().split()) == ["one", "two"]
        assert left_of(told.ctx.launch) == []

    with_runtime(work)


def guard_of(told: Told) -> int:
    """The parent of the command: the one that has no mark itself. What the command has started may have a
    lower number than it, because numbers begin anew.
    """
    left = left_of(told.ctx.launch)
    parents = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in left}
    (guard,) = parents - set(left)
    return guard


def test_a_guard_that_is_killed_takes_its_command_along() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = await running(runtime, "away")
        os.kill(guard_of(told), signal.SIGKILL)
        said = await told.result()
        assert isinstance(said, PlatformError)
        assert said.message == "the process that looked after the command is gone"
        assert "up" in str(said.artifacts["shell"])
        await wait_for(lambda: not left_of(told.ctx.launch))
        again = Told(step="again", command="true")
        await runtime.start(again.ctx)
        assert isinstance(await again.result(), Done)

    with_runtime(work)


def test_a_fork_server_that_is_killed_takes_no_command_along() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = await running(runtime, "away")
        server = runtime._guards._server
        assert isinstance(server, Server)
        first = server.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await wait_for(lambda: server.pid is None)
        again = Told(step="again", command="true")
        await runtime.start(again.ctx)
        assert isinstance(await again.result(), Done)
        assert server.pid not in {None, first}
        assert told.said == []
        assert isinstance(await runtime.terminate(told.ctx), Stopped)
        assert left_of(told.ctx.launch) == []

    with_runtime(work)


# ------------------------------------------------------------------------------------------ the engine's end
ENGINE = """
    import asyncio, os, sys
    sys.path[:] = {path!r}
    from tests.unit.runtimes.test_shell_ending import HARD, running
    from stretto.runtimes.shell import ShellRuntime

    async def run():
        runtime = ShellRuntime(lambda: 0)
        launches = [(await running(runtime, name)).ctx.launch for name in HARD]
        if {forks!r} and not os.fork():  # somebody who has a copy of all our sockets, and lives on
            await asyncio.sleep(60)
        print(*launches, flush=True)
        await asyncio.sleep(60)

    asyncio.run(run())
"""


@pytest.mark.parametrize("forks", [False, True])
def test_a_killed_engine_leaves_no_command(
    forks: bool, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    code = textwrap.dedent(ENGINE).format(path=sys.path, forks=forks)
    engine = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert engine.stdout is not None
    launches = engine.stdout.readline().split()
    assert len(launches) == len(HARD)
    assert all(left_of(each) for each in launches)
    engine.kill()
    engine.wait()
    with at_most(20.0):  # where nobody else is working, less than two
        wait_until(lambda: not any(left_of(each) for each in launches))
    if forks:
        os.killpg(engine.pid, signal.SIGKILL)
    engine.stdout.close()


@pytest.mark.parametrize("hurried", [False, True])
def test_who_is_told_to_end_while_it_is_being_started_has_time_too(
    hurried: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_ending = asyncio.Event()

    async def slowly(*args: Any) -> Process:
        process = await started(*args)
        await is_ending.wait()  # the runtime does not know of it yet
        return process

    async def work(runtime: ShellRuntime) -> None:
        text = "trap 'sleep 0.1; touch cleaned; exit' TERM; touch up; while :; do sleep 0.05; done"
        told = Told(step=f"late-{os.getpid()}", command=text, cwd=str(tmp_path))
        await runtime.start(told.ctx)
        await wait_for((tmp_path / "up").exists)
        if hurried:
            runtime.kill_all()
        ending = asyncio.create_task(runtime.terminate(told.ctx))
        await asyncio.sleep(0)
        is_ending.set()
        await ending
        assert (tmp_path / "cleaned").exists() is not hurried
        assert left_of(told.ctx.launch) == []

    monkeypatch.setattr("stretto.runtimes.shell.started", slowly)
    with_runtime(work)
