"""Steps of the type Shell: a command of the machine, which is ended with everything that it has started.

Each launch has one process; a start that is repeated finds it. The runtime reports by itself when a process
has ended, and is asked for nothing meanwhile. More commands than the machine should run at once wait in line.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from stretto.engine.records import AttemptKey
from stretto.model.artifact import Artifacts
from stretto.model.step import AnyStep
from stretto.ports.fence import Revoked
from stretto.ports.logs import STDERR, STDOUT, LogSink, Stream
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    Injected,
    Launch,
    PlatformError,
    StepContext,
    StepResult,
    Stopped,
    UserError,
)
from stretto.runtimes import variables
from stretto.runtimes.command import SCHEMA, Command, Unusable, Verdict, command_of, told
from stretto.runtimes.guards import Expired, Guards, Lost, Refused
from stretto.runtimes.outputs import MOST_BYTES, BadOutput, Marks, artifacts_of, read_outputs
from stretto.runtimes.process import Process, Take, started
from stretto.runtimes.python.telling import Telling
from stretto.runtimes.scratch import ScratchFolder

AT_ONCE: Final = max(16, 4 * (os.cpu_count() or 1))
GRACE: Final = 10.0  # seconds between the request to end and the end
REMEMBERED: Final = 256  # results of launches that have ended, in case one is started again
SAID: Final = 2_000  # characters of an output in an error message
FAILURES: Final[Mapping[Verdict, type[UserError | PlatformError | FatalError]]] = {
    Verdict.USER: UserError,
    Verdict.PLATFORM: PlatformError,
    Verdict.FATAL: FatalError,
}


class Work:
    """One launch, from its start to its end."""

    def __init__(self, ctx: StepContext, command: Command, now: Callable[[], int]) -> None:
        self.ctx = ctx
        self.command = command
        self.marks = Marks(self._progress)
        self._now = now
        self._telling: Telling | None = None
        self._left: Artifacts | None = None
        self.begun = False  # it has left the line, and its command is being started
        self.ending = False  # it was told to end: nobody wants to know how it would have ended
        self.hurried = False  # there is no time for it to clean up
        self.process: Process | None = None
        self.task: asyncio.Task[None]
        self.end: asyncio.Task[None]  # of one that was told to end while it was being started

    def _progress(self, fraction: float, text: str) -> None:
        if self._telling is None:
            self._telling = Telling(self.ctx, self._now, asyncio.get_running_loop())
        self._telling.progress(fraction, text)

    async def left(self, code: int | None = None) -> Artifacts:
        """What it leaves behind, with what it told last. Nothing is reported afterwards."""
        if self._left is None:
            self._left = {} if self.process is None else artifacts_of(self.process, code)
            if self._telling is not None:
                self._left |= (await self._telling.rest())[0]
        return self._left


class ShellRuntime:
    """See `ports.runtime`. Made in the event loop in which it works; whoever makes it closes it."""

    outside = False

    def __init__(
        self,
        now: Callable[[], int],
        *,
        at_once: int = AT_ONCE,
        grace: float = GRACE,
        sink: LogSink | None = None,
    ) -> None:
        self._now = now
        self._sink = sink
        self._grace = grace
        self._slots = asyncio.Semaphore(at_once)
        self._work: dict[AttemptKey, Work] = {}
        self._ended: OrderedDict[Launch, StepResult] = OrderedDict()
        self._guards = Guards()
        self._folder: ScratchFolder | None = None
        self._numbers = count(1)

    @property
    def at_work(self) -> list[Launch]:
        """What has not ended."""
        return [work.ctx.launch for work in self._work.values()]

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - the same for all
        return Injected(schema=SCHEMA)

    # ----------------------------------------------------------------------------------------------- asked
    async def start(self, ctx: StepContext) -> StepResult:
        launch = ctx.launch
        if launch in self._ended:
            return self._ended[launch]
        known = self._work.get(launch.attempt)
        if known is not None and known.ctx.launch == launch:
            return Continue()
        if known is not None and known.ctx.launch > launch:
            return Stopped(message=f"launch {known.ctx.launch} has taken its place")
        if known is not None:
            await self._end(known)
        if os.name != "posix":
            return FatalError(message="Shell steps need Linux, macOS or another POSIX system")
        try:
            command = command_of(ctx.params, os.environ)
        except Unusable as error:
            return FatalError(message=str(error))
        work = self._work[launch.attempt] = Work(ctx, command, self._now)
        work.task = asyncio.create_task(self._run(work))
        return Continue()

    async def execute(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is not None and known.ctx.launch == ctx.launch:
            return Continue()
        return self._ended.get(ctx.launch) or PlatformError(
            message=f"the process of launch {ctx.launch} is not here any more"
        )

    async def terminate(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is None or known.ctx.launch > ctx.launch:
            return Stopped()
        await self._end(known, 0.0 if ctx.fence.is_revoked else self._grace)
        return Stopped(artifacts=await known.left())

    async def close(self) -> None:
        """End everything, and say nothing of it. Idempotent."""
        await asyncio.gather(*(self._end(work) for work in list(self._work.values())))
        await self._guards.close()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def kill_all(self) -> None:
        """Nobody has time any more. `close` must follow."""
        for work in self._work.values():
            work.ending = work.hurried = True
            if work.process is not None:
                work.process.kill()

    # ------------------------------------------------------------------------------------------------- work
    async def _run(self, work: Work) -> None:
        launch = work.ctx.launch
        try:
            async with self._slots:
                result = await self._result(work)
        except Exception as error:  # noqa: BLE001 - no room for files, no memory: it must be told all the same
            text = f"the command could not be looked after: {type(error).__name__}: {error}"
            result = PlatformError(message=text)
        finally:
            self._forget(work)
        self._ended[launch] = result
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        if not work.ending:
            await work.ctx.report(result)

    async def _end(self, work: Work, grace: float | None = None) -> None:
        """Until nothing of it is left."""
        work.ending = True
        if not work.begun:
            work.task.cancel()
        elif work.process is not None:
            await work.process.end(self._grace if grace is None else grace)
        await asyncio.wait({work.task})
        self._forget(work)  # one that was cancelled before its first step could not do that

    def _forget(self, work: Work) -> None:
        launch = work.ctx.launch
        if self._work.get(launch.attempt) is work:
            del self._work[launch.attempt]
            if self._sink is not None:
                self._sink.end(launch)

    async def _result(self, work: Work) -> StepResult:
        output = self._file()
        try:
            process = await self._started(work, output)
            if process is None:
                return Stopped()
            work.process = process
            if work.ending:  # it was told so while it was being started
                grace = 0.0 if work.hurried else self._grace
                work.end = asyncio.create_task(process.end(grace))  # which is over when the command is
            return await self._judged(work, await process.wait(), output)
        except Revoked:  # another node does this work
            return Stopped()
        except Refused as error:
            return FatalError(message=f"`{work.command.words[0][:200]}` can not be started: {error}")
        except Lost as error:
            return PlatformError(message=str(error), artifacts=await work.left())
        finally:
            output.unlink(missing_ok=True)

    async def _started(self, work: Work, output: Path) -> Process | None:
        """The process of the command, begun while the fence is open; None: the step was told to end."""
        while not work.ending:
            await work.ctx.fence.passed()
            work.begun = True
            try:
                return await started(
                    work.command,
                    _variables(work.ctx, output),
                    self._guards,
                    (*self._logged(work, STDOUT), work.marks.take),
                    self._logged(work, STDERR),
                    work.ctx.fence,
                )
            except Expired:
                work.begun = False
        return None

    def _logged(self, work: Work, stream: Stream) -> tuple[Take, ...]:
        return () if self._sink is None else (partial(self._sink.write, work.ctx.launch, stream),)

    async def _judged(self, work: Work, code: int, output: Path) -> StepResult:
        artifacts = await work.left(code)
        verdict = work.command.exit_codes.meaning(code)
        if verdict is not Verdict.SUCCESS:
            assert work.process is not None  # noqa: S101 - it has ended
            return FAILURES[verdict](message=_failed(work.process, code), artifacts=artifacts)
        try:
            marked = work.marks.outputs()
            outputs = read_outputs(_read(output), work.ctx.params, self._now(), marked)
            return Done(outputs=outputs, artifacts=artifacts)
        except BadOutput as error:
            return UserError(message=str(error), artifacts=artifacts)

    def _file(self) -> Path:
        """Where a command writes its outputs; it is there, and empty."""
        if self._folder is None:
            self._folder = ScratchFolder()
        path = Path(self._folder.path, f"output-{next(self._numbers)}")
        path.touch(mode=0o600)
        return path


def _variables(ctx: StepContext, output: Path) -> dict[str, str]:
    """What a command is told of itself."""
    attempt = ctx.launch.attempt
    return {
        variables.OUTPUT: str(output),
        variables.RUN: "/".join(map(str, attempt.run)),
        variables.STEP: attempt.step_id,
        variables.ATTEMPT: str(attempt.number),
        variables.LAUNCH: str(ctx.launch),
        variables.ENGINE: str(os.getpid()),
    }


def _read(output: Path) -> bytes:
    """A step may have removed its file, or put something else in its place: then it has no outputs."""
    if not (output.is_file() and output.stat().st_size):
        return b""
    with output.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _failed(process: Process, code: int) -> str:
    """How it ended, and the last that it said."""
    said = (process.err.text.strip() or process.out.text.strip())[-SAID:]
    return f"{told(code)}: {said}" if said else told(code)
