"""Permits that decisions took: the commit that stores the decisions checks that there is room for all.

A tag without a row has no limit and no rate, unless an attempt brings one along: for such a tag nothing is
locked or counted. Its holders have rows all the same, so that a limit that is set later counts them.

A tag whose permits are handed over is not locked either: no more hold it afterwards than did before, however
many others take or return permits meanwhile. Only those who hold it can hand it over, so nobody may wait.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stretto.engine.permits import Pace, PermitUse, TagRoom, limit_of
from stretto.model.permit import parse_rate
from stretto.ports.commit import GroupPart, rooms_after, taken_tags
from stretto.store.sql.codec import GRANTS
from stretto.store.sql.database import Transaction
from stretto.store.sql.granting import LOCK_TAGS, MAKE_TAGS, SET_GRANTS, brought_limit
from stretto.store.sql.rows.permits import PUT_RATE
from stretto.store.sql.statement import TEXT, Row, Statement

STANDING: Final = Statement(
    lambda d: (
        "SELECT tag.tag, tag.max_allowed, rate, grants, used, waiting, lowest, highest FROM tag "
        "LEFT JOIN tag_rate ON tag_rate.tag = tag.tag "
        "LEFT JOIN (SELECT tag, COUNT(*) AS used, COUNT(*) - SUM(granted) AS waiting, "
        "MIN(max_allowed) AS lowest, MAX(max_allowed) AS highest "
        f"FROM permit WHERE {d.among('tag', 'tags', TEXT)} GROUP BY tag) taken ON taken.tag = tag.tag "
        f"WHERE {d.among('tag.tag', 'tags', TEXT)}"
    )
)
"""Tags with their rates, how many hold them or wait for them, the latter alone, and the least and the
greatest limit that any of these brought along.
"""

NO_ROW: Final = (None,) * 7


async def take_permits(
    tx: Transaction, parts: Sequence[GroupPart], rates: Sequence[Row]
) -> dict[str, int | None]:
    """Store the rates that attempts bring along, check the permits that decisions took, and note their starts
    where there is a rate. Returns how many permits of each tag are left.
    """
    asked = taken_tags(parts)
    paced = [row[0] for row in rates]
    if not asked and not paced:
        return {}
    if not paced and all(use.is_handed_over for use in asked.values()):
        left = await _handed_over(tx, asked)
        if left is not None:
            return left
    tags = sorted({*asked, *paced})
    known = await tx.all(LOCK_TAGS, tags=tags)
    needed = {*paced, *(tag for tag, use in asked.items() if use.limit is not None)}
    missing = needed.difference(row[0] for row in known)
    if missing:
        await tx.bulk(MAKE_TAGS, [(tag, 0) for tag in sorted(missing)])
        known = await tx.all(LOCK_TAGS, tags=tags)
    await tx.bulk(PUT_RATE, rates)
    limited = [row[0] for row in known if row[0] in asked]
    if not limited:
        return dict.fromkeys(asked)
    rooms, paces = await _standing(tx, limited, asked)
    now = await tx.now() if paces else 0
    before = {
        tag: room._replace(slots=paces[tag].slots(now)) if tag in paces else room
        for tag, room in rooms.items()
    }
    after = rooms_after(parts, before)
    for tag, pace in paces.items():
        starts = (before[tag].slots or 0) - (after[tag].slots or 0)
        await tx.run(SET_GRANTS, tag=tag, grants=GRANTS.write(pace.started(now, starts).grants))
    return {**dict.fromkeys(asked), **{tag: room.left for tag, room in after.items()}}


async def _handed_over(tx: Transaction, asked: Mapping[str, PermitUse]) -> dict[str, int | None] | None:
    """How many permits of each tag are left, if all are handed over; None: they must be counted."""
    left: dict[str, int | None] = dict.fromkeys(asked)
    known = {row[0]: row[1:] for row in await tx.all(STANDING, tags=list(asked))}
    for tag, use in asked.items():
        own, rate, _grants, used, waiting, lowest, highest = known.get(tag, NO_ROW)
        room = TagRoom(used or 0, limit_of(own, lowest, use.limit))
        is_sure = tag in known or use.limit is None
        if not is_sure or rate or waiting or (own is None and lowest != highest) or not room.fits(use):
            return None
        left[tag] = room.after(use).left
    return left


async def _standing(
    tx: Transaction, tags: Sequence[str], asked: Mapping[str, PermitUse]
) -> tuple[dict[str, TagRoom], dict[str, Pace]]:
    """How tags stand, but for their rates; and the rates of those that have one, with their starts."""
    rooms: dict[str, TagRoom] = {}
    paces: dict[str, Pace] = {}
    for tag, own, rate, grants, used, _waiting, lowest, highest in await tx.all(STANDING, tags=list(tags)):
        brought = lowest
        if own is None and lowest != highest:
            brought = await brought_limit(tx, tag)
        rooms[tag] = TagRoom(used or 0, limit_of(own, brought, asked[tag].limit))
        known = None if rate is None else parse_rate(rate)
        if known is not None:
            paces[tag] = Pace(known, () if grants is None else GRANTS.read(grants))
    return rooms, paces
