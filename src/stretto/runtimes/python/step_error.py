"""The error of a step as a value: what `errors="return"` puts where an item failed."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.model.error_text import error_type, message_in, text_of_error
from stretto.runtimes.python.codecs import codec

CODEC: Final = "StepError"  # the name under which a definition stores such a value


class StepError(Exception):
    """Stands for the error of a step: where its class is not known in this process or can not be made again,
    and as an element of a list that `errors="return"` asks for.

    type_name   its class, as `module.Name`; `TimeoutError` if the step timed out, `StepFailed` if it failed
                without an exception
    message     its text
    traceback   as Python prints it; empty in a list of results
    step        the step that failed, as commands take it: `etl/3:load_map[2].load`; empty if not known
    """

    def __init__(self, type_name: str, message: str, traceback: str = "", step: str = "") -> None:
        super().__init__(type_name, message, traceback, step)
        self.type_name = type_name
        self.message = message
        self.traceback = traceback
        self.step = step

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}" if self.message else self.type_name


def error_from(exception: Exception, step: str) -> StepError:
    """The value for an exception that a plain call raised."""
    cls = type(exception)
    return StepError(
        error_type(cls.__module__, cls.__qualname__),
        message_in(text_of_error(exception), cls.__qualname__),
        step=step,
    )


def _encoded(error: StepError) -> dict[str, str]:
    return {
        "type": error.type_name,
        "message": error.message,
        "step": error.step,
        **({"traceback": error.traceback} if error.traceback else {}),
    }


def _decoded(stored: Mapping[str, Any]) -> StepError:
    return StepError(stored["type"], stored["message"], stored.get("traceback", ""), stored["step"])


codec(StepError, encode=_encoded, decode=_decoded, name=CODEC)
