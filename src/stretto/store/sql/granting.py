"""T9: who waits for permits, and goes now.

Only as many waiters of a tag are read as could go: behind those, all places are taken by who stands before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from stretto.engine.events import Granted
from stretto.engine.permits import Pace, Waiter, limit_of
from stretto.engine.records import AttemptKey
from stretto.model.permit import parse_rate
from stretto.ports.messages import Grant, Letter
from stretto.ports.permits import GrantRule, Grants, PermitRow
from stretto.store.sql.codec import GRANTS
from stretto.store.sql.database import Transaction
from stretto.store.sql.posting import post
from stretto.store.sql.rows.keys import flat
from stretto.store.sql.rows.permits import ROW, permit_row
from stretto.store.sql.statement import (
    ATTEMPT_KEY,
    TEXT,
    Bulk,
    Statement,
    Way,
    ints,
    mapped,
    names_of,
    same,
    texts,
)

MOST_AT_ONCE: Final = 500  # of a tag without a limit

_KEY: Final = names_of(ATTEMPT_KEY)
MAKE_TAGS: Final = Bulk(way=Way.MISSING, table="tag", key=1, fields=(*texts("tag"), *ints("is_limited")))
LOCK_TAGS: Final = Statement(
    lambda d: (
        f"SELECT tag, max_allowed FROM tag WHERE {d.among('tag', 'tags', TEXT)} ORDER BY tag {d.exclusive}"
    )
)
OWN_LIMITS: Final = Statement(
    lambda d: (
        "SELECT tag.tag, max_allowed, rate, grants FROM tag LEFT JOIN tag_rate ON tag_rate.tag = tag.tag "
        f"WHERE {d.among('tag.tag', 'tags', TEXT)}"
    )
)
SET_GRANTS: Final = Statement("UPDATE tag_rate SET grants = :grants WHERE tag = :tag")
HELD: Final = Statement(
    lambda d: (
        f"SELECT tag, COUNT(*) FROM permit WHERE {d.among('tag', 'tags', TEXT)} AND granted = 1 GROUP BY tag"
    )
)
FIRST_HOLDERS_LIMIT: Final = Statement(
    "SELECT max_allowed FROM permit WHERE tag = :tag AND granted = 1 AND max_allowed IS NOT NULL "
    f"ORDER BY granted_at, {_KEY} LIMIT 1"
)
FIRST_WAITERS_LIMIT: Final = Statement(
    "SELECT max_allowed FROM permit WHERE tag = :tag AND granted = 0 AND max_allowed IS NOT NULL "
    f"ORDER BY place, since, {_KEY} LIMIT 1"
)
LINE: Final = Statement(
    f"SELECT {_KEY} FROM permit WHERE tag = :tag AND granted = 0 ORDER BY place, since, {_KEY} LIMIT :most"
)
PERMITS_OF: Final = Statement(
    lambda d: (
        f"SELECT {', '.join('permit.' + name.strip() for name in ROW.split(','))} "
        f"FROM {d.listed('attempts', ATTEMPT_KEY)} named "
        f"JOIN permit ON {same(ATTEMPT_KEY, 'permit', 'named')} "
        f"ORDER BY {names_of(ATTEMPT_KEY, 'permit.')}, tag"
    )
)
LET_GO: Final = Bulk(
    way=Way.UPDATE,
    table="permit",
    key=6,
    fields=(*ATTEMPT_KEY, *texts("tag"), *ints("granted")),
    common=ints("granted_at"),
)


class Room(NamedTuple):
    """How tags stand: how many hold them, their limits, and the rates of those that have one."""

    held: Mapping[str, int]
    limits: Mapping[str, int | None]
    paces: Mapping[str, Pace]


class Line(NamedTuple):
    """Those who might go, each with all its permits, by attempt; for which slots others wait, and how long;
    and tags whose starts are ahead of the clock.
    """

    permits: Mapping[AttemptKey, list[PermitRow]]
    room: Room
    slots_in: Mapping[str, int] = {}
    ahead: frozenset[str] = frozenset()


async def grant(tx: Transaction, tags: Sequence[str], rule: GrantRule) -> Grants:
    """Let those go that wait for these tags, as far as the rule says."""
    first = await _first_in_line(tx, tags)
    locked = sorted(first.ahead.union(each.tag for permits in first.permits.values() for each in permits))
    if not locked:
        return Grants([], slots_in=first.slots_in)
    # A tag without a row has no limit. One that an attempt brings along needs a row, to be locked.
    limited = {each.tag for permits in first.permits.values() for each in permits if each.limit is not None}
    await tx.bulk(MAKE_TAGS, [(tag, 0) for tag in sorted(limited)])
    await tx.all(LOCK_TAGS, tags=locked)
    line = await _first_in_line(tx, locked)  # read again: now it holds still
    queue = _waiters(line.permits)
    now = await tx.now()
    paces = line.room.paces
    slots = {tag: pace.slots(now) for tag, pace in paces.items()}
    waiters = [waiter for waiter, _key in queue]
    lucky = rule(waiters, line.room.held, line.room.limits, frozenset(locked), slots)
    keys = {waiter.attempt: key for waiter, key in queue}
    going = [keys[waiter.attempt] for waiter in lucky]
    await _let_go(tx, going, line.permits, now)
    starts = Counter(tag for waiter in lucky for tag in waiter.tags if tag in paces)
    for tag in sorted(line.ahead.union(starts)):
        await tx.run(SET_GRANTS, tag=tag, grants=GRANTS.write(paces[tag].started(now, starts[tag]).grants))
    groups = frozenset(line.permits[key][0].group for key in going)
    return Grants(going, groups, {**first.slots_in, **line.slots_in})


async def _first_in_line(tx: Transaction, tags: Sequence[str]) -> Line:
    """Those who wait for these tags and might go."""
    room = await room_of(tx, tags)
    now = await tx.now() if room.paces else 0
    keys: set[tuple[object, ...]] = set()
    slots_in: dict[str, int] = {}
    for tag in tags:
        limit, pace = room.limits[tag], room.paces.get(tag)
        most = MOST_AT_ONCE if limit is None else max(limit - room.held.get(tag, 0), 0)
        if pace is not None and not pace.slots(now):
            if await tx.all(LINE, tag=tag, most=1):
                slots_in[tag] = pace.next_slot(now) - now
            continue
        slots = most if pace is None else min(most, pace.slots(now))
        keys.update(tuple(row) for row in await tx.all(LINE, tag=tag, most=slots))
    found: dict[AttemptKey, list[PermitRow]] = {}
    for row in await tx.all(PERMITS_OF, attempts=sorted(keys)) if keys else ():
        permit = permit_row(row)
        found.setdefault(permit.attempt, []).append(permit)
    ahead = frozenset(tag for tag, pace in room.paces.items() if pace.is_ahead(now))
    return Line(found, room, slots_in, ahead)


async def room_of(tx: Transaction, tags: Sequence[str]) -> Room:
    """A limit is what a user set; else what the first holder brought along; else the first waiter."""
    held = mapped(await tx.all(HELD, tags=list(tags)))
    limits: dict[str, int | None] = dict.fromkeys(tags)
    paces: dict[str, Pace] = {}
    for tag, limit, rate, grants in await tx.all(OWN_LIMITS, tags=list(tags)):
        limits[tag] = limit
        known = None if rate is None else parse_rate(rate)
        if known is not None:
            paces[tag] = Pace(known, () if grants is None else GRANTS.read(grants))
    for tag in tags:
        if limits[tag] is None:
            limits[tag] = await brought_limit(tx, tag)
    return Room(held, limits, paces)


async def brought_limit(tx: Transaction, tag: str) -> int | None:
    """The limit of a tag without one of its own: that of its first holder that has one, else of a waiter."""
    holder = await tx.one(FIRST_HOLDERS_LIMIT, tag=tag)
    waiter = await tx.one(FIRST_WAITERS_LIMIT, tag=tag) if holder is None else None
    return limit_of(None, holder[0] if holder else None, waiter[0] if waiter else None)


def _waiters(line: Mapping[AttemptKey, Sequence[PermitRow]]) -> list[tuple[Waiter, AttemptKey]]:
    """Everybody who was read, in the order of the queue; those of one rank by their keys."""
    made = [
        (
            Waiter(
                str(key),
                tuple(permit.tag for permit in permits),
                permits[0].criticality,
                permits[0].since,
                ticket,
            ),
            key,
        )
        for ticket, (key, permits) in enumerate(sorted(line.items()))
    ]
    return sorted(made, key=lambda pair: pair[0].rank)


async def _let_go(
    tx: Transaction, going: Sequence[AttemptKey], line: Mapping[AttemptKey, Sequence[PermitRow]], now: int
) -> None:
    """All their permits are granted, and their owners are told."""
    rows = [(*flat(key), permit.tag, 1) for key in sorted(going) for permit in line[key]]
    await tx.bulk(LET_GO, rows, granted_at=now)
    await post(tx, list(_letters(going, line)), now)


def _letters(going: Iterable[AttemptKey], line: Mapping[AttemptKey, Sequence[PermitRow]]) -> Iterable[Letter]:
    for key in going:
        yield Letter(ref=str(key), to_group=line[key][0].group, body=Grant(event=Granted(attempt=key)))
