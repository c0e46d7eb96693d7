"""Plain values as parameters of a request."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.params.text import as_literal
from stretto.params.values import SCALARS, exact, kind_of


def params_of(values: Mapping[str, Any] | None) -> Params | None:
    """Each value by the type that it shows: `{"days": [1, 2]}` is a LONG_ARRAY. What is a parameter already
    stays as it is, so that an expression, or a type that can not be seen, can be given.
    """
    return None if values is None else {name: _param(name, value) for name, value in values.items()}


def _param(name: str, value: Any) -> ParamDefinition:
    if isinstance(value, ParamDefinition):
        return value
    plain = _plain(name, value)
    kind = kind_of(plain)
    if kind is ParamType.MAP and plain and all(isinstance(each, str) for each in plain.values()):
        kind = ParamType.STRING_MAP
    return as_literal(kind, plain)


def _plain(name: str, value: Any) -> Any:
    """Numbers with all their digits, lists of one kind."""
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name}.{key}", each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        items = [exact(each) for each in value]
        kinds = {type(each) for each in items}
        if kinds == {int, Decimal}:
            return list(map(Decimal, items))
        if len(kinds) > 1 or not kinds <= SCALARS.keys():
            raise InvalidRequest(
                f"Param [{name}]: a list must have elements of one kind: texts, numbers or flags"
            )
        return items
    if type(value) not in SCALARS:
        raise InvalidRequest(
            f"Param [{name}]: a value of the type {type(value).__name__} can not be sent",
            hint="texts, numbers, flags, lists of them and dictionaries",
        )
    return exact(value)
