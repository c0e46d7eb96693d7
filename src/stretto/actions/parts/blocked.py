"""Why an attempt does not get its permits: who holds them, and who goes before it."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.reading.lines import AttemptRef, attempt_ref
from stretto.actions.reading.listing import Sight
from stretto.engine.records import AttemptKey
from stretto.ports.permits import TagStanding
from stretto.ports.store import Store

MOST_NAMED: Final = 5  # holders, or waiters before it, of a tag
MOST_TAGS: Final = 50  # that are looked at for one answer


class BlockedBy(msgspec.Struct, frozen=True, kw_only=True):
    """A tag of which there is no permit for somebody.

    max_allowed   How many there are; 0, if only a rate is in the way.
    next_slot     Of a tag with a rate that allows no start now: when the next is allowed.
    held          How many of them are held; where some are left, others in the line go before.
    holders       Some of those who hold one, as far as the reader may see them.
    ahead         Some of those who go before, the first one first, as far as the reader may see them.
    """

    tag: str
    max_allowed: int
    held: int
    next_slot: int | None = None
    holders: tuple[AttemptRef, ...] = ()
    ahead: tuple[AttemptRef, ...] = ()


class Blocked(NamedTuple):
    """What is in the way of some attempts, and which tags were looked at."""

    by: Mapping[AttemptKey, tuple[BlockedBy, ...]]
    tags: Collection[str]


async def blocked_by(store: Store, caller: Caller, waiting: Mapping[AttemptKey, Collection[str]]) -> Blocked:
    """The tags that are in the way of each attempt, of those that it waits for."""
    tags = dict.fromkeys(tag for wanted in waiting.values() for tag in wanted)
    standings = await store.standings(list(islice(tags, MOST_TAGS)), most=MOST_NAMED) if tags else {}
    named = {key.run.workflow_id for each in standings.values() for key in (*each.holders, *each.next)}
    seen = await Sight(store, caller).of(named)
    found = {
        attempt: tuple(
            _blocked(tag, standings[tag], standings[tag].limit or 0, seen)
            for tag in wanted
            if tag in standings and standings[tag].blocks(attempt)
        )
        for attempt, wanted in waiting.items()
    }
    return Blocked(found, standings.keys())


def _blocked(tag: str, standing: TagStanding, limit: int, seen: Collection[str]) -> BlockedBy:
    return BlockedBy(
        tag=tag,
        max_allowed=limit,
        held=standing.held,
        next_slot=standing.next_slot,
        holders=_seen(standing.holders, seen),
        ahead=_seen(standing.next, seen),
    )


def _seen(attempts: Collection[AttemptKey], seen: Collection[str]) -> tuple[AttemptRef, ...]:
    visible = (each for each in attempts if each.run.workflow_id in seen)
    return tuple(attempt_ref(each) for each in islice(visible, MOST_NAMED))
