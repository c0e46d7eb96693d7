"""Values between processes: as JSON, and as the annotations of a function want them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.model.param import ParamType
from stretto.runtimes.python.codecs import untagged
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.plain import json_text
from stretto.runtimes.python.values import JSON_TEXT, Kind, Unreadable, Unserialisable, decode

PLAIN: Final = Kind(ParamType.MAP)  # whatever JSON made of it


def to_wire(values: Mapping[str, Any], what: str) -> bytes:
    """Values by name, as they travel. Raises Refused, with the one that can not."""
    try:
        return json_text(dict(values), "").encode()
    except Unserialisable as error:
        for name, value in values.items():
            try:
                json_text(value, name)
            except Unserialisable as known:
                raise Refused(f"{what} can not be handed to a worker process: {known}") from None
        raise Refused(f"{what} can not be handed to a worker process: {error}") from error


def value_of(raw: msgspec.Raw, annotation: Any, what: str) -> Any:
    """A value that has travelled. Raises Unreadable."""
    try:
        return decode(raw, JSON_TEXT, annotation, what)
    except Unreadable:
        # Of an engine that does not know the function come plain values, which are read as parameters are.
        return decode(untagged(msgspec.json.decode(raw)), PLAIN, annotation, what)


def arguments(function: Function, wire: bytes) -> dict[str, Any]:
    """The values that a function is called with. Raises Refused."""
    given = msgspec.json.decode(wire, type=dict[str, msgspec.Raw])
    found: dict[str, Any] = {}
    lost: list[str] = []
    try:
        for each in function.values:
            raw = given.pop(each.name, None)
            if raw is not None:
                found[each.name] = value_of(raw, each.annotation, each.name)
            elif not each.has_default:
                lost.append(f"`{each.name}`")
        if function.takes_all:
            found |= {name: value_of(raw, Any, name) for name, raw in given.items()}
    except Unreadable as error:
        raise Refused(f"an argument of `{function.name}`: {error}") from None
    if lost:
        raise Refused(f"`{function.name}` needs {', '.join(lost)}: the step has no such parameter")
    return found


def returned(text: str, annotation: Any) -> Any:
    """What a function returned, as its annotation says if that can be made of it."""
    try:
        return decode(text, JSON_TEXT, annotation, "result")
    except Unreadable:
        return decode(text, JSON_TEXT, Any, "result")
