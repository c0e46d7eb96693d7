"""Which annotations say that a value can not be stored, so that it is refused before the work is done."""

import collections.abc
import inspect
import os
from collections.abc import AsyncIterable, Awaitable, Iterator, Mapping, Set
from numbers import Number
from pathlib import PurePath
from typing import Any, Final, get_args, get_origin

import msgspec

from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.codecs import codec_of
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.kinds import bare

NO_KEYS: Final = (  # of dictionaries: what has parts, and what only a codec makes
    msgspec.inspect.BytesType,
    msgspec.inspect.ByteArrayType,
    msgspec.inspect.MemoryViewType,
    msgspec.inspect.CollectionType,
    msgspec.inspect.TupleType,
    msgspec.inspect.DictType,
    msgspec.inspect.StructType,
    msgspec.inspect.TypedDictType,
    msgspec.inspect.DataclassType,
    msgspec.inspect.NamedTupleType,
    msgspec.inspect.CustomType,
)
UNKNOWN: Final[frozenset[Any]] = frozenset({collections.abc.Callable})
ENDLESS: Final = (Iterator, AsyncIterable, Awaitable)
AS_KEY: Final = "dict[{}, ...]"


def check_storable(function: Function, what: str) -> None:
    """Raise InvalidRequest if a function takes or returns what can not be stored. `what` is its name."""
    asked = [(f"takes `{each.name}` as", each.annotation, False) for each in function.values]
    for verb, annotation, returned in [*asked, ("returns", function.returns, True)]:
        wrong = unstorable(annotation, returned=returned)
        if wrong is not None:
            raise InvalidRequest(
                f"`{what}` {verb} {a_name(wrong)}, which can not be stored between two steps",
                hint=way_out(wrong),
            )


def way_out(wrong: str) -> str:
    """What to do instead, for what `unstorable` found."""
    if wrong.startswith("dict["):
        return "use texts, numbers or flags as keys, or a list of pairs"
    return f"use plain data, make it in the step, or register a codec: `stretto.codec({wrong}, ...)`"


def unstorable(annotation: Any, *, returned: bool) -> str | None:
    """The class in an annotation of which no value can be stored, or read where it is not `returned`; None if
    there is none, or nothing can be said.
    """
    if inspect.isroutine(annotation):  # what makes the objects of a class that has no name
        return str(annotation.__name__)
    try:
        found = msgspec.inspect.type_info(annotation)
    except (TypeError, NameError, AttributeError):  # a union of classes that the decoder does not know, too
        parts = (unstorable(each, returned=returned) for each in get_args(bare(annotation)))
        return next(filter(None, parts), None)
    return next(_faults(found, set(), returned=returned), None)


def _faults(info: msgspec.inspect.Type, seen: set[int], *, returned: bool) -> Iterator[str]:
    """The classes that nobody knows, and those that can not be keys."""
    if isinstance(info, msgspec.inspect.CustomType):
        cls = get_origin(info.cls) or info.cls
        if isinstance(cls, type) and not _is_known(cls, returned=returned):
            yield cls.__qualname__
        return
    for name in ("types", "item_types", "item_type", "key_type", "value_type"):
        part = getattr(info, name, ())
        for each in part if isinstance(part, tuple) else (part,):
            yield from _faults(each, seen, returned=returned)
    if isinstance(info, msgspec.inspect.DictType):
        yield from _keys(info.key_type, returned=returned)
    cls = getattr(info, "cls", None)
    if cls is not None and id(cls) not in seen:
        seen.add(id(cls))
        for field in getattr(info, "fields", ()):
            yield from _faults(field.type, seen, returned=returned)


def _keys(info: msgspec.inspect.Type, *, returned: bool) -> Iterator[str]:
    for each in info.types if isinstance(info, msgspec.inspect.UnionType) else (info,):
        cls = getattr(each, "cls", None)
        cls = get_origin(cls) or cls
        if cls is object or (returned and isinstance(cls, type) and issubclass(cls, str | Number)):
            continue
        if isinstance(each, NO_KEYS):
            yield AS_KEY.format(getattr(cls, "__qualname__", _word(each)))


def _word(info: msgspec.inspect.Type) -> str:
    """`tuple` for `TupleType` and `VarTupleType`."""
    return type(info).__name__.removesuffix("Type").removeprefix("Var").lower()


def _is_known(cls: type, *, returned: bool) -> bool:
    if cls is object or codec_of(cls) is not None or hasattr(cls, "model_validate"):
        return True
    if cls in UNKNOWN or issubclass(cls, ENDLESS):
        return False
    if issubclass(cls, PurePath) or getattr(cls, "_is_protocol", False) or inspect.isabstract(cls):
        return True
    return returned and issubclass(cls, str | Number | os.PathLike | Mapping | Set | range)
