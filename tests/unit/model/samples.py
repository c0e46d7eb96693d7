"""Every record of the model, a smallest valid JSON value for each type, and which JSON kinds a type takes.

What a type takes is said here a second time, on purpose: the codecs must agree with it.
"""

import importlib
import pkgutil
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

import stretto.model
from stretto.model.artifact import DefaultArtifact
from stretto.model.foreach import RangesCodec
from stretto.model.param import ParamDefinition
from stretto.model.problem import Problem
from stretto.model.properties import RunStrategy
from stretto.model.rollup import StepCount, StepInfo
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.vocabulary import Entry
from stretto.model.wire.codec import Own, Shape, Wrapped

KINDS: Final[dict[str, Any]] = {
    "null": None,
    "flag": True,
    "whole": 7,
    "number": Decimal("1.5"),
    "text": "?",
    "list": [[]],
    "object": {"?": "?"},
}
SCALARS: Final[dict[Any, set[str]]] = {
    str: {"text"},
    int: {"whole"},
    bool: {"flag"},
    Decimal: {"whole", "number"},
    Any: set(KINDS),
}
SHORT: Final[dict[type, set[str]]] = {
    User: {"text"},
    Tag: {"text"},
    RunStrategy: {"text", "whole"},
    StepCount: {"whole"},
}
NOT_ON_THE_WIRE: Final = {Problem, Entry, Shape}
SAMPLES: Final[dict[Any, Any]] = {
    str: "text",
    int: 1,
    bool: True,
    Decimal: Decimal("0.5"),
    Any: {"any": "thing"},
    StepInfo: [1, 2, None],
    DefaultArtifact: {"free": 1},
}


class Field(NamedTuple):
    owner: type[msgspec.Struct]
    key: str
    hint: Any
    required: bool

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.key}"


def records() -> list[type[msgspec.Struct]]:
    """All records whose codec is made from their annotations, in the order of their modules."""
    found: dict[type[msgspec.Struct], None] = {}
    for info in pkgutil.walk_packages(stretto.model.__path__, "stretto.model."):
        for item in vars(importlib.import_module(info.name)).values():
            if isinstance(item, type) and issubclass(item, msgspec.Struct) and item.__module__ == info.name:
                found[item] = None
    return [
        each
        for each in found
        if each not in NOT_ON_THE_WIRE and not isinstance(getattr(each, "wire", None), Own)
    ]


def fields_of(tp: type[msgspec.Struct]) -> list[Field]:
    hints = get_type_hints(tp, include_extras=True)
    rest = getattr(tp, "wire", Shape()).rest
    return [
        Field(tp, each.encode_name, hints[each.name], each.required)
        for each in msgspec.structs.fields(tp)
        if each.name != rest
    ]


def kinds_of(hint: Any) -> set[str]:
    """The kinds of JSON values that a type takes."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kinds_of_annotated(args)
    if hint in SCALARS:
        return SCALARS[hint]
    if origin in {Union, UnionType}:
        return set[str]().union(*({"null"} if arg is NoneType else kinds_of(arg) for arg in args))
    if origin in {tuple, list} or hint is StepInfo:
        return {"list"}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"text"}
    return {"object"} | SHORT.get(hint, set())


def _kinds_of_annotated(args: tuple[Any, ...]) -> set[str]:
    if any(isinstance(note, Wrapped) for note in args[1:]):
        return {"object"}
    made = args[1].make
    if made is RangesCodec:
        return {"list"}
    kinds = {"ConditionCodec": {"text", "flag"}, "StepTypeCodec": {"text"}, "ArtifactCodec": {"object"}}
    return kinds[made.__name__]


def wrong_kinds_of(field: Field) -> dict[str, Any]:
    """The kinds that a field does not take, each with a value."""
    taken = kinds_of(field.hint) | (set() if field.required else {"null"})
    return {kind: value for kind, value in KINDS.items() if kind not in taken}


def sample(hint: Any) -> Any:
    """The smallest valid JSON value of a type: only fields that must be there."""
    if isinstance(hint, type) and issubclass(hint, ParamDefinition):
        return {"type": "STRING", "value": "text"}
    if hint in SAMPLES:
        return SAMPLES[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated and isinstance(args[1], Wrapped):
        member = get_args(args[0])[0]
        return {member.__struct_config__.tag: sample(member)}
    if origin is Annotated:
        return [] if args[1].make is RangesCodec else sample(args[0])
    if origin in {Union, UnionType}:
        return sample(args[0])
    if origin in {tuple, list}:
        return [sample(args[0])]
    if origin is dict:
        return {sample(args[0]): sample(args[1])}
    if issubclass(hint, Enum):
        return next(iter(hint)).value
    return sample_record(hint)


def sample_record(tp: type[msgspec.Struct]) -> dict[str, Any]:
    config = tp.__struct_config__
    tagged = {"type": config.tag} if config.tag_field == "type" else {}
    return tagged | {each.key: sample(each.hint) for each in fields_of(tp) if each.required}


def full_record(tp: type[msgspec.Struct]) -> dict[str, Any]:
    """A valid JSON value with every field of the record, each as small as it can be."""
    return sample_record(tp) | {each.key: sample(each.hint) for each in fields_of(tp)}
