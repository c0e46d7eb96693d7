"""The door of the package: whole records to and from JSON values and JSON text."""

import json
import re
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
