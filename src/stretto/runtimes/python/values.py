"""Python values as the values of parameters, and back.

The declared kind of a parameter says what it holds; the annotation of the function says what Python sees.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set, Sized
from decimal import Decimal
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final, get_args, get_origin

import msgspec

from stretto.model.error_text import a_name
from stretto.model.errors import InvalidRequest
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.wire import loads
from stretto.model.wire.scalars import decimal_of
from stretto.runtimes.python.codecs import BINARY, codec_of, untagged
from stretto.runtimes.python.kinds import (
    JSON_TEXT,
    JSON_TEXTS,
    SCALARS,
    Kind,
    bare,
    element_of,
    kind_of,
    kind_of_param,
    members_of,
    union_of,
)
from stretto.runtimes.python.plain import MOST_ELEMENTS, Unserialisable, fault_of, json_text, simple
from stretto.runtimes.python.step_error import StepError  # noqa: F401 - its codec is registered with it
from stretto.runtimes.python.unions import converted, is_mixed
from stretto.sel.text import TAG, tagged_float, tagged_json

__all__ = [
    "JSON_TEXT",
    "JSON_TEXTS",
    "Kind",
    "Unreadable",
    "Unserialisable",
    "decode",
    "decode_returned",
    "empty",
    "encode",
    "json_text",
    "kind_of",
    "kind_of_param",
    "literal",
    "reader",
]

P = ParamType
TAG_BYTES: Final = TAG.encode()
WORDS: Final[Mapping[ParamType, type]] = {kind: tp for tp, kind in SCALARS.items()}
MOST_MADE: Final = 100_000  # elements of what has no length, such as a generator
ELEMENTS: Final[Mapping[ParamType, ParamType]] = {
    P.LONG_ARRAY: P.LONG,
    P.DOUBLE_ARRAY: P.DOUBLE,
    P.STRING_ARRAY: P.STRING,
    P.BOOLEAN_ARRAY: P.BOOLEAN,
}
EMPTY: Final[Mapping[ParamType, Any]] = {
    P.STRING: "",
    P.LONG: 0,
    P.DOUBLE: Decimal(0),
    P.BOOLEAN: False,
    P.STRING_MAP: {},
    P.MAP: {},
}


class Unreadable(InvalidRequest):
    """A value that is not what a function asks for."""

    id = "unreadable"


# ------------------------------------------------------------------------------------------------- encoding
def encode(value: Any, kind: Kind, what: str) -> Any:
    """A Python value as the value of a parameter; raises Unserialisable, in which `what` is its name."""
    if kind.json:
        if kind.type.is_array:
            return tuple(json_text(each, f"{what}[{index}]") for index, each in enumerate(_list(value, what)))
        return json_text(value, what)
    element = ELEMENTS.get(kind.type)
    if element is not None:
        return tuple(
            _scalar(each, element, f"{what}[{index}]") for index, each in enumerate(_list(value, what))
        )
    if kind.type in EMPTY and kind.type not in WORDS:
        return _map(value, what, texts=kind.type is P.STRING_MAP)
    return _scalar(value, kind.type, what)


def empty(kind: Kind) -> Any:
    """The value that a parameter of a kind is declared with, before it has one."""
    return "null" if kind == JSON_TEXT else () if kind.type.is_array else EMPTY[kind.type]


def literal(value: Any, kind: Kind, what: str) -> ParamDefinition:
    """The definition of a parameter with a Python value; nothing in its texts is taken for a variable."""
    return ParamDefinition(type=kind.type, value=_escaped(encode(value, kind, what)), meta=kind.meta)


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, tuple):
        return tuple(map(_escaped, value))
    if not isinstance(value, dict):
        return value
    if all(isinstance(each, str) for each in value.values()):
        return {_escaped(key): _escaped(each) for key, each in value.items()}
    return value


def _list(value: Any, what: str) -> Any:
    if isinstance(value, str | bytes | Mapping) or not hasattr(type(value), "__iter__"):
        raise Unserialisable(f"`{what}` is {_name(value)}, not a list")
    if not isinstance(value, Sized):
        return _bounded(value, what)
    if isinstance(value, range) and value[MOST_ELEMENTS:]:  # one may be longer than `len` can say
        raise Unserialisable(
            f"`{what}` is {value!r}, and no more than {MOST_ELEMENTS:,} elements can be stored"
        )
    if not isinstance(value, Set):
        return value
    try:
        return sorted(value)  # so that equal sets look the same
    except TypeError:
        return value


def _bounded(values: Iterable[Any], what: str) -> Iterator[Any]:
    """The elements of what may never end."""
    for index, each in enumerate(values):
        if index == MOST_MADE:
            raise Unserialisable(
                f"`{what}` makes more than {MOST_MADE:,} elements: give a list, or let a step make them"
            )
        yield each


def _scalar(value: Any, kind: ParamType, what: str) -> Any:
    given = value if type(value) in SCALARS else getattr(value, "value", simple(value))
    found = SCALARS.get(type(given))
    if found is not kind and not (kind is P.DOUBLE and found is P.LONG):
        hint = f": annotate `{WORDS[kind].__name__} | None`" if value is None else ""
        raise Unserialisable(f"`{what}` is {_name(value)}, not {a_name(WORDS[kind].__name__)}{hint}")
    fault = fault_of(given)
    if fault is not None:
        raise Unserialisable(f"`{what}` {fault}")
    return decimal_of(given) if kind is P.DOUBLE else given


def _map(value: Any, what: str, *, texts: bool) -> dict[str, Any]:
    """A MAP has neither nulls nor lists of mixed kinds: those are for JSON."""
    if not isinstance(value, Mapping):
        raise Unserialisable(f"`{what}` is {_name(value)}, not a map")
    plain = _with_decimals(loads(json_text(dict(value), what, strict=True)))
    return {key: _member(each, f'{what}["{key}"]', texts=texts) for key, each in plain.items()}


def _with_decimals(value: Any) -> Any:
    """Plain data with the numbers that JSON has no word for, as a MAP holds them."""
    if isinstance(value, list):
        return [_with_decimals(each) for each in value]
    if not isinstance(value, dict):
        return value
    number = tagged_float(value)
    if number is not None:
        return decimal_of(number)
    return {key: _with_decimals(each) for key, each in value.items()}


def _member(value: Any, what: str, *, texts: bool) -> Any:
    if texts and not isinstance(value, str):
        raise Unserialisable(f"`{what}` is {_name(value)}, not a `str`: a STRING_MAP holds texts")
    if isinstance(value, dict):
        return {key: _member(each, f'{what}["{key}"]', texts=False) for key, each in value.items()}
    kinds = set(map(type, value)) if isinstance(value, list) else {type(value)}
    fault = next(filter(None, map(fault_of, value if isinstance(value, list) else [value])), None)
    if fault is not None:
        raise Unserialisable(f"`{what}` {fault}")
    if len(kinds) > 1 or not kinds <= {str, bool, int, Decimal}:
        raise Unserialisable(f"`{what}` has no place in a MAP: declare the parameter with `format: json`")
    return tuple(value) if isinstance(value, list) else value


def _name(value: Any) -> str:
    return "None" if value is None else a_name(type(value).__qualname__)


# ------------------------------------------------------------------------------------------------- decoding
def decode(value: Any, kind: Kind, annotation: Any, what: str) -> Any:
    """The value of a parameter as an annotation wants it; raises Unreadable."""
    try:
        return reader(kind, annotation)(value)
    except Unreadable:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        wanted = getattr(annotation, "__name__", None) or str(annotation)
        raise Unreadable(f"`{what}` can not be read as `{wanted}`: {error}{_hint(value, kind)}") from error


def _hint(value: Any, kind: Kind) -> str:
    """The way out, where the reason is that a step left no value."""
    element = WORDS.get(ELEMENTS.get(kind.type, kind.type))
    if element is None or not isinstance(value, tuple | list) or None not in value:
        return ""
    return f"; a step left no value there: annotate `Sequence[{element.__name__} | None]`"


def decode_returned(value: Any, kind: Kind, annotation: Any, what: str) -> Any:
    """What a workflow returned. Where the value of a step is missing it is None, whatever the annotation."""
    try:
        return decode(value, kind, annotation, what)
    except Unreadable:
        texts = value if isinstance(value, list | tuple) else (value,)
        if not any(each is None or (kind.json and "null" in each) for each in texts):
            raise
        return decode(value, kind, Any, what)


def reader(kind: Kind, annotation: Any) -> Callable[[Any], Any]:
    """What makes Python values of the values of a parameter. It raises whatever the value does."""
    try:
        return _reader(kind, annotation)
    except TypeError:  # an annotation need not be hashable
        return _reader.__wrapped__(kind, annotation)


@lru_cache(maxsize=4096)
def _reader(kind: Kind, annotation: Any) -> Callable[[Any], Any]:
    if kind == JSON_TEXT:
        return _of_json(annotation)
    if kind == JSON_TEXTS:
        return _of_jsons(annotation)
    wanted = bare(annotation)
    if wanted is Any:
        return _plain
    if kind.type is P.DOUBLE and wanted is float:
        return float
    if not kind.json and SCALARS.get(wanted if isinstance(wanted, type) else None) is kind.type:
        return _same
    return _converter(annotation)


def _same(value: Any) -> Any:
    return value


def _plain(value: Any) -> Any:
    """Parameters keep decimals and tuples, where Python programs have floats and lists."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        text = tagged_json(value)
        return (
            {key: _plain(each) for key, each in value.items()}
            if text is None
            else untagged(msgspec.json.decode(text))
        )
    return value


def _converter(annotation: Any) -> Callable[[Any], Any]:
    of_json, mixed = _of_json(annotation), is_mixed(annotation)

    def convert(value: Any) -> Any:
        plain = _plain(value)
        try:
            if mixed:
                return converted(plain, annotation, _convert)
            return msgspec.convert(plain, annotation, strict=False, dec_hook=_made)
        except msgspec.ValidationError:
            # Who writes a definition by hand may give an object as JSON, without saying so.
            if not isinstance(plain, str) or plain[:1] not in {"{", "["}:
                raise
            return of_json(plain)

    return convert


def _of_json(annotation: Any) -> Callable[[Any], Any]:
    of_codec = tuple(
        each for each in members_of(annotation) if isinstance(each, type) and codec_of(each) is not None
    )
    if of_codec and bare(annotation) not in of_codec:
        return _of_union(annotation, of_codec)
    if is_mixed(annotation):
        return lambda text: converted(untagged(msgspec.json.decode(text)), annotation, _convert)
    is_any = bare(annotation) is Any
    decode = msgspec.json.decode if is_any else msgspec.json.Decoder(annotation, dec_hook=_made).decode

    def read(text: Any) -> Any:
        if not _is_tagged(text):
            return decode(text)
        plain = untagged(msgspec.json.decode(text))
        if is_any:
            return plain
        return _convert(plain, annotation)

    return read


def _convert(value: Any, annotation: Any) -> Any:
    return msgspec.convert(value, annotation, builtin_types=BINARY, dec_hook=_made)


def _of_union(annotation: Any, of_codec: tuple[type, ...]) -> Callable[[Any], Any]:
    """The decoder knows no union of classes that have a codec with others: those are read apart."""
    others = tuple(each for each in members_of(annotation) if each not in of_codec)
    of_others = _of_json(union_of(others) if others else of_codec[0])

    def read(text: Any) -> Any:
        if _is_tagged(text):
            value = untagged(msgspec.json.decode(text))
            if isinstance(value, of_codec):
                return value
        return of_others(text)

    return read


def _is_tagged(text: Any) -> bool:
    return TAG in text if isinstance(text, str) else TAG_BYTES in bytes(text)


def _of_jsons(annotation: Any) -> Callable[[Any], Any]:
    held = element_of(bare(annotation))
    read = _of_json(Any if held is None else held[0])
    origin = get_origin(bare(annotation)) or bare(annotation)
    make = origin if origin in {set, frozenset, tuple} else list

    def elements(values: Any) -> Any:
        return make([None if each is None else read(each) for each in values])

    return elements


def _made(wanted: type, value: Any) -> Any:
    """An object of a class that the decoder does not know."""
    if isinstance(value, get_origin(wanted) or wanted):
        return value  # a codec has made it
    if hasattr(wanted, "model_validate"):
        return wanted.model_validate(value)
    origin = get_origin(wanted) or wanted
    if isinstance(origin, type) and issubclass(origin, PurePath) and isinstance(value, str):
        return origin(value)
    raise Unreadable(
        f"{a_name(_shown(wanted))} can not be made of stored data: ask for plain data, and make it yourself"
    )


def _shown(wanted: Any) -> str:
    args = ", ".join(map(_shown, get_args(wanted)))
    name = getattr(wanted, "__qualname__", str(wanted))
    return f"{name}[{args}]" if args else name
