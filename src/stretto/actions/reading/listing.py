"""Lists over all workflows: each page begins next to a key, and shows only what its reader may see.

A cursor is the key of an element, as a text that means nothing to anybody else. Forwards is the way in which
the list runs (`first`), backwards (`last`) the other way; there must be a cursor to go back from.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import Right, check_role, has_role, may
from stretto.actions.reading.paging import size_of, total_of
from stretto.engine.inline_ids import is_inline
from stretto.model.errors import InvalidRequest
from stretto.model.page import Count, Page, PageInfo
from stretto.model.request import PageRequest
from stretto.ports.history import Counted
from stretto.ports.paging import Cut, Slice
from stretto.ports.run_snapshot import InstancePage
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow

T = TypeVar("T")
V = TypeVar("V")

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # in a cursor: what a database can compare

MOST_FETCHES: Final = 10  # for one page; one that hides more than it shows comes out shorter


class Listing(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A list: how a part of it is read, and the key of an element."""

    fetch: Callable[[Cut], Awaitable[Slice[T]]]
    key: Callable[[T], Any]
    key_type: Any
    newest_first: bool = False
    workflow: Callable[[T], str] | None = None  # whose it is; None: nobody's, all see it


class Sight:
    """Which workflows somebody may see; each is looked at once."""

    def __init__(self, store: Store, caller: Caller) -> None:
        self._store = store
        self._caller = caller
        self._seen: dict[str, bool] = {}

    async def of(self, workflow_ids: Iterable[str]) -> frozenset[str]:
        """Those of these that the caller may see; an iteration is seen with the workflow around it."""
        wanted = set(workflow_ids)
        if not has_role(self._caller, Role.ADMIN):
            homes = {each: await self._home(each) for each in wanted - self._seen.keys()}
            rows = await self._store.workflow_rows(set(homes.values())) if homes else {}
            self._seen |= {each: self._may(rows.get(home)) for each, home in homes.items()}
        return frozenset(each for each in wanted if self._seen.get(each, True))

    async def _home(self, workflow_id: str) -> str:
        if not is_inline(workflow_id):
            return workflow_id
        page = await self._store.runs(InstancePage(workflow_id, Cut(most=1)))
        return page.elements[0].root.workflow_id if page.elements else workflow_id

    def _may(self, row: WorkflowRow | None) -> bool:
        return row is not None and may(self._caller, Right.VIEW, row.properties)


async def page_of_list(store: Store, caller: Caller, request: PageRequest, listing: Listing[T]) -> Page[T]:
    """The page that a request names, of what the caller may see."""
    check_role(caller, Role.VIEWER, "see lists")
    most, back = size_of(request), request.last is not None
    if back and not request.cursor:
        raise InvalidRequest("To go back takes a cursor to begin at", hint="use first, or send start_cursor")
    place = None if not request.cursor else key_in(request.cursor, listing.key_type)
    sight, behind = Sight(store, caller), place is not None
    kept: list[T] = []
    more = False
    for _ in range(MOST_FETCHES):
        found = await listing.fetch(_cut(listing, most - len(kept), place, back=back))
        elements = await _visible(sight, listing, found.elements)
        kept = [*elements, *kept] if back else [*kept, *elements]
        more = found.before if back else found.after
        place = listing.key(found.elements[0 if back else -1]) if found.elements else place
        if not more or len(kept) >= most:
            break
    ends = [listing.key(kept[0]), listing.key(kept[-1])] if kept else [None, None]
    if more:  # from here on nobody has looked, also where all that was seen is hidden
        ends[0 if back else 1] = place
    info = PageInfo(
        start_cursor=None if ends[0] is None else cursor_of(ends[0]),
        end_cursor=None if ends[1] is None else cursor_of(ends[1]),
        has_previous_page=more if back else behind,
        has_next_page=behind if back else more,
    )
    return Page(page_info=info, total_count=total_of(kept, request, more=more), elements=tuple(kept))


async def _visible(sight: Sight, listing: Listing[T], elements: Collection[T]) -> list[T]:
    workflow = listing.workflow
    if workflow is None:
        return list(elements)
    seen = await sight.of(workflow(each) for each in elements)
    return [each for each in elements if workflow(each) in seen]


def _cut(listing: Listing[Any], most: int, place: Any, *, back: bool) -> Cut:
    """Next to a key: where the list runs down, forwards is below it."""
    down = listing.newest_first is not back
    return Cut(most=most, below=place if down else None, above=None if down else place)


def shown_as(page: Page[T], elements: Iterable[V]) -> Page[V]:
    """The same page, with its elements as a surface shows them."""
    return Page(
        page_info=page.page_info, total_count=page.total_count, elements=tuple(elements), count=page.count
    )


def counted_as(page: Page[T], caller: Caller, counted: Counted) -> Page[T]:
    """The same page, with how many elements the whole list has. What is counted is the total if the count is
    exact and the caller may see all that was counted.
    """
    total = page.total_count
    if total is None and counted.exact and has_role(caller, Role.ADMIN):
        total = counted.value
    count = Count(value=counted.value, exact=counted.exact)
    return msgspec.structs.replace(page, count=count, total_count=total)


def cursor_of(key: Any) -> str:
    """A key as a text that can stand in an address."""
    return urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def key_in(cursor: str, key_type: Any) -> Any:
    """The key that a cursor holds; `InvalidRequest` if it is none of this list."""
    try:
        text = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        return msgspec.json.decode(text, type=key_type)
    except ValueError as error:
        raise InvalidRequest(
            f"Invalid cursor [{cursor[:80]}]", hint="send one that a page of this list had"
        ) from error
