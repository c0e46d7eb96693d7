"""`either(...)`: one value, whichever branch has computed it."""

from typing import Any, Final, TypeVar, cast

from stretto.flow.convert import as_json, has_values, json_expression, of_json, value_in
from stretto.flow.errors import TraceError
from stretto.flow.expressions import Constant, Expression
from stretto.flow.leaves import Either
from stretto.flow.nodes import Level
from stretto.flow.refs import Ref
from stretto.flow.trace import Trace, Value, required
from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.values import JSON_TEXT, Kind, encode

T = TypeVar("T")
MISSING: Final[Any] = object()


def either(*choices: T, default: Any = MISSING) -> T:
    """The first of several values that is there: those of a branch that did not run are not.

    `default` is taken if none is there.
    """
    trace = required("either")
    given = [*choices, default] if value_in(default) is not None else list(choices)
    values = [value for each in given if (value := value_in(each)) is not None]
    if not values or len(values) < len(given):
        raise TraceError(
            "`either(...)` takes what steps returned", "give a plain value as `either(..., default=value)`"
        )
    level = _level_of(trace, values)
    kinds = {each.kind for each in values}
    kind = kinds.pop() if len(kinds) == 1 else JSON_TEXT
    plain = default is not MISSING and value_in(default) is None
    if plain and not _fits(default, kind):
        kind = JSON_TEXT
    found = [as_json(each.expression, each.kind) if kind == JSON_TEXT else each.expression for each in values]
    if plain:
        found.append(_default(trace, default, kind))
    annotations = {repr(each.annotation) for each in values}
    annotation = values[0].annotation if len(annotations) == 1 and not (plain and kind.json) else Any
    leaf = Either(level, tuple(_until_certain(level, found)), kind.type, "either")
    return cast("T", Ref(Value(trace, leaf, kind, annotation, "either value")))


def _fits(default: Any, kind: Kind) -> bool:
    """Whether the default is of the kind that all the others are."""
    if has_values(default):
        return kind.json or kind.type.is_array
    try:
        encode(default, kind, "default")
    except InvalidRequest:
        return False
    return True


def _default(trace: Trace, default: Any, kind: Kind) -> Expression:
    if kind != JSON_TEXT and isinstance(default, str | int | float):
        return Constant(default)
    return of_json(json_expression(trace, default, "default"), kind)


def _level_of(trace: Trace, values: list[Value]) -> Level:
    """The level at which the choice is made: that of the innermost of the values."""
    level = trace.top
    for value in values:
        homes = [leaf.home for leaf in value.expression.leaves()]
        if value.trace is not trace or any(home and not home.contains(trace.region.level) for home in homes):
            trace.check(value)  # which says why it can not be read here
        for home in homes:
            if home is not None and level.contains(home):
                level = home
    return level


def _until_certain(level: Level, found: list[Expression]) -> list[Expression]:
    """A value that no step has to bring is always there: what follows it is never taken."""
    probe = Either(level, tuple(found), JSON_TEXT.type, "")
    for index, choice in enumerate(found):
        if not probe.awaited(choice):
            return found[: index + 1]
    return found
