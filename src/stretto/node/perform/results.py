"""What a runtime says, as the event that a run understands."""

from collections.abc import Mapping
from typing import Final, get_args

from stretto.engine.events import Reported, ResultState
from stretto.model.artifact import DefaultArtifact, TypedArtifact
from stretto.model.param import Parameter
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
MOST_CHARACTERS: Final = 4_000  # of a text that we make of an error or of nonsense

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
    if not isinstance(said, get_args(StepResult)):
        results = ", ".join(each.__name__ for each in STATES)
        text = f"the runtime of {kind} answered {_shown(said)}, and not one of {results}"
        return failed(launch, ResultState.PLATFORM_ERROR, text)
    wrong = _wrong_part(said)
    if wrong is not None:
        text = f"the runtime of {kind} answered {type(said).__name__} with {wrong}"
        return failed(launch, ResultState.PLATFORM_ERROR, text)
    return Reported(
        attempt=launch.attempt,
        launch=launch.generation,
        state=next(state for result, state in STATES.items() if isinstance(said, result)),
        outputs=said.outputs if isinstance(said, Done) else {},
        artifacts=said.artifacts,
        timeline=tuple(said.timeline),
        message=said.message if isinstance(said, Failure | Stopped) else None,
        again_after=said.after if isinstance(said, Continue) else None,
    )


def failed(launch: Launch, state: ResultState, message: str) -> Reported:
    """The event of an error that is not the runtime's own answer."""
    return Reported(attempt=launch.attempt, launch=launch.generation, state=state, message=message)


def text_of_error(error: BaseException) -> str:
    """Type and text of an error, fit to be stored; no traceback."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - whoever wrote the error wrote this, too
        text = "its text can not be shown"
    return _storable(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _wrong_part(said: StepResult) -> str | None:
    """What of a result is not what it must be: it would be found out only after the engine took it."""
    outputs = said.outputs if isinstance(said, Done) else {}
    whole: Parts = (
        ("outputs", outputs, Mapping),
        ("artifacts", said.artifacts, Mapping),
        ("timeline", said.timeline, (tuple, list)),
        ("message", getattr(said, "message", None), (str, type(None))),
        ("after", getattr(said, "after", None), (int, type(None))),
    )
    return _first_wrong(whole) or _first_wrong(
        (
            *((f"output [{name}]", each, Parameter) for name, each in outputs.items()),
            *((f"artifact [{key}]", each, ARTIFACTS) for key, each in said.artifacts.items()),
            *(("timeline line", each, EventFields) for each in said.timeline),
        )
    )


def _first_wrong(parts: Parts) -> str | None:
    return next(
        (f"the {what} {_shown(each)}" for what, each, kind in parts if not isinstance(each, kind)), None
    )


def _shown(value: object) -> str:
    try:
        return _storable(repr(value))
    except Exception:  # noqa: BLE001 - see above
        return f"a {type(value).__name__}"


def _storable(text: str) -> str:
    """A text that every database takes: of bounded length, without NUL and halves of characters."""
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} ..."
    return cut.replace("\0", "\\0").encode(errors="backslashreplace").decode()
