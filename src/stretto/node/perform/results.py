"""What a runtime says, as the event that a run understands."""

from collections.abc import Mapping
from typing import Final, get_args

from stretto.engine.events import Reported, ResultState
from stretto.model.artifact import DefaultArtifact, TypedArtifact
from stretto.model.error_text import text_of_value
from stretto.model.param import Parameter
from stretto.model.step import StepFields
from stretto.model.timeline import EventFields
from stretto.ports.runtime import (
    Answer,
    Continue,
    Done,
    Failure,
    FatalError,
    Launch,
    PlatformError,
    StepResult,
    Stopped,
    TimedOut,
    UserError,
)

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
