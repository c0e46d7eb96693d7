"""Calls of functions that are the work of steps: what is given for which argument."""

from typing import Any

from stretto.flow.convert import value_in
from stretto.flow.errors import TraceError
from stretto.flow.nodes import Level
from stretto.model.step import ForeachStep
from stretto.model.suggest import did_you_mean
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.values import JSON_TEXT, Kind, kind_of


def own_kind(value: Any) -> Kind:
    """The kind of what a function with `**kwargs` is given: that of the value itself."""
    known = value_in(value)
    if known is not None:
        return known.kind
    return kind_of(type(value)) if isinstance(value, str | int | float | bool) else JSON_TEXT


def result_kind(kind: Kind | None, level: Level) -> Kind | None:
    """How the result of a step travels. Arrays of arrays can not be collected, so in a foreach it is JSON."""
    in_foreach = any(loop.make is ForeachStep for loop in level.loops())
    return JSON_TEXT if kind is not None and kind.type.is_array and in_foreach else kind


def base_id(function: Function) -> str:
    """The id of a step whose author gives none: the name of the function."""
    return function.name.rpartition(":")[2].rpartition(".")[2]


def bind(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name. Those that the engine hands in are left out."""
    names = [each.name for each in function.values]
    if len(args) > len(names):
        raise TraceError(
            f"`{base_id(function)}` takes {len(names)} arguments, and {len(args)} were given",
            f"its arguments are {', '.join(names) or 'none'}",
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in given:
            raise TraceError(f"`{key}` of `{base_id(function)}` is given twice", "give it once")
        if key not in names and not function.takes_all:
            hint = did_you_mean(key, names) or f"its arguments are {', '.join(names) or 'none'}"
            raise TraceError(f"`{base_id(function)}` has no argument `{key}`", hint)
        given[key] = value
    missing = [each.name for each in function.values if not each.has_default and each.name not in given]
    if missing:
        raise TraceError(
            f"`{base_id(function)}` is called without {' and '.join(f'`{name}`' for name in missing)}",
            "give a value, or give the argument a default",
        )
    return given
