"""Triggers of active versions."""

from collections.abc import Collection, Iterable

import msgspec

from stretto.ports.paging import Slice
from stretto.ports.triggers import (
    FiresBetween,
    FiresDue,
    NamedSignalTrigger,
    SignalTriggerRow,
    SignalTriggerSelection,
    TimeTriggerPage,
    TimeTriggerRow,
    TimeTriggerSelection,
    TriggersOn,
)
from stretto.store.memory.database import Database, Part
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.schema import ALL


class MemoryTriggers(Part):
    """See `ports.triggers`."""

    async def signal_triggers(self, selection: SignalTriggerSelection) -> list[SignalTriggerRow]:
        with self._db.transaction():
            match selection:
                case TriggersOn(name):
                    return [self._db.signal_triggers[at] for _name, at in self._db.listening[name]]
                case NamedSignalTrigger(trigger_id):
                    found = self._db.signal_triggers.get(trigger_id)
                    return [] if found is None else [found]

    async def time_triggers(self, selection: TimeTriggerSelection) -> Slice[TimeTriggerRow]:
        db = self._db
        with db.transaction():
            match selection:
                case FiresDue(groups, at, most):
                    homes = db.timers.buckets() if groups is None else groups
                    due = sorted(entry for home in homes for entry in db.timers[home] if entry[0] <= at)
                    return self._timed(due[:most])
                case FiresBetween(since, until, most):
                    timed = (entry for home in db.timers.buckets() for entry in db.timers[home])
                    return self._timed(sorted(each for each in timed if since <= each[0] < until)[:most])
                case TimeTriggerPage(cut):
                    return slice_of(select(db.all_time_triggers[ALL], cut), db.time_triggers.__getitem__)

    def _timed(self, fires: Iterable[tuple[int, str]]) -> Slice[TimeTriggerRow]:
        return Slice(elements=tuple(self._db.time_triggers[trigger_id] for _due, trigger_id in fires))

    async def next_trigger_due(self, groups: Collection[int] | None, *, after: int = -1) -> int | None:
        with self._db.transaction():
            return next_fire(self._db, groups, after)

    async def next_fires(self, workflow_ids: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        with self._db.transaction():
            for each in workflow_ids:
                rows = (self._db.time_triggers[at] for at in self._db.time_triggers_of[each])
                fires = [row.next_fire_at for row in rows if row.next_fire_at is not None]
                found |= {each: min(fires)} if fires else {}
        return found

    async def triggers_of(self, workflow_id: str) -> tuple[list[TimeTriggerRow], list[SignalTriggerRow]]:
        with self._db.transaction():
            times = [self._db.time_triggers[at] for at in self._db.time_triggers_of[workflow_id]]
            signals = [self._db.signal_triggers[at] for at in self._db.signal_triggers_of[workflow_id]]
            return times, signals


def next_fire(db: Database, groups: Collection[int] | None = None, after: int = -1) -> int | None:
    """When the next of the time triggers at home in these groups, or in all, is due after a time."""
    homes = db.timers.buckets() if groups is None else groups
    firsts = (next((due for due, _id in db.timers[home] if due > after), None) for home in homes)
    return min((due for due in firsts if due is not None), default=None)


# ------------------------------------------------------------------------------------------------- replacing
def replace_signal_triggers(db: Database, workflow_id: str, rows: Iterable[SignalTriggerRow]) -> None:
    """Those that are known stay as they are; new ones count what is announced from now on."""
    wanted = {row.trigger_id: row for row in rows}
    for trigger_id in list(db.signal_triggers_of[workflow_id]):
        if trigger_id not in wanted:
            _forget(db, db.signal_triggers[trigger_id])
    for row in wanted.values():
        known = db.signal_triggers.get(row.trigger_id)
        since = {name: db.last_seqs.get(name) or 0 for name in row.trigger.definitions}
        kept = since if known is None else known.since
        db.signal_triggers.put(row.trigger_id, msgspec.structs.replace(row, since=kept))
        for name in row.trigger.definitions:
            db.listeners.put((name, row.trigger_id), name)


def replace_time_triggers(db: Database, workflow_id: str, rows: Iterable[TimeTriggerRow]) -> None:
    """Those that are known keep their time."""
    wanted = {row.trigger_id: row for row in rows}
    for trigger_id in list(db.time_triggers_of[workflow_id]):
        if trigger_id not in wanted:
            db.time_triggers.pop(trigger_id)
    for row in wanted.values():
        known = db.time_triggers.get(row.trigger_id)
        due = row.next_fire_at if known is None else known.next_fire_at
        db.time_triggers.put(row.trigger_id, msgspec.structs.replace(row, next_fire_at=due))


def _forget(db: Database, row: SignalTriggerRow) -> None:
    db.signal_triggers.pop(row.trigger_id)
    for name in row.trigger.definitions:
        db.listeners.pop((name, row.trigger_id))
    for join in [at for at in db.joins if at[0] == row.trigger_id]:
        db.joins.pop(join)
