"""Tags and permits."""

from collections.abc import Callable, Collection
from copy import copy
from operator import attrgetter

import msgspec

from stretto.engine.events import Granted
from stretto.engine.permits import Waiter, limit_of, rank_of
from stretto.engine.records import AttemptKey
from stretto.model.permit import TagPermit
from stretto.ports.messages import Grant, Letter
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import GrantRule, PermitRow, TagStanding, TagUse
from stretto.ports.places import group_of_tag
from stretto.store.memory.database import Database, Part
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.post import post


class MemoryPermits(Part):
    """See `ports.permits`."""

    async def grant(self, tags: Collection[str], rule: GrantRule) -> list[AttemptKey]:
        db = self._db
        with db.transaction() as now:
            attempts = {key for tag in tags for key, _tag in db.waiters[tag]}
            locked = {tag for attempt in attempts for _key, tag in db.permits_of[attempt]}
            queue = _waiters(db, {key for tag in locked for key, _tag in db.waiters[tag]})
            held = {tag: len(db.holders[tag]) for tag in locked}
            limits = {tag: _limit(db, tag, queue) for tag in locked}
            lucky = rule([waiter for waiter, _key in queue], held, limits, frozenset(locked))
            keys = {waiter.attempt: key for waiter, key in queue}
            for waiter in lucky:
                _let_go(db, keys[waiter.attempt], now)
            return [keys[waiter.attempt] for waiter in lucky]

    async def change_tag(self, tag: str, change: Callable[[TagPermit | None], TagPermit]) -> TagPermit:
        with self._db.transaction():
            before = self._db.tags.get(tag)
            after = copy(change(None if before is None else copy(before)))
            self._db.tags.put(tag, after)
            return copy(after)

    async def delete_tag(self, tag: str) -> bool:
        with self._db.transaction():
            return self._db.tags.pop(tag) is not None

    async def tag(self, tag: str) -> TagPermit | None:
        with self._db.transaction():
            found = self._db.tags.get(tag)
            return None if found is None else copy(found)

    async def tags(self, cut: Cut) -> Slice[TagUse]:
        db = self._db
        with db.transaction():
            names = {*db.tags, *map(str, db.holders.buckets()), *map(str, db.waiters.buckets())}
            return slice_of(select(sorted(names), cut), lambda tag: _use(db, tag))

    async def holders(self, tag: str, cut: Cut) -> Slice[PermitRow]:
        with self._db.transaction():
            return self._rows(self._db.holders[tag], cut)

    async def waiters(self, tag: str, cut: Cut) -> Slice[PermitRow]:
        with self._db.transaction():
            return self._rows(self._db.waiters[tag], cut)

    async def line(self, tag: str, cut: Cut) -> Slice[PermitRow]:
        with self._db.transaction():
            rows = (self._db.permits[at] for at in self._db.waiters[tag])
            by_place = {(rank_of(row.criticality), row.since, row.attempt): row for row in rows}
            return slice_of(select(sorted(by_place), cut), by_place.__getitem__)

    async def permits_of(self, attempts: Collection[AttemptKey]) -> list[PermitRow]:
        with self._db.transaction():
            keys = sorted(at for attempt in set(attempts) for at in self._db.permits_of[attempt])
            return [self._db.permits[at] for at in keys]

    async def standings(self, tags: Collection[str], *, most: int) -> dict[str, TagStanding]:
        with self._db.transaction():
            return {tag: _standing(self._db, tag, most) for tag in tags}

    async def tags_waited_for(self, groups: Collection[int]) -> list[str]:
        with self._db.transaction():
            return sorted(tag for tag in map(str, self._db.waiters.buckets()) if group_of_tag(tag) in groups)

    def _rows(self, entries: Collection[tuple[AttemptKey, str]], cut: Cut) -> Slice[PermitRow]:
        attempts = dict(entries)
        return slice_of(
            select(list(attempts), cut), lambda attempt: self._db.permits[attempt, attempts[attempt]]
        )


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


def _standing(db: Database, tag: str, most: int) -> TagStanding:
    line = _waiters(db, {key for key, _tag in db.waiters[tag]})
    limit, holders = _limit(db, tag, line), [key for key, _tag in db.holders[tag]]
    room = 0 if limit is None else max(limit - len(holders), 0)
    return TagStanding(
        limit=limit,
        held=len(holders),
        holders=tuple(holders[:most]),
        next=tuple(key for _waiter, key in line[:room]),
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
