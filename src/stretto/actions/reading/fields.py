"""Answers with some of their fields: what somebody does not want is neither made nor sent."""

from collections.abc import Collection
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

Fields = Collection[str] | None  # None: all of them


def optional_fields(tp: type[msgspec.Struct]) -> list[str]:
    """Those that can be left out; the others say what a record is about, and always come."""
    return [each.name for each in msgspec.structs.fields(tp) if not each.required]


def wants(fields: Fields, *names: str) -> bool:
    """Whether one of these is wanted."""
    return fields is None or any(name in fields for name in names)


def only(record: T, fields: Fields) -> T:
    """The record itself, which belongs to the caller, with nothing in the fields that are not wanted."""
    nothing: Any = None
    if fields is None:
        return record
    for name in optional_fields(type(record)):
        if not wants(fields, name):
            setattr(record, name, nothing)
    return record
