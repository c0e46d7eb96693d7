"""Whether values fit a JSON Schema, where some of them are not known yet.

    fits(value, schema)        -> True, False, or None: that hangs on what is not known

A parameter may be an expression, or a text with `${name}` in it: its type is known, its value is not. No
validator that can be had knows such values, so this is one: of JSON Schema 2020-12 it knows the keywords in
`KEYWORDS`. Any other one refuses nothing here. What is wrong, in words, is told by `misfits`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

Fit = bool | None
Schema = Mapping[str, Any] | bool


class Unknown(NamedTuple):
    """A value of which only the type is known, in the words of JSON Schema."""

    type: str


# ------------------------------------------------------------------------------------------- three values
def _all(found: Iterable[Fit]) -> Fit:
    sure = True
    for each in found:
        if each is False:
            return False
        sure = sure and each is True
    return True if sure else None


def _any(found: Iterable[Fit]) -> Fit:
    return _not(_all(_not(each) for each in found))


def _not(fit: Fit) -> Fit:
    return None if fit is None else not fit


def _one(found: Iterable[Fit]) -> Fit:
    each = list(found)
    if each.count(True) > 1:
        return False
    return each.count(True) == 1 if None not in each else (None if True in each else _any(each))


# ------------------------------------------------------------------------------------------------- values
def type_of(value: Any) -> str:
    """The type of a value, in the words of JSON Schema; a whole number is an integer."""
    match value:
        case Unknown():
            return value.type
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
        case _:
            return "integer" if value == int(value) else "number"


def _is(value: Any, name: str) -> Fit:
    found = type_of(value)
    if found == name or (name == "number" and found == "integer"):
        return True
    if isinstance(value, Unknown) and (found, name) == ("number", "integer"):
        return None
    return False


def _same(value: Any, other: Any) -> Fit:
    """As JSON compares: 1 is 1.0, and true is not 1."""
    if isinstance(value, Unknown):
        return None if _is(value, type_of(other)) is not False else False
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        if value.keys() != other.keys():
            return False
        return _all(_same(value[name], other[name]) for name in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and _all(map(_same, value, other))
    return isinstance(value, bool) == isinstance(other, bool) and bool(_plain(value) == _plain(other))


def _plain(value: Any) -> Any:
    """A number of a schema as it was written: 0.1 is not the nearest fraction of two."""
    return Decimal(str(value)) if isinstance(value, float) else value


# ------------------------------------------------------------------------------------------------- keywords
def _type(value: Any, wanted: str | list[str]) -> Fit:
    return _any(_is(value, each) for each in _listed(wanted))


def _listed(words: str | list[str]) -> list[str]:
    return [words] if isinstance(words, str) else words


def _enum(value: Any, members: list[Any]) -> Fit:
    return _any(_same(value, each) for each in members)


def _number(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Fit]:
    def check(value: Any, bound: Any) -> Fit:
        if type_of(value) not in {"integer", "number"}:
            return True
        return None if isinstance(value, Unknown) else holds(_plain(value), _plain(bound))

    return check


def _sized(kind: str, holds: Callable[[int, int], bool]) -> Callable[[Any, Any], Fit]:
    def check(value: Any, bound: Any) -> Fit:
        if type_of(value) != kind:
            return True
        return None if isinstance(value, Unknown) else holds(len(value), bound)

    return check


def _at_least(size: Any, bound: Any) -> bool:
    return bool(size >= bound)


def _at_most(size: Any, bound: Any) -> bool:
    return bool(size <= bound)


def _pattern(value: Any, pattern: str) -> Fit:
    if type_of(value) != "string":
        return True
    compiled = _compiled(pattern)
    return None if isinstance(value, Unknown) or compiled is None else bool(compiled.search(value))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """In time linear to the text, whatever it is; None for what can not be had so (a look ahead)."""
    import re2  # noqa: PLC0415 - most schemas have no pattern

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _items(value: Any, schema: Schema) -> Fit:
    if type_of(value) != "array":
        return True
    return None if isinstance(value, Unknown) else _all(fits(each, schema) for each in value)


def _required(value: Any, names: list[str]) -> Fit:
    if type_of(value) != "object":
        return True
    return None if isinstance(value, Unknown) else all(name in value for name in names)


def _properties(value: Any, schemas: Mapping[str, Schema]) -> Fit:
    if type_of(value) != "object":
        return True
    if isinstance(value, Unknown):
        return None
    return _all(fits(value[name], schema) for name, schema in schemas.items() if name in value)


def _names(value: Any, schema: Schema) -> Fit:
    if type_of(value) != "object":
        return True
    return None if isinstance(value, Unknown) else _all(fits(name, schema) for name in value)


def additional(value: Mapping[str, Any], around: Mapping[str, Any]) -> list[str]:
    """The members that `additionalProperties` speaks of. Which those are hangs on its neighbours."""
    return [] if "patternProperties" in around else [each for each in value if each not in _known(around)]


def _known(schema: Mapping[str, Any]) -> Mapping[str, Schema]:
    known: Mapping[str, Schema] = schema.get("properties", {})
    return known


def _closed(value: Any, around: Mapping[str, Any]) -> Fit:
    if type_of(value) != "object":
        return True
    if isinstance(value, Unknown):
        return None
    return _all(fits(value[name], around[CLOSED]) for name in additional(value, around))


KEYWORDS: Final[Mapping[str, Callable[[Any, Any], Fit]]] = {
    "type": _type,
    "enum": _enum,
    "const": _same,
    "minimum": _number(_at_least),
    "maximum": _number(_at_most),
    "exclusiveMinimum": _number(lambda value, bound: bool(value > bound)),
    "exclusiveMaximum": _number(lambda value, bound: bool(value < bound)),
    "multipleOf": _number(lambda value, step: value % step == 0),
    "minLength": _sized("string", _at_least),
    "maxLength": _sized("string", _at_most),
    "pattern": _pattern,
    "items": _items,
    "minItems": _sized("array", _at_least),
    "maxItems": _sized("array", _at_most),
    "required": _required,
    "properties": _properties,
    "propertyNames": _names,
    "minProperties": _sized("object", _at_least),
    "maxProperties": _sized("object", _at_most),
    "allOf": lambda value, schemas: _all(fits(value, each) for each in schemas),
    "anyOf": lambda value, schemas: _any(fits(value, each) for each in schemas),
    "oneOf": lambda value, schemas: _one(fits(value, each) for each in schemas),
    "not": lambda value, schema: _not(fits(value, schema)),
}
CLOSED: Final = "additionalProperties"  # it looks at its neighbours, so it has no row
NOTES: Final = frozenset(
    {"$comment", "$defs", "$id", "$schema", "contentEncoding", "contentMediaType", "default", "definitions"}
    | {"deprecated", "description", "examples", "format", "readOnly", "title", "writeOnly"}
)  # they say nothing of what fits


def fits(value: Any, schema: Schema) -> Fit:
    """Whether a value fits; None if that hangs on a part of it that is not known, or on other keywords."""
    if isinstance(schema, bool):
        return schema
    return _all(_judged(value, schema))


def _judged(value: Any, schema: Mapping[str, Any]) -> Iterator[Fit]:
    for keyword, wanted in schema.items():
        check = KEYWORDS.get(keyword)
        if check is not None:
            yield check(value, wanted)
        elif keyword == CLOSED:
            yield _closed(value, schema)
        elif keyword not in NOTES:
            yield None
