"""What the performer answers where no port has a record for it."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.engine.flow import Flow
from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.rows import Lease, NodeId, RunRow
from stretto.ports.suspicion import NONE, Suspicion
from stretto.ports.triggers import TimeTriggerRow

NO_ONE: Final[Mapping[AttemptKey, NodeId]] = {}


class ClaimAnswer(NamedTuple):
    """Groups that are the node's from now on, and leases of it that somebody has ended."""

    taken: list[Lease]
    ended: list[Lease]


class LoadedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group at a glance. `runs`: those that are ADMITTED or LIVE, with when they must be looked at."""

    admitted: tuple[RunKey, ...]
    live: tuple[tuple[RunKey, int | None], ...]
    seq: int
    falls: int = 0
    suspicion: Suspicion = NONE


class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in memory, as it was committed, and the columns around it."""

    flow: Flow
    row: RunRow
    runs_on: Mapping[AttemptKey, NodeId] = NO_ONE  # of attempts that are launched
    granted: frozenset[AttemptKey] = frozenset()


class TagWaits(NamedTuple):
    """In how many milliseconds the next start of a tag is free, if somebody waits for its rate; and all tags,
    of those that were looked at, that somebody waits for.
    """

    slots_in: Mapping[str, int] = {}
    waited_for: frozenset[str] = frozenset()


class DueTriggers(msgspec.Struct, frozen=True, kw_only=True):
    """Time triggers that are due, the oldest first, those of these groups before those that are late, and in
    how many milliseconds the next one is due or late; None: there is no other.
    """

    rows: tuple[TimeTriggerRow, ...] = ()
    wait: int | None = None


class Untrusted(Exception):
    """A start was not made: the trust of the node has lapsed since it asked for it."""
