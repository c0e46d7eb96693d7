"""Planted bugs of messages, permits, signals and the change log: see `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from tests.simulation.plant import Planted, replaced

from stretto.engine.permits import Waiter
from stretto.node import decider
from stretto.node.decider import Decider
from stretto.node.draft import Draft
from stretto.node.effect_queue import EffectQueue
from stretto.ports.events import LogRow
from stretto.ports.retention import Aged
from stretto.store.memory import commits, permits, retention
from stretto.store.memory import runs as workflow_transactions
from stretto.store.memory.retention import MemoryRetention


def action_not_answered() -> AbstractContextManager[None]:
    """An action is consumed with its effect, and its caller never hears of it."""
    return replaced(Decider, "_answer", lambda _before: lambda _self, _draft, _message, _outcome: None)


def some_permits_granted() -> AbstractContextManager[None]:
    """Of the permits that an attempt waits for, one is granted."""

    def make(let_go: Any) -> Any:
        def first_only(db: Any, attempt: Any, now: int) -> None:
            others = [db.permits[at] for at in db.permits_of[attempt][1:]]
            let_go(db, attempt, now)
            for row in others:
                db.permits.put((attempt, row.tag), row)

        return first_only

    return replaced(permits, "_let_go", make)


def permits_kept() -> AbstractContextManager[None]:
    """An attempt that ends keeps its permits."""
    return replaced(commits._Writing, "_release", lambda _before: lambda _self, _attempt: None)


def newest_waiter_first() -> AbstractContextManager[None]:
    """Of those who wait for a permit, the newest goes first."""
    return replaced(Waiter, "rank", lambda _before: property(lambda self: (0, -self.since, -self.ticket)))


def signal_wait_kept() -> AbstractContextManager[None]:
    """An attempt that has its signal still waits for it in the store."""
    return replaced(decider, "_end_waits", lambda _before: lambda _entry, _draft, _record: None)


def log_in_disorder() -> AbstractContextManager[None]:
    """A row of the change log tells its events in reverse."""

    def make(write: Any) -> Any:
        def written(self: Any) -> None:
            write(self)
            at = self._group, self._part.seq
            row: LogRow | None = self._db.log.get(at)
            if row is not None:
                self._db.log.put(at, msgspec.structs.replace(row, events=row.events[::-1]))

        return written

    return replaced(commits._Writing, "_write_log", make)


def end_in_queue_not_told() -> AbstractContextManager[None]:
    """The change log does not hear of a run that ends in its queue."""
    return replaced(workflow_transactions, "post_end", lambda _before: lambda _db, _row, _now, _old: None)


def whole_log_forgotten() -> AbstractContextManager[None]:
    """The change log of a group is trimmed to nothing, and numbering begins anew."""

    def make(prune_rightly: Any) -> Any:
        async def prune(self: Any, aged: Aged, before: int, *, most: int = 500) -> int:
            if aged is not Aged.LOG:
                gone: int = await prune_rightly(self, aged, before, most=most)
                return gone
            with self._db.transaction():
                old = [at for at in sorted(self._db.log) if self._db.log[at].at < before][:most]
                for at in old:
                    self._db.log.pop(at)
                return len(old)

        return prune

    return replaced(MemoryRetention, "prune", make)


def parent_forgotten() -> AbstractContextManager[None]:
    """An instance is forgotten although messages are about it, or its failure blocks a queue."""

    def make(_may_go: Any) -> Any:
        def may_go(db: Any, tree: Any, before: int, _named: Any) -> bool:
            return all(retention._ended_before(db.runs[key], before) for key in tree)

        return may_go

    return replaced(retention, "_may_go", make)


def outcome_counted_twice() -> AbstractContextManager[None]:
    """A run that ends in a commit is counted twice."""

    def make(count: Any) -> Any:
        def twice(db: Any, row: Any, now: int) -> None:
            count(db, row, now)
            count(db, row, now)

        return twice

    return replaced(commits, "count_outcome", make)


def start_taken_as_answered() -> AbstractContextManager[None]:
    """The start of a child counts as answered when anything was answered that was asked for its step."""
    return replaced(
        EffectQueue, "_unmark", lambda _: lambda _self, entry, _ask, attempt: entry.carrying.discard(attempt)
    )


def start_not_awaited() -> AbstractContextManager[None]:
    """Who ends a step whose child is being started looks for the child at once."""
    return replaced(EffectQueue, "carry_for_child", lambda _before: EffectQueue.carry)


def due_noted_early() -> AbstractContextManager[None]:
    """A due time counts as stored when its commit is composed, also if that is refused and composed again."""

    def make(decide: Any) -> Any:
        def decided(self: Any, now: int) -> Any:
            told = decide(self, now)
            self.stored()
            return told

        return decided

    return replaced(Draft, "decided", make)


MESSAGES_PLANTS: Mapping[str, Planted] = {
    "start_taken_as_answered": Planted(start_taken_as_answered, 343, ("I9:",)),
    "start_not_awaited": Planted(start_not_awaited, 54, ("I9:",)),
    "due_noted_early": Planted(due_noted_early, 290, ("I2:",)),
    "action_not_answered": Planted(action_not_answered, 0, ("I13:",)),
    "some_permits_granted": Planted(some_permits_granted, 27, ("I10:",)),
    "permits_kept": Planted(permits_kept, 3, ("I10:",)),
    "newest_waiter_first": Planted(newest_waiter_first, 176, ("I10:",)),
    "signal_wait_kept": Planted(signal_wait_kept, 10, ("I10:",)),
    "log_in_disorder": Planted(log_in_disorder, 34, ("I14:",)),
    "end_in_queue_not_told": Planted(
        end_in_queue_not_told,
        12,
        (
            "I14:",
            "I9:",
            "I8:",
        ),
    ),
    "whole_log_forgotten": Planted(
        whole_log_forgotten,
        6,
        (
            "I14:",
            "I15:",
        ),
    ),
    "parent_forgotten": Planted(parent_forgotten, 15, ("I15:",)),
    "outcome_counted_twice": Planted(
        outcome_counted_twice,
        0,
        (
            "the outcomes say",
            "the counters",
        ),
    ),
}
