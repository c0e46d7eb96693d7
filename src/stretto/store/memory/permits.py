"""Tags and permits."""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from operator import attrgetter

import msgspec

from stretto.engine.events import Granted
from stretto.engine.permits import Pace, TagRoom, Waiter, limit_of, rank_of
from stretto.engine.records import AttemptKey
from stretto.model.permit import TagPermit, parse_rate
from stretto.ports.commit import GroupPart, rooms_after, taken_tags
from stretto.ports.messages import Grant, Letter
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
from stretto.ports.places import group_of_tag
from stretto.store.memory.database import Database, Part
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.post import post


class MemoryPermits(Part):
    """See `ports.permits`."""

    async def grant(self, tags: Collection[str], rule: GrantRule) -> Grants:
        db = self._db
        with db.transaction() as now:
            attempts = {key for tag in tags for key, _tag in db.waiters[tag]}
            locked = {tag for attempt in attempts for _key, tag in db.permits_of[attempt]}
            queue = _waiters(db, {key for tag in locked for key, _tag in db.waiters[tag]})
            held = {tag: len(db.holders[tag]) for tag in locked}
            limits = {tag: _limit(db, tag, queue) for tag in locked}
            paces = {tag: pace for tag in locked if (pace := db.paces.get(tag)) is not None}
            slots = {tag: pace.slots(now) for tag, pace in paces.items()}
            lucky = rule([waiter for waiter, _key in queue], held, limits, frozenset(locked), slots)
            keys = {waiter.attempt: key for waiter, key in queue}
            for waiter in lucky:
                _let_go(db, keys[waiter.attempt], now)
            for tag, pace in paces.items():
                count = sum(tag in waiter.tags for waiter in lucky)
                paces[tag] = pace.started(now, count)
                db.paces.put(tag, paces[tag])
            waited_for = [tag for tag, pace in paces.items() if db.waiters[tag] and not pace.slots(now)]
            slots_in = {tag: paces[tag].next_slot(now) - now for tag in waited_for}
            return Grants(
                [keys[waiter.attempt] for waiter in lucky],
                frozenset(db.permits[keys[waiter.attempt], waiter.tags[0]].group for waiter in lucky),
                slots_in,
                frozenset(tag for tag in tags if db.waiters[tag]),
            )

    async def change_tag(self, tag: str, change: Callable[[TagPermit | None], TagPermit]) -> TagPermit:
        with self._db.transaction():
            before = self._db.tags.get(tag)
            after = copy(change(None if before is None else copy(before)))
            self._db.tags.put(tag, after)
            if after.rate is not None:
                set_rate(self._db, tag, after.rate)
            elif before is not None and before.rate is not None:
                self._db.paces.pop(tag)
            return copy(after)

    async def delete_tag(self, tag: str) -> bool:
        with self._db.transaction():
            found = self._db.tags.pop(tag)
            if found is not None and found.rate is not None:
                self._db.paces.pop(tag)
            return found is not None

    async def tag(self, tag: str) -> TagPermit | None:
        with self._db.transaction():
            found = self._db.tags.get(tag)
            return None if found is None else copy(found)

    async def tags(self, cut: Cut) -> Slice[TagUse]:
        db = self._db
        with db.transaction():
            names = {*db.tags, *map(str, db.holders.buckets()), *map(str, db.waiters.buckets())}
            return slice_of(select(sorted(names), cut), lambda tag: _use(db, tag))

    async def permits(self, selection: PermitSelection) -> Slice[PermitRow]:
        db = self._db
        with db.transaction():
            match selection:
                case HoldersOf(tag, cut):
                    attempts = dict(db.holders[tag])
                    page = select(list(attempts), cut)
                    return slice_of(page, lambda attempt: db.permits[attempt, attempts[attempt]])
                case LineFor(tag, cut):
                    rows = (db.permits[at] for at in db.waiters[tag])
                    by_place = {(rank_of(row.criticality), row.since, row.attempt): row for row in rows}
                    return slice_of(select(sorted(by_place), cut), by_place.__getitem__)
                case PermitsOf(wanted):
                    keys = sorted(at for attempt in set(wanted) for at in db.permits_of[attempt])
                    return Slice(elements=tuple(db.permits[at] for at in keys))

    async def standings(self, tags: Collection[str], *, most: int) -> dict[str, TagStanding]:
        with self._db.transaction() as now:
            return {tag: _standing(self._db, tag, most, now) for tag in tags}

    async def tags_waited_for(self, groups: Collection[int]) -> list[str]:
        with self._db.transaction():
            return sorted(tag for tag in map(str, self._db.waiters.buckets()) if group_of_tag(tag) in groups)


def _let_go(db: Database, attempt: AttemptKey, now: int) -> None:
    """All its permits are granted, and its owner is told."""
    rows = [db.permits[at] for at in db.permits_of[attempt]]
    for row in rows:
        db.permits.put((attempt, row.tag), msgspec.structs.replace(row, granted=True, granted_at=now))
    body = Grant(event=Granted(attempt=attempt))
    post(db, Letter(ref=str(attempt), to_group=rows[0].group, body=body), now)


def _waiters(db: Database, attempts: Collection[AttemptKey]) -> list[tuple[Waiter, AttemptKey]]:
    """Everybody who waits, in the order of the queue; those of one rank by their keys."""
    made: list[tuple[Waiter, AttemptKey]] = []
    for ticket, key in enumerate(sorted(attempts)):
        tags = tuple(tag for _key, tag in db.permits_of[key])
        row = db.permits[key, tags[0]]
        made.append((Waiter(str(key), tags, row.criticality, row.since, ticket), key))
    return sorted(made, key=lambda pair: pair[0].rank)


def _limit(db: Database, tag: str, queue: list[tuple[Waiter, AttemptKey]]) -> int | None:
    """What a user set; else what the first holder brought along; else the first waiter."""
    own = db.tags.get(tag)
    holders = sorted((db.permits[at] for at in db.holders[tag]), key=attrgetter("granted_at", "attempt"))
    waiters = (db.permits[key, tag] for _waiter, key in queue if (key, tag) in db.permits)
    return limit_of(
        None if own is None else own.max_allowed,
        next((row.limit for row in holders if row.limit is not None), None),
        next((row.limit for row in waiters if row.limit is not None), None),
    )


def set_rate(db: Database, tag: str, text: str) -> None:
    """A tag has this rate from now on; starts that were granted count on."""
    rate, before = parse_rate(text), db.paces.get(tag)
    if rate is not None:
        db.paces.put(tag, Pace(rate, () if before is None else before.grants))


def take_permits(db: Database, parts: Sequence[GroupPart], now: int) -> dict[str, int | None]:
    """Check the permits that decisions took, and note starts where there is a rate. Returns what is left."""
    tags = taken_tags(parts)
    if not tags:
        return {}
    for part in parts:
        for tag, rate in (
            (tag, rate) for each in part.decisions for ask in each.permits for tag, rate in ask.rates.items()
        ):
            set_rate(db, tag, rate)
    rooms = {tag: _room(db, tag, use.limit, now) for tag, use in tags.items()}
    after = rooms_after(parts, rooms)
    for tag, room in after.items():
        pace, slots, left = db.paces.get(tag), rooms[tag].slots, room.slots
        if pace is not None and slots is not None and left is not None:
            db.paces.put(tag, pace.started(now, slots - left))
    return {tag: room.left for tag, room in after.items()}


def _room(db: Database, tag: str, asked: int | None, now: int) -> TagRoom:
    line = _waiters(db, {key for key, _tag in db.waiters[tag]})
    pace = db.paces.get(tag)
    return TagRoom(
        used=len(db.holders[tag]) + len(line),
        limit=limit_of(None, _limit(db, tag, line), asked),
        slots=None if pace is None else pace.slots(now),
    )


def _standing(db: Database, tag: str, most: int, now: int) -> TagStanding:
    pace = db.paces.get(tag)
    line = _waiters(db, {key for key, _tag in db.waiters[tag]})
    limit, holders = _limit(db, tag, line), [key for key, _tag in db.holders[tag]]
    room = 0 if limit is None else max(limit - len(holders), 0)
    return TagStanding(
        limit=limit,
        held=len(holders),
        holders=tuple(holders[:most]),
        next=tuple(key for _waiter, key in line[:room]),
        next_slot=None if pace is None or pace.slots(now) else pace.next_slot(now),
    )


def _use(db: Database, tag: str) -> TagUse:
    own = db.tags.get(tag)
    waiters = db.waiters[tag]
    return TagUse(
        tag=tag,
        max_allowed=None if own is None else own.max_allowed,
        held=len(db.holders[tag]),
        waiting=len(waiters),
        oldest=min((db.permits[at].since for at in waiters), default=None),
    )
