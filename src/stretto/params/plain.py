"""Plain values as parameters of a request."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from stretto.model.errors import InvalidRequest
from stretto.model.param import FORMAT, JSON, ParamDefinition, Parameter, Params, ParamType
from stretto.model.wire import loads, to_json
from stretto.model.wire.scalars import written
from stretto.params.text import as_literal
from stretto.params.values import SCALARS, exact, kind_of
from stretto.sel.text import TAG, float_tag, tagged_float, tagged_json


def params_of(values: Mapping[str, Any] | None) -> Params | None:
    """Each value by the type that it shows: `{"days": [1, 2]}` is a LONG_ARRAY. What is a parameter already
    stays as it is, so that an expression, or a type that can not be seen, can be given.
    """
    return None if values is None else {name: _param(name, value) for name, value in values.items()}


def param_of_json(value: Any, declared: ParamDefinition | None = None) -> ParamDefinition:
    """Any value of a JSON document as a parameter. Where no type holds it (null, mixed lists, lists of
    objects), it is a MAP that holds its JSON text. Numbers that JSON has no word for are tagged.
    `declared`: what the definition says of the parameter.
    """
    if declared is not None and declared.meta.get(FORMAT) == JSON and declared.type is ParamType.STRING:
        return as_literal(ParamType.STRING, _json(value))
    number = tagged_float(value)
    if number is not None:
        return as_literal(ParamType.DOUBLE, number)
    if has_type(value):
        return _param("", value)
    return as_literal(ParamType.MAP, {TAG: [JSON, _json(value)]})


def plain_of(param: Parameter, declared: ParamDefinition) -> Any:
    """The result of a parameter as a value of a JSON document: the other way round."""
    result = param.evaluated_result
    if declared.meta.get(FORMAT) == JSON:
        texts = [None if each is None else loads(each) for each in result] if param.type.is_array else None
        return loads(result) if texts is None else texts
    return _json_value(result)


def has_type(value: Any) -> bool:
    """Whether the types of parameters hold a value as it is."""
    if isinstance(value, Mapping):
        return TAG not in value and all(map(has_type, value.values()))
    if isinstance(value, list | tuple):
        kinds = {SCALARS.get(type(each)) if has_type(each) else None for each in value}
        return None not in kinds and (len(kinds) <= 1 or kinds == {ParamType.LONG, ParamType.DOUBLE})
    return type(value) in SCALARS


def _json(value: Any) -> str:
    return to_json(value).decode()


def _json_value(result: Any) -> Any:
    """A result without the tag of a JSON text, in which numbers that JSON has no word for are tagged."""
    text = tagged_json(result)
    if text is not None:
        return loads(text)
    if isinstance(result, dict):
        return {key: _json_value(each) for key, each in result.items()}
    if isinstance(result, list | tuple):
        return [_json_value(each) for each in result]
    return float_tag(float(result)) if written(result) is not result else result


def step_params_of(values: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Params] | None:
    """The same for parameters of single steps, by step id."""
    return None if values is None else {step_id: params_of(each) or {} for step_id, each in values.items()}


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
