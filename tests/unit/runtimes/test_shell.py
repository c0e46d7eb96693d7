"""Shell steps with real processes."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests import waiting
from tests.unit.runtimes.contexts import STEP, Told
from tests.unit.runtimes.shells import result_of, shared_runtime
from tests.waiting import at_least

from stretto.model.artifact import DefaultArtifact
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    PlatformError,
    StepResult,
    Stopped,
    UserError,
)
from stretto.runtimes import shell as module
from stretto.runtimes.shell import ShellRuntime

__all__ = ["shared_runtime"]

Work = Callable[[ShellRuntime], Awaitable[Any]]


def with_runtime(work: Work, *, at_once: int = 8, grace: float = 5.0) -> Any:
    async def run() -> Any:
        runtime = ShellRuntime(lambda: 1_000, at_once=at_once, grace=grace)
        try:
            return await work(runtime)
        finally:
            await runtime.close()

    return asyncio.run(run())


def own_result_of(**params: Any) -> StepResult:
    """In a runtime of its own."""

    async def work(runtime: ShellRuntime) -> StepResult:
        told = Told(**params)
        said = await runtime.start(told.ctx)
        return await told.result() if isinstance(said, Continue) else said

    found: StepResult = with_runtime(work)
    return found


def output_of(result: StepResult) -> dict[str, Any]:
    artifact = result.artifacts["shell"]
    assert isinstance(artifact, DefaultArtifact)
    return artifact.data


async def until(file: Path) -> int:
    """The number that a command writes once it runs."""
    await waiting.until(lambda: read(file).endswith("\n"))
    return int(read(file))


def read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def lives(pid: int) -> bool:
    """A zombie does not: where nobody reaps orphans, they stay as such."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# ---------------------------------------------------------------------------------------------------- ends
def test_a_command_that_ends_well() -> None:
    result = result_of(command="echo out; echo err >&2")
    assert isinstance(result, Done)
    assert output_of(result) == {
        "exit_code": 0,
        "stdout": "out\n",
        "stderr": "err\n",
        "stdout_bytes": 4,
        "stderr_bytes": 4,
    }


def test_output_parameters() -> None:
    result = result_of(command='echo rows=42 >> "$STRETTO_OUTPUT"', rows=0)
    assert isinstance(result, Done)
    assert result.outputs["rows"].evaluated_result == 42
    assert result.outputs["rows"].evaluated_time == 1_000


def test_a_command_is_told_which_step_it_is() -> None:
    result = own_result_of(command='echo "$STRETTO_RUN $STRETTO_STEP $STRETTO_ATTEMPT $STRETTO_LAUNCH"')
    assert output_of(result)["stdout"] == "etl/12/2 load 1 [etl][12][2][load][1][1][0]\n"
    assert output_of(result_of(command="echo $STRETTO_ENGINE"))["stdout"] == f"{os.getpid()}\n"


def test_an_exit_code_is_an_error_with_the_last_words() -> None:
    result = result_of(command="echo out; echo why >&2; exit 3")
    assert isinstance(result, UserError)
    assert result.message == "exit code 3: why"
    assert output_of(result)["exit_code"] == 3


def test_without_words_on_the_error_stream_the_other_one_counts() -> None:
    result = result_of(command="echo out; exit 1")
    assert isinstance(result, UserError)
    assert result.message == "exit code 1: out"
    silent = result_of(command="exit 1")
    assert isinstance(silent, UserError)
    assert silent.message == "exit code 1"


def test_a_signal_from_elsewhere_is_trouble_of_the_machine() -> None:
    result = result_of(command="echo why; kill -KILL $$")
    assert isinstance(result, PlatformError)
    assert result.message == "ended by SIGKILL (somebody killed it, or the machine ran out of memory): why"
    assert output_of(result)["exit_code"] == -9
    unnamed = result_of(command="kill -40 $$")
    assert isinstance(unnamed, PlatformError)
    assert unnamed.message == "ended by signal 40"


def test_a_script_ends_with_the_first_line_that_fails() -> None:
    result = result_of(script="echo one\nfalse\necho two\n")
    assert isinstance(result, UserError)
    assert output_of(result)["stdout"] == "one\n"


def test_bad_outputs_are_an_error() -> None:
    result = result_of(command='echo colour=red >> "$STRETTO_OUTPUT"')
    assert isinstance(result, UserError)
    assert "`colour`, which is not a parameter" in result.message


def test_an_output_file_that_is_gone_holds_nothing() -> None:
    assert isinstance(result_of(command='rm "$STRETTO_OUTPUT"'), Done)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "needs one of"),
        ({"command": ["no-such-program"]}, "`no-such-program` can not be started: No such file or directory"),
        ({"command": ["echo", "a\0b"]}, "`echo` can not be started: embedded null byte"),
    ],
)
def test_what_can_not_be_started_is_not_worth_another_try(params: dict[str, Any], message: str) -> None:
    result = result_of(**params)
    assert isinstance(result, FatalError)
    assert message in result.message


def test_nothing_is_read_from_our_own_input() -> None:
    assert output_of(result_of(command="cat; echo end"))["stdout"] == "end\n"


def test_much_output_is_cut_and_counted() -> None:
    result = result_of(command="seq 1 100000")
    output = output_of(result)
    assert output["stdout_bytes"] == 588_895
    assert len(output["stdout"]) <= 32 * 1024
    assert output["stdout"].endswith("\n99999\n100000\n")


def test_what_was_left_in_the_background_is_killed(
    tmp_path: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    file = tmp_path / "pid"
    with at_most(20):
        result = result_of(command=f"sleep 1000 & echo $! > {file}; echo done")
    assert isinstance(result, Done)
    assert not lives(int(file.read_text()))


def test_somebody_outside_who_holds_the_pipe_does_not_hold_the_step(
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    with at_most(7):
        result = result_of(command="setsid sleep 100 & sleep 0.3; echo done")
    assert isinstance(result, Done)
    assert output_of(result)["stdout"] == "done\n"


# ------------------------------------------------------------------------------------------------ launches
def test_a_repeated_start_runs_nothing_twice(tmp_path: Path) -> None:
    file = tmp_path / "runs"

    async def work(runtime: ShellRuntime) -> None:
        told = Told(command=f"echo x >> {file}; sleep 0.3")
        assert isinstance(await runtime.start(told.ctx), Continue)
        assert isinstance(await runtime.start(told.ctx), Continue)
        assert isinstance(await runtime.execute(told.ctx), Continue)
        assert runtime.at_work == [told.ctx.launch]
        ended = await told.result()
        assert await runtime.start(told.ctx) is ended
        assert await runtime.execute(told.ctx) is ended
        assert told.said == [ended]

    with_runtime(work)
    assert file.read_text() == "x\n"


def test_a_newer_launch_ends_the_older_one(tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        old = Told(1, command=f"echo $$ > {tmp_path}/old; exec sleep 60")
        new = Told(2, command="echo new")
        await runtime.start(old.ctx)
        pid = await until(tmp_path / "old")
        await runtime.start(new.ctx)
        assert not lives(pid)
        said = await runtime.start(old.ctx) if runtime.at_work else Stopped(message="launch")
        assert not isinstance(said, Continue)
        assert isinstance(await new.result(), Done)
        assert old.said == []

    with_runtime(work)


def test_an_older_launch_is_refused_while_a_newer_one_works() -> None:
    async def work(runtime: ShellRuntime) -> None:
        new, old = Told(2, command="sleep 60"), Told(1, command="echo old")
        await runtime.start(new.ctx)
        said = await runtime.start(old.ctx)
        assert isinstance(said, Stopped)
        assert said.message == f"launch {new.ctx.launch} has taken its place"
        assert isinstance(await runtime.terminate(old.ctx), Stopped)
        assert runtime.at_work == [new.ctx.launch]

    with_runtime(work)


def test_work_that_nobody_knows_is_a_platform_error() -> None:
    async def work(runtime: ShellRuntime) -> None:
        said = await runtime.execute(Told(command="x").ctx)
        assert isinstance(said, PlatformError)
        assert "is not here any more" in said.message

    with_runtime(work)


def test_only_some_results_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 1)

    async def work(runtime: ShellRuntime) -> None:
        first, second = Told(step="a", command="true"), Told(step="b", command="true")
        for each in (first, second):
            await runtime.start(each.ctx)
            await each.result()
        assert isinstance(await runtime.execute(first.ctx), PlatformError)
        assert isinstance(await runtime.execute(second.ctx), Done)

    with_runtime(work)


def test_trouble_of_the_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "ScratchFolder", full)
    result = own_result_of(command="true")
    assert isinstance(result, PlatformError)
    assert "No space left on device" in result.message


def test_elsewhere_than_on_posix_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "os", type("Other", (), {"name": "nt"}))
    result = result_of(command="true")
    assert isinstance(result, FatalError)
    assert "POSIX" in result.message


# ---------------------------------------------------------------------------------------------------- line
def test_more_than_may_be_at_once_wait_in_line(tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        first = Told(step="a", command=f"echo $$ > {tmp_path}/a; exec sleep 60")
        second = Told(step="b", command=f"echo $$ > {tmp_path}/b")
        third = Told(step="c", command="echo third")
        for each in (first, second, third):
            assert isinstance(await runtime.start(each.ctx), Continue)
        await until(tmp_path / "a")
        assert not (tmp_path / "b").exists()
        assert isinstance(await runtime.terminate(second.ctx), Stopped)  # it never began
        assert isinstance(await runtime.terminate(first.ctx), Stopped)
        assert isinstance(await third.result(), Done)
        assert not (tmp_path / "b").exists()
        assert first.said == second.said == []

    with_runtime(work, at_once=1)


# ------------------------------------------------------------------------------------------------ terminate
def test_terminate_answers_when_all_has_ended(tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(command=f"echo begun; sleep 60 & echo $! > {tmp_path}/pid; wait")
        await runtime.start(told.ctx)
        pid = await until(tmp_path / "pid")
        said = await runtime.terminate(told.ctx)
        assert isinstance(said, Stopped)
        assert output_of(said)["stdout"] == "begun\n"
        assert not lives(pid)
        assert runtime.at_work == []
        assert isinstance(await runtime.terminate(told.ctx), Stopped)
        assert told.said == []

    with_runtime(work)


def test_who_does_not_listen_is_killed(
    tmp_path: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(command=f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.1; done")
        await runtime.start(told.ctx)
        pid = await until(tmp_path / "pid")
        with at_least(0.4), at_most(10):
            await runtime.terminate(told.ctx)
        assert not lives(pid)

    with_runtime(work, grace=0.5)


def test_terminate_while_it_is_being_started() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(command="sleep 60")
        await runtime.start(told.ctx)
        await asyncio.sleep(0)  # it has left the line, and has no process yet
        assert isinstance(await runtime.terminate(told.ctx), Stopped)
        assert told.said == []

    with_runtime(work)


def test_closing_ends_everything_and_says_nothing(tmp_path: Path) -> None:
    async def work() -> Told:
        runtime = ShellRuntime(lambda: 0)
        told = Told(command=f"echo $$ > {tmp_path}/pid; exec sleep 60")
        await runtime.start(told.ctx)
        pid = await until(tmp_path / "pid")
        assert runtime.at_work == [told.ctx.launch]
        runtime.kill_all()
        await runtime.close()
        await runtime.close()
        assert not lives(pid)
        return told

    assert asyncio.run(work()).said == []


def test_killing_all_before_the_first_has_begun() -> None:
    async def work(runtime: ShellRuntime) -> None:
        await runtime.start(Told(command="sleep 60").ctx)
        runtime.kill_all()

    with_runtime(work)


def children() -> set[str]:
    """Of this process, zombies included."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


def test_no_child_is_left() -> None:
    before = children()
    own_result_of(command="true")
    assert children() <= before


def test_what_it_brings_along() -> None:
    async def work(runtime: ShellRuntime) -> None:
        injected = runtime.params(STEP)
        assert injected.schema is not None
        assert runtime.outside is False

    with_runtime(work)


def test_interrupts_of_our_terminal_do_not_reach_it(tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(command=f"echo $$ > {tmp_path}/pid; exec sleep 60")
        await runtime.start(told.ctx)
        pid = await until(tmp_path / "pid")
        assert os.getpgid(pid) == pid != os.getpgid(0)
        assert os.getsid(pid) == pid
        os.kill(pid, signal.SIGTERM)
        said = await told.result()
        assert isinstance(said, PlatformError)
        assert said.message == "ended by SIGTERM (it came from outside: no step was to be ended)"

    with_runtime(work)
