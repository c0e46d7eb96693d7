"""What a command is given to read, and what becomes of what it prints, while it runs and afterwards."""

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtimes.contexts import Told
from tests.unit.runtimes.processes import left_of, wait_for
from tests.unit.runtimes.shells import end_of, result_of, shared_runtime

from stretto.model.artifact import DefaultArtifact
from stretto.ports.logs import Stream
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    Launch,
    PlatformError,
    StepResult,
    Stopped,
    UserError,
)
from stretto.runtimes import shell
from stretto.runtimes.command import command_of
from stretto.runtimes.python import telling
from stretto.runtimes.shell import ShellRuntime

__all__ = ["shared_runtime"]

MB = 1024 * 1024


class Kept:
    """A sink that keeps all, and knows when it ended."""

    def __init__(self) -> None:
        self.said: list[tuple[Launch, str, bytes]] = []
        self.ended: list[Launch] = []

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        self.said.append((launch, stream, data))

    def end(self, launch: Launch) -> None:
        self.ended.append(launch)

    def of(self, stream: str) -> bytes:
        return b"".join(data for _, name, data in self.said if name == stream)


def with_runtime(
    work: Callable[[ShellRuntime], Awaitable[Any]], sink: Kept | None = None, **options: Any
) -> Any:
    async def run() -> Any:
        runtime = ShellRuntime(lambda: 1_000, sink=sink, **options)
        try:
            return await work(runtime)
        finally:
            await runtime.close()

    return asyncio.run(run())


def data_of(result: StepResult, name: str = "shell") -> dict[str, Any]:
    artifact = result.artifacts[name]
    assert isinstance(artifact, DefaultArtifact)
    return artifact.data


# ----------------------------------------------------------------------------------------------------- bash
def test_a_script_is_read_by_bash() -> None:
    result = result_of(script='words=(a b)\n[[ ${words[1]} == b ]]\necho "$BASH_VERSION"')
    assert isinstance(result, Done)
    assert data_of(result)["stdout"].strip()


def test_a_part_of_a_pipeline_that_fails_ends_a_script() -> None:
    result = result_of(script="false | cat\necho not reached")
    assert isinstance(result, UserError)
    assert data_of(result)["stdout"] == ""
    assert isinstance(result_of(command="false | cat"), Done)


def test_a_folder_that_can_not_be_entered_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setattr(shell, "command_of", lambda *given: command_of(*given)._replace(cwd=gone))
    result = result_of(command=["true"])
    assert isinstance(result, FatalError)
    assert result.message == f"`true` can not be started: No such file or directory ({gone})"


# ---------------------------------------------------------------------------------------------------- input
def test_a_text_to_read() -> None:
    assert data_of(result_of(command="cat", stdin="é\none"))["stdout"] == "é\none"
    assert data_of(result_of(command="cat; echo end", stdin=""))["stdout"] == "end\n"


def test_a_large_text_is_read_to_its_end() -> None:
    assert data_of(result_of(command="sleep 0.1; wc -c", stdin="x" * 4 * MB))["stdout"].strip() == str(4 * MB)


def test_nobody_waits_for_a_command_that_does_not_read(
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    with at_most(20):
        assert isinstance(result_of(command="true", stdin="x" * 4 * MB), Done)
        assert isinstance(result_of(command="head -c 1", stdin="x" * 4 * MB), Done)
        assert isinstance(result_of(command="exec <&-; sleep 0.1", stdin="x" * 4 * MB), Done)


# -------------------------------------------------------------------------------------------------- verdicts
CODES = {"75": "platform", "64-78": "fatal", "3": "success", "SIGTERM": "user", "SIGUSR1": "fatal"}


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("exit 75", PlatformError, "exit code 75"),
        ("exit 64", FatalError, "exit code 64"),
        ("exit 9", UserError, "exit code 9"),
        ("kill -TERM $$", UserError, "ended by SIGTERM (it came from outside: no step was to be ended)"),
        ("kill -USR1 $$; sleep 9", FatalError, "ended by SIGUSR1"),
        ("(kill -USR1 $BASHPID; sleep 9); exit", FatalError, "exit code 138 (128 + SIGUSR1)"),
        ("kill -SEGV $$", PlatformError, "ended by SIGSEGV (it crashed: a wrong address in memory)"),
        ("(exec sh -c 'kill -9 $$'); exit", UserError, "exit code 137 (128 + SIGKILL)"),
    ],
)
def test_what_codes_mean(command: str, kind: type[Any], message: str) -> None:
    result = result_of(command=command, exit_codes=CODES)
    assert isinstance(result, kind)
    assert result.message.startswith(message)


def test_a_code_that_means_success_has_outputs() -> None:
    result = result_of(command="echo ::output rows=4; exit 3", exit_codes=CODES, rows=0)
    assert isinstance(result, Done)
    assert result.outputs["rows"].evaluated_result == 4
    assert data_of(result)["exit_code"] == 3


def test_codes_that_nobody_understands_are_not_worth_another_try() -> None:
    result = result_of(command="true", exit_codes={"75": "again"})
    assert isinstance(result, FatalError)
    assert "`75: again` in `exit_codes`" in result.message


# ----------------------------------------------------------------------------------------------------- marks
def test_outputs_by_marked_lines() -> None:
    file = 'echo rows=2 >> "$STRETTO_OUTPUT"'
    script = f"echo ::output rows=1\necho '::output text=a b'\n{file}\necho ::output rows=3"
    result = result_of(script=script, rows=0, text="")
    assert isinstance(result, Done)
    assert {name: each.evaluated_result for name, each in result.outputs.items()} == {
        "rows": 2,
        "text": "a b",
    }
    assert data_of(result)["stdout"] == "::output rows=1\n::output text=a b\n::output rows=3\n"


def test_marks_are_looked_for_on_standard_output_alone() -> None:
    assert isinstance(result_of(command="echo ::output unknown=1 >&2"), Done)
    result = result_of(command="echo ::output unknown=1")
    assert isinstance(result, UserError)
    assert "::output sets `unknown`" in result.message


def test_progress_is_told_while_it_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def work(runtime: ShellRuntime) -> None:
        text = "echo ::progress 0.1 begun; read -r _ < go; echo ::progress 0.9 nearly"
        told = Told(command=text, cwd=str(tmp_path))
        await runtime.start(told.ctx)
        await wait_for(lambda: told.said)
        first = told.said[0]
        assert isinstance(first, Continue)
        assert data_of(first, "progress") == {"fraction": Decimal("0.1"), "text": "begun", "at": 1_000}
        (tmp_path / "go").write_text("\n")
        await wait_for(lambda: isinstance(told.said[-1], Done))
        assert data_of(told.said[-1], "progress")["text"] == "nearly"
        assert data_of(told.said[-1])["exit_code"] == 0

    monkeypatch.setattr(telling, "AT_FIRST", 0.0)
    os.mkfifo(tmp_path / "go")
    with_runtime(work)


def test_progress_is_told_once_a_second_at_most() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(
            command="for i in $(seq 1 400); do echo ::progress 0.5 $i; test ${i%0} = $i || sleep 0.001; done"
        )
        begun = time.monotonic()
        result = await end_of(runtime, told)
        assert data_of(result, "progress")["text"] == "400"
        assert len(told.said) <= 3 + time.monotonic() - begun  # the first, one that is late, and the end

    with_runtime(work)


def test_progress_of_a_command_that_is_stopped() -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(step=f"told-{os.getpid()}", command="echo ::progress 0.3 half; exec sleep 60")
        await runtime.start(told.ctx)
        await wait_for(lambda: runtime._work[told.ctx.launch.attempt]._telling)
        said = await runtime.terminate(told.ctx)
        assert isinstance(said, Stopped)
        heard = [*told.said, said]
        assert any("progress" in each.artifacts for each in heard)
        assert left_of(told.ctx.launch) == []
        count = len(told.said)
        await end_of(runtime, Told(command="echo ::progress 0.5 another"))
        assert len(told.said) == count

    with_runtime(work)


# ------------------------------------------------------------------------------------------------------ logs
def test_every_byte_goes_to_the_sink() -> None:
    sink = Kept()
    told = Told(command="printf 'a\\0\\377'; echo err >&2; seq 1 100000")
    result = with_runtime(lambda runtime: end_of(runtime, told), sink)
    assert isinstance(result, Done)
    lines = b"".join(b"%d\n" % number for number in range(1, 100_001))
    assert sink.of("stdout") == b"a\0\xff" + lines
    assert sink.of("stderr") == b"err\n"
    assert len(sink.ended) == 1
    assert {launch for launch, _, _ in sink.said} == set(sink.ended)


def test_it_goes_there_while_the_command_runs() -> None:
    sink = Kept()

    async def work(runtime: ShellRuntime) -> None:
        told = Told(command="printf 'no end of line'; exec sleep 60")
        await runtime.start(told.ctx)
        await wait_for(lambda: sink.of("stdout") == b"no end of line")
        assert sink.ended == []
        await runtime.terminate(told.ctx)
        assert sink.ended == [told.ctx.launch]

    with_runtime(work, sink)


def test_what_never_began_has_ended_too() -> None:
    sink = Kept()

    async def work(runtime: ShellRuntime) -> None:
        first, second = Told(step="a", command="sleep 60"), Told(step="b", command="true")
        for each in (first, second):
            await runtime.start(each.ctx)
        await runtime.terminate(second.ctx)
        assert [each.attempt.step_id for each in runtime.at_work] == ["a"]
        assert isinstance(await end_of(runtime, Told(step="c", command=["no-such-program"])), FatalError)

    with_runtime(work, sink, at_once=2)
    assert len(sink.ended) == 3


def test_much_output_needs_little_memory_and_leaves_the_loop_free(
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    async def work(runtime: ShellRuntime) -> None:
        told = Told(command="yes | head -c 100000000")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await runtime.start(told.ctx)
        while not told.said:
            with at_most(5.0):  # where nobody else is working, a few hundredths
                await asyncio.sleep(0.001)
        assert isinstance(told.said[0], Done)
        assert data_of(told.said[0])["stdout_bytes"] == 100_000_000
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes

    with_runtime(work)


# ------------------------------------------------------------------------- what the page of Shell steps says
def test_a_reader_that_ends_early_fails_a_pipeline_of_a_script() -> None:
    result = result_of(script="yes | head -1")
    assert isinstance(result, UserError)
    assert result.message == "exit code 141 (128 + SIGPIPE): y"
    assert isinstance(result_of(script="(yes || true) | head -1"), Done)
    assert isinstance(result_of(script="set +o pipefail\nyes | head -1"), Done)


def test_a_script_that_is_too_long_for_the_system() -> None:
    long = "true\n" * 40_000
    result = result_of(script=long)
    assert isinstance(result, FatalError)
    assert "can not be started: Argument list too long" in result.message
    assert isinstance(result_of(command=["bash", "-s"], stdin=long), Done)
