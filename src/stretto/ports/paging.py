"""Parts of long lists. Every list is paged by key, never by offset: rows that come or go move no page.

A list has an order of its own (by number or time: newest first; by name: as in a dictionary), and its
elements come in that order whichever way a reader pages. Keys are compared as Python compares them.
"""

from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """Which part: at most `most` elements next to a key, which is not among them.

    below: those with smaller keys, the greatest of them.     above: those with greater keys, the smallest.
    With neither, the list from its beginning. Never both.
    """

    most: int = 100
    below: Any = None
    above: Any = None


class Slice(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list, and whether there is more on either side of it, as of the same moment.

    An empty slice has nothing before or after it as far as the cut could see.
    """

    elements: tuple[T, ...] = ()
    before: bool = False
    after: bool = False


class Span(NamedTuple):
    """The lowest and the highest number of a list; numbers between may be missing."""

    lowest: int
    highest: int
