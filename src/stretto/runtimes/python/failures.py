"""What an exception of a function means for its step."""

import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from stretto.model.artifact import PYTHON, Artifacts, DefaultArtifact
from stretto.model.error_text import storable, text_of_error
from stretto.ports.runtime import FatalError, PlatformError, UserError
from stretto.runtimes.python.errors import Fatal, PlatformTrouble, Refused, TooLarge, Veto
from stretto.runtimes.python.plain import Unserialisable, json_text
from stretto.runtimes.python.processes import Elsewhere
from stretto.runtimes.python.source import importable

ARTIFACT: Final = PYTHON  # its key: the traceback; the result of a step that declares none
MOST_TRACEBACK: Final = 16_000  # characters
MOST_ARGS: Final = 4_000  # characters of the arguments of an exception
BY_ITSELF: Final = "raised by the function itself; it ends the step, and nothing else"
OURS: Final = str(Path(__file__).parents[1])


def failure_of(error: BaseException) -> UserError | PlatformError | FatalError:
    """How a step failed whose function raised this."""
    if isinstance(error, Elsewhere):
        return error.failure
    if isinstance(error, Refused):
        return FatalError(message=storable(str(error)))
    if isinstance(error, Veto):
        return FatalError(message=storable(f"Vetoed: {error}"))
    if isinstance(error, TooLarge | Unserialisable):
        return UserError(message=storable(str(error)))
    text = text_of_error(error)
    if not isinstance(error, Exception) and text == type(error).__name__:
        text = f"{text}: {BY_ITSELF}"
    artifacts: Artifacts = {ARTIFACT: DefaultArtifact(data=_told(error))}
    if isinstance(error, Fatal):
        return FatalError(message=text, artifacts=artifacts)
    if isinstance(error, PlatformTrouble):
        return PlatformError(message=text, artifacts=artifacts)
    return UserError(message=text, artifacts=artifacts)


def _told(error: BaseException) -> dict[str, Any]:
    made: dict[str, Any] = {
        "error": type(error).__qualname__,
        "module": importable(type(error).__module__),
        "traceback": traceback_of(error),
    }
    with suppress(Exception):  # what can not be stored is not kept
        text = json_text(list(error.args), "args")
        if len(text) <= MOST_ARGS:
            made["args"] = text
    return made


def traceback_of(error: BaseException) -> str:
    """The traceback as Python prints it, without our own frames; the end of it if it is long."""
    try:
        told = traceback.TracebackException.from_exception(error)
        told.stack = traceback.StackSummary.from_list(
            frame for frame in told.stack if not frame.filename.startswith(OURS)
        )
        text = "".join(told.format())
    except BaseException:  # noqa: BLE001 - an error that can not show itself
        text = text_of_error(error)
    if len(text) > MOST_TRACEBACK:
        text = f"... {text[-MOST_TRACEBACK:]}"
    return storable(text, MOST_TRACEBACK + 4)
