"""Open values (`Any`), written so that exactly they are read again.

Text, flags, null, lists, objects and numbers that JSON can hold are written as they are. Everything else is
an object with one key, which begins with `~` and says what it is.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite
from operator import attrgetter, is_
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.tag import Tag
from stretto.model.wire.scalars import decimal_of
from stretto.ports.failures import Poison

P = TypeVar("P", bound=ParamDefinition)

MARK: Final = "~"
_OPEN_FIELDS: Final = ("value", "evaluated_result", "meta")  # of a parameter
_SAME: Final = (str, int, bool, type(None))  # written as they are
_PLAIN: Final = (*_SAME, float)  # read as they were written
_AS_VALUE: Final = {"~value": True}  # in the place of a result that equals the value of its parameter
# Characters from which on a result is not written beside an equal value. Releases that can not read this form
# refused such values by default: the two together were over their `params.size`.
_LONG: Final = 2 * 1024 * 1024
_NUMBER: Final = 8  # characters of one, about


def pack_any(value: Any) -> Any:
    """The value in JSON's words; the same object, if there is nothing to do."""
    pack = _PACKERS.get(type(value))
    return pack(value) if pack is not None else _pack_other(value)


def unpack_any(value: Any) -> Any:
    """The value that was packed."""
    if type(value) is list:
        return [unpack_any(each) for each in value]
    if type(value) is not dict:
        return value
    if len(value) == 1:
        ((key, inner),) = value.items()
        unpack = _UNPACKERS.get(key)
        if unpack is not None:
            return unpack(inner)
    return {key: unpack_any(each) for key, each in value.items()}


# ------------------------------------------------------------------------------------------------- packing
def _same(value: Any) -> Any:
    return value


def pack_float(value: float) -> float:
    """A float of a record. JSON has no word for what is not a number, and msgspec would write null."""
    if not isfinite(value):
        raise Poison(f"the number {value} can not be stored")
    return value


def _pack_open_float(value: float) -> Any:
    return value if isfinite(value) else {"~float": repr(value)}


def _pack_decimal(value: Decimal) -> Any:
    return {"~decimal": str(value)}


def _pack_list(value: list[Any]) -> list[Any]:
    packed = [pack_any(each) for each in value]
    return value if all(map(is_, packed, value)) else packed


def _pack_tuple(value: tuple[Any, ...]) -> Any:
    return {"~tuple": [pack_any(each) for each in value]}


def _pack_dict(value: Mapping[Any, Any]) -> Any:
    if not all(type(key) is str and not key.startswith(MARK) for key in value):
        return {"~map": [[pack_any(key), pack_any(each)] for key, each in value.items()]}
    packed = {key: pack_any(each) for key, each in value.items()}
    same = type(value) is dict and all(packed[key] is each for key, each in value.items())
    return value if same else packed


def _pack_set(value: frozenset[Any]) -> Any:
    return {"~set": [pack_any(each) for each in value]}


class LeanParameter(msgspec.Struct, omit_defaults=True, gc=False):
    """A parameter as it is written: nulls are left out."""

    type: Any
    value: Any = None
    evaluated_result: Any = None
    meta: Any = {}
    tags: Any = None
    expression: Any = None
    validator: Any = None
    mode: Any = None
    internal_mode: Any = None
    source: Any = None
    evaluated_time: Any = None


_FIELDS: Final = {
    kind: attrgetter(*(name for name in LeanParameter.__struct_fields__ if name in kind.__struct_fields__))
    for kind in (ParamDefinition, Parameter)
}


def pack_param(param: ParamDefinition) -> LeanParameter:
    """A parameter with its open parts packed; the type says nothing that is needed to read them again."""
    if isinstance(param, Parameter):
        lean = LeanParameter(*_FIELDS[Parameter](param))
        if _is_long(lean.value) and _is_equal(lean.value, lean.evaluated_result):
            lean.evaluated_result = _AS_VALUE
        elif type(lean.evaluated_result) not in _SAME:
            lean.evaluated_result = pack_any(lean.evaluated_result)
    else:
        kind, value, *others = _FIELDS[ParamDefinition](param)
        lean = LeanParameter(kind, value, None, *others)
    if type(lean.value) not in _SAME:
        lean.value = pack_any(lean.value)
    if lean.meta:
        lean.meta = pack_any(lean.meta)
    if lean.tags:
        lean.tags = [pack_tag(tag) for tag in lean.tags]
    return lean


def _is_long(value: Any) -> bool:
    if type(value) is tuple:
        return sum(len(each) if type(each) is str else _NUMBER for each in value) >= _LONG
    return type(value) is str and len(value) >= _LONG


def _is_equal(value: Any, result: Any) -> bool:
    """Whether the two are read as the same: 1 and true are equal, and are not."""
    return type(value) is type(result) and (
        value is result
        or (value == result and (type(value) is str or [*map(type, value)] == [*map(type, result)]))
    )


def pack_tag(tag: Tag) -> Tag:
    """A tag whose free attributes are packed."""
    packed = pack_any(tag.attributes)
    return tag if packed is tag.attributes else replace(tag, attributes=packed)


def _pack_in_the_open(param: ParamDefinition) -> Any:
    kind = "~parameter" if isinstance(param, Parameter) else "~definition"
    return {kind: pack_param(param)}


def _pack_other(value: Any) -> Any:
    """What is told by more than its exact type."""
    if isinstance(value, str):
        return str(value)  # a member of a closed set of words equals its text
    if isinstance(value, ParamDefinition):
        return _pack_in_the_open(value)
    if isinstance(value, Mapping):
        return _pack_dict(value)
    if isinstance(value, list):
        return _pack_list([*value])  # an array of an expression equals the list of its elements
    raise Poison(f"a value of type {type(value).__name__} can not be stored")


_PACKERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    str: _same,
    bool: _same,
    type(None): _same,
    int: _same,
    float: _pack_open_float,
    Decimal: _pack_decimal,
    list: _pack_list,
    tuple: _pack_tuple,
    dict: _pack_dict,
    set: _pack_set,
    frozenset: _pack_set,
    RunKey: lambda key: {"~run": list(key)},
    AttemptKey: lambda key: {"~attempt": [list(key.run), key.step_id, key.number]},
}


# ----------------------------------------------------------------------------------------------- unpacking
def unpack_param(param: P) -> P:
    """The parameter that was packed."""
    if not param.tags and not param.meta and all(type(each) in _PLAIN for each in _open_values(param)):
        return param
    changes: dict[str, Any] = {name: unpack_any(getattr(param, name, None)) for name in _OPEN_FIELDS}
    changes = {name: value for name, value in changes.items() if name in param.__struct_fields__}
    if getattr(param, "evaluated_result", None) == _AS_VALUE:
        changes["evaluated_result"] = changes["value"]
    tags = None if param.tags is None else tuple(unpack_tag(tag) for tag in param.tags)
    return replace(param, tags=tags, **changes)


def _open_values(param: ParamDefinition) -> tuple[Any, ...]:
    return (param.value, param.evaluated_result) if isinstance(param, Parameter) else (param.value,)


def unpack_tag(tag: Tag) -> Tag:
    """The tag that was packed."""
    return replace(tag, attributes=unpack_any(tag.attributes))


def _unpack_in_the_open(kind: type[P]) -> Callable[[Any], P]:
    return lambda inner: unpack_param(msgspec.convert(inner, kind))


_UNPACKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "~decimal": decimal_of,
    "~float": float,
    "~tuple": lambda inner: tuple(unpack_any(each) for each in inner),
    "~map": lambda inner: {unpack_any(key): unpack_any(each) for key, each in inner},
    "~set": lambda inner: frozenset(unpack_any(each) for each in inner),
    "~run": lambda inner: RunKey(*inner),
    "~attempt": lambda inner: AttemptKey(RunKey(*inner[0]), *inner[1:]),
    "~parameter": _unpack_in_the_open(Parameter),
    "~definition": _unpack_in_the_open(ParamDefinition),
}
