"""Queues of workflows, tags and time triggers: who may begin now; and sweeps after crashes."""

from collections.abc import Collection
from typing import Final

from stretto.actions.dequeue import dequeue
from stretto.engine.permits import granted
from stretto.node.answers import DueTriggers, TagWaits
from stretto.ports.hints import Hints
from stretto.ports.store import Store
from stretto.ports.triggers import FiresDue, TimeTriggerRow

TAGS_AT_ONCE: Final = 50  # a sweep locks no more of them in one transaction
HOUR: Final = 3_600_000  # milliseconds; so long an outcome waits for whoever asked


class Queues:
    """Admits queued runs, grants permits, finds due triggers; and hints whoever owns the runs."""

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints

    async def admit(self, workflow_ids: Collection[str]) -> None:
        """Admit queued runs of these workflows."""
        for workflow_id in await self._store.with_queue(workflow_ids):
            await dequeue(self._store, workflow_id, hints=self._hints)

    async def grant(self, tags: Collection[str]) -> TagWaits:
        """Grant permits, as long as somebody gets some: who came meanwhile is left to the next try."""
        while (found := await self._store.grant(tags, granted)).attempts:
            self._hints.hint(found.groups)
        return TagWaits(found.slots_in, found.waited_for)

    async def sweep(self, groups: Collection[int], now: int) -> TagWaits:
        """What nobody may have looked at, because whoever should have is gone. Returns what `grant` does."""
        for workflow_id in await self._store.queues_at_home(groups):
            await dequeue(self._store, workflow_id, hints=self._hints)
        tags = await self._store.tags_waited_for(groups)
        slots: dict[str, int] = {}
        for first in range(0, len(tags), TAGS_AT_ONCE):
            slots |= (await self.grant(tags[first : first + TAGS_AT_ONCE])).slots_in
        await self._store.sweep_outbox(now - HOUR)
        return TagWaits(slots, frozenset(tags))

    async def find_due_triggers(self, groups: Collection[int], late: int | None, most: int) -> DueTriggers:
        """Time triggers of these groups that are due now, then those of any group that are late by so many
        milliseconds, the oldest first, and how long it is until the next one is due or late.
        """
        first = await self._store.next_trigger_due(groups if late is None else None)
        if first is None:
            return DueTriggers()
        now = await self._store.now()
        looks: list[tuple[Collection[int] | None, int]] = [(groups, now)] if groups else []
        if late is not None:
            looks.append((None, now - late))
        found: dict[str, TimeTriggerRow] = {}
        waits: list[int] = []
        for homes, at in looks:
            then = first if homes is None or late is None else await self._store.next_trigger_due(homes)
            if then is not None and then <= at:
                rows = await self._store.time_triggers(FiresDue(homes, at, most=most))
                found |= {row.trigger_id: row for row in rows.elements if row.trigger_id not in found}
                then = await self._store.next_trigger_due(homes, after=at)
            waits += [] if then is None else [then - at]
        return DueTriggers(rows=tuple(found.values()), wait=min(waits, default=None))
