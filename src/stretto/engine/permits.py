"""Which permits a step needs before it starts, and who gets the free ones.

    permits_of(...)                       -> {tag: limit}       None: the tag's own row decides, else no limit
    granted(waiters, held, limits, ...)   -> the waiters that go now, in order

The grant rule: waiters stand in line by criticality, then by age; a waiter gets all its permits or none, and
nobody passes an earlier waiter for the same permit. So the first in line is the first for each of its tags,
nobody waits while holding something, and a step that needs many scarce tags gets its turn like any other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from stretto.engine.timeline import appended
from stretto.model.permit import TagPermit, TagPermitRequest
from stretto.model.tag import Tag
from stretto.model.timeline import LogEvent
from stretto.model.user import User
from stretto.model.workflow import Criticality

Limits = Mapping[str, int | None]


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
) -> list[Waiter]:
    """Who goes now. A tag without a limit is free; a waiter for a tag that is not locked keeps its place."""
    ahead = Counter(held)  # holders, and whoever stands before the one that is looked at
    lucky: list[Waiter] = []
    for waiter in sorted(waiters, key=lambda each: each.rank):
        if (locked is None or locked.issuperset(waiter.tags)) and all(
            (limit := limits.get(tag)) is None or ahead[tag] < limit for tag in waiter.tags
        ):
            lucky.append(waiter)
        ahead.update(waiter.tags)
    return lucky


# --------------------------------------------------------------------------------------------- changing a tag
def with_limit(before: TagPermit | None, request: TagPermitRequest, user: User, now: int) -> TagPermit:
    """The permit of a tag after a user set its limit; what an earlier request brought along is forgotten."""
    limit = request.max_allowed
    if before is None:
        line = f"User [{user.name}] created the tag permit with limit [{limit}]"
    else:
        line = f"User [{user.name}] updated the tag permit to the new limit [{limit}]"
    earlier = tuple(before.timeline or ()) if before is not None else ()
    timeline = appended(earlier, [LogEvent(timestamp=now, message=line)])
    return TagPermit(tag=request.tag, max_allowed=limit, timeline=list(timeline), extra=request.extra)
