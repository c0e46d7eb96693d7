"""Whether something is a JSON Schema, as far as its keywords are known here: others write them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from stretto.definition.misfits import WORDS


def flaw_of(schema: Any) -> str | None:
    """What is wrong with it, and where; None if it can be used."""
    return next(_flaws(schema, "the schema"), None)


def _flaws(schema: Any, at: str) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for keyword, value in schema.items():
            place = f"`{keyword}` of {at}"
            wanted, is_right = SHAPES.get(keyword, ANYTHING)
            if is_right(value):
                for name, inner in _inside(keyword, value):
                    yield from _flaws(inner, f"{place}, {name}" if name else place)
            else:
                yield f"{place} must be {wanted}, not {value!r:.60}"
    elif not isinstance(schema, bool):
        yield f"{at} must be an object, true or false, not {schema!r:.60}"


def _inside(keyword: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The schemas that a keyword holds."""
    match keyword:
        case "properties":
            yield from value.items()
        case "allOf" | "anyOf" | "oneOf":
            yield from ((f"number {number}", each) for number, each in enumerate(value, 1))
        case "items" | "not" | "additionalProperties" | "propertyNames":
            yield "", value
        case _:
            pass


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _is_type(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return _are_texts(names) and bool(names) and all(each in WORDS for each in names)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value)


Shape = tuple[str, Callable[[Any], bool]]
ANYTHING: Final[Shape] = ("anything", lambda _value: True)
_NUMBER: Final[Shape] = ("a number", _is_number)
_SIZE: Final[Shape] = ("a number, 0 or more", _is_size)
_SCHEMAS: Final[Shape] = ("a list of schemas", _is_list)
_TEXT: Final[Shape] = ("a text", lambda value: isinstance(value, str))

SHAPES: Final[Mapping[str, Shape]] = {
    "type": (f"one of {', '.join(WORDS)}, or a list of them", _is_type),
    "enum": ("a list of values", _is_list),
    "required": ("a list of names", _are_texts),
    "properties": ("an object", lambda value: isinstance(value, Mapping)),
    "pattern": _TEXT,
    "description": _TEXT,
    "multipleOf": ("a number above 0", lambda value: _is_number(value) and value > 0),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _SIZE),
    **dict.fromkeys(("minProperties", "maxProperties"), _SIZE),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMAS),
}
