"""Pages of long lists, as surfaces ask for them: newest first, forwards or backwards from a cursor."""

from collections.abc import Callable, Sized
from typing import Final, TypeVar

from stretto.actions.parts.numbers import HIGHEST, number_in
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
    if number is None or number >= HIGHEST:
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


def filtered_page_of(found: Slice[T], request: PageRequest, number: Callable[[T], int]) -> Page[T]:
    """The same of a list that a filter has thinned out: the span of its ids says nothing about it."""
    if not found.elements:
        return Page(page_info=PageInfo(), total_count=total_of(found.elements, request))
    info = PageInfo(
        start_cursor=str(number(found.elements[0])),
        end_cursor=str(number(found.elements[-1])),
        has_previous_page=found.before,
        has_next_page=found.after,
    )
    total = total_of(found.elements, request, more=found.before or found.after)
    return Page(page_info=info, total_count=total, elements=found.elements)


def total_of(elements: Sized, request: PageRequest, *, more: bool = False) -> int | None:
    """How many elements a list has, if this page shows all of them; else None, as nobody has counted them.
    `more`: there are elements beside those of the page.
    """
    return None if more or request.cursor else len(elements)
