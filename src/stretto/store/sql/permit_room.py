"""Permits that decisions took: the commit that stores the decisions checks that there is room for all.

A tag without a row has no limit and no rate, unless an attempt brings one along: for such a tag nothing is
locked or counted. Its holders have rows all the same, so that a limit that is set later counts them.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stretto.engine.permits import Pace, TagRoom, limit_of
from stretto.model.permit import parse_rate
from stretto.ports.commit import GroupPart, rooms_after, taken_tags
from stretto.store.sql.codec import GRANTS
from stretto.store.sql.database import Transaction
from stretto.store.sql.granting import LOCK_TAGS, MAKE_TAGS, OWN_LIMITS, SET_GRANTS, brought_limit
from stretto.store.sql.rows.permits import PUT_RATE
from stretto.store.sql.statement import TEXT, Row, Statement

USED: Final = Statement(
    lambda d: (
        "SELECT tag, COUNT(*), MIN(max_allowed), MAX(max_allowed) FROM permit "
        f"WHERE {d.among('tag', 'tags', TEXT)} GROUP BY tag"
    )
)


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
    tags = sorted({*asked, *paced})
    known = await tx.all(LOCK_TAGS, tags=tags)
    needed = {*paced, *(tag for tag, limit in asked.items() if limit is not None)}
    missing = needed.difference(row[0] for row in known)
    if missing:
        await tx.bulk(MAKE_TAGS, [(tag, 0) for tag in sorted(missing)])
        known = await tx.all(LOCK_TAGS, tags=tags)
    await tx.bulk(PUT_RATE, rates)
    limited = [row[0] for row in known if row[0] in asked]
    if not limited:
        return dict.fromkeys(asked)
    paces = await _paces(tx, limited)
    now = await tx.now() if paces else 0
    rooms = await _rooms(tx, {row[0]: row[1] for row in known}, asked, limited)
    before = {
        tag: room._replace(slots=paces[tag].slots(now)) if tag in paces else room
        for tag, room in rooms.items()
    }
    after = rooms_after(parts, before)
    for tag, pace in paces.items():
        starts = (before[tag].slots or 0) - (after[tag].slots or 0)
        await tx.run(SET_GRANTS, tag=tag, grants=GRANTS.write(pace.started(now, starts).grants))
    return {**dict.fromkeys(asked), **{tag: room.left for tag, room in after.items()}}


async def _rooms(
    tx: Transaction, own: Mapping[str, int | None], asked: Mapping[str, int | None], tags: Sequence[str]
) -> dict[str, TagRoom]:
    """How tags stand, but for their rates."""
    used = {row[0]: row[1:] for row in await tx.all(USED, tags=list(tags))}
    rooms: dict[str, TagRoom] = {}
    for tag in tags:
        count, lowest, highest = used.get(tag, (0, None, None))
        brought = lowest
        if own[tag] is None and lowest != highest:
            brought = await brought_limit(tx, tag)
        rooms[tag] = TagRoom(count, limit_of(own[tag], brought, asked[tag]))
    return rooms


async def _paces(tx: Transaction, tags: Sequence[str]) -> dict[str, Pace]:
    """The rates of those tags that have one, with the starts that were granted."""
    found: dict[str, Pace] = {}
    for tag, _limit, rate, grants in await tx.all(OWN_LIMITS, tags=list(tags)):
        known = None if rate is None else parse_rate(rate)
        if known is not None:
            found[tag] = Pace(known, () if grants is None else GRANTS.read(grants))
    return found
