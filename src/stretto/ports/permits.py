"""Tags with limits, and which attempts hold or wait for them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

import msgspec

from stretto.engine.permits import Limits, Waiter
from stretto.engine.records import AttemptKey
from stretto.model.permit import TagPermit
from stretto.model.workflow import Criticality
from stretto.ports.paging import Cut, Slice

GrantRule = Callable[
    [Iterable[Waiter], Mapping[str, int], Limits, frozenset[str], Mapping[str, int]], list[Waiter]
]
"""Pure: waiters, how many hold each tag, limits, the tags that are locked, how many may start now of each tag
that has a rate -> who goes now. The one that ships is `engine.permits.granted`. A waiter's `attempt` is the
text of its key; those of one rank are told apart by `ticket`, in the order of their keys."""


class PermitRow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that holds, or waits for, one tag."""

    attempt: AttemptKey
    tag: str
    group: int  # of its run: where it is told
    granted: bool
    since: int  # when it began to wait
    criticality: Criticality | None = None
    limit: int | None = None  # what it brought along, for a tag without a limit of its own
    granted_at: int | None = None


class TagUse(msgspec.Struct, frozen=True, kw_only=True):
    """A tag, its limit as a user set it, and its use. A tag without a limit is listed while it is used."""

    tag: str
    max_allowed: int | None = None
    held: int = 0
    waiting: int = 0
    oldest: int | None = None  # since when the first waiter waits


class Grants(NamedTuple):
    """Who goes now, in order, and the groups of their runs; of tags that somebody waits for because of their
    rate: in how many milliseconds the next slot is free; and the tags, of those asked for, that somebody
    waited for.
    """

    attempts: list[AttemptKey]
    groups: frozenset[int] = frozenset()
    slots_in: Mapping[str, int] = {}
    waited_for: frozenset[str] = frozenset()


class TagStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How a tag stands at one moment: who would get a permit of it, and who has one."""

    limit: int | None = None  # the one that counts now; None: it is free
    held: int = 0
    holders: tuple[AttemptKey, ...] = ()  # some of them, by attempt
    next: tuple[AttemptKey, ...] = ()  # for whom there is room, in their order; without a limit nobody
    next_slot: int | None = None  # when the next may start, if its rate allows none now

    def blocks(self, attempt: AttemptKey) -> bool:
        """Whether an attempt that waits can not go because of this tag."""
        return self.next_slot is not None or (self.limit is not None and attempt not in self.next)


class HoldersOf(NamedTuple):
    """Who holds a tag, by attempt."""

    tag: str
    cut: Cut


class LineFor(NamedTuple):
    """Who waits for a tag, the first to go first: by (rank of the criticality, since, attempt)."""

    tag: str
    cut: Cut


class PermitsOf(NamedTuple):
    """Everything that these attempts hold or wait for, by attempt and tag."""

    attempts: Collection[AttemptKey]


PermitSelection = HoldersOf | LineFor | PermitsOf


class Permits(Protocol):
    """Commits insert the rows of an attempt and delete them with its end. A commit lets an attempt go if
    there is room behind all who wait; `grant` lets those go who stand in line.

    The limit of a tag: what a user set; else what the attempt brought along that was granted first among its
    holders; else the first of its waiters that brought one, in their order. None of them: no limit.
    """

    async def grant(self, tags: Collection[str], rule: GrantRule) -> Grants:
        """T9. Let those go that wait for these tags, as far as the rule says, each for all its tags or none.

        Locks these tags and all others of who waits for them, then reads, asks the rule and writes: `granted`
        on the rows, and a message to the group of each attempt. So a tag is never held by more attempts than
        its limit was when it was granted, and in any time of the length of its rate no more are granted than
        the rate says, on the database's clock. Starts that are later than that clock, because it was set
        back, are stored as if they were granted now, so that nobody waits longer for them than the time of
        the rate. Attempts that came or went meanwhile are left to the next call: call it again while it
        grants something. Idempotent.
        """
        ...

    async def change_tag(self, tag: str, change: Callable[[TagPermit | None], TagPermit]) -> TagPermit:
        """Set the limit of a tag under its lock, from what it was. A lower limit takes nothing from anybody;
        after a higher one the caller grants.
        """
        ...

    async def delete_tag(self, tag: str) -> bool:
        """Forget the limit of a tag; the caller grants, because nobody need wait now. False: it has none."""
        ...

    async def tag(self, tag: str) -> TagPermit | None:
        """The limit of a tag, if a user set one. Only reads."""
        ...

    async def tags(self, cut: Cut) -> Slice[TagUse]:
        """Tags with a limit or in use, by name. Only reads."""
        ...

    async def permits(self, selection: PermitSelection) -> Slice[PermitRow]:
        """The selected permits, in the order of the selection. Only reads."""
        ...

    async def standings(self, tags: Collection[str], *, most: int) -> dict[str, TagStanding]:
        """How each of some tags stands, with at most so many of its holders. Only reads."""
        ...

    async def tags_waited_for(self, groups: Collection[int]) -> list[str]:
        """Tags at home in these groups that somebody waits for, for a sweep. Only reads."""
        ...
