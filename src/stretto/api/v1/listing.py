"""Lists by limit and offset, over lists that run from cursor to cursor."""

from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Annotated, Final, Generic, NamedTuple, TypeVar

from litestar.params import QueryParameter

from stretto.actions.reading.paging import MOST_ON_A_PAGE
from stretto.model.page import Page
from stretto.model.request import PageRequest

T = TypeVar("T")

COUNTED: Final = 1_000  # elements that are counted at least; of a longer list the total is not known
MOST: Final = 100  # elements of an answer
FARTHEST: Final = 10_000

Limit = Annotated[int, QueryParameter(ge=1, le=MOST)]
Offset = Annotated[int, QueryParameter(ge=0, le=FARTHEST)]


class Window(NamedTuple, Generic[T]):
    """What a reader asked for, how many there are (None: more than were counted), and whether more follow."""

    elements: tuple[T, ...]
    total: int | None
    has_more: bool


async def window(
    fetch: Callable[[PageRequest], Awaitable[Page[T]]],
    key: Callable[[T], Hashable],
    limit: int,
    offset: int,
    *,
    oldest_first: bool = False,
) -> Window[T]:
    """Walks the list from its beginning, or from its other end, in pages; of several with the same key only
    the first counts.
    """
    found: dict[Hashable, T] = {}
    enough = max(offset + limit + 1, COUNTED)
    cursor: str | None = None
    more = True
    while more and len(found) < enough:
        if oldest_first:
            page = await fetch(PageRequest(last=MOST_ON_A_PAGE, cursor=cursor))
            elements: Iterable[T] = reversed(page.elements)
            more, cursor = page.page_info.has_previous_page, page.page_info.start_cursor
        else:
            page = await fetch(PageRequest(first=MOST_ON_A_PAGE, cursor=cursor))
            elements = page.elements
            more, cursor = page.page_info.has_next_page, page.page_info.end_cursor
        for each in elements:
            found.setdefault(key(each), each)
    end = offset + limit
    total = None if more else len(found)
    return Window(tuple(found.values())[offset:end], total, more or len(found) > end)
