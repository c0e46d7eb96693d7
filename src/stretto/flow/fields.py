"""Parts of values that are not known yet: `order.total`, `order["total"]`, `rows[0]`."""

import dataclasses
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from stretto.flow.convert import JsonPart, of_json
from stretto.flow.errors import TraceError
from stretto.flow.expressions import Expression, Joined
from stretto.flow.trace import Value
from stretto.model.suggest import did_you_mean
from stretto.params.text import ELEMENT
from stretto.runtimes.python.kinds import bare, element_of
from stretto.runtimes.python.values import JSON_TEXT, JSON_TEXTS, Kind, kind_of


def members_of(value: Value, name: str) -> Value:
    """`value.name`."""
    if value.kind != JSON_TEXT:
        raise TraceError(
            f"{value.label} is not known while the workflow is traced, so it has no `{name}`",
            "do that in a step, which gets the value",
        )
    fields = fields_of(value.annotation)
    if fields is not None and name not in fields:
        hint = did_you_mean(name, fields) or f"it has {', '.join(fields)}"
        raise TraceError(
            f"{value.label} is of the class `{bare(value.annotation).__name__}`, which has no `{name}`", hint
        )
    found = Field(name, Any) if fields is None else fields[name]
    return _part(value, found.key, found.annotation, f".{name}")


def entry_of(value: Value, key: Any) -> Value:
    """`value[key]`."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise TraceError(
            f"{value.label} is not known while the workflow is traced, and `{key!r}` is neither a name nor a"
            " position",
            "take it apart in a step",
        )
    if value.kind == JSON_TEXT:
        return _part(value, key, entry_annotation(value.annotation, key), f"[{key!r}]")
    if not value.kind.type.is_array or isinstance(key, str):
        raise TraceError(
            f"{value.label} is not known while the workflow is traced, so it has no `[{key!r}]`",
            "do that in a step, which gets the value",
        )
    return _element(value, key)


def _part(value: Value, key: str | int, annotation: Any, label: str) -> Value:
    whole = value.expression
    if isinstance(whole, JsonPart):
        part = JsonPart(whole.whole, (*whole.path, key))
    else:
        part = JsonPart(whole, (key,))
    kind = kind_of(annotation)
    return Value(value.trace, of_json(part, kind), kind, annotation, f"{value.label}{label}")


def _element(value: Value, index: int) -> Value:
    """An element of an array, counted from the end if negative."""
    array = value.expression
    found: Expression
    if index < 0:
        found = Joined((array, "[", array, f".length - {-index}]"))
    else:
        found = Joined((array, f"[{index}]"))
    kind = JSON_TEXT if value.kind == JSON_TEXTS else Kind(ELEMENT[value.kind.type])
    held = element_of(bare(value.annotation))
    annotation = Any if held is None else held[0]
    return Value(value.trace, found, kind, annotation, f"{value.label}[{index}]")


class Field(NamedTuple):
    """A field of a class of records: where it is found in the JSON of one, and its annotation."""

    key: str | int
    annotation: Any


def fields_of(annotation: Any) -> dict[str, Field] | None:
    """The fields of a class of records; None for what is no such class."""
    annotation = bare(annotation)
    made = get_origin(annotation) or annotation
    names = _names_of(made) if isinstance(made, type) else None
    if names is None:
        return None
    hints = get_type_hints(made, include_extras=True)
    return {name: Field(key, hints.get(name, Any)) for name, key in names.items()}


def _names_of(made: type) -> dict[str, str | int] | None:
    """Names of fields, with the keys that they have in JSON; a named tuple is a list there."""
    if issubclass(made, tuple) and hasattr(made, "_fields"):
        return {name: position for position, name in enumerate(made._fields)}
    if issubclass(made, msgspec.Struct):
        return {each.name: each.encode_name for each in msgspec.structs.fields(made)}
    if dataclasses.is_dataclass(made):
        return {each.name: each.name for each in dataclasses.fields(made)}
    if hasattr(made, "model_fields"):
        return {name: name for name in made.model_fields}
    return None


def entry_annotation(annotation: Any, key: str | int) -> Any:
    """What is known of an entry of a dict, an element of a list, or a place of a tuple."""
    annotation = bare(annotation)
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    if isinstance(key, str):
        if isinstance(origin, type) and issubclass(origin, dict):
            return args[1] if len(args) == 2 else get_type_hints(origin).get(key, Any)
        return Any
    held = element_of(annotation)
    if held is not None:
        return held[0]
    return args[key] if origin is tuple and -len(args) <= key < len(args) else Any
