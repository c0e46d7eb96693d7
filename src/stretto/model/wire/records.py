"""Codecs of records (msgspec structs)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from stretto.model.problem import Code, Place, problem_at
from stretto.model.shapes import RecordShape, fields_of, without_none
from stretto.model.suggest import did_you_mean
from stretto.model.wire.codec import PLAIN, Codec, Drop, Encode, Filled, Shape, Sink, wrong_type
from stretto.model.wire.scalars import same

CodecOf = Callable[[Any], Codec]


class _Field(NamedTuple):
    name: str  # of the attribute
    key: str  # in JSON
    codec: Codec
    required: bool
    nullable: bool


def fill_record(codec: Filled, record: RecordShape, codec_of: CodecOf) -> None:
    """The codec of a record."""
    tp = record.type
    shape: Shape = getattr(tp, "wire", PLAIN)
    fields = _fields(record, shape, codec_of)
    codec.fill(
        _decoder(tp, shape, fields),
        _encoder(tp, shape, fields),
        lambda: tp(**{each.name: each.codec.blank() for each in fields if each.required}),
    )


def _fields(record: RecordShape, shape: Shape, codec_of: CodecOf) -> list[_Field]:
    """A record handles null itself, which spares a call per field."""
    return [
        _Field(
            name=each.name,
            key=each.key,
            codec=codec_of(without_none(each.type)),
            required=each.required,
            nullable=each.nullable,
        )
        for each in fields_of(record)
        if each.name != shape.rest
    ]


def _decoder(
    tp: type[msgspec.Struct], shape: Shape, fields: list[_Field]
) -> Callable[[Any, Place, Sink], msgspec.Struct]:
    table = {each.key: each for each in fields}
    required = [each for each in fields if each.required]
    tag_field = tp.__struct_config__.tag_field
    skipped = {*shape.ignored, *([tag_field] if tag_field else [])}
    rest_name, short = shape.rest, shape.short
    echoes_objects = shape.shrink is not None

    def decode(value: Any, at: Place, sink: Sink) -> msgspec.Struct:
        was_short = False
        if not isinstance(value, dict):
            meant = short(value) if short else None
            if meant is None:
                sink.append(wrong_type(at, "an object", value))
                return tp(**{each.name: each.codec.blank() for each in required})
            value = meant
            was_short = True
        known: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for key, item in value.items():
            field = table.get(key)
            if field is not None:
                if item is not None or not field.nullable:
                    known[field.name] = field.codec.decode(item, (at, key), sink)
            elif key in skipped:
                continue
            elif rest_name is not None:
                rest[key] = item
            else:
                hint = did_you_mean(key, table)
                sink.append(problem_at((at, key), Code.UNKNOWN_FIELD, f"unknown field `{key}`", hint))
        for field in required:
            if field.name not in known:
                message = f"the field `{field.key}` is missing"
                hint = shape.missing.get(field.key)
                sink.append(problem_at((at, field.key), Code.MISSING_FIELD, message, hint))
                known[field.name] = field.codec.blank()
        if rest_name is not None and (rest or (echoes_objects and not was_short)):
            known[rest_name] = rest
        return tp(**known)

    return decode


def _encoder(tp: type[msgspec.Struct], shape: Shape, fields: list[_Field]) -> Callable[[Any], Any]:
    config = tp.__struct_config__
    keep, lean = frozenset(shape.keep), frozenset(shape.lean)
    shrink, rest_name, computed = shape.shrink, shape.rest, shape.computed
    # name, key, how it is written (None: as it is), which values are left out (None: only null)
    rules: list[tuple[str, str, Encode | None, Drop | None]] = []

    def fill() -> None:
        """When the codecs of all fields are whole. Two threads may both do it."""
        made: list[tuple[str, str, Encode | None, Drop | None]] = []
        for each in fields:
            drop = Drop.DEFAULT if each.name in lean else shape.drop
            write = None if each.codec.encode is same else each.codec.encode
            all_told = each.name in keep or drop is Drop.NULL
            made.append((each.name, each.key, write, None if all_told else drop))
        rules[:] = made

    def encode(record: Any) -> Any:
        small = shrink(record) if shrink else None
        if small is not None:
            return small
        if not rules:
            fill()
        out: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
        for name, key, write, drop in rules:
            value = getattr(record, name)
            if value is None:
                if name in keep:
                    out[key] = None
            elif drop is None or not drop.leaves_out(value):
                out[key] = value if write is None else write(value)
        if rest_name is not None:
            out.update(getattr(record, rest_name) or {})
        if computed is not None:
            out.update(computed(record))
        return out

    return encode
