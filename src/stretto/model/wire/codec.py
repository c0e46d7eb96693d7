"""The parts that every codec is made of."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Final, Protocol

import msgspec

from stretto.model.problem import Code, Place, Problem, problem_at

Sink = list[Problem]
Decode = Callable[[Any, Place, Sink], Any]
Encode = Callable[[Any], Any]


class Codec(Protocol):
    """How one type is read and written.

    `decode` never raises on bad input: it puts a problem into the sink and returns `blank()`, a stand-in
    of the right type, so that reading goes on and finds the other problems too.
    """

    def decode(self, value: Any, at: Place, sink: Sink, /) -> Any: ...
    def encode(self, record: Any, /) -> Any: ...
    def blank(self) -> Any: ...


class Filled:
    """A codec made of three functions. They are filled in late, because types refer to themselves."""

    __slots__ = ("blank", "decode", "encode")

    decode: Decode
    encode: Encode
    blank: Callable[[], Any]

    def fill(self, decode: Decode, encode: Encode, blank: Callable[[], Any]) -> None:
        self.decode = decode
        self.encode = encode
        self.blank = blank


class Own:
    """Says that a type has a codec of its own making: as `wire` of a record, or inside `Annotated`."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[Any], Codec]) -> None:
        self.make = make


class Drop(Enum):
    """Which fields a record leaves out when it is written."""

    NULL = auto()  # None only: what Maestro does almost everywhere
    EMPTY = auto()  # None, and empty text, lists and maps
    DEFAULT = auto()  # None, empty, 0 and false
    NOTHING = auto()  # every field is written, null included

    def leaves_out(self, value: Any) -> bool:
        match self:
            case Drop.NULL:
                return value is None
            case Drop.EMPTY:
                return value is None or (isinstance(value, (str, list, tuple, dict)) and not value)
            case Drop.DEFAULT:
                return not value
            case _:  # NOTHING
                return False


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What the annotations of a record can not say about its JSON.

    rest:      name of the field (a dict) that takes every key not declared; None: such keys are refused.
               A record that can shrink gets an empty dict when it came as an object without such keys.
    short:     a value that is not an object -> the object it stands for, or None if it stands for nothing.
    shrink:    record -> its short form, or None to write the object.
    drop:      which fields are left out.
    keep:      names of fields that are written even when null.
    lean:      names of fields that are left out also when empty, 0 or false, whatever `drop` says.
    ignored:   keys that are accepted and forgotten (computed ones that we write ourselves).
    computed:  record -> extra keys to write.
    missing:   key of a required field -> what the problem says beside "is missing".
    """

    rest: str | None = None
    short: Callable[[Any], dict[str, Any] | None] | None = None
    shrink: Callable[[Any], Any] | None = None
    drop: Drop = Drop.NULL
    keep: tuple[str, ...] = ()
    lean: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    computed: Callable[[Any], Mapping[str, Any]] | None = None
    missing: Mapping[str, str] = {}


class Wrapped:
    """Marks a union whose members are written as `{kind: {...}}`; kinds are read in any case."""


PLAIN: Final = Shape()

NOUNS: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}


def noun(value: Any) -> str:
    """What a JSON value is, for a message."""
    for tp in type(value).__mro__:
        if tp in NOUNS:
            return NOUNS[tp]
    return "a number"  # Decimal


def wrong_type(place: Place, wanted: str, value: Any, hint: str | None = None) -> Problem:
    """The one message for a value of the wrong kind."""
    return problem_at(place, Code.WRONG_TYPE, f"expected {wanted}, found {noun(value)}", hint)
