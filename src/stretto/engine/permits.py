"""Which permits a step needs before it starts, and who gets the free ones.

    permits_of(...)                       -> {tag: limit}       None: the tag's own row decides, else no limit
    granted(waiters, held, limits, ...)   -> the waiters that go now, in order

The grant rule: waiters stand in line by criticality, then by age; a waiter gets all its permits or none, and
nobody passes an earlier waiter for the same permit. So the first in line is the first for each of its tags,
nobody waits while holding something, and a step that needs many scarce tags gets its turn like any other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Protocol

import msgspec

from stretto.engine.records import appended
from stretto.model.permit import Rate, TagPermit, TagPermitRequest
from stretto.model.tag import Tag
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.model.workflow import Criticality, Workflow

Limits = Mapping[str, int | None]
NO_SLOTS: Final[Mapping[str, int]] = {}


class PermitDefaults(msgspec.Struct, frozen=True, kw_only=True):
    """Limits where nobody set one. Ours are none: what a user did not limit does not wait."""

    workflow: int | None = None  # steps of a workflow at once, over all its instances
    step: int | None = None  # attempts of one step at once, over all instances


MAESTRO_DEFAULTS: Final = PermitDefaults(workflow=20, step=20)


class Concurrency(msgspec.Struct, frozen=True, kw_only=True):
    """How many steps at once an author allowed: over a workflow's instances, and in one tree of runs."""

    workflow: int | None = None  # `step_concurrency` of the properties
    instance: int | None = None  # `instance_step_concurrency` of the workflow


def permits_of(tags: Iterable[Tag], runtime: Limits) -> dict[str, int | None]:
    """Everything that a step must hold: its own tags, with their own limits, and those of the runtime."""
    return {**{tag.name: tag.permit for tag in tags}, **runtime}


def runtime_permits(
    workflow_id: str,
    step_id: str,
    correlation_id: str,
    concurrency: Concurrency,
    *,
    leaf: bool,
    defaults: PermitDefaults,
) -> dict[str, int | None]:
    """The tags by which the engine limits concurrency.

    A step that only waits for other steps (a loop, a subworkflow) takes no permit of its tree: its children
    do, and a parent that holds what they wait for would never end.
    """
    limits: dict[str, int | None] = {}
    if concurrency.instance is None:
        limits[f"maestro_{workflow_id}"] = concurrency.workflow or defaults.workflow
        limits[f"maestro_{workflow_id}:{step_id}"] = defaults.step
    else:
        limits[f"maestro_{workflow_id}"] = concurrency.workflow
        limits[f"maestro_{correlation_id}"] = concurrency.instance if leaf else None
    return {tag: limit for tag, limit in limits.items() if limit is not None}


def inherited_limit(workflow: Workflow) -> int:
    """`instance_step_concurrency` as the runs inherit it that a step of this workflow starts; 0: no limit."""
    return workflow.instance_step_concurrency or 0


def limited_by_tree(workflow: Workflow, tree_limit: int | None) -> Workflow:
    """The definition that a run follows, with the limit of its tree. The root of a tree sets one limit for
    all runs below it: what their own definitions say does not count.
    """
    if tree_limit is None:
        return workflow
    return msgspec.structs.replace(workflow, instance_step_concurrency=tree_limit or None)


def limit_of(row: int | None, recorded: int | None, asked: int | None) -> int | None:
    """The limit of a tag: its own row, else what the first holder brought along, else what is asked for."""
    return next((limit for limit in (row, recorded, asked) if limit is not None), None)


# --------------------------------------------------------------------------------------------- the grant rule
class Waiter(msgspec.Struct, frozen=True):
    """An attempt that waits for its permits. `ticket` tells apart those that came at the same time."""

    attempt: str
    tags: tuple[str, ...]
    criticality: Criticality | None
    since: int
    ticket: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        return rank_of(self.criticality), self.since, self.ticket


_ORDER: Final[Mapping[Criticality | None, int]] = {
    **{criticality: place for place, criticality in enumerate(Criticality)},
    None: list(Criticality).index(Criticality.MEDIUM),  # who says nothing is neither urgent nor idle
}


def rank_of(criticality: Criticality | None) -> int:
    """The lower, the sooner somebody goes."""
    return _ORDER[criticality]


def granted(
    waiters: Iterable[Waiter],
    held: Mapping[str, int],
    limits: Limits,
    locked: frozenset[str] | None = None,
    slots: Mapping[str, int] = NO_SLOTS,
) -> list[Waiter]:
    """Who goes now. A tag without a limit is free; a waiter for a tag that is not locked keeps its place. A
    tag with a rate has so many `slots` for starts at this moment.
    """
    ahead = Counter(held)  # holders, and whoever stands before the one that is looked at
    lucky: list[Waiter] = []
    for waiter in sorted(waiters, key=lambda each: each.rank):
        if (
            (locked is None or locked.issuperset(waiter.tags))
            and all((limit := limits.get(tag)) is None or ahead[tag] < limit for tag in waiter.tags)
            and all(ahead[tag] - held.get(tag, 0) < slots[tag] for tag in waiter.tags if tag in slots)
        ):
            lucky.append(waiter)
        ahead.update(waiter.tags)
    return lucky


# -------------------------------------------------------------------------------------------- taking permits
class Room(Protocol):
    """What the decider of a run knows of the permits that are left. It may be wrong: the commit checks."""

    def has_room(self, limits: Limits, taken: Mapping[str, int]) -> bool:
        """Whether an attempt can take all of these permits without standing in line. `taken` counts what the
        decision under way has taken of each tag, less what it has returned.
        """
        ...


class NoRoom:
    """Nothing is known: every attempt stands in line."""

    def has_room(self, limits: Limits, taken: Mapping[str, int]) -> bool:  # noqa: ARG002 - nothing is known
        """Never."""
        return False


NO_ROOM: Final[Room] = NoRoom()


class PermitUse(NamedTuple):
    """What one decision does with the permits of a tag, beside what was stored before it.

    peak    the most that are held at one moment because the decision took some, beyond those stored
    net     how many attempts more hold the tag or wait for it after the decision; negative: fewer
    starts  how many attempts took the tag
    limit   the limit that the first of these attempts brought along
    """

    peak: int = 0
    net: int = 0
    starts: int = 0
    limit: int | None = None

    @property
    def is_handed_over(self) -> bool:
        """Whether what is taken was returned before, so that at no moment more hold the tag."""
        return self.peak <= 0

    def taken(self, limit: int | None) -> "PermitUse":
        """One more attempt takes the tag, and keeps it."""
        return self.passed(limit).changed(1)

    def passed(self, limit: int | None, attempts: int = 1) -> "PermitUse":
        """Attempts took the tag one after the other, and each has ended."""
        return self.then(PermitUse(1, 0, attempts, limit))

    def changed(self, by: int) -> "PermitUse":
        """One more attempt waits for the tag, or one fewer has anything to do with it."""
        return PermitUse(self.peak, self.net + by, self.starts, self.limit)

    def then(self, use: "PermitUse") -> "PermitUse":
        """What both do, one after the other."""
        if not use.starts:
            return self.changed(use.net)
        peak = self.net + use.peak
        known = self.limit if self.limit is not None else use.limit
        return PermitUse(
            max(self.peak, peak) if self.starts else peak, self.net + use.net, self.starts + use.starts, known
        )


class TagRoom(NamedTuple):
    """How a tag stands: who holds it or waits for it, its limit, and how many may start now by its rate."""

    used: int
    limit: int | None = None
    slots: int | None = None

    def fits(self, use: PermitUse) -> bool:
        """Whether a decision may take what it took: whoever waits already goes first."""
        return (self.limit is None or self.used + use.peak <= self.limit) and (
            self.slots is None or use.starts <= self.slots
        )

    def after(self, use: PermitUse) -> "TagRoom":
        """How the tag stands after the decision."""
        slots = None if self.slots is None else self.slots - use.starts
        return TagRoom(self.used + use.net, self.limit, slots)

    @property
    def left(self) -> int | None:
        """How many more can take the tag now; None: any number."""
        bounds = [self.slots, None if self.limit is None else self.limit - self.used]
        return min((max(bound, 0) for bound in bounds if bound is not None), default=None)


# ------------------------------------------------------------------------------------------------------ rates
class Pace(NamedTuple):
    """A rate, and when starts were granted under it: all that still count, and maybe older ones.

    A start counts for the time of the rate, from the moment of its grant on. So in any time of this length,
    wherever it begins, no more starts are granted than the rate says. One that is later than now was granted
    before the clock was set back, nobody knows how long ago: it counts as if it were granted now.
    """

    rate: Rate
    grants: tuple[int, ...] = ()

    def counting(self, now: int) -> tuple[int, ...]:
        """The starts that count now, none of them later."""
        return tuple(min(at, now) for at in self.grants if at > now - self.rate.millis)

    def is_ahead(self, now: int) -> bool:
        """Whether some start is later than now. Until that is corrected in the store, it counts anew with
        each look.
        """
        return any(at > now for at in self.grants)

    def slots(self, now: int) -> int:
        """How many may start now."""
        return max(0, self.rate.starts - len(self.counting(now)))

    def next_slot(self, now: int) -> int:
        """When the next one may start: never later than the time of the rate from now on."""
        counting = sorted(self.counting(now))
        free = len(counting) - self.rate.starts
        return now if free < 0 else counting[free] + self.rate.millis

    def started(self, now: int, count: int) -> "Pace":
        """After so many more starts. What no longer counts is forgotten, and what was ahead is corrected."""
        return self._replace(grants=(*self.counting(now), *[now] * count))


def rate_tag(workflow_id: str, step_id: str) -> str:
    """The tag by which the starts of a step with a rate are counted, over all runs of its workflow."""
    return f"rate_{workflow_id}:{step_id}"


# --------------------------------------------------------------------------------------------- changing a tag
def with_limit(before: TagPermit | None, request: TagPermitRequest, user: User, now: int) -> TagPermit:
    """The permit of a tag after a user set its limit; what an earlier request brought along is forgotten."""
    limit = f"limit [{request.max_allowed}]" if request.max_allowed is not None else "no limit"
    if request.rate is not None:
        limit += f" and rate [{request.rate}]"
    if before is None:
        line = f"User [{user.name}] created the tag permit with {limit}"
    else:
        line = f"User [{user.name}] updated the tag permit to the new {limit}"
    earlier = tuple(before.timeline or ()) if before is not None else ()
    timeline = appended(earlier, [LogEvent(timestamp=now, message=line)])
    return TagPermit(
        tag=request.tag,
        max_allowed=request.max_allowed,
        rate=request.rate,
        timeline=list(timeline),
        extra=request.extra,
    )
