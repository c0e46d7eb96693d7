"""What the work of steps does in a test: a function, a result, or nothing until the test says so."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Final, get_args

from stretto.engine.records import AttemptKey
from stretto.model.error_text import text_of_error
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.step import AnyStep, TypedStep
from stretto.params.values import kind_of
from stretto.ports.runtime import Continue, Done, Injected, StepContext, StepResult, UserError
from stretto.testing.functions import Functions
from stretto.testing.scheduler import Delay

__all__ = ["HELD", "Work"]

RESULTS: Final = get_args(StepResult)


class _Held:
    """See `HELD`."""

    def __repr__(self) -> str:
        return "HELD"


HELD: Final = _Held()
"""The work goes on until the test says how it ended."""


class Work:
    """What a function that does the work of a step is told."""

    def __init__(self, context: StepContext) -> None:
        self.context = context
        self.step_id = context.step.id
        self.attempt = context.launch.attempt.number  # counted from 1
        self.params: dict[str, Any] = {name: param.evaluated_result for name, param in context.params.items()}

    @staticmethod
    async def sleep(seconds: float) -> None:
        """Let virtual time pass, in a function that is a coroutine."""
        await Delay(int(seconds * 1_000))


Answer = StepResult | Mapping[str, Any] | None
Doing = Answer | _Held | Callable[[Work], Answer | Awaitable[Answer]] | Sequence[Any]


class Works:
    """A step runtime for tests: it does what it was told for a step, or for all steps of a type. A step that
    nothing was told about, and that names a function of the test, calls that.
    """

    outside: bool = False

    def __init__(self, functions: Functions) -> None:
        self.doings: dict[str, Doing] = {}
        self._functions = functions
        self.held: dict[AttemptKey, StepContext] = {}

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - it brings nothing along
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:
        doing = self._doing(ctx)
        if doing is None and self._functions.knows(ctx):
            return await self._functions.start(ctx)
        if isinstance(doing, _Held):
            self.held[ctx.launch.attempt] = ctx
            return Continue()
        try:
            said = doing(Work(ctx)) if callable(doing) else doing
            return result_of(await said if isawaitable(said) else said)
        except BaseException as error:
            if isinstance(error, GeneratorExit):  # the harness ends
                raise
            return UserError(message=text_of_error(error))  # what a user's function raises is a user's error

    async def execute(self, ctx: StepContext) -> StepResult:
        return await self.start(ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:
        self.held.pop(ctx.launch.attempt, None)
        return await self._functions.terminate(ctx)

    def _doing(self, ctx: StepContext) -> Any:
        kind = ctx.step.type if isinstance(ctx.step, TypedStep) else ""
        doing = self.doings.get(ctx.step.id, self.doings.get(kind))
        if isinstance(doing, Sequence):
            return doing[min(ctx.launch.attempt.number, len(doing)) - 1]
        return doing


def result_of(said: Any) -> StepResult:
    """A result, from whatever a function answers: nothing and output values mean that it is done."""
    if isinstance(said, RESULTS):
        return said  # type: ignore[no-any-return]
    if said is None:
        return Done()
    if isinstance(said, Mapping):
        return Done(outputs={name: output(value) for name, value in said.items()})
    known = ", ".join(each.__name__ for each in RESULTS)
    message = f"the work answered {said!r}: answer one of {known}, a dict of output values, or None"
    raise TypeError(message)


def output(value: Any) -> Parameter:
    """A plain value as an output parameter of the type that it has."""
    kind = kind_of(value)
    literal = tuple(value) if kind.is_array else value
    return Parameter(type=kind, value=literal, evaluated_result=value, evaluated_time=1)


def param(value: Any) -> ParamDefinition:
    """A plain value as a parameter of a run; one that is a parameter already is kept."""
    if isinstance(value, ParamDefinition):
        return value
    kind = kind_of(value)
    return ParamDefinition(type=kind, value=tuple(value) if kind.is_array else value)
