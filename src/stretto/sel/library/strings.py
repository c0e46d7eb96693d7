"""The methods of STRING. Positions and lengths count UTF-16 units, as in Java."""

import sys
from typing import Final

from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library.arguments import integer, text
from stretto.sel.library.format import formatted
from stretto.sel.library.regex import replace_all, split
from stretto.sel.numbers import BLANKS
from stretto.sel.runtime.frame import Frame, Method
from stretto.sel.syntax.source import joined_surrogates, utf16_length
from stretto.sel.text import text_of
from stretto.sel.values import StringArray, Value, is_null, type_of

ESCAPED: Final = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"'}
)


def units(value: str) -> bytes:
    """The UTF-16 units, two bytes each, in the order of this machine."""
    return value.encode(f"utf-16-{sys.byteorder[0]}e", "surrogatepass")


def substring(_: Frame, receiver: str, begin: Value, end: Value | None = None) -> str:
    """Part of a string."""
    length = utf16_length(receiver)
    first = integer(begin)
    last = length if end is None else integer(end)
    if not 0 <= first <= last <= length:
        raise SelError(Kind.INDEX_OUT_OF_BOUNDS, f"{first} to {last} is outside a string of length {length}")
    if length == len(receiver):
        return receiver[first:last]
    return units(receiver)[2 * first : 2 * last].decode(f"utf-16-{sys.byteorder[0]}e", "surrogatepass")


def split_all(frame: Frame, receiver: str, pattern: Value, limit: Value = 0) -> StringArray:
    """The parts of a string between the matches of a regular expression."""
    return split(frame, receiver, text(pattern), integer(limit))


def replace(frame: Frame, receiver: str, old: Value, new: Value) -> str:
    """Every occurrence replaced, literally."""
    before, after = text(old), text(new)
    count = receiver.count(before) if before else len(receiver) + 1
    frame.afford(len(receiver) + count * (len(after) - len(before)))
    return joined_surrogates(receiver.replace(before, after))


def compare(_: Frame, receiver: str, other: Value) -> int:
    """The difference of the first units that differ, else of the lengths."""
    left, right = memoryview(units(receiver)).cast("H"), memoryview(units(text(other))).cast("H")
    same, different = 0, min(len(left), len(right)) + 1  # how many units are equal lies in between
    while different - same > 1:
        middle = (same + different) // 2
        same, different = (middle, different) if left[:middle] == right[:middle] else (same, middle)
    if same == min(len(left), len(right)):
        return len(left) - len(right)
    return left[same] - right[same]


def last_index(_: Frame, receiver: str, other: Value) -> int:
    """Where a string begins for the last time, or -1."""
    at = receiver.rfind(text(other))
    return at if at < 0 else utf16_length(receiver[:at])


def value_of(frame: Frame, _: Value, value: Value) -> str:
    """`String.valueOf(value)`."""
    return text_of(value, frame.pay_text)


METHODS: Final[dict[str, Method]] = {
    "length/0": lambda _, receiver: utf16_length(receiver),
    "isEmpty/0": lambda _, receiver: not receiver,
    "toUpperCase/0": lambda _, receiver: receiver.upper(),
    "toLowerCase/0": lambda _, receiver: receiver.lower(),
    "trim/0": lambda _, receiver: receiver.strip(BLANKS),
    "substring/1": substring,
    "substring/2": substring,
    "split/1": split_all,
    "split/2": split_all,
    "replaceAll/2": lambda frame, receiver, pattern, new: replace_all(
        frame, receiver, text(pattern), text(new)
    ),
    "replace/2": replace,
    "startsWith/1": lambda _, receiver, other: receiver.startswith(text(other)),
    "endsWith/1": lambda _, receiver, other: receiver.endswith(text(other)),
    "contains/1": lambda _, receiver, other: text(other) in receiver,
    "lastIndexOf/1": last_index,
    "equals/1": lambda _, receiver, other: type(other) is str and receiver == other,
    "compareTo/1": compare,
}
STATIC: Final[dict[str, Method]] = {"valueOf/1": value_of}
"""What only the class name `String` can do."""


# ------------------------------------------------------------------------ any number of arguments
def join(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`String.join(separator, a, b ...)` or `String.join(separator, array)`."""
    if not arguments:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "String.join needs a separator")
    separator = text(arguments[0])
    parts = arguments[1:]
    if len(parts) == 1 and type(parts[0]) is StringArray:
        parts = ["null" if part is None else part for part in parts[0]]
    for part in parts:
        if type(part) is not str and not is_null(part):
            raise class_cast("a STRING to join", type_of(part))
    texts = [text_of(part, frame.pay_text) for part in parts]
    frame.afford(sum(map(len, texts)) + len(separator) * len(texts))
    return joined_surrogates(separator.join(texts))


def format_text(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`String.format(pattern, a, b ...)`."""
    if not arguments:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "String.format needs a pattern")
    if type(arguments[0]) is not str:
        raise class_cast("a STRING as the pattern", type_of(arguments[0]))
    return formatted(frame, arguments[0], arguments[1:])


def escape(_: Frame, receiver: Value, arguments: list[Value]) -> str:
    """`text.escape()` or `String.escape(text)`: as inside a double-quoted literal."""
    if len(arguments) > 1 or (arguments and type(arguments[0]) is not str):
        raise SelError(Kind.ILLEGAL_ARGUMENT, "escape takes one string")
    return text(arguments[0] if arguments else receiver).translate(ESCAPED)


VARIADIC: Final[dict[str, Method]] = {"join": join, "format": format_text, "escape": escape}
