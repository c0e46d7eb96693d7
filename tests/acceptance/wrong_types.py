"""From the annotations of the model: a document for every field of every record, to put a wrong value in."""

from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from stretto.model.condition import Condition
from stretto.model.param import ParamDefinition
from stretto.model.step import StepFields
from stretto.model.wire.codec import PLAIN
from stretto.model.workflow import Definition

Raw = dict[str, Any]
WRONG: list[Any] = [5, 1.5, True, "wr\u00f6ng!", [], [5], [[]], {}, {"odd": 5}]


Keys = tuple[str | int, ...]


class Site(NamedTuple):
    """A field of a record, and how to put a value there."""

    record: type[msgspec.Struct]
    field: str
    keys: Keys  # from the root to the field
    around: tuple[tuple[Keys, type[msgspec.Struct]], ...]  # the records on the way, from the outermost in

    def document(self, value: Any) -> Raw:
        """The smallest definition with this value in this field."""
        root: Raw = {}
        for keys, record in self.around:
            _put(root, keys, minimal(record))
        _put(root, self.keys, value)
        return root


def _put(root: Any, keys: Keys, value: Any) -> None:
    """Set a value, making the lists and objects on the way that are not there."""
    if not keys:
        root.update(value)
        return
    node = root
    for key, following in pairwise(keys):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(node, list):
            node[:] = node or [empty]
            node = node[0]
        else:
            node = node.setdefault(key, empty)
    if isinstance(node, list):
        node[:] = [value]
    else:
        node[keys[-1]] = value


def minimal(tp: type[msgspec.Struct]) -> Raw:
    """Only what is required; texts that the rules accept are not needed, the shape is what counts."""
    made: Raw = {}
    hints = get_type_hints(tp, include_extras=True)
    config = tp.__struct_config__
    if config.tag_field and not issubclass(tp, StepFields):
        made[config.tag_field] = config.tag
    for field in msgspec.structs.fields(tp):
        if field.required:
            made[field.encode_name] = example(hints[field.name])
    return made


def example(hint: Any) -> Any:
    if hint == Condition or hint is str:
        return "true"
    if hint is int:
        return 1
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint)).value
    if hint is ParamDefinition:
        return {"type": "STRING", "value": "x"}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return minimal(hint)
    origin = get_origin(hint)
    if origin is dict:
        return {}
    return example(get_args(hint)[0])  # the first of a union, or what is annotated


def sites() -> Iterator[Site]:
    """Every field of every record that a definition can hold, each record once."""
    seen: set[Any] = set()
    todo: list[tuple[Any, Keys, Any]] = [(Definition, (), ())]
    while todo:
        tp, keys, outer = todo.pop()
        if tp in seen or tp is ParamDefinition:
            continue
        seen.add(tp)
        around = (*outer, (keys, tp))
        hints = get_type_hints(tp, include_extras=True)
        rest = getattr(getattr(tp, "wire", PLAIN), "rest", None)
        for field in msgspec.structs.fields(tp):
            if field.name == rest:
                continue
            place = (*keys, field.encode_name)
            yield Site(tp, field.name, place, around)
            todo += [(found, way, around) for found, way in _inside(hints[field.name], place)]


def _inside(hint: Any, keys: Keys) -> list[tuple[Any, Keys]]:
    """The records in an annotation, with the way to them."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return [(hint, keys)]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        members = get_args(args[0]) if get_origin(args[0]) in {Union, UnionType} else ()
        return [(member, (*keys, str(member.__struct_config__.tag))) for member in members]
    if origin in {Union, UnionType}:
        return [found for arg in args if arg is not NoneType for found in _inside(arg, keys)]
    if origin in {tuple, list}:
        return _inside(args[0], (*keys, 0))
    if origin is dict:
        return _inside(args[1], (*keys, "STEP_FAILURE"))  # a key that every map of the model takes
    return []
