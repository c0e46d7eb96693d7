"""Types -> how they are stored: what msgspec reads them as, what is done before it writes and after it read.

A form is made once per type from its annotations. Most types are their own form: msgspec writes them and
reads them back as they were. Those that hold open values, floats, odd keys or free artifacts are not.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter, is_
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, asdict, fields, replace

from stretto.model.artifact import KNOWN_ARTIFACTS, DefaultArtifact, TypedArtifact
from stretto.model.param import ParamDefinition, Parameter
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
    origin, args = get_origin(tp), get_args(tp)
    if origin is Annotated:
        return form_of(args[0])
    if origin in {Union, UnionType}:
        return _union(tp, args)
    if origin in {tuple, list, frozenset}:
        return _row(tp, origin, args)
    if origin in {dict, Mapping}:
        return _map(tp, *args)
    if tp in _SCALARS or issubclass(tp, Enum):
        return Form(tp)
    if issubclass(tp, tuple):
        return _fixed(tp, tuple(get_type_hints(tp, include_extras=True).values()))
    if issubclass(tp, msgspec.Struct):
        return _struct(tp)
    raise TypeError(f"nobody knows how to store {tp!r}")


# --------------------------------------------------------------------------------------------- collections
def _row(tp: Any, origin: type, args: tuple[Any, ...]) -> Form:
    """Lists, sets, and tuples of any length."""
    if origin is tuple and args[-1] is not Ellipsis:
        return _fixed(tp, args)
    item = form_of(args[0])
    if item.pack is None:
        return Form(tp)
    pack, unpack = item.pack, item.unpack or _same

    def pack_each(values: Any) -> Any:
        packed = [pack(each) for each in values]
        return values if all(map(is_, packed, values)) else packed

    def unpack_each(values: Any) -> Any:
        return origin([unpack(each) for each in values])

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
def _union(tp: Any, args: tuple[Any, ...]) -> Form:
    if set(args) == {TypedArtifact, DefaultArtifact}:
        return _artifact()
    members = {arg: form_of(arg) for arg in args}
    if all(form.pack is None for form in members.values()):
        return Form(tp)
    odd = any(form.odd for form in members.values())
    stored = Union[tuple(form.stored for form in members.values())] if odd else tp  # noqa: UP007
    inner = [form for arg, form in members.items() if arg is not NoneType]
    if len(inner) == 1:
        return Form(stored, _unless_null(inner[0].pack), _unless_null(inner[0].unpack), odd)
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
def _struct(tp: type[msgspec.Struct]) -> Form:
    """A record. Steps hold steps: while its form is being made, a record stands for itself."""
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
    infos = fields(tp)
    parts = {info.name: form_of(info.type) for info in infos}
    packs.update({name: form.pack for name, form in parts.items() if form.pack is not None})
    unpacks.update({name: form.unpack for name, form in parts.items() if form.unpack is not None})
    if not packs:
        return Form(tp)
    packing = _packing(infos, packs)
    odd = any(form.odd for form in parts.values())
    return Form(_shadow(tp, infos, parts) if odd else tp, packing, unpack if unpacks else None, odd)


def lean_form(tp: type[msgspec.Struct], apart: str | None = None) -> Form:
    """The form of a record that is written often: defaults are left out, and one field that is kept apart.

    msgspec leaves out defaults if the class says so; where it does not, a twin is written in its place.
    """
    form = form_of(tp)
    if tp.__struct_config__.omit_defaults and apart is None:
        return form
    packs = {info.name: form_of(info.type).pack for info in fields(tp)}
    infos = sorted(fields(tp), key=lambda info: (not info.required, packs[info.name] is None))
    infos = [info for info in infos if info.name != apart]
    twin = msgspec.defstruct(
        tp.__name__,
        [(info.name, Any) if info.required else (info.name, Any, _default(info)) for info in infos],
        omit_defaults=True,
        gc=False,
    )
    values_of: Change = attrgetter(*(info.name for info in infos))
    places = [(place, change) for place, info in enumerate(infos) if (change := packs[info.name]) is not None]
    optional = [place for place, _change in places if not infos[place].required]
    first, last = (optional[0], optional[-1] + 1) if optional else (0, 0)
    nothing = tuple(_empty(info) for info in infos[first:last])
    always = [each for each in places if infos[each[0]].required]
    paired = {place for place, info in enumerate(infos) if form_of(info.type).pairs}

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


def _packing(infos: tuple[FieldInfo, ...], packs: Mapping[str, Change]) -> Change:
    """Most records have nothing in the fields that would have to be packed: that is seen at one glance."""
    names = list(packs)
    values_of: Change = attrgetter(*names)
    clean = {info.name: _empty(info) for info in infos}
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


def _empty(info: FieldInfo) -> Any:
    """The value of a field with which nothing need be done; some have none."""
    if form_of(info.type).pairs:
        return object()
    return info.default_factory() if info.default_factory is not NODEFAULT else info.default


def _shadow(tp: type[msgspec.Struct], infos: tuple[FieldInfo, ...], parts: Mapping[str, Form]) -> Any:
    """What msgspec reads in the place of a record with an odd field."""
    config = tp.__struct_config__
    return msgspec.defstruct(
        f"Stored{tp.__name__}",
        [(info.name, parts[info.name].stored, _default(info)) for info in infos],
        tag_field=config.tag_field,
        tag=config.tag,
        kw_only=True,
    )


def _default(info: FieldInfo) -> Any:
    if info.default_factory is not NODEFAULT:
        return msgspec.field(default_factory=info.default_factory)
    return info.default
