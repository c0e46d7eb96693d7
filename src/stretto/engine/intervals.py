"""Sets of iterations as rows of numbers.

    Intervals([(1, 1), (3, 7)])    six iterations in two rows; the fewest rows that hold exactly these

Adding, removing and finding a number cost about the square root of the number of rows, however many numbers
a row holds: the rows stand in pages of bounded length.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final

PAGE: Final = 512
_FIRST: Final = itemgetter(0)

Row = tuple[int, int]  # first and last, both included


class Intervals:
    """A set of numbers, kept as rows that neither touch nor overlap."""

    __slots__ = ("_count", "_last", "_pages")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._pages: list[list[int]] = []  # where rows begin, in order
        self._last: dict[int, int] = {}  # where a row begins -> where it ends
        self._count = 0
        for first, last in rows:
            self.add_row(first, last)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.row_of(number) is not None

    def __iter__(self) -> Iterator[int]:
        for first, last in self.rows():
            yield from range(first, last + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervals) and self.rows() == other.rows()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def rows(self) -> list[Row]:
        return [(first, self._last[first]) for page in self._pages for first in page]

    @property
    def lowest(self) -> int | None:
        return self._pages[0][0] if self._pages else None

    @property
    def highest(self) -> int | None:
        return self._last[self._pages[-1][-1]] if self._pages else None

    def row_of(self, number: int) -> Row | None:
        """The row that holds a number."""
        first = self._begin_before(number)
        if first is None or self._last[first] < number:
            return None
        return first, self._last[first]

    def add(self, number: int) -> bool:
        """Put a number in; False if it was there."""
        begin = self._begin_before(number)
        last = None if begin is None else self._last[begin]
        if last is not None and number <= last:
            return False
        if number + 1 in self._last:
            self.add_row(number, number)
        elif begin is not None and last == number - 1:  # a row grows: by far the most common case
            self._last[begin] = number
            self._count += 1
        else:
            self._put(number, number)
        return True

    def remove(self, number: int) -> bool:
        """Take a number out; False if it was not there."""
        begin = self._begin_before(number)
        last = None if begin is None else self._last[begin]
        if begin is None or last is None or last < number:
            return False
        self._drop(begin)
        if begin < number:
            self._put(begin, number - 1)
        if number < last:
            self._put(number + 1, last)
        return True

    def add_row(self, first: int, last: int) -> None:
        """Put all numbers of a row in; rows that it touches become one with it."""
        begin = self._begin_before(first)
        if begin is not None and self._last[begin] + 1 >= first:
            first, last = begin, max(last, self._drop(begin))
        while (begin := self._begin_before(last + 1)) is not None and begin > first:
            last = max(last, self._drop(begin))
        self._put(first, last)

    # ---------------------------------------------------------------------------------------- the pages
    def _page_of(self, number: int) -> int:
        """The page to look for a number in: the last one that does not begin after it, else the first."""
        pages = self._pages
        return max(bisect_right(pages, number, key=_FIRST) - 1, 0) if len(pages) > 1 else 0

    def _begin_before(self, number: int) -> int | None:
        """Where the last row begins that does not begin after a number."""
        if not self._pages:
            return None
        page = self._pages[self._page_of(number)]
        at = bisect_right(page, number)
        return page[at - 1] if at else None

    def _put(self, first: int, last: int) -> None:
        self._last[first] = last
        self._count += last - first + 1
        if not self._pages:
            self._pages.append([first])
            return
        at = self._page_of(first)
        page = self._pages[at]
        insort(page, first)
        if len(page) > PAGE:
            self._pages.insert(at + 1, page[PAGE // 2 :])
            del page[PAGE // 2 :]

    def _drop(self, first: int) -> int:
        """Forget a row; where it ended."""
        last = self._last.pop(first)
        self._count -= last - first + 1
        at = self._page_of(first)
        page = self._pages[at]
        del page[bisect_left(page, first)]
        if not page:
            del self._pages[at]
        return last
