"""Pages of long lists. Nulls are written: clients look for the cursors."""

from typing import ClassVar, Generic, TypeVar

import msgspec

from stretto.model.wire.codec import Drop, Shape

T = TypeVar("T")


class PageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a page begins and ends, and whether there are more on either side."""

    wire: ClassVar[Shape] = Shape(drop=Drop.NOTHING, keep=("start_cursor", "end_cursor", "start_index"))

    start_cursor: str | None = None
    end_cursor: str | None = None
    has_previous_page: bool = False
    has_next_page: bool = False
    start_index: int | None = None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many elements a list has. Not exact: at least so many."""

    value: int
    exact: bool


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list, newest first.

    total_count   Instances, runs and versions: the span of the ids, as in Maestro. Other lists: how many
                  elements the whole list has; absent if that is not known.
    """

    page_info: PageInfo
    total_count: int | None = None
    elements: tuple[T, ...] = ()
    count: Count | None = None  # of the whole list, where somebody asked for it
