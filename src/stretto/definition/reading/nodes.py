"""How many values JSON text holds, found before any of them is made."""

from collections.abc import Iterator
from typing import Final

MARKS: Final = ",:[{"  # each begins a value or a key
SLICE: Final = 64 * 1024  # characters at once: one call into C holds the interpreter


def count_nodes(text: str, enough: int) -> int:
    """The keys, values, lists and objects of JSON text; an empty list or object counts twice. A number up to
    `enough` may be too high: then the marks in texts are counted, too, which is quicker.
    """
    found = _marks(text)
    return 1 + (found if found < enough else sum(map(_marks, _outside_texts(text))))


def _marks(text: str) -> int:
    return sum(map(text.count, MARKS))


def _outside_texts(text: str) -> Iterator[str]:
    """The text without what stands in quotes."""
    begin, inside = 0, 0
    while begin < len(text):
        part = text[begin : begin + SLICE]
        if (len(part) - len(part.rstrip("\\"))) % 2 and begin + SLICE < len(text):
            part = part[:-1]  # it escapes what comes next
        begin += len(part)
        quoted = part.replace("\\\\", "").replace('\\"', "").split('"')
        yield "".join(quoted[inside::2])
        inside ^= (len(quoted) - 1) % 2
