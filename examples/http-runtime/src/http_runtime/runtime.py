"""The runtime of Http steps.

Each launch has one request, in a thread; a start that is repeated finds it. The runtime reports by itself
when the answer is there, and is asked for nothing meanwhile.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from stretto.engine.records import AttemptKey
from stretto.model.param import Parameter, ParamType
from stretto.model.step import AnyStep
from stretto.ports.fence import Revoked
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

from http_runtime.asked import SCHEMA, Asked, Unusable, asked_of
from http_runtime.request import Answer, Ended, NotReached, Request, TooLarge

AT_ONCE = 32  # requests; more wait in line
PATIENCE = 1.0  # seconds for which one call of `terminate` waits
SAID = 500  # characters of an answer in an error message


class Work:
    """One launch, from its start to its end."""

    def __init__(self, ctx: StepContext, asked: Asked) -> None:
        self.ctx = ctx
        self.asked = asked
        self.request = Request(asked)
        self.begun = False  # its request is being sent
        self.ending = False  # it was told to end: nobody wants to know how it would have ended
        self.task: asyncio.Task[None]

    def end(self) -> None:
        self.ending = True
        if self.begun:
            self.request.end()
        else:
            self.task.cancel()


class HttpRuntime:
    """See `stretto.ports.runtime`."""

    outside = False  # a request dies with this process, and is sent anew by the next

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._work: dict[AttemptKey, Work] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        # Threads of its own: a slow server must not keep the engine from its own work.
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="http-step")

    def params(self, step: AnyStep) -> Injected:
        return Injected(schema=SCHEMA)

    # ----------------------------------------------------------------------------------------------- asked
    async def start(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is not None and known.ctx.launch == ctx.launch:
            return Continue()
        if known is not None and known.ctx.launch > ctx.launch:
            return Stopped(message=f"launch {known.ctx.launch} has taken its place")
        if known is not None:
            known.end()
            await asyncio.wait({known.task})
        try:
            asked = asked_of(ctx)
        except Unusable as error:
            return FatalError(message=str(error))
        work = self._work[ctx.launch.attempt] = Work(ctx, asked)
        work.task = asyncio.create_task(self._run(work))
        return Continue()  # without a time: the end is reported

    async def execute(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is not None and known.ctx.launch == ctx.launch:
            return Continue()
        return PlatformError(message=f"the request of launch {ctx.launch} is not here any more")

    async def terminate(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is None or known.ctx.launch > ctx.launch:
            return Stopped()
        known.end()
        await asyncio.wait({known.task}, timeout=PATIENCE)
        return Stopped() if known.task.done() else Continue(after=100)  # it may still be connecting

    # ------------------------------------------------------------------------- at the end of a node, if there
    @property
    def at_work(self) -> list[Launch]:
        return [work.ctx.launch for work in self._work.values()]

    def kill_all(self) -> None:
        for work in self._work.values():
            work.end()

    async def close(self) -> None:
        self.kill_all()
        tasks = [work.task for work in self._work.values()]
        if tasks:
            await asyncio.wait(tasks)
        self._threads.shutdown(wait=False)

    # ------------------------------------------------------------------------------------------------- work
    async def _run(self, work: Work) -> None:
        try:
            async with self._slots:
                # The last moment before the effect: this node may have lost the run while the launch waited.
                await work.ctx.fence.passed()
                result = self._judged(work, await self._answer(work))
        except Revoked:
            result = Stopped()
        except NotReached as error:
            result = PlatformError(message=f"{work.asked} was not answered: {error}")
        except TooLarge:
            text = f"{work.asked} was answered with more than {work.asked.most_bytes} bytes"
            result = UserError(message=f"{text}; raise `http.most_bytes`, or keep it elsewhere")
        except Ended:
            seconds = f"{work.asked.timeout:g} seconds"
            result = TimedOut(message=f"{work.asked} was not answered within {seconds}")
        finally:
            if self._work.get(work.ctx.launch.attempt) is work:
                del self._work[work.ctx.launch.attempt]
        if not work.ending:
            await work.ctx.report(result)

    async def _answer(self, work: Work) -> Answer:
        loop = asyncio.get_running_loop()
        work.begun = True
        timer = loop.call_later(work.asked.timeout, work.request.end)
        try:
            return await loop.run_in_executor(self._threads, work.request.perform)
        finally:
            timer.cancel()

    def _judged(self, work: Work, answer: Answer) -> StepResult:
        try:
            text = answer.body.decode(answer.charset)
        except (LookupError, UnicodeDecodeError):
            text = None
        if not 200 <= answer.status < 300:
            said = (text or "")[:SAID].strip()
            status = f"{answer.status} {answer.reason}".strip()
            return UserError(message=f"{work.asked} was answered {status}" + (f": {said}" if said else ""))
        if text is None or "\0" in text:
            return UserError(message=f"{work.asked} was answered with something that is no text")
        return Done(outputs=self._outputs(work.ctx, answer, text))

    def _outputs(self, ctx: StepContext, answer: Answer, text: str) -> dict[str, Parameter]:
        """Those that a step has; of an Http step the two first are always there."""
        found = {
            "status_code": (ParamType.LONG, answer.status),
            "response_body": (ParamType.STRING, text),
            "response_headers": (ParamType.STRING_MAP, answer.headers),
        }
        return {
            name: Parameter(type=kind, evaluated_result=value, evaluated_time=self._now())
            for name, (kind, value) in found.items()
            if name in ctx.params
        }
