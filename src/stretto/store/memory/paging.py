"""Cutting pages out of sorted keys."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from stretto.ports.paging import Cut, Slice

T = TypeVar("T")


class Selected(NamedTuple):
    """The keys of a page, in the order of the list, and whether there are more on either side."""

    keys: list[Any]
    before: bool
    after: bool


def under(cut: Cut, *prefix: Any) -> Cut:
    """The same cut of a list whose keys begin like this."""

    def whole(key: Any) -> Any:
        return None if key is None else (*prefix, key)

    return Cut(most=cut.most, below=whole(cut.below), above=whole(cut.above))


def select(
    keys: Sequence[Any],
    cut: Cut,
    keep: Callable[[Any], bool] = lambda _key: True,
    *,
    newest_first: bool = False,
) -> Selected:
    """The part of a list that a cut names, of the keys that are kept; `keys` are sorted."""
    if cut.above is not None:
        place, upwards = bisect_right(keys, cut.above), True
    elif cut.below is not None:
        place, upwards = bisect_left(keys, cut.below), False
    else:
        place, upwards = (len(keys), False) if newest_first else (0, True)
    higher, lower = range(place, len(keys)), range(place - 1, -1, -1)
    ahead, behind = (higher, lower) if upwards else (lower, higher)
    page = list(islice((keys[i] for i in ahead if keep(keys[i])), cut.most + 1))
    more = len(page) > cut.most
    page = page[: cut.most]
    back = bool(page) and any(keep(keys[i]) for i in behind)
    if upwards is newest_first:
        page.reverse()
        return Selected(page, before=more, after=back)
    return Selected(page, before=back, after=more)


def slice_of(selected: Selected, read: Callable[[Any], T]) -> Slice[T]:
    """The page itself."""
    return Slice(
        elements=tuple(read(key) for key in selected.keys), before=selected.before, after=selected.after
    )
