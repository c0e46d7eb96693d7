"""Shapes -> codecs: collections, optional values, unions; records are in `records`."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, get_args

from stretto.model.problem import Code, Place, problem_at
from stretto.model.shapes import (
    EnumShape,
    ListShape,
    MapShape,
    MarkedShape,
    RecordShape,
    UnionShape,
    marks_of,
    shape_of,
)
from stretto.model.suggest import did_you_mean
from stretto.model.wire.codec import Codec, Filled, Own, Sink, Wrapped, wrong_type
from stretto.model.wire.records import fill_record
from stretto.model.wire.scalars import SCALARS, fill_enum, fill_scalar, fill_scalar_union

_codecs: Final[dict[Any, Codec]] = {}  # all of them whole: threads share them
_making: Final[ContextVar[dict[Any, Codec] | None]] = ContextVar("making", default=None)


def codec_of(tp: Any) -> Codec:
    """The codec of a type, made on first use. A pure function of the type; the table is only memory."""
    known = _codecs.get(tp)
    if known is not None:
        return known
    making = _making.get()
    if making is not None:
        return _made(tp, making)
    making = {}
    token = _making.set(making)
    try:
        _made(tp, making)
    finally:
        _making.reset(token)
    for each, codec in making.items():
        _codecs.setdefault(each, codec)
    return _codecs[tp]


def _made(tp: Any, making: dict[Any, Codec]) -> Codec:
    """One that is not whole is seen only by those that are made together with it."""
    known = making.get(tp)
    if known is not None:
        return known
    own = _own(tp)
    if own is not None:
        made = making[tp] = own.make(tp)
        return made
    codec = making[tp] = Filled()
    _fill(codec, tp)
    return codec


def _own(tp: Any) -> Own | None:
    return next((mark for mark in marks_of(tp) if isinstance(mark, Own)), None)


def _fill(codec: Filled, tp: Any) -> None:
    if tp in SCALARS:
        fill_scalar(codec, tp)
        return
    match shape_of(tp):
        case EnumShape(type=words):
            fill_enum(codec, words)
        case RecordShape() as record:
            fill_record(codec, record, codec_of)
        case ListShape(make=make, item=item) if make is not frozenset:
            _fill_list(codec, codec_of(item), make)
        case MapShape(key=key, value=value):
            _fill_map(codec, codec_of(key), codec_of(value))
        case UnionShape(members=members):
            _fill_union(codec, members)
        case MarkedShape(type=union, marks=marks) if any(isinstance(mark, Wrapped) for mark in marks):
            _fill_wrapped(codec, get_args(union))
        case _:
            msg = f"no codec for {tp!r}"
            raise TypeError(msg)


def _fill_list(codec: Filled, item: Codec, make: Callable[[Any], Any]) -> None:
    def decode(value: Any, at: Place, sink: Sink) -> Any:
        if isinstance(value, list):
            return make(item.decode(each, (at, i), sink) for i, each in enumerate(value))
        sink.append(wrong_type(at, "a list", value))
        return make(())

    codec.fill(decode, lambda items: [item.encode(each) for each in items], lambda: make(()))


def _fill_map(codec: Filled, key: Codec, item: Codec) -> None:
    texts = key is codec_of(str)  # as almost all keys are: nothing to decode

    def decode(value: Any, at: Place, sink: Sink) -> Any:
        if not isinstance(value, dict):
            sink.append(wrong_type(at, "an object", value))
            return {}
        if texts:
            return {name: item.decode(each, (at, name), sink) for name, each in value.items()}
        return {
            key.decode(name, (at, name), sink): item.decode(each, (at, name), sink)
            for name, each in value.items()
        }

    def encode(items: dict[Any, Any]) -> dict[str, Any]:
        if texts:
            return {name: item.encode(each) for name, each in items.items()}
        return {key.encode(name): item.encode(each) for name, each in items.items()}

    codec.fill(decode, encode, dict)


def _fill_union(codec: Filled, members: tuple[Any, ...]) -> None:
    if len(members) == 1:
        _fill_optional(codec, codec_of(members[0]))
    elif all(member in SCALARS for member in members):
        fill_scalar_union(codec, members)
    else:
        _fill_tagged(codec, members)


def _fill_optional(codec: Filled, inner: Codec) -> None:
    def decode(value: Any, at: Place, sink: Sink) -> Any:
        return None if value is None else inner.decode(value, at, sink)

    def encode(value: Any) -> Any:
        return None if value is None else inner.encode(value)

    codec.fill(decode, encode, lambda: None)


def _tag_field(members: tuple[Any, ...]) -> str:
    return str(members[0].__struct_config__.tag_field)


def _fill_tagged(codec: Filled, members: tuple[Any, ...]) -> None:
    """Records told apart by a field (`type`), read in any case."""
    field = _tag_field(members)
    kinds = {str(member.__struct_config__.tag).casefold(): (member, codec_of(member)) for member in members}
    names = [str(member.__struct_config__.tag) for member in members]
    by_type = {member: codec_of(member) for member in members}
    first = by_type[members[0]]

    def decode(value: Any, at: Place, sink: Sink) -> Any:
        if not isinstance(value, dict):
            sink.append(wrong_type(at, "an object", value))
            return first.blank()
        tag = value.get(field)
        if tag is None:
            message = f"the field `{field}` is missing"
            sink.append(problem_at((at, field), Code.MISSING_FIELD, message, f"one of {', '.join(names)}"))
            return first.blank()
        if not isinstance(tag, str):
            sink.append(wrong_type((at, field), "text", tag, f"one of {', '.join(names)}"))
            return first.blank()
        found = kinds.get(tag.casefold())
        if found is None:
            hint = did_you_mean(tag, names) or f"one of {', '.join(names)}"
            sink.append(problem_at((at, field), Code.UNKNOWN_VALUE, f"`{tag}` is not a known {field}", hint))
            return first.blank()
        return found[1].decode(value, at, sink)

    def encode(record: Any) -> Any:
        return by_type[type(record)].encode(record)

    def blank() -> Any:
        return first.blank()

    codec.fill(decode, encode, blank)


def _fill_wrapped(codec: Filled, members: tuple[Any, ...]) -> None:
    """`{"foreach": {...}}`: one key that names the kind."""
    kinds = {str(member.__struct_config__.tag): codec_of(member) for member in members}
    by_type = {member: (str(member.__struct_config__.tag), codec_of(member)) for member in members}
    first = codec_of(members[0])

    def decode(value: Any, at: Place, sink: Sink) -> Any:
        if not isinstance(value, dict):
            sink.append(wrong_type(at, "an object with one key, the kind of step", value))
            return first.blank()
        if len(value) != 1:
            message = "expected an object with exactly one key, the kind of step"
            sink.append(problem_at(at, Code.WRONG_TYPE, message, f"one of {', '.join(kinds)}"))
            return first.blank()
        ((kind, body),) = value.items()
        inner = kinds.get(kind) or kinds.get(kind.lower())
        if inner is None:
            hint = did_you_mean(kind, kinds) or f"one of {', '.join(kinds)}"
            sink.append(problem_at((at, kind), Code.UNKNOWN_VALUE, f"`{kind}` is not a kind of step", hint))
            return first.blank()
        return inner.decode(body, (at, kind), sink)

    def encode(record: Any) -> dict[str, Any]:
        kind, inner = by_type[type(record)]
        body = inner.encode(record)
        del body[_tag_field(members)]
        return {kind: body}

    def blank() -> Any:
        return first.blank()

    codec.fill(decode, encode, blank)
