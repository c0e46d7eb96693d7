"""Types -> how they are stored: what msgspec reads them as, what is done before it writes and after it read.

A form is made once per type from its annotations. Most types are their own form: msgspec writes them and
reads them back as they were. Those that hold open values, floats, odd keys or free artifacts are not.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from operator import attrgetter, is_
from types import NoneType
from typing import Any, Final, NamedTuple, Union

import msgspec
from msgspec import NODEFAULT
from msgspec.structs import asdict, replace

from stretto.model.artifact import KNOWN_ARTIFACTS, DefaultArtifact, TypedArtifact
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.shapes import (
    EnumShape,
    FieldShape,
    ListShape,
    MapShape,
    MarkedShape,
    PlainShape,
    RecordShape,
    TupleShape,
    UnionShape,
    fields_of,
    shape_of,
)
from stretto.model.tag import Tag
from stretto.store.sql.codec.brief import Stored, pack_params, unpack_params
from stretto.store.sql.codec.exact import (
    pack_any,
    pack_float,
    pack_param,
    pack_tag,
    unpack_any,
    unpack_param,
    unpack_tag,
)

Change = Callable[[Any], Any]


class Form(NamedTuple):
    """How values of one type are stored.

    stored   The type that msgspec reads. It differs from the type itself only where `odd`.
    pack     What is done before it is written; None: nothing.
    unpack   What is done after it was read, if something in the text is marked, or the type is odd.
    odd      msgspec can not read the type itself.
    pairs    A map that is stored as a list of pairs, also if it is empty.
    """

    stored: Any
    pack: Change | None = None
    unpack: Change | None = None
    odd: bool = False
    pairs: bool = False


class FreeArtifact(msgspec.Struct, tag_field="type", tag="~free"):
    """A free artifact as it is stored: beside those of a known type, it needs a type, too."""

    data: dict[str, Any]


_SCALARS: Final = (str, int, bool, NoneType)
_forms: Final[dict[Any, Form]] = {
    Any: Form(Any, pack_any, unpack_any),
    object: Form(Any, pack_any, unpack_any),
    float: Form(float, pack_float),
    Tag: Form(Tag, pack_tag, unpack_tag),
    ParamDefinition: Form(ParamDefinition, pack_param, unpack_param),
    Parameter: Form(Parameter, pack_param, unpack_param),
    Mapping[str, Parameter]: Form(Stored, pack_params, unpack_params, odd=True),
}


def form_of(tp: Any) -> Form:
    """The form of a type, made on first use."""
    known = _forms.get(tp)
    if known is None:
        known = _forms[tp] = _make(tp)
    return known


def _make(tp: Any) -> Form:
    match shape_of(tp):
        case MarkedShape(type=inner):
            return form_of(inner)
        case UnionShape() as union:
            return _union(tp, union)
        case ListShape(make=make, item=item):
            return _row(tp, make, form_of(item))
        case MapShape(key=key, value=value):
            return _map(tp, key, value)
        case TupleShape(parts=parts):
            return _fixed(tp, parts)
        case EnumShape():
            return Form(tp)
        case RecordShape(args=()) as record:
            return _struct(record)
        case PlainShape() if tp in _SCALARS:
            return Form(tp)
        case _:
            raise TypeError(f"nobody knows how to store {tp!r}")


# --------------------------------------------------------------------------------------------- collections
def _row(tp: Any, make: type, item: Form) -> Form:
    """Lists, sets, and tuples of any length."""
    if item.pack is None:
        return Form(tp)
    pack, unpack = item.pack, item.unpack or _same

    def pack_each(values: Any) -> Any:
        packed = [pack(each) for each in values]
        return values if all(map(is_, packed, values)) else packed

    def unpack_each(values: Any) -> Any:
        return make([unpack(each) for each in values])

    stored = list[item.stored] if item.odd else tp  # type: ignore[name-defined]
    return Form(stored, pack_each, None if item.unpack is None else unpack_each, item.odd)


def _fixed(tp: Any, parts: tuple[Any, ...]) -> Form:
    """Tuples of a fixed length: keys, pairs of numbers."""
    if any(form_of(part).pack is not None for part in parts):
        raise TypeError(f"nobody knows how to store what is inside {tp!r}")
    return Form(tp)


def _map(tp: Any, key: Any, value: Any) -> Form:
    keys, values = form_of(key), form_of(value)
    if key in _SCALARS or (isinstance(key, type) and issubclass(key, Enum)):
        stored = dict.__class_getitem__((key, values.stored)) if values.odd else tp
        return Form(stored, _in_dict(values.pack), _in_dict(values.unpack), values.odd)
    pack_key, pack_value = keys.pack or _same, values.pack or _same
    unpack_key, unpack_value = keys.unpack or _same, values.unpack or _same
    return Form(
        list[tuple[keys.stored, values.stored]],  # type: ignore[name-defined]
        lambda items: [(pack_key(name), pack_value(each)) for name, each in items.items()],
        lambda pairs: {unpack_key(name): unpack_value(each) for name, each in pairs},
        odd=True,
        pairs=True,
    )


def _in_dict(change: Change | None) -> Change | None:
    """Changes the values of a map."""
    if change is None:
        return None

    def changed(items: Mapping[Any, Any]) -> Any:
        new = {name: change(each) for name, each in items.items()}
        return items if type(items) is dict and all(map(is_, new.values(), items.values())) else new

    return changed


def _same(value: Any) -> Any:
    return value


# -------------------------------------------------------------------------------------------------- unions
def _union(tp: Any, union: UnionShape) -> Form:
    if not union.nullable and set(union.members) == {TypedArtifact, DefaultArtifact}:
        return _artifact()
    members = {each: form_of(each) for each in union.members}
    if all(form.pack is None for form in members.values()):
        return Form(tp)
    odd = any(form.odd for form in members.values())
    parts = [form.stored for form in members.values()] + [None] * union.nullable
    stored = Union[tuple(parts)] if odd else tp  # noqa: UP007 - made of a list
    if len(members) == 1:
        (inner,) = members.values()
        return Form(stored, _unless_null(inner.pack), _unless_null(inner.unpack), odd)
    packs = {arg: form.pack for arg, form in members.items()}
    unpacks = {form.stored: form.unpack for form in members.values()}
    return Form(stored, _by_type(packs), _by_type(unpacks), odd)


def _unless_null(change: Change | None) -> Change | None:
    return None if change is None else lambda value: None if value is None else change(value)


def _by_type(changes: Mapping[type, Change | None]) -> Change:
    def changed(value: Any) -> Any:
        change = changes.get(type(value))
        return value if change is None else change(value)

    return changed


def _artifact() -> Form:
    """Artifacts of known types beside free ones."""
    known = {tp: form_of(tp) for tp in KNOWN_ARTIFACTS}
    packs: dict[Any, Change | None] = {tp: form.pack for tp, form in known.items()}
    unpacks: dict[Any, Change | None] = {form.stored: form.unpack for form in known.values()}
    packs[DefaultArtifact], unpacks[FreeArtifact] = _pack_free, _unpack_free
    stored: Any = Union[tuple(unpacks)]  # noqa: UP007 - made of a list
    return Form(stored, _by_type(packs), _by_type(unpacks), odd=True)


def _pack_free(artifact: DefaultArtifact) -> FreeArtifact:
    return FreeArtifact({name: pack_any(each) for name, each in artifact.data.items()})


def _unpack_free(artifact: FreeArtifact) -> DefaultArtifact:
    return DefaultArtifact(data={name: unpack_any(each) for name, each in artifact.data.items()})


# ------------------------------------------------------------------------------------------------- records
def _struct(record: RecordShape) -> Form:
    """A record. Steps hold steps: while its form is being made, a record stands for itself."""
    tp = record.type
    packs: dict[str, Change] = {}
    unpacks: dict[str, Change] = {}

    def pack(record: Any) -> Any:
        return packing(record)

    def unpack(record: Any) -> Any:
        found = asdict(record)
        for name, change in unpacks.items():
            if found[name] is not None:
                found[name] = change(found[name])
        return tp(**found)

    _forms[tp] = Form(tp, pack, unpack)
    fields = fields_of(record)
    parts = {field.name: form_of(field.type) for field in fields}
    packs.update({name: form.pack for name, form in parts.items() if form.pack is not None})
    unpacks.update({name: form.unpack for name, form in parts.items() if form.unpack is not None})
    if not packs:
        return Form(tp)
    packing = _packing(fields, packs)
    odd = any(form.odd for form in parts.values())
    return Form(_shadow(tp, fields, parts) if odd else tp, packing, unpack if unpacks else None, odd)


def lean_form(tp: type[msgspec.Struct], apart: str | None = None) -> Form:
    """The form of a record that is written often: defaults are left out, and one field that is kept apart.

    msgspec leaves out defaults if the class says so; where it does not, a twin is written in its place.
    """
    form = form_of(tp)
    if tp.__struct_config__.omit_defaults and apart is None:
        return form
    known = fields_of(RecordShape(tp))
    packs = {field.name: form_of(field.type).pack for field in known}
    fields = sorted(known, key=lambda field: (not field.required, packs[field.name] is None))
    fields = [field for field in fields if field.name != apart]
    twin = msgspec.defstruct(
        tp.__name__,
        [(field.name, Any) if field.required else (field.name, Any, _default(field)) for field in fields],
        omit_defaults=True,
        gc=False,
    )
    values_of: Change = attrgetter(*(field.name for field in fields))
    places = [
        (place, change) for place, field in enumerate(fields) if (change := packs[field.name]) is not None
    ]
    optional = [place for place, _change in places if not fields[place].required]
    first, last = (optional[0], optional[-1] + 1) if optional else (0, 0)
    nothing = tuple(_empty(field) for field in fields[first:last])
    always = [each for each in places if fields[each[0]].required]
    paired = {place for place, field in enumerate(fields) if form_of(field.type).pairs}

    def pack(record: Any) -> Any:
        values = values_of(record)
        busy = always if values[first:last] == nothing else places
        if not busy:
            return twin(*values)
        packed = list(values)
        for place, change in busy:
            if packed[place] or (place in paired and packed[place] is not None):  # else it says nothing
                packed[place] = change(packed[place])
        return twin(*packed)

    return form._replace(pack=pack)


def _packing(fields: Sequence[FieldShape], packs: Mapping[str, Change]) -> Change:
    """Most records have nothing in the fields that would have to be packed: that is seen at one glance."""
    names = list(packs)
    values_of: Change = attrgetter(*names)
    clean = {field.name: _empty(field) for field in fields}
    nothing = clean[names[0]] if len(names) == 1 else tuple(clean[name] for name in names)

    def pack(record: Any) -> Any:
        if values_of(record) == nothing:
            return record
        changes: dict[str, Any] = {}
        for name, change in packs.items():
            old = getattr(record, name)
            if old is not None and (new := change(old)) is not old:
                changes[name] = new
        return replace(record, **changes) if changes else record

    return pack


def _empty(field: FieldShape) -> Any:
    """The value of a field with which nothing need be done; some have none."""
    if form_of(field.type).pairs:
        return object()
    info = field.info
    return info.default_factory() if info.default_factory is not NODEFAULT else info.default


def _shadow(tp: type[msgspec.Struct], fields: Sequence[FieldShape], parts: Mapping[str, Form]) -> Any:
    """What msgspec reads in the place of a record with an odd field."""
    config = tp.__struct_config__
    return msgspec.defstruct(
        f"Stored{tp.__name__}",
        [(field.name, parts[field.name].stored, _default(field)) for field in fields],
        tag_field=config.tag_field,
        tag=config.tag,
        kw_only=True,
    )


def _default(field: FieldShape) -> Any:
    info = field.info
    if info.default_factory is not NODEFAULT:
        return msgspec.field(default_factory=info.default_factory)
    return info.default
