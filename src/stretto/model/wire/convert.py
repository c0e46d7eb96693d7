"""The door of the package: whole records to and from JSON values and JSON text."""

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, TypeVar, overload

import msgspec

from stretto.model.problem import Problem
from stretto.model.wire.scalars import written_deep
from stretto.model.wire.types import codec_of

T = TypeVar("T")

_encoder: Final = msgspec.json.Encoder(decimal_format="number")
_BARE: Final = re.compile(rb"(?:^|[\[:,])-?(?:NaN|Infinity)")  # also in a text, where it costs time only


@overload
def decode(tp: type[T], value: Any) -> tuple[T, list[Problem]]: ...
@overload
def decode(tp: Any, value: Any) -> tuple[Any, list[Problem]]: ...  # unions and wrapped records are no classes
def decode(tp: Any, value: Any) -> tuple[Any, list[Problem]]:
    """Read a record from a JSON value. With problems, the record is only a stand-in."""
    problems: list[Problem] = []
    record = codec_of(tp).decode(value, None, problems)
    return record, problems


def encode(record: Any, tp: Any = None) -> Any:
    """The JSON value of a record; `tp` where the annotation says more than the class (wrapped steps)."""
    return codec_of(tp if tp is not None else type(record)).encode(record)


def to_json(value: Any) -> bytes:
    """JSON text of a JSON value; decimals keep their digits. `NaN` and infinities become texts: the encoder
    would write them bare, which is no JSON.
    """
    text = _encoder.encode(value)
    if (b"NaN" in text or b"Infinity" in text) and _BARE.search(text):
        return _encoder.encode(written_deep(value))
    return text


def loads(text: str | bytes) -> Any:
    """JSON text that we wrote ourselves -> JSON value, decimals exact. For users' text see `definition`."""
    return json.loads(text, parse_float=Decimal)


@overload
def from_json(tp: type[T], text: str | bytes) -> tuple[T, list[Problem]]: ...
@overload
def from_json(tp: Any, text: str | bytes) -> tuple[Any, list[Problem]]: ...
def from_json(tp: Any, text: str | bytes) -> tuple[Any, list[Problem]]:
    """Read a record from JSON text."""
    return decode(tp, loads(text))


SLICE: Final = 20_000  # values that one call of the encoder writes
TEXT: Final = 64  # characters that count as one value
LIGHT: Final = frozenset({int, float, bool, type(None)})  # one value each, whatever it is
PIECE: Final = SLICE * TEXT  # characters of a text that one call writes


def weight(value: Any, most: int) -> int:
    """How many values there are in a record or a JSON value; more than `most` are not counted."""
    found, left = 1, [value]
    while left and found <= most:
        each = left.pop()
        kind = each.__class__
        if kind is dict:
            inside = each.values()
        elif kind is list or kind is tuple:
            inside = each
        elif isinstance(each, msgspec.Struct):
            inside = [getattr(each, name) for name in each.__struct_fields__]
        else:
            found += len(each) // TEXT if kind is str else 0
            continue
        found += len(inside)
        if found <= most:
            for inner in inside:
                kind = inner.__class__
                if kind not in LIGHT if kind is not str else len(inner) > TEXT:
                    left.append(inner)
    return found


def json_slices(value: Any) -> Iterator[bytes]:
    """The text that `to_json` makes of a JSON value."""
    if isinstance(value, str) and len(value) > PIECE:
        yield b'"'
        for start in range(0, len(value), PIECE):
            yield to_json(value[start : start + PIECE])[1:-1]
        yield b'"'
    elif isinstance(value, dict) and weight(value, SLICE) > SLICE:
        yield from _enclosed(b"{", _members(value), b"}")
    elif isinstance(value, (list, tuple)) and weight(value, SLICE) > SLICE:
        yield from _enclosed(b"[", _elements(value), b"]")
    else:
        yield to_json(value)


def _enclosed(begin: bytes, parts: Iterable[Iterable[bytes]], end: bytes) -> Iterator[bytes]:
    yield begin
    for number, part in enumerate(parts):
        if number:
            yield b","
        yield from part
    yield end


def _elements(values: Iterable[Any]) -> Iterator[Iterable[bytes]]:
    """The elements of a list: small ones together, each large one for itself."""
    some: list[Any] = []
    heavy = 0
    for each in values:
        own = weight(each, SLICE)
        if some and heavy + own > SLICE:
            yield [to_json(some)[1:-1]]
            some, heavy = [], 0
        if own > SLICE:
            yield json_slices(each)
        else:
            some.append(each)
            heavy += own
    if some:
        yield [to_json(some)[1:-1]]


def _members(values: dict[Any, Any]) -> Iterator[Iterable[bytes]]:
    """The members of an object, in the same way."""
    some: dict[Any, Any] = {}
    heavy = 0
    for key, each in values.items():
        own = weight(each, SLICE)
        if some and heavy + own > SLICE:
            yield [to_json(some)[1:-1]]
            some, heavy = {}, 0
        if own > SLICE:
            yield _member(key, each)
        else:
            some[key] = each
            heavy += own
    if some:
        yield [to_json(some)[1:-1]]


def _member(key: Any, value: Any) -> Iterator[bytes]:
    yield to_json({key: None})[1:-5]
    yield from json_slices(value)
