"""Values as text: the way they are concatenated, and JSON. Both stop when they grow too large."""

import json
import math
from collections.abc import Callable, Iterable
from typing import Final

from stretto.sel.dates.datetime import DateTime, Days, Property
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.zones import Zone
from stretto.sel.errors import Kind, SelError
from stretto.sel.numbers import double_text
from stretto.sel.values import Array, Preset, Thrown, Unset, Uuid, Value, Void, type_of

MAX_NESTING: Final = 100
"""Maps and arrays inside each other. A map can even contain itself."""

PIECE: Final = 256
"""What each piece costs besides its characters: a map of maps can have very many very short ones."""

TAG: Final = "$stretto"
"""The only key of a map that stands for a value which the types of the language do not have."""

FLOAT: Final = "float"
"""`{"$stretto": ["float", "nan"]}` stands for a number that JSON has no word for: `nan`, `inf` or `-inf`."""

JSON: Final = "json"
"""`{"$stretto": ["json", text]}` stands for the value of a JSON text: null, a mixed list, a list of maps."""

FLOATS: Final = frozenset({"nan", "inf", "-inf"})

Spend = Callable[[int], None]
"""Called with the length of each piece of text; raises when it has been enough."""


def too_nested() -> SelError:
    """The error of a map that contains maps that contain maps ..."""
    return SelError(Kind.ILLEGAL_STATE, f"A map is nested more than {MAX_NESTING} levels deep", limit="stack")


def text_of(value: Value, spend: Spend) -> str:
    """A value as `+`, `String.valueOf` and maps show it."""
    if type(value) is str:
        return value
    return SIMPLE[type(value)](value) if type(value) in SIMPLE else _joined(_pieces(value, 0), spend)


def described(value: Value) -> str:
    """A value in an error message: short, whatever it is."""
    kind = type_of(value)
    if type(value) in SIMPLE or type(value) is str:
        text = str(value) if type(value) is str else SIMPLE[type(value)](value)
        return f"{kind} {text[:50]}"
    return str(kind)


def json_text(value: Value, spend: Spend, *, exact: bool = False) -> str:
    """Compact JSON. A number that JSON has no word for (NaN) becomes a string, as in the reference, or is
    tagged where numbers are `exact`.
    """
    return _joined(_json_pieces(value, 0, _tagged if exact else _json_scalar), spend)


def _joined(pieces: Iterable[str], spend: Spend) -> str:
    parts: list[str] = []
    for piece in pieces:
        spend(PIECE + len(piece))
        parts.append(piece)
    return "".join(parts)


SIMPLE: Final[dict[type, Callable[[Value], str]]] = {
    int: str,
    float: double_text,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
    Unset: lambda _: "null",
    Uuid: lambda value: str(value.text),
    Preset: lambda value: str(value.text),
    Thrown: lambda value: f"ERROR: {value.message}",
    **{kind: (lambda value: str(value.text())) for kind in (DateTime, Property, Days)},
    Zone: lambda value: str(value.id),
    **{kind: (lambda value: str(type_of(value))) for kind in (Void, Formatter)},
}
"""How values without parts are shown."""


def tagged_json(value: object) -> str | None:
    """The JSON text of which a map stands for the value; None for every other value."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    content = value.get(TAG)
    if not isinstance(content, list | tuple) or len(content) != 2 or content[0] != JSON:
        return None
    return str(content[1])


def float_tag(value: float) -> dict[str, list[str]]:
    """The map that stands for a number which JSON has no word for."""
    return {TAG: [FLOAT, repr(float(value))]}


def tagged_float(value: object) -> float | None:
    """The number of which a map stands for the value; None for every other value."""
    if type(value) is not dict or len(value) != 1:
        return None
    match value.get(TAG):
        case [str(kind), str(word)] if kind == FLOAT and word in FLOATS:
            return float(word)
        case _:
            return None


def _pieces(value: Value, depth: int) -> Iterable[str]:
    if depth > MAX_NESTING:
        raise too_nested()
    if type(value) is dict and TAG in value and (text := tagged_json(value)) is not None:
        yield text
    elif type(value) is dict:
        separator = "{"
        for key, item in value.items():
            yield f"{separator}{key}="
            yield from ["NULL"] if item is None else _pieces(item, depth + 1)
            separator = ", "
        yield "}" if separator == ", " else "{}"
    elif isinstance(value, Array):
        separator = "["
        for item in value:
            yield separator
            yield item if type(item) is str else SIMPLE[type(item)](item)
            separator = ", "
        yield "]" if separator == ", " else "[]"
    else:
        yield value if type(value) is str else SIMPLE[type(value)](value)


def _json_pieces(value: Value, depth: int, scalar: Callable[[Value], str]) -> Iterable[str]:
    if depth > MAX_NESTING:
        raise too_nested()
    if type(value) is dict and TAG in value and (text := tagged_json(value)) is not None:
        yield text
    elif type(value) is dict:
        separator = "{"
        for key, item in value.items():
            if item is None:
                raise SelError(
                    Kind.UNSUPPORTED, f"The map entry {key!r} is null, which can not leave a script"
                )
            yield f"{separator}{_quoted(key)}:"
            yield from _json_pieces(item, depth + 1, scalar)
            separator = ","
        yield "}" if separator == "," else "{}"
    elif isinstance(value, list):
        separator = "["
        for item in value:
            yield separator
            yield from _json_pieces(item, depth + 1, scalar)
            separator = ","
        yield "]" if separator == "," else "[]"
    else:
        yield scalar(value)


def _tagged(value: Value) -> str:
    """A scalar of which exactly the same value is read again."""
    if type(value) is float and not math.isfinite(value):
        return json.dumps(float_tag(value), separators=(",", ":"))
    return _json_scalar(value)


def _json_scalar(value: Value) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) is float:
        text = double_text(value)
        return text if text[-1].isdigit() else f'"{text}"'
    if type(value) in {int, bool, type(None), Unset}:
        return SIMPLE[type(value)](value)
    raise SelError(Kind.UNSUPPORTED, f"A value of type {type_of(value)} has no JSON form")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
