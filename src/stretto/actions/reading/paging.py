"""Pages of long lists, as surfaces ask for them: newest first, forwards or backwards from a cursor."""

from collections.abc import Callable
from typing import Final, TypeVar

from stretto.actions.parts.numbers import number_in
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page, PageInfo
from stretto.model.request import PageRequest
from stretto.ports.paging import Cut, Slice, Span

T = TypeVar("T")

MOST_ON_A_PAGE: Final = 200


def size_of(request: PageRequest) -> int:
    """How many elements a request wants; `InvalidRequest` if it does not say, or too many."""
    if (request.first is None) is (request.last is None):
        raise InvalidRequest("Either first or last needs to be provided, but not both")
    most = request.first if request.first is not None else request.last
    if most is None or not 1 <= most <= MOST_ON_A_PAGE:
        raise InvalidRequest(f"A page has 1 to {MOST_ON_A_PAGE} elements, not [{most}]")
    return most


def cut_of(request: PageRequest) -> Cut:
    """The part of a list of numbers that a request names; `InvalidRequest` if it names none."""
    most = size_of(request)
    cursor = _cursor(request.cursor)
    if request.first is not None:
        return Cut(most=most, below=cursor)
    return Cut(most=most, above=cursor or 0)


def _cursor(text: str | None) -> int | None:
    if not text:
        return None
    number = number_in(text)
    if number is None:
        raise InvalidRequest(f"Invalid cursor [{text}]", hint="it is the id next to which the page lies")
    return number


def page_of(found: Slice[T], span: Span | None, number: Callable[[T], int]) -> Page[T]:
    """The page with its cursors; `span` are the lowest and the highest id of the whole list."""
    if span is None or not found.elements:
        return Page(page_info=PageInfo(), total_count=0 if span is None else span.highest)
    highest, lowest = number(found.elements[0]), number(found.elements[-1])
    info = PageInfo(
        start_cursor=str(highest),
        end_cursor=str(lowest),
        has_previous_page=highest < span.highest,
        has_next_page=lowest > span.lowest,
        start_index=span.highest + 1 - highest,
    )
    return Page(page_info=info, total_count=span.highest - span.lowest + 1, elements=found.elements)
