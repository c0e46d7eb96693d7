"""Runtimes that follow a script, and a ledger of everything that was started.

The ledger is what a receiver outside would keep: the highest launch of each attempt. It refuses older ones,
and it knows which node does which work, so that it sees when two do the same.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final
from zlib import crc32

from simulation.plays import Play, Says, Script
from stretto.engine.records import AttemptKey
from stretto.model.param import Parameter
from stretto.model.step import AnyStep
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
    TimedOut,
    UserError,
)
from stretto.testing.scheduler import Delay, Scheduler
from stretto.testing.shapes import result

FUNCTIONS: Final = ("f0", "f1", "f2")  # all that the steps of a world call
WAITS: Final = (1, 30, 300, 2_000, 6_000)  # milliseconds that a launch waits before its work may begin
SLOTS: Final = 3  # works of a process at once, where launches wait


def function_of(step_id: str) -> str:
    """The function that a step calls."""
    return FUNCTIONS[crc32(step_id.encode()) % len(FUNCTIONS)]


class Job:
    """Work that was started: where it is done, and how often it was looked at."""

    def __init__(self, launch: Launch, play: Play, node: str) -> None:
        self.launch = launch
        self.play = play
        self.node = node  # the id of the node that started it
        self.looks = 0
        self.told = 0  # how often it was told to end
        self.due: int | None = None  # when it will say by itself how it ended
        self.over = False
        self.ended = False  # as the script says: whoever asks again is told again


class Refused(Exception):
    """A launch that is older than one that was seen."""


class Ledger:
    """All work of a world, whoever started it."""

    def __init__(self, script: Script, scheduler: Scheduler, complain: Callable[[str], None]) -> None:
        self.script = script
        self.scheduler = scheduler
        self.complain = complain
        self.recorded: set[tuple[AttemptKey, int]] = set()  # launches that some commit has recorded
        self.is_fenced: Callable[[str], bool] = lambda _node: False
        self.starts = 0
        self._highest: dict[AttemptKey, Launch] = {}
        self._jobs: dict[tuple[Launch, str], Job] = {}

    def start(self, launch: Launch, place: str, node: str) -> Job:
        """A start arrives: it must have been recorded, and must not be older than another. `place` is the
        process that does the work; it is empty for work that lives outside.
        """
        attempt = launch.attempt
        if (attempt, launch.generation) not in self.recorded:
            self.complain(f"I3: {launch} was started, and no commit has recorded that launch")
        highest = self._highest.get(attempt)
        if highest is not None and launch < highest:
            raise Refused(f"{launch} is older than {highest}")
        self._highest[attempt] = launch
        if place and self.is_fenced(node):
            self.complain(f"I19: {node} begins {launch}, and was declared dead before")
        if place and not self.is_fenced(node):
            for other in self.running(attempt):
                if other.node != node and not self.is_fenced(other.node):
                    self.complain(f"I5: {node} works on {launch}, and {other.node} still on {other.launch}")
        job = self._jobs.get((launch, place))
        if job is None:  # who is asked twice for the same launch does it once
            job = self._jobs[launch, place] = Job(launch, self.script.play_of(attempt), node)
            self.starts += 1
        return job

    def find(self, launch: Launch, place: str) -> Job | None:
        return self._jobs.get((launch, place))

    def running(self, attempt: AttemptKey) -> list[Job]:
        """Work on an attempt that has not ended, in the order in which it was started."""
        return [job for (launch, _), job in self._jobs.items() if launch.attempt == attempt and not job.over]

    def busy(self, place: str) -> int:
        """How many works a process does that end by themselves."""
        return sum(
            kept == place and not job.over and job.play.says is not Says.NEVER
            for (_, kept), job in self._jobs.items()
        )

    def died(self, place: str) -> None:
        """A process is gone, and the work that it did with it."""
        for (_, kept), job in self._jobs.items():
            if kept == place:
                job.over = True


class ScriptedRuntime:
    """A step runtime of one process."""

    def __init__(
        self,
        ledger: Ledger,
        place: str,
        node: Callable[[], str],
        spawn: Callable[[int, Callable[[], Any]], None],
        functions: Collection[str] = FUNCTIONS,
        *,
        queued: bool = False,
    ) -> None:
        self.outside = not place
        self.functions = frozenset(functions)
        self._ledger = ledger
        self._place = place
        self._node = node  # its id, which changes when it was buried
        self._queued = queued  # launches wait here for their turn, as in the runtimes that ship
        self._waiting: set[Launch] = set()
        self._spawn = spawn  # carry a coroutine out after a while, unless the process is gone by then

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - it brings nothing along
        return Injected()

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:  # noqa: ARG002
        """See `ports.runtime.FunctionRuntime`: the id of a step says which function it calls."""
        function = function_of(step.id)
        return () if self.outside or function in self.functions else (function,)

    async def start(self, ctx: StepContext) -> StepResult:
        if self.lacks(ctx.step, ctx.params):
            self._ledger.complain(f"{self._place} starts {ctx.launch}, and does not know its function")
        if self._queued and not self.outside:
            return self._line_up(ctx)
        job = self._ledger.start(ctx.launch, self._place, self._node())
        if job.play.takes:
            await Delay(job.play.takes)
        return self._look(ctx, job)

    def _line_up(self, ctx: StepContext) -> StepResult:
        """The launch waits for its turn and for a slot; its work begins later, if the fence is open then."""
        launch, node = ctx.launch, self._node()
        job = self._ledger.find(launch, self._place)
        if job is not None:
            return self._look(ctx, job)
        if launch in self._waiting:
            return Continue()
        self._waiting.add(launch)

        async def begin() -> None:
            while not ctx.fence.is_open or self._ledger.busy(self._place) >= SLOTS:
                if ctx.fence.is_revoked or launch not in self._waiting:
                    break
                await Delay(100)
            if launch not in self._waiting:
                return  # it was told to end
            self._waiting.discard(launch)
            if not ctx.fence.is_revoked:
                await ctx.report(self._begun(ctx, node))

        self._spawn(WAITS[crc32(str(launch).encode()) % len(WAITS)], begin)
        return Continue()

    def _begun(self, ctx: StepContext, node: str) -> StepResult:
        try:
            job = self._ledger.start(ctx.launch, self._place, node)
            return self._look(ctx, job)
        except (Refused, ValueError) as error:
            return PlatformError(message=str(error))

    async def execute(self, ctx: StepContext) -> StepResult:
        job = self._ledger.find(ctx.launch, self._place)
        if job is None:
            if ctx.launch in self._waiting:
                return Continue()
            if not self.outside:
                self._ledger.complain(f"I5: {self._place} looks at {ctx.launch}, which is not done here")
            return PlatformError(message="there is no such work")
        return self._look(ctx, job)

    async def terminate(self, ctx: StepContext) -> StepResult:
        self._waiting.discard(ctx.launch)
        job = self._ledger.find(ctx.launch, self._place)
        await Delay(20)
        if job is None or job.over:
            return Stopped()
        job.told += 1
        if job.told <= job.play.stubborn:
            return Continue(after=300)
        job.over = True
        return Stopped()

    def _look(self, ctx: StepContext, job: Job) -> StepResult:
        """What the script says of work that was started, or is looked at again."""
        play = job.play
        if job.ended:
            return answer_of(play)
        if job.over:
            return Stopped()
        if job.looks < len(play.polls):
            job.looks += 1
            return Continue(after=play.polls[job.looks - 1])
        if play.says is Says.NEVER:
            return Continue()
        if play.reports is not None:
            return self._report_later(ctx, job, play.reports)
        job.over = job.ended = True
        return answer_of(play)

    def _report_later(self, ctx: StepContext, job: Job, millis: int) -> StepResult:
        """It goes on. Whoever asks again is told again, when the time has come."""
        now = self._ledger.scheduler.now
        if job.due is None:
            job.due = now + millis

        async def report() -> None:
            if job.ended or not job.over:  # everybody who asked is told, unless it was terminated
                job.over = job.ended = True
                await ctx.report(answer_of(job.play, raising=False))
                if job.play.twice:
                    await Delay(700)
                    await ctx.report(answer_of(job.play, raising=False))

        self._spawn(max(1, job.due - now), report)
        return Continue()


def answer_of(play: Play, *, raising: bool = True) -> StepResult:
    """The end of the work, as a runtime says it."""
    message = f"the script says {play.says}"
    outputs: dict[str, Parameter] = {} if play.n is None else {"n": result(play.n)}
    match play.says:
        case Says.USER_ERROR:
            return UserError(message=message)
        case Says.PLATFORM_ERROR:
            return PlatformError(message=message)
        case Says.FATAL_ERROR:
            return FatalError(message=message)
        case Says.STOPPED:
            return Stopped(message=message)
        case Says.TIMED_OUT:
            return TimedOut(message=message)
        case Says.RAISES if raising:
            raise ValueError(message)
        case Says.RAISES | Says.NONSENSE:
            return "nonsense"  # type: ignore[return-value]  # a runtime that does not keep to its port
        case _:
            return Done(outputs=outputs)
