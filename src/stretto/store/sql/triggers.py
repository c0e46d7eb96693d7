"""Triggers of active versions."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from stretto.ports.paging import Slice
from stretto.ports.places import group_of_workflow
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
from stretto.store.sql.codec import SEQS, SIGNAL_TRIGGER, TIME_TRIGGER
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import NAME_LENGTH, TEXT_LENGTH, fitting
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.statement import INT, TEXT, Bulk, Row, Statement, Way, ints, mapped, texts

SIGNAL: Final = "signal_trigger.trigger_id, workflow_id, version_id, since, doc"
TIME: Final = "trigger_id, workflow_id, version_id, next_fire_at, jitter, doc"

ON_NAME: Final = Statement(
    f"SELECT {SIGNAL} FROM signal_listener JOIN signal_trigger "
    "ON signal_trigger.trigger_id = signal_listener.trigger_id "
    "WHERE name = :name ORDER BY signal_trigger.trigger_id"
)
SIGNAL_OF: Final = Statement(
    f"SELECT {SIGNAL} FROM signal_trigger WHERE workflow_id = :workflow_id ORDER BY trigger_id"
)
ONE_SIGNAL: Final = Statement(f"SELECT {SIGNAL} FROM signal_trigger WHERE trigger_id = :trigger_id")
LOCK_SIGNAL: Final = Statement(
    lambda d: f"SELECT {SIGNAL} FROM signal_trigger WHERE trigger_id = :trigger_id {d.shared}"
)
TIME_OF: Final = Statement(
    f"SELECT {TIME} FROM time_trigger WHERE workflow_id = :workflow_id ORDER BY trigger_id"
)
DUE: Final = Statement(
    lambda d: (
        f"SELECT {TIME} FROM time_trigger WHERE {d.among('home_group', 'groups', INT)} "
        "AND next_fire_at <= :at ORDER BY next_fire_at, trigger_id LIMIT :most"
    )
)
NEXT_DUE: Final = Statement(
    lambda d: (
        "SELECT MIN(next_fire_at + 0) FROM time_trigger "  # or PostgreSQL walks through those of all groups
        f"WHERE {d.among('home_group', 'groups', INT)} AND next_fire_at > :after"
    )
)
DUE_ANYWHERE: Final = Statement(
    f"SELECT {TIME} FROM time_trigger WHERE next_fire_at >= 0 AND next_fire_at <= :at "
    "ORDER BY next_fire_at, trigger_id LIMIT :most"
)
NEXT_ANYWHERE: Final = Statement(
    "SELECT next_fire_at FROM time_trigger WHERE next_fire_at > :after ORDER BY next_fire_at LIMIT 1"
)
NEXT_FIRES: Final = Statement(
    lambda d: (
        "SELECT workflow_id, MIN(next_fire_at) FROM time_trigger "
        f"WHERE {d.among('workflow_id', 'workflow_ids', TEXT)} AND next_fire_at IS NOT NULL "
        "GROUP BY workflow_id"
    )
)
FIRES: Final = Statement(
    f"SELECT {TIME} FROM time_trigger WHERE next_fire_at >= :since AND next_fire_at < :until "
    "ORDER BY next_fire_at, trigger_id LIMIT :most"
)
ALL_TIMES: Final = Listing(TIME, "time_trigger", ["trigger_id"])
LAST_SEQS: Final = Statement(
    lambda d: (
        f"SELECT name, last_seq FROM signal_name WHERE {d.among('name', 'names', TEXT)} "
        f"ORDER BY name {d.exclusive}"
    )
)
MAKE_NAMES: Final = Bulk(
    way=Way.MISSING, table="signal_name", key=1, fields=(*texts("name"), *ints("last_seq"))
)
NO_SIGNAL: Final = tuple(
    Statement(f"DELETE FROM {table} WHERE trigger_id = :trigger_id")
    for table in ("signal_trigger", "signal_listener", "signal_join")
)
NO_TIME: Final = Statement("DELETE FROM time_trigger WHERE trigger_id = :trigger_id")
PUT_SIGNAL: Final = Bulk(
    way=Way.PUT,
    table="signal_trigger",
    key=1,
    fields=(*texts("trigger_id", "workflow_id"), *ints("version_id"), *texts("since", "doc")),
    changes=frozenset({"workflow_id", "version_id", "since", "doc"}),
)
LISTEN: Final = Bulk(way=Way.MISSING, table="signal_listener", key=2, fields=texts("name", "trigger_id"))
PUT_TIME: Final = Bulk(
    way=Way.PUT,
    table="time_trigger",
    key=1,
    fields=(
        *texts("trigger_id", "workflow_id"),
        *ints("version_id", "home_group", "next_fire_at", "jitter"),
        *texts("doc"),
    ),
    changes=frozenset({"workflow_id", "version_id", "home_group", "next_fire_at", "jitter", "doc"}),
)


class SqlTriggers(Part):
    """See `ports.triggers`."""

    async def signal_triggers(self, selection: SignalTriggerSelection) -> list[SignalTriggerRow]:
        async def work(tx: Transaction) -> list[SignalTriggerRow]:
            match selection:
                case TriggersOn(name):
                    return [_signal(row) for row in await tx.all(ON_NAME, name=name)]
                case NamedSignalTrigger(trigger_id):
                    found = await read_signal_trigger(tx, trigger_id)
                    return [] if found is None else [found]

        return await self._look(work)

    async def time_triggers(self, selection: TimeTriggerSelection) -> Slice[TimeTriggerRow]:
        async def work(tx: Transaction) -> Slice[TimeTriggerRow]:
            match selection:
                case FiresDue(groups, at, most):
                    statement, where = _at_home(groups, DUE, DUE_ANYWHERE)
                    return _all(await tx.all(statement, **where, at=at, most=most))
                case FiresBetween():
                    return _all(await tx.all(FIRES, **selection._asdict()))
                case TimeTriggerPage(cut):
                    return (await ALL_TIMES.page(tx, cut)).of(_time)

        match selection:
            case FiresDue():
                return await self._db.look(work)
            case FiresBetween():
                return await self._look(work)
            case TimeTriggerPage():
                return await self._db.read(work)

    async def next_trigger_due(self, groups: Collection[int] | None, *, after: int = -1) -> int | None:
        statement, where = _at_home(groups, NEXT_DUE, NEXT_ANYWHERE)

        async def work(tx: Transaction) -> int | None:
            row = await tx.one(statement, **where, after=after)
            due: int | None = None if row is None else row[0]
            return due

        return await self._look(work)

    async def next_fires(self, workflow_ids: Collection[str]) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return dict(
                tuple(row) for row in await tx.all(NEXT_FIRES, workflow_ids=sorted(set(workflow_ids)))
            )

        return await self._look(work)

    async def triggers_of(self, workflow_id: str) -> tuple[list[TimeTriggerRow], list[SignalTriggerRow]]:
        async def work(tx: Transaction) -> tuple[list[TimeTriggerRow], list[SignalTriggerRow]]:
            return await _times(tx, workflow_id), await _signals(tx, workflow_id)

        return await self._db.read(work)


def _all(rows: Sequence[Row]) -> Slice[TimeTriggerRow]:
    """A list that is not cut."""
    return Slice(elements=tuple(map(_time, rows)))


def _at_home(
    groups: Collection[int] | None, here: Statement, anywhere: Statement
) -> tuple[Statement, dict[str, list[int]]]:
    """The statement about workflows at home in these groups, or in all, and what it is told."""
    return (anywhere, {}) if groups is None else (here, {"groups": sorted(groups)})


async def read_signal_trigger(
    tx: Transaction, trigger_id: str, *, lock: bool = False
) -> SignalTriggerRow | None:
    """One signal trigger; one that is locked is not replaced before this ends."""
    row = await tx.one(LOCK_SIGNAL if lock else ONE_SIGNAL, trigger_id=trigger_id)
    return None if row is None else _signal(row)


async def _signals(tx: Transaction, workflow_id: str) -> list[SignalTriggerRow]:
    return [_signal(row) for row in await tx.all(SIGNAL_OF, workflow_id=workflow_id)]


async def _times(tx: Transaction, workflow_id: str) -> list[TimeTriggerRow]:
    return [_time(row) for row in await tx.all(TIME_OF, workflow_id=workflow_id)]


# ------------------------------------------------------------------------------------------------ replacing
async def replace_signal_triggers(
    tx: Transaction, workflow_id: str, rows: Iterable[SignalTriggerRow]
) -> None:
    """Those that are known stay as they are; new ones count what is announced from now on."""
    wanted = {row.trigger_id: row for row in rows}
    known = {row.trigger_id: row for row in await _signals(tx, workflow_id)}
    for trigger_id in known.keys() - wanted.keys():
        for statement in NO_SIGNAL:
            await tx.run(statement, trigger_id=trigger_id)
    new = [row for row in wanted.values() if row.trigger_id not in known]
    seqs = await _last_seqs(tx, sorted({name for row in new for name in row.trigger.definitions}))
    values, listeners = [], []
    for trigger_id, row in sorted(wanted.items()):
        names = row.trigger.definitions
        before = known.get(trigger_id)
        since = {name: seqs[name] for name in names} if before is None else before.since
        fitting(trigger_id, TEXT_LENGTH, "the id of a trigger")
        doc = SIGNAL_TRIGGER.write(row.trigger)
        values.append((trigger_id, row.workflow_id, row.version_id, SEQS.write(since), doc))
        listeners += [(name, trigger_id) for name in names]
    await tx.bulk(PUT_SIGNAL, values)
    await tx.bulk(LISTEN, sorted(listeners))


async def _last_seqs(tx: Transaction, names: list[str]) -> dict[str, int]:
    """The last number of each; who announces meanwhile waits until the triggers are there."""
    for name in names:
        fitting(name, NAME_LENGTH, "the name of a signal")
    if not names:
        return {}
    await tx.bulk(MAKE_NAMES, [(name, 0) for name in names])
    return mapped(await tx.all(LAST_SEQS, names=names))


async def replace_time_triggers(tx: Transaction, workflow_id: str, rows: Iterable[TimeTriggerRow]) -> None:
    """Those that are known keep their time."""
    wanted = {row.trigger_id: row for row in rows}
    known = {row.trigger_id: row for row in await _times(tx, workflow_id)}
    for trigger_id in known.keys() - wanted.keys():
        await tx.run(NO_TIME, trigger_id=trigger_id)
    values = []
    for trigger_id, row in sorted(wanted.items()):
        before = known.get(trigger_id)
        due = row.next_fire_at if before is None else before.next_fire_at
        fitting(trigger_id, TEXT_LENGTH, "the id of a trigger")
        home, doc = group_of_workflow(row.workflow_id), TIME_TRIGGER.write(row.trigger)
        values.append((trigger_id, row.workflow_id, row.version_id, home, due, row.jitter, doc))
    await tx.bulk(PUT_TIME, values)


# ----------------------------------------------------------------------------------------------------- rows
def _signal(columns: Row) -> SignalTriggerRow:
    trigger_id, workflow_id, version_id, since, doc = columns
    return SignalTriggerRow(
        trigger_id=trigger_id,
        workflow_id=workflow_id,
        version_id=version_id,
        trigger=SIGNAL_TRIGGER.read(doc),
        since=SEQS.read(since),
    )


def _time(columns: Row) -> TimeTriggerRow:
    trigger_id, workflow_id, version_id, next_fire_at, jitter, doc = columns
    return TimeTriggerRow(
        trigger_id=trigger_id,
        workflow_id=workflow_id,
        version_id=version_id,
        trigger=TIME_TRIGGER.read(doc),
        next_fire_at=next_fire_at,
        jitter=jitter,
    )
