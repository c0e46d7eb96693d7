"""Tags and permits."""

from collections.abc import Callable, Collection
from copy import copy
from typing import Final

from stretto.model.permit import TagPermit
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import (
    GrantRule,
    Grants,
    HoldersOf,
    LineFor,
    PermitRow,
    PermitSelection,
    PermitsOf,
    TagStanding,
    TagUse,
)
from stretto.store.sql.codec import TAG
from stretto.store.sql.database import Transaction
from stretto.store.sql.granting import LINE as FIRST_IN_LINE
from stretto.store.sql.granting import MOST_AT_ONCE, PERMITS_OF, Room, grant, room_of
from stretto.store.sql.lengths import TAG_LENGTH, fitting
from stretto.store.sql.named import named_page
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.rows.keys import attempt_from, flat
from stretto.store.sql.rows.permits import PUT_RATE, ROW, permit_row
from stretto.store.sql.statement import ATTEMPT_KEY, INT, TEXT, Row, Statement, ints, texts

MAKE_TAG: Final = Statement(lambda d: d.missing("tag", (*texts("tag"), *ints("is_limited"))))
LOCK_TAG: Final = Statement(lambda d: f"SELECT doc FROM tag WHERE tag = :tag {d.exclusive}")
SET_TAG: Final = Statement(
    "UPDATE tag SET doc = :doc, max_allowed = :max_allowed, is_limited = :is_limited WHERE tag = :tag"
)
NO_RATE: Final = Statement("DELETE FROM tag_rate WHERE tag = :tag")
TAG_DOC: Final = Statement("SELECT doc FROM tag WHERE tag = :tag AND is_limited = 1")
WAITED_FOR: Final = Statement(
    lambda d: (
        f"SELECT DISTINCT tag FROM permit WHERE granted = 0 AND {d.among('home_group', 'groups', INT)} "
        "ORDER BY tag"
    )
)
WAITED: Final = Statement(
    lambda d: f"SELECT DISTINCT tag FROM permit WHERE {d.among('tag', 'tags', TEXT)} AND granted = 0"
)
USES: Final = Statement(
    lambda d: (
        "SELECT tag, granted, COUNT(*), MIN(since) FROM permit "
        f"WHERE {d.among('tag', 'tags', TEXT)} GROUP BY tag, granted"
    )
)
LIMITS: Final = Statement(
    lambda d: f"SELECT tag, max_allowed FROM tag WHERE {d.among('tag', 'tags', TEXT)} AND is_limited = 1"
)
_KEY: Final = [field.name for field in ATTEMPT_KEY]
HOLDERS: Final = Listing(ROW, "permit WHERE tag = :tag AND granted = 1", _KEY)
_LINE: Final = ("place", "since", *_KEY)
LINE: Final = Listing(f"{', '.join(_LINE)}, {ROW}", "permit WHERE tag = :tag AND granted = 0", _LINE)
LIMITED: Final = Listing("tag", "tag WHERE is_limited = 1", ["tag"])
USED: Final = Listing("DISTINCT tag", "permit", ["tag"])


class SqlPermits(Part):
    """See `ports.permits`."""

    async def grant(self, tags: Collection[str], rule: GrantRule) -> Grants:
        wanted = sorted(set(tags))

        async def look(tx: Transaction) -> frozenset[str]:
            return frozenset(row[0] for row in await tx.all(WAITED, tags=wanted))

        waited_for = await self._look(look)
        if not waited_for:
            return Grants([])

        async def work(tx: Transaction) -> Grants:
            return await grant(tx, sorted(waited_for), rule)

        return (await self._db.write(work))._replace(waited_for=waited_for)

    async def change_tag(self, tag: str, change: Callable[[TagPermit | None], TagPermit]) -> TagPermit:
        fitting(tag, TAG_LENGTH, "a tag")

        async def work(tx: Transaction) -> TagPermit:
            await tx.run(MAKE_TAG, tag=tag, is_limited=0)
            row = await tx.one(LOCK_TAG, tag=tag)
            after = copy(change(None if row is None or row[0] is None else TAG.read(row[0])))
            await tx.run(SET_TAG, tag=tag, doc=TAG.write(after), max_allowed=after.max_allowed, is_limited=1)
            if after.rate is not None:
                await tx.bulk(PUT_RATE, [(tag, after.rate)])
            else:
                await _forget_rate(tx, tag, row)
            return after

        return await self._db.write(work)

    async def delete_tag(self, tag: str) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.one(LOCK_TAG, tag=tag)
            if row is None or row[0] is None:
                return False
            await tx.run(SET_TAG, tag=tag, doc=None, max_allowed=None, is_limited=0)
            await _forget_rate(tx, tag, row)
            return True

        return await self._db.write(work)

    async def tag(self, tag: str) -> TagPermit | None:
        async def work(tx: Transaction) -> TagPermit | None:
            row = await tx.one(TAG_DOC, tag=tag)
            return None if row is None else TAG.read(row[0])

        return await self._look(work)

    async def tags(self, cut: Cut) -> Slice[TagUse]:
        async def work(tx: Transaction) -> Slice[TagUse]:
            page = await named_page(tx, cut, LIMITED, USED)
            tags = [row[0] for row in page.rows]
            limits = {row[0]: row[1] for row in await tx.all(LIMITS, tags=tags)}
            uses = {(row[0], row[1]): row for row in await tx.all(USES, tags=tags)}
            return page.of(lambda row: _use(row[0], limits, uses))

        return await self._db.read(work)

    async def permits(self, selection: PermitSelection) -> Slice[PermitRow]:
        async def work(tx: Transaction) -> Slice[PermitRow]:
            match selection:
                case HoldersOf(tag, cut):
                    return (await HOLDERS.page(tx, cut, tag=tag)).of(permit_row)
                case LineFor(tag, cut):
                    return (await LINE.page(tx, cut, tag=tag)).of(lambda row: permit_row(row[len(_LINE) :]))
                case PermitsOf(attempts):
                    rows = await tx.all(PERMITS_OF, attempts=sorted(map(flat, set(attempts))))
                    return Slice(elements=tuple(map(permit_row, rows)))

        return await (self._look(work) if isinstance(selection, PermitsOf) else self._db.read(work))

    async def standings(self, tags: Collection[str], *, most: int) -> dict[str, TagStanding]:
        wanted = sorted(set(tags))

        async def work(tx: Transaction) -> dict[str, TagStanding]:
            room = await room_of(tx, wanted)
            return {tag: await _standing(tx, tag, room, most) for tag in wanted}

        return await self._db.read(work)

    async def tags_waited_for(self, groups: Collection[int]) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row[0] for row in await tx.all(WAITED_FOR, groups=sorted(groups))]

        return await self._look(work)


async def _forget_rate(tx: Transaction, tag: str, before: Row | None) -> None:
    """Only a tag that had one has something to forget."""
    if before is not None and before[0] is not None and TAG.read(before[0]).rate is not None:
        await tx.run(NO_RATE, tag=tag)


async def _standing(tx: Transaction, tag: str, found: Room, most: int) -> TagStanding:
    held, limit, pace = found.held.get(tag, 0), found.limits[tag], found.paces.get(tag)
    room = 0 if limit is None else min(max(limit - held, 0), MOST_AT_ONCE)
    now = 0 if pace is None else await tx.now()
    holders = (await HOLDERS.page(tx, Cut(most=most), tag=tag)).rows if held else ()
    line = await tx.all(FIRST_IN_LINE, tag=tag, most=room) if room else ()
    return TagStanding(
        limit=limit,
        held=held,
        holders=tuple(map(attempt_from, holders)),
        next=tuple(map(attempt_from, line)),
        next_slot=None if pace is None or pace.slots(now) else pace.next_slot(now),
    )


def _use(tag: str, limits: dict[str, int], uses: dict[tuple[str, int], Row]) -> TagUse:
    _tag, _granted, held, _since = uses.get((tag, 1), (tag, 1, 0, None))
    _tag, _granted, waiting, oldest = uses.get((tag, 0), (tag, 0, 0, None))
    return TagUse(tag=tag, max_allowed=limits.get(tag), held=held, waiting=waiting, oldest=oldest)
