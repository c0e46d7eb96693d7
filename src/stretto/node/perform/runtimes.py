"""The work of steps: a runtime is called, and whatever comes of that is an event that the run understands."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Final, get_args

import msgspec

from stretto.engine.events import Reported, ResultState
from stretto.model.artifact import DefaultArtifact, TypedArtifact
from stretto.model.error_text import text_of_error, text_of_value
from stretto.model.param import Parameter
from stretto.model.step import AnyStep, StepFields, TypedStep
from stretto.model.timeline import EventFields
from stretto.node.answers import Untrusted
from stretto.node.asks import CallRuntime, Verb
from stretto.ports.runtime import (
    Answer,
    Continue,
    Done,
    Failure,
    FatalError,
    Launch,
    PlatformError,
    StepContext,
    StepResult,
    StepRuntime,
    Stopped,
    TimedOut,
    UserError,
    current_task,
    is_for_task,
)

Heard = Callable[[Reported], None]
Lacks = Callable[[AnyStep, Mapping[str, Parameter]], tuple[str, ...]]  # see `ports.runtime.FunctionRuntime`
Parts = tuple[
    tuple[str, object, type | tuple[type, ...]], ...
]  # what it is called, what it is, what it must be
ARTIFACTS: Final = (TypedArtifact, DefaultArtifact)
NOTHING: Final = Done()
RESULTS: Final = get_args(StepResult)

STATES: Final[Mapping[type[Answer], ResultState]] = {
    Done: ResultState.DONE,
    Continue: ResultState.CONTINUE,
    UserError: ResultState.USER_ERROR,
    PlatformError: ResultState.PLATFORM_ERROR,
    FatalError: ResultState.FATAL_ERROR,
    Stopped: ResultState.STOPPED,
    TimedOut: ResultState.TIMED_OUT,
}


class Runtimes:
    """The runtimes of a node, by the type of the steps that they carry out; `heard` is told what one of them
    reports by itself.
    """

    def __init__(self, by_kind: Mapping[str, StepRuntime], heard: Heard | None = None) -> None:
        self.heard = heard
        self._by_kind = by_kind

    @cached_property
    def _folded(self) -> Mapping[str, StepRuntime]:
        """Known types are read in any case; who makes a step in Python may spell them as he likes, too."""
        return {kind.casefold(): runtime for kind, runtime in self._by_kind.items()}

    def of(self, step: AnyStep) -> StepRuntime | None:
        """Who does the work of a step."""
        kind = kind_of(step)
        return self._by_kind.get(kind) or self._folded.get(kind.casefold())

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:
        """The functions that the work of a step calls by name, if its runtime does not know all of them."""
        lacks: Lacks | None = getattr(self.of(step), "lacks", None)
        return () if lacks is None else lacks(step, params)

    @property
    def functions(self) -> frozenset[str]:
        """All functions that the runtimes know by name."""
        at_hand = getattr(self._by_kind, "at_hand", self._by_kind)  # packages are not looked for
        return frozenset().union(*(getattr(each, "functions", ()) for each in at_hand.values()))

    async def call(self, ask: CallRuntime) -> Reported:
        """Ask a runtime. Only that the call was cancelled is nobody's answer. Raises Untrusted."""
        context = ask.context
        kind, runtime = kind_of(context.step), self.of(context.step)
        if runtime is None:
            known = ", ".join(sorted(self._by_kind)) or "none"
            text = f"there is no runtime for steps of type {kind} on this node; the registered ones: {known}"
            return failed(context.launch, ResultState.FATAL_ERROR, text)

        async def report(result: StepResult) -> None:
            if self.heard is not None:
                self.heard(reported(context.launch, kind, result))

        if ask.verb is Verb.START and not ask.fence.is_open:
            raise Untrusted(f"{context.launch} is not started: this node does not trust its leases")
        told = msgspec.structs.replace(context, report=report, fence=ask.fence)
        task = current_task()
        try:
            said = await _call(runtime, ask.verb, told)
        except BaseException as error:  # also `exit()` of a user's must not end us
            if is_for_task(error, task):
                raise
            text = f"the runtime of {kind} failed to {ask.verb.value.lower()}: {text_of_error(error)}"
            return failed(context.launch, ResultState.PLATFORM_ERROR, text)
        return reported(context.launch, kind, said)


def _call(runtime: StepRuntime, verb: Verb, context: StepContext) -> Awaitable[StepResult]:
    if verb is Verb.START:
        return runtime.start(context)
    return runtime.execute(context) if verb is Verb.EXECUTE else runtime.terminate(context)


def kind_of(step: AnyStep) -> str:
    """The type of a step, as its definition says it."""
    return step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag)


# --------------------------------------------------------------------------------------------------- results
def reported(launch: Launch, kind: str, said: object) -> Reported:
    """The event of whatever a runtime answered, or reports by itself. Nonsense is a platform error."""
    if type(said) is Done and _is_simple(said):
        return Reported(
            attempt=launch.attempt, launch=launch.generation, state=ResultState.DONE, outputs=said.outputs
        )
    if not isinstance(said, RESULTS):
        results = ", ".join(each.__name__ for each in STATES)
        text = f"the runtime of {kind} answered {text_of_value(said)}, and not one of {results}"
        return failed(launch, ResultState.PLATFORM_ERROR, text)
    done = said if isinstance(said, Done) else NOTHING
    wrong = _wrong_part(said, done)
    if wrong is not None:
        text = f"the runtime of {kind} answered {type(said).__name__} with {wrong}"
        return failed(launch, ResultState.PLATFORM_ERROR, text)
    return Reported(
        attempt=launch.attempt,
        launch=launch.generation,
        state=next(state for result, state in STATES.items() if isinstance(said, result)),
        outputs=done.outputs,
        artifacts=said.artifacts,
        timeline=tuple(said.timeline),
        message=said.message if isinstance(said, Failure | Stopped) else None,
        again_after=said.after if isinstance(said, Continue) else None,
        added=tuple(done.added),
        tolerance=done.tolerance,
        redirect=done.redirect,
    )


def _is_simple(done: Done) -> bool:
    """Whether there is nothing in it but outputs, as they should be: so ends almost every step."""
    return (
        done.artifacts == NOTHING.artifacts
        and done.timeline == NOTHING.timeline
        and done.added == NOTHING.added
        and (done.redirect, done.tolerance) == (None, 0)
        and type(done.outputs) is dict
        and all(type(each) is Parameter for each in done.outputs.values())
    )


def failed(launch: Launch, state: ResultState, message: str) -> Reported:
    """The event of an error that is not the runtime's own answer."""
    return Reported(attempt=launch.attempt, launch=launch.generation, state=state, message=message)


def _wrong_part(said: StepResult, done: Done) -> str | None:
    """What of a result is not what it must be: it would be found out only after the engine took it."""
    whole: Parts = (
        ("outputs", done.outputs, Mapping),
        ("artifacts", said.artifacts, Mapping),
        ("timeline", said.timeline, (tuple, list)),
        ("message", getattr(said, "message", None), (str, type(None))),
        ("after", getattr(said, "after", None), (int, type(None))),
        ("added steps", done.added, (tuple, list)),
        ("tolerance", done.tolerance, (int, float)),
        ("redirect", done.redirect, (str, type(None))),
    )
    return _first_wrong(whole) or _first_wrong(
        (
            *((f"output [{name}]", each, Parameter) for name, each in done.outputs.items()),
            *(("added step", each, StepFields) for each in done.added),
            *((f"artifact [{key}]", each, ARTIFACTS) for key, each in said.artifacts.items()),
            *(("timeline line", each, EventFields) for each in said.timeline),
        )
    )


def _first_wrong(parts: Parts) -> str | None:
    return next(
        (f"the {what} {text_of_value(each)}" for what, each, kind in parts if not isinstance(each, kind)),
        None,
    )
