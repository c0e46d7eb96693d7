"""What an exception of a function means for its step."""

import traceback
from collections.abc import Iterator, Mapping
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
MOST_ARGS: Final = 4_000  # characters of the arguments of an exception, and of its attributes
MOST_INSIDE: Final = 20  # exceptions in groups, and causes of causes
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
    cls = type(error)
    made: dict[str, Any] = {"error": cls.__qualname__, "module": importable(cls.__module__)}
    with suppress(BaseException):  # a class may say anything of itself, and raise anything
        made = _made_of(error, iter(range(MOST_INSIDE)))
    return {**made, "traceback": traceback_of(error)}


def _made_of(error: BaseException, left: Iterator[int]) -> dict[str, Any]:
    """What an exception is made of again: what it would give to `pickle`, as plain data. What can not be
    stored is left out. `left`: for how many exceptions inside of it there is room.
    """
    cls = type(error)
    made: dict[str, Any] = {"error": cls.__qualname__, "module": importable(cls.__module__)}
    args, state = _reduced(error)
    if isinstance(error, BaseExceptionGroup):
        args = (error.message,)
        inner = [_inside(each, left) for each in error.exceptions]
        made |= {} if None in inner else {"group": inner}
    with suppress(Exception):
        made["args"] = _text(list(args), "args")
    kept = {name: value for name, value in state.items() if _can_be_stored(value)}
    with suppress(Exception):
        made |= {"state": _text(kept, "state")} if kept else {}
    if error.__cause__ is not None:
        made["cause"] = _inside(error.__cause__, left)
    elif error.__context__ is not None and not error.__suppress_context__:
        made["context"] = _inside(error.__context__, left)
    return made


def _inside(error: BaseException, left: Iterator[int]) -> dict[str, Any] | None:
    if next(left, None) is None:
        return None
    return {**_made_of(error, left), "message": text_of_error(error)}


def _reduced(error: BaseException) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments that make an exception of its class, and the attributes that are set after it."""
    with suppress(Exception):
        reduced: Any = error.__reduce__()
        made, args, *rest = reduced
        state = rest[0] if rest else None
        if made is type(error) and isinstance(args, tuple):
            return args, state if isinstance(state, dict) else {}
    return error.args, vars(error)


def _can_be_stored(value: Any) -> bool:
    try:
        return bool(_text(value, "state"))
    except Exception:  # noqa: BLE001 - whatever a program keeps there
        return False


def _text(value: Any, what: str) -> str:
    text = json_text(value, what)
    if len(text) > MOST_ARGS:
        raise ValueError(f"`{what}` is too long")
    return text


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
