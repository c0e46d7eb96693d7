"""Values of annotations that mix classes that have a codec with others, at any depth.

The decoder knows no union of such a class with anything else: `list[dict[str, int | StepError]]`. Here the
value is taken apart down to those unions; all below and beside them the decoder reads.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from stretto.runtimes.python.codecs import codec_of
from stretto.runtimes.python.kinds import bare, element_of, is_optional, members_of, union_of

Convert = Callable[[Any, Any], Any]


def is_mixed(annotation: Any) -> bool:
    """Whether the decoder refuses an annotation, because of a union somewhere in it."""
    try:
        msgspec.json.Decoder(annotation)
    except TypeError:
        return True
    return False


def converted(value: Any, annotation: Any, convert: Convert) -> Any:
    """A value of plain data and of objects that codecs have made, as an annotation wants it. `convert` does
    so for annotations that are not mixed.
    """
    annotation = bare(annotation)
    if not is_mixed(annotation):
        return convert(value, annotation)
    members = members_of(annotation)
    if len(members) > 1:
        return _member(value, members, convert)
    element = element_of(annotation)
    if element is not None and isinstance(value, list):
        origin = get_origin(annotation) or annotation
        make = origin if origin in {set, frozenset, tuple} else list
        return make([converted(each, element[0], convert) for each in value])
    return _structure(value, annotation, convert)


def _member(value: Any, members: tuple[Any, ...], convert: Convert) -> Any:
    """The first member of a union that takes a value."""
    if value is None and any(is_optional(each) for each in members):
        return None
    of_codec = tuple(each for each in members if isinstance(each, type) and codec_of(each) is not None)
    if isinstance(value, of_codec):
        return value
    others = [each for each in members if each not in of_codec and each not in (None, types.NoneType)]
    plain = tuple(each for each in others if not is_mixed(each))
    trials = [each for each in others if each not in plain]
    if plain:
        together = union_of(plain)
        if is_mixed(together):
            raise msgspec.ValidationError(f"Members of `{together}` can not be told apart")
        trials.append(together)
    problem: Exception | None = None
    for each in trials:
        try:
            return converted(value, each, convert)
        except (ValueError, TypeError) as error:
            problem = error
    raise problem or msgspec.ValidationError(f"Expected {members}, got {type(value).__name__}")


def _structure(value: Any, annotation: Any, convert: Convert) -> Any:
    """Fixed tuples, dictionaries, and objects with fields."""
    origin, args = get_origin(annotation) or annotation, get_args(annotation)
    if origin is tuple and isinstance(value, list) and len(value) == len(args):
        return tuple(converted(each, arg, convert) for each, arg in zip(value, args, strict=True))
    if isinstance(value, Mapping) and len(args) == 2:
        keys = [convert(key, args[0]) for key in value]
        return {
            key: converted(each, args[1], convert) for key, each in zip(keys, value.values(), strict=True)
        }
    fields = get_type_hints(origin) if isinstance(origin, type) else {}
    if isinstance(value, Mapping) and fields:
        found = {
            name: converted(value[name], hint, convert) for name, hint in fields.items() if name in value
        }
        known = dataclasses.is_dataclass(origin) or issubclass(origin, dict | msgspec.Struct)
        if known:
            return origin(**found)
    raise msgspec.ValidationError(f"Expected `{annotation}`, got `{type(value).__name__}`")
