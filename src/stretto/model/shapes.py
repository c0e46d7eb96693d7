"""What a type is made of: the one reader of annotations, on which codecs, stored forms and schemas are built.

`shape_of` looks one level deep, so that records may hold themselves: the parts of a shape are types again. It
says what is there and judges nothing; whoever builds on it decides which shapes it knows.
"""

from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec


class PlainShape(NamedTuple):
    """A type without parts: text, a number, a flag, null, `Any`, or a name for one of these."""

    type: Any


class EnumShape(NamedTuple):
    """A closed set of words."""

    type: type[Enum]


class ListShape(NamedTuple):
    """Any number of items. `make`: list, tuple or frozenset."""

    make: type
    item: Any


class TupleShape(NamedTuple):
    """A fixed number of parts."""

    parts: tuple[Any, ...]


class MapShape(NamedTuple):
    """Values by key."""

    key: Any
    value: Any


class UnionShape(NamedTuple):
    """One of several types, null left out."""

    members: tuple[Any, ...]
    nullable: bool


class MarkedShape(NamedTuple):
    """A type, and what is noted beside it (`Annotated`)."""

    type: Any
    marks: tuple[Any, ...]


class RecordShape(NamedTuple):
    """A msgspec struct; `args` are the types in the brackets of a generic one (`Page[Workflow]`)."""

    type: type[msgspec.Struct]
    args: tuple[Any, ...] = ()


TypeShape = (
    PlainShape | EnumShape | ListShape | TupleShape | MapShape | UnionShape | MarkedShape | RecordShape
)


class FieldShape(NamedTuple):
    """A field of a record. `info` has its default."""

    name: str  # of the attribute
    key: str  # in JSON
    type: Any
    info: msgspec.structs.FieldInfo

    @property
    def required(self) -> bool:
        return self.info.required

    @property
    def nullable(self) -> bool:
        """Whether null stands for something: None, or the default."""
        return NoneType in get_args(self.type) or not self.info.required


def shape_of(tp: Any) -> TypeShape:
    """The shape of a type."""
    origin, args = get_origin(tp), get_args(tp)
    if origin is Annotated:
        return MarkedShape(args[0], args[1:])
    if origin in {Union, UnionType}:
        members = tuple(each for each in args if each is not NoneType)
        return UnionShape(members, nullable=len(members) < len(args))
    if origin is tuple and args[-1] is not Ellipsis:
        return TupleShape(args)
    if origin in {tuple, list, frozenset}:
        return ListShape(origin, args[0])
    if origin in {dict, Mapping}:
        return MapShape(*args)
    cls = origin or tp
    if not isinstance(cls, type):
        return PlainShape(tp)
    if issubclass(cls, Enum):
        return EnumShape(cls)
    if issubclass(cls, msgspec.Struct):
        return RecordShape(cls, args)
    if issubclass(cls, tuple):
        return TupleShape(tuple(get_type_hints(cls, include_extras=True).values()))
    return PlainShape(tp)


def fields_of(record: RecordShape) -> tuple[FieldShape, ...]:
    """The fields of a record, in their order."""
    hints = get_type_hints(record.type, include_extras=True)
    if record.args:
        hints = {name: hint[record.args] if _is_open(hint) else hint for name, hint in hints.items()}
    return tuple(
        FieldShape(name=each.name, key=each.encode_name, type=hints[each.name], info=each)
        for each in msgspec.structs.fields(record.type)
    )


def without_none(tp: Any) -> Any:
    """`X | None` -> `X`."""
    shape = shape_of(tp)
    if isinstance(shape, UnionShape) and shape.nullable:
        return Union[shape.members]  # noqa: UP007 - made at run time
    return tp


def marks_of(tp: Any) -> tuple[Any, ...]:
    """What is noted beside a type, or in the `wire` attribute of a record."""
    shape = shape_of(tp)
    return shape.marks if isinstance(shape, MarkedShape) else (getattr(tp, "wire", None),)


def _is_open(hint: Any) -> bool:
    """Whether a type variable stands in it: `list[T]`."""
    return bool(getattr(hint, "__parameters__", ()))
