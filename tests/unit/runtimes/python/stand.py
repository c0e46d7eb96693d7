"""A Python runtime without an engine around it, and steps as it is told of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import msgspec
from tests.waiting import PATIENCE

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.param import Parameter, Params, ParamType
from stretto.model.step import TypedStep
from stretto.ports.runtime import Continue, Launch, StepContext, StepResult
from stretto.runtimes.python import PythonRuntime, Registry
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.registry import as_function
from stretto.runtimes.python.substeps import params_of

RUN = RunKey("etl", 12, 2)
NOW = 1_700_000_000_000
NUMBERS = count(1)  # of steps: each launch is another one


def evaluated(params: Params) -> dict[str, Parameter]:
    """Parameters as the engine hands them over: texts were interpolated."""
    return {
        name: Parameter(type=each.type, evaluated_result=_rendered(each.value), meta=dict(each.meta))
        for name, each in params.items()
    }


def _rendered(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_rendered, value))
    return value.replace("$$", "$") if isinstance(value, str) else value


class Told:
    """A launch, and what its runtime reports by itself."""

    def __init__(
        self,
        params: Params,
        *,
        step_id: str | None = None,
        generation: int = 1,
        attempt: int = 1,
        timeout_at: int | None = None,
        before: tuple[str, ...] = (),
    ) -> None:
        step_id = step_id or f"step-{next(NUMBERS)}"
        self.said: list[StepResult] = []
        self._heard = asyncio.Event()
        self.ctx = StepContext(
            launch=Launch(AttemptKey(RUN, step_id, attempt), generation),
            step=TypedStep(id=step_id, type="Python", params=params),
            predecessors=before,
            params=evaluated(params),
            timeout_at=timeout_at,
            report=self._report,
        )

    async def _report(self, result: StepResult) -> None:
        self.said.append(result)
        self._heard.set()

    async def next(self) -> StepResult:
        """What is reported next."""
        async with asyncio.timeout(PATIENCE):
            await self._heard.wait()
        self._heard.clear()
        return self.said[-1]

    async def end(self) -> StepResult:
        """What is reported as the end."""
        while isinstance(said := await self.next(), Continue):
            pass
        return said


def told(given: Any, values: Mapping[str, Any] | None = None, **more: Any) -> Told:
    """A step that calls a function with these values."""
    return Told(params_of(as_function(given), values or {}), **more)


def text(value: str) -> Parameter:
    return Parameter(type=ParamType.STRING, value=value, evaluated_result=value)


class Stand:
    """A runtime that knows some functions."""

    def __init__(self, *functions: Function | Callable[..., Any], **options: Any) -> None:
        self.at = NOW
        self.runtime = PythonRuntime(Registry(*functions), now=lambda: self.at, **options)

    async def run(self, given: Any, values: Mapping[str, Any] | None = None, **more: Any) -> StepResult:
        """Start a function and wait for its end."""
        return await self.end(told(given, values, **more))

    async def end(self, step: Told) -> StepResult:
        said = await self.runtime.start(step.ctx)
        return await step.end() if isinstance(said, Continue) else said

    async def terminated(self, ctx: StepContext) -> StepResult:
        """However often it has to be asked."""
        while isinstance(answer := await self.runtime.terminate(ctx), Continue):
            pass
        return answer


def playing(body: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop of its own."""

    async def run() -> None:
        async with asyncio.timeout(PATIENCE):
            await body()

    asyncio.run(run())


def value(result: StepResult) -> Any:
    """The value of the step's result; for messages, the whole result if there is none."""
    outputs = getattr(result, "outputs", None)
    assert outputs, result
    return outputs["result"].evaluated_result


def said(result: StepResult) -> tuple[str, str | None]:
    """What kind of result it is, and its message."""
    return type(result).__name__, getattr(result, "message", None)


def with_params(step: Told, **params: Parameter) -> Told:
    """The same step with parameters of its own."""
    made = msgspec.structs.replace(
        step.ctx,
        params={**step.ctx.params, **params},
        step=msgspec.structs.replace(step.ctx.step, params={**(step.ctx.step.params or {}), **params}),
    )
    step.ctx = made
    return step
