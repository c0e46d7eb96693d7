"""Cutting pages out of lists that an index keeps in order."""

from collections.abc import Callable, Sequence
from heapq import merge
from typing import Any, Final, NamedTuple, TypeVar

from stretto.ports.paging import Cut, Slice
from stretto.store.sql.database import Transaction
from stretto.store.sql.decoding import decoded
from stretto.store.sql.statement import Dialect, Row, Spelling, Statement

T = TypeVar("T")

OPPOSITE: Final = {">": "<=", "<": ">="}


class Page(NamedTuple):
    """The rows of a page, in the order of the list, and whether there are more on either side."""

    rows: list[Row]
    before: bool
    after: bool

    def of(self, make: Callable[[Row], T]) -> Slice[T]:
        """The page itself."""
        return Slice(elements=tuple(make(row) for row in self.rows), before=self.before, after=self.after)

    async def decoded(self, tx: Transaction, make: Callable[[Row], T]) -> Slice[T]:
        """The same of rows with documents, which take longer."""
        elements = tuple(await decoded(tx, self.rows, make))
        return Slice(elements=elements, before=self.before, after=self.after)


class Listing:
    """A list. Its rows begin with the columns that it is sorted by, and a cut names their values.

    source   What comes after FROM; it may end with a WHERE.
    order    The columns of the key. Those before them, if any, are the same in the whole list.
    bounds   Conditions on the key itself. They stand behind the cut: of two bounds on the same side, SQLite
             begins to read at the first.
    """

    def __init__(
        self,
        columns: str,
        source: str | Spelling,
        order: Sequence[str],
        *,
        newest_first: bool = False,
        bounds: Sequence[str] = (),
    ) -> None:
        self._columns = columns
        self._source = source
        self._order = tuple(order)
        self._newest_first = newest_first
        self._bounds = "".join(f" AND {bound}" for bound in bounds)
        self._names = [f"cut_{place}" for place in range(len(order))]
        self._statements = {
            (sign, cut): Statement(self._page(sign, cut=cut)) for sign in OPPOSITE for cut in (True, False)
        }
        self._others = {sign: Statement(self._other(sign)) for sign in OPPOSITE}

    async def page(self, tx: Transaction, cut: Cut, /, **values: Any) -> Page:
        """The part of the list that a cut names."""
        page = await self.one_sided_page(tx, cut, **values)
        sign, key = self._direction(cut)
        if not page.rows or key is None:
            return page
        back = await tx.one(self._others[sign], **values, **self._bound(key)) is not None
        return page._replace(after=back) if self._from_the_end(sign) else page._replace(before=back)

    async def one_sided_page(self, tx: Transaction, cut: Cut, /, **values: Any) -> Page:
        """The same without a look at what is on the near side of the cut: as if there were nothing."""
        sign, key = self._direction(cut)
        statement = self._statements[sign, key is not None]
        found = await tx.all(statement, **values, **self._bound(key), most=cut.most + 1)
        rows, more = list(found[: cut.most]), len(found) > cut.most
        if self._from_the_end(sign):
            return Page(rows[::-1], before=more, after=False)
        return Page(rows, before=False, after=more)

    def _direction(self, cut: Cut) -> tuple[str, Any]:
        if cut.above is not None:
            return ">", cut.above
        if cut.below is not None:
            return "<", cut.below
        return ("<" if self._newest_first else ">"), None

    def _bound(self, key: Any) -> dict[str, Any]:
        return {} if key is None else dict(zip(self._names, flattened(key), strict=True))

    def _from_the_end(self, sign: str) -> bool:
        """Whether rows are read against the order of the list."""
        return (sign == ">") is self._newest_first

    async def merged(self, tx: Transaction, cut: Cut, lists: Sequence[dict[str, Any]]) -> Page:
        """One page of several lists that differ in their values only: each is walked along its own index."""
        pages = [await self.page(tx, cut, **values) for values in lists]
        sign, _key = self._direction(cut)
        width = len(self._order)

        def key(row: Row) -> tuple[Any, ...]:
            return tuple(row[:width])

        falls = self._newest_first
        ordered = list(merge(*(page.rows for page in pages), key=key, reverse=falls))
        from_the_end = self._from_the_end(sign)
        more = len(ordered) > cut.most
        rows = ordered[-cut.most :] if from_the_end else ordered[: cut.most]
        before, after = any(page.before for page in pages), any(page.after for page in pages)
        if from_the_end:
            return Page(rows, before=before or more, after=after)
        return Page(rows, before=before, after=after or more)

    # ----------------------------------------------------------------------------------------- statements
    def _page(self, sign: str, *, cut: bool) -> Spelling:
        direction = "ASC" if sign == ">" else "DESC"
        order = ", ".join(f"{column} {direction}" for column in self._order)

        def spell(dialect: Dialect) -> str:
            beyond = f" AND {dialect.beyond(self._order, self._names, sign)}" if cut else ""
            where = f"{self._from(dialect)}{beyond}{self._bounds}"
            return f"SELECT {self._columns} FROM {where} ORDER BY {order} LIMIT :most"

        return spell

    def _other(self, sign: str) -> Spelling:
        """Is there anything on the other side of the cut? In order, so that the index of the list is used."""
        direction = "DESC" if sign == ">" else "ASC"
        order = ", ".join(f"{column} {direction}" for column in self._order)

        def spell(dialect: Dialect) -> str:
            beyond = dialect.beyond(self._order, self._names, OPPOSITE[sign])
            where = f"{self._from(dialect)} AND {beyond}{self._bounds}"
            return f"SELECT 1 FROM {where} ORDER BY {order} LIMIT 1"

        return spell

    def _from(self, dialect: Dialect) -> str:
        source = self._source if isinstance(self._source, str) else self._source(dialect)
        return source if " WHERE " in source else f"{source} WHERE 1 = 1"


def flattened(key: Any) -> tuple[Any, ...]:
    """The columns of a key; keys may hold keys."""
    if isinstance(key, tuple | list):
        return tuple(part for each in key for part in flattened(each))
    return (key,)
