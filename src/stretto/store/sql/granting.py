"""T9: who waits for permits, and goes now.

Only as many waiters of a tag are read as could go: behind those, all places are taken by who stands before.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from stretto.engine.events import Granted
from stretto.engine.permits import Waiter, limit_of
from stretto.engine.records import AttemptKey
from stretto.ports.messages import Grant, Letter
from stretto.ports.permits import GrantRule, PermitRow
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
    lambda d: f"SELECT tag, max_allowed FROM tag WHERE {d.among('tag', 'tags', TEXT)}"
)
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


async def grant(tx: Transaction, tags: Sequence[str], rule: GrantRule) -> list[AttemptKey]:
    """Let those go that wait for these tags, as far as the rule says."""
    first = await _first_in_line(tx, tags)
    locked = sorted({permit.tag for permits in first.values() for permit in permits})
    if not locked:
        return []
    await tx.bulk(MAKE_TAGS, [(tag, 0) for tag in locked])
    await tx.all(LOCK_TAGS, tags=locked)
    line = await _first_in_line(tx, locked)  # read again: now it holds still
    queue = _waiters(line)
    held, limits = await held_of(tx, locked), await limits_of(tx, locked)
    lucky = rule([waiter for waiter, _key in queue], held, limits, frozenset(locked))
    keys = {waiter.attempt: key for waiter, key in queue}
    going = [keys[waiter.attempt] for waiter in lucky]
    await _let_go(tx, going, line)
    return going


async def _first_in_line(tx: Transaction, tags: Sequence[str]) -> dict[AttemptKey, list[PermitRow]]:
    """Those who wait for these tags and might go, each with all its permits, by attempt."""
    held, limits = await held_of(tx, tags), await limits_of(tx, tags)
    keys: set[tuple[object, ...]] = set()
    for tag in tags:
        limit = limits[tag]
        most = MOST_AT_ONCE if limit is None else max(limit - held.get(tag, 0), 0)
        keys.update(tuple(row) for row in await tx.all(LINE, tag=tag, most=most))
    found: dict[AttemptKey, list[PermitRow]] = {}
    for row in await tx.all(PERMITS_OF, attempts=sorted(keys)) if keys else ():
        permit = permit_row(row)
        found.setdefault(permit.attempt, []).append(permit)
    return found


async def held_of(tx: Transaction, tags: Sequence[str]) -> dict[str, int]:
    return mapped(await tx.all(HELD, tags=list(tags)))


async def limits_of(tx: Transaction, tags: Sequence[str]) -> dict[str, int | None]:
    """What a user set; else what the first holder brought along; else the first waiter."""
    own = mapped(await tx.all(OWN_LIMITS, tags=list(tags)))
    limits: dict[str, int | None] = {}
    for tag in tags:
        limit = own.get(tag)
        if limit is None:
            holder = await tx.one(FIRST_HOLDERS_LIMIT, tag=tag)
            waiter = await tx.one(FIRST_WAITERS_LIMIT, tag=tag) if holder is None else None
            limit = limit_of(None, holder[0] if holder else None, waiter[0] if waiter else None)
        limits[tag] = limit
    return limits


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
    tx: Transaction, going: Sequence[AttemptKey], line: Mapping[AttemptKey, Sequence[PermitRow]]
) -> None:
    """All their permits are granted, and their owners are told."""
    now = await tx.now()
    rows = [(*flat(key), permit.tag, 1) for key in sorted(going) for permit in line[key]]
    await tx.bulk(LET_GO, rows, granted_at=now)
    await post(tx, list(_letters(going, line)), now)


def _letters(going: Iterable[AttemptKey], line: Mapping[AttemptKey, Sequence[PermitRow]]) -> Iterable[Letter]:
    for key in going:
        yield Letter(ref=str(key), to_group=line[key][0].group, body=Grant(event=Granted(attempt=key)))
