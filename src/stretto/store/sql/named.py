"""Lists of names that come from two tables."""

from stretto.ports.paging import Cut
from stretto.store.sql.database import Transaction
from stretto.store.sql.paging import Listing, Page


async def named_page(tx: Transaction, cut: Cut, *lists: Listing) -> Page:
    """A page of all names that are in one of the lists; each is in it once."""
    pages = [await each.page(tx, cut) for each in lists]
    names = sorted({row[0] for page in pages for row in page.rows})
    before, after = any(page.before for page in pages), any(page.after for page in pages)
    if cut.below is not None and cut.above is None:
        rows = [(name,) for name in names[-cut.most :]]
        return Page(rows, before=before or len(names) > cut.most, after=after)
    rows = [(name,) for name in names[: cut.most]]
    return Page(rows, before=before, after=after or len(names) > cut.most)
