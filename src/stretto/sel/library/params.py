"""`params`: the bindings by name, and the functions of the engine."""

from typing import Any

from stretto.sel.environment import Missing
from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.runtime.frame import AbsentError, Frame
from stretto.sel.values import Array, Value, type_of

MAX_ARGUMENTS = 3


def read(frame: Frame, name: Value) -> Value:
    """`params.get(name)`, `params[name]`, `params.name`: a fresh copy, or null."""
    if type(name) is not str:
        raise class_cast("a STRING as the name", type_of(name))
    return frame.fresh(frame.bindings.get(name))


def call(frame: Frame, method: str, arguments: list[Value]) -> Value:
    """A method of `params`. What is not our own is the host's."""
    if method == "get" and len(arguments) == 1:
        return read(frame, arguments[0])
    if method == "containsKey" and len(arguments) == 1:
        if type(arguments[0]) is not str:
            raise class_cast("a STRING as the name", type_of(arguments[0]))
        return arguments[0] in frame.bindings
    host = frame.environment.host
    if host is None or len(arguments) > MAX_ARGUMENTS or any(type(value) is not str for value in arguments):
        raise SelError(Kind.UNSUPPORTED, f"params has no method {method} with these arguments")
    answer: Any = host.call(method, tuple(arguments))
    if isinstance(answer, Missing):
        raise AbsentError(answer)
    value = frame.fresh(answer)
    if method == "getFromForeach" and not isinstance(value, Array):
        raise SelError(Kind.ILLEGAL_STATE, f"getFromForeach must give an array, not {type_of(value)}")
    return value
