"""Signals: announcements, waits and joins."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from stretto.engine.records import AttemptKey
from stretto.model.signal_instance import SignalInstance
from stretto.ports.messages import FanOut, Fire, Letter
from stretto.ports.paging import Cut, Slice
from stretto.ports.places import group_of_signal, group_of_workflow
from stretto.ports.signals import (
    Announced,
    Fits,
    NewSignal,
    NumberedSignal,
    SignalName,
    SignalPage,
    SignalSelection,
    SignalWait,
)
from stretto.ports.triggers import SignalTriggerRow
from stretto.store.sql.codec import MATCH_PARAMS, SEQS, SIGNAL
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import NAME_LENGTH, digest_of, fitting
from stretto.store.sql.named import named_page
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.posting import post
from stretto.store.sql.rows.keys import attempt_from, checked_attempt
from stretto.store.sql.statement import (
    ATTEMPT_KEY,
    TEXT,
    Bulk,
    Row,
    Statement,
    Way,
    ints,
    mapped,
    names_of,
    texts,
)
from stretto.store.sql.triggers import read_signal_trigger

PAGE: Final = 100  # signals that are looked at with one statement

MAKE_NAME: Final = Statement(lambda d: d.missing("signal_name", (*texts("name"), *ints("last_seq"))))
LOCK_NAME: Final = Statement(lambda d: f"SELECT last_seq FROM signal_name WHERE name = :name {d.exclusive}")
COUNT_UP: Final = Statement("UPDATE signal_name SET last_seq = :seq WHERE name = :name")
KNOWN: Final = Statement("SELECT doc FROM signal_instance WHERE name = :name AND digest = :digest")
INSERT: Final = Statement(
    "INSERT INTO signal_instance (name, seq, digest, create_time, doc) "
    "VALUES (:name, :seq, :digest, :create_time, :doc)"
)
ONE: Final = Statement("SELECT doc FROM signal_instance WHERE name = :name AND seq = :seq")
NEWEST: Final = Statement("SELECT doc FROM signal_instance WHERE name = :name ORDER BY seq DESC LIMIT 1")
LATER: Final = Statement(
    "SELECT doc FROM signal_instance WHERE name = :name AND seq > :above ORDER BY seq LIMIT :most"
)
_KEY: Final = names_of(ATTEMPT_KEY)
WAITS: Final = Listing(
    f"{_KEY}, dependency, name, group_id, match_params",
    "signal_wait WHERE name = :name",
    [*(field.name for field in ATTEMPT_KEY), "dependency"],
)
PUT_WAIT: Final = Bulk(
    way=Way.PUT,
    table="signal_wait",
    key=7,
    fields=(*texts("name"), *ATTEMPT_KEY, *ints("dependency", "group_id"), *texts("match_params")),
    changes=frozenset({"group_id", "match_params"}),
)
ALL: Final = Listing("seq, doc", "signal_instance WHERE name = :name", ["seq"], newest_first=True)
ANNOUNCED: Final = Listing("name", "signal_name WHERE last_seq > 0", ["name"])
WAITED_FOR: Final = Listing("DISTINCT name", "signal_wait", ["name"])
LAST_SEQS: Final = Statement(
    lambda d: f"SELECT name, last_seq FROM signal_name WHERE {d.among('name', 'names', TEXT)}"
)
WAIT_COUNTS: Final = Statement(
    lambda d: f"SELECT name, COUNT(*) FROM signal_wait WHERE {d.among('name', 'names', TEXT)} GROUP BY name"
)
MAKE_JOIN: Final = Statement(
    lambda d: d.missing("signal_join", texts("trigger_id", "digest", "join_key", "taken"))
)
LOCK_JOIN: Final = Statement(
    lambda d: (
        f"SELECT taken FROM signal_join WHERE trigger_id = :trigger_id AND digest = :digest {d.exclusive}"
    )
)
TAKEN: Final = Statement(
    "UPDATE signal_join SET taken = :taken WHERE trigger_id = :trigger_id AND digest = :digest"
)


class SqlSignals(Part):
    """See `ports.signals`."""

    async def announce(self, signal: NewSignal) -> Announced:
        name = fitting(signal.name, NAME_LENGTH, "the name of a signal")
        digest = digest_of(signal.instance_id)

        async def work(tx: Transaction) -> Announced:
            await tx.run(MAKE_NAME, name=name, last_seq=0)
            (last_seq,) = await tx.one(LOCK_NAME, name=name) or (0,)
            known = await tx.one(KNOWN, name=name, digest=digest)
            if known is not None:
                return Announced(signal=SIGNAL.read(known[0]), duplicate=True)
            now = await tx.now()
            made = signal.numbered(last_seq + 1, now)
            await tx.run(COUNT_UP, name=name, seq=made.seq_id)
            doc = SIGNAL.write(made)
            await tx.run(INSERT, name=name, seq=made.seq_id, digest=digest, create_time=now, doc=doc)
            body = FanOut(name=name, seq=made.seq_id)
            await post(
                tx, [Letter(ref=f"{name}:{made.seq_id}", to_group=group_of_signal(name), body=body)], now
            )
            return Announced(signal=made)

        return await self._db.write(work)

    async def signals(self, selection: SignalSelection) -> Slice[SignalInstance]:
        async def work(tx: Transaction) -> Slice[SignalInstance]:
            match selection:
                case NumberedSignal(name, None):
                    return _found(await tx.one(NEWEST, name=name))
                case NumberedSignal(name, seq):
                    return _found(await tx.one(ONE, name=name, seq=seq))
                case SignalPage(name, cut):
                    return (await ALL.page(tx, cut, name=name)).of(lambda row: SIGNAL.read(row[1]))

        return await (self._look(work) if isinstance(selection, NumberedSignal) else self._db.read(work))

    async def first_signal(self, name: str, fits: Fits, *, above: int = 0) -> SignalInstance | None:
        async def work(tx: Transaction) -> SignalInstance | None:
            return await _first(tx, name, above, fits)

        return await self._db.read(work)

    async def signal_waits(
        self, name: str, *, after: tuple[AttemptKey, int] | None, most: int
    ) -> list[SignalWait]:
        async def work(tx: Transaction) -> list[SignalWait]:
            return [_wait(row) for row in (await WAITS.page(tx, Cut(most=most, above=after), name=name)).rows]

        return await self._db.read(work)

    async def match_trigger(
        self, trigger_id: str, join_key: str, fits: Callable[[str, SignalInstance], bool]
    ) -> int:
        async def work(tx: Transaction) -> int:
            trigger = await read_signal_trigger(tx, trigger_id, lock=True)
            return 0 if trigger is None else await _match(tx, trigger, join_key, fits)

        return await self._db.write(work)

    async def signal_names(self, cut: Cut) -> Slice[SignalName]:
        async def work(tx: Transaction) -> Slice[SignalName]:
            page = await named_page(tx, cut, ANNOUNCED, WAITED_FOR)
            names = [row[0] for row in page.rows]
            seqs = mapped(await tx.all(LAST_SEQS, names=names))
            waits = mapped(await tx.all(WAIT_COUNTS, names=names))
            return page.of(
                lambda row: SignalName(name=row[0], last_seq=seqs.get(row[0], 0), waits=waits.get(row[0], 0))
            )

        return await self._db.read(work)


def _found(row: Row | None) -> Slice[SignalInstance]:
    return Slice(elements=() if row is None else (SIGNAL.read(row[0]),))


def wait_values(wait: SignalWait) -> Row:
    """A row of `PUT_WAIT`."""
    key = checked_attempt(wait.attempt)
    name = fitting(wait.name, NAME_LENGTH, "the name of a signal")
    params = MATCH_PARAMS.write(wait.match_params)
    return (name, *key.run, key.step_id, key.number, wait.index, wait.group, params)


def _wait(columns: Row) -> SignalWait:
    return SignalWait(
        attempt=attempt_from(columns),
        index=columns[5],
        name=columns[6],
        group=columns[7],
        match_params=MATCH_PARAMS.read(columns[8]),
    )


# ------------------------------------------------------------------------------------------------- matching
async def _first(tx: Transaction, name: str, above: int, fits: Fits) -> SignalInstance | None:
    """The lowest number above one that fits."""
    while rows := await tx.all(LATER, name=name, above=above, most=PAGE):
        for row in rows:
            signal = SIGNAL.read(row[0])
            if fits(signal):
                return signal
            above = signal.seq_id
    return None


async def _match(
    tx: Transaction,
    trigger: SignalTriggerRow,
    join_key: str,
    fits: Callable[[str, SignalInstance], bool],
) -> int:
    """Take one of each as long as there is one of each."""
    place: dict[str, Any] = {"trigger_id": trigger.trigger_id, "digest": digest_of(join_key)}
    await tx.run(MAKE_JOIN, **place, join_key=join_key, taken=SEQS.write(trigger.since))
    row = await tx.one(LOCK_JOIN, **place)
    taken = dict(trigger.since if row is None else SEQS.read(row[0]))
    names = list(trigger.trigger.definitions)
    fires: list[Letter] = []
    while (found := await _one_of_each(tx, names, taken, fits)) is not None:
        taken.update(found)
        fires.append(_fire(trigger, join_key, found))
    if fires:
        await tx.run(TAKEN, **place, taken=SEQS.write(taken))
        await post(tx, fires, await tx.now())
    return len(fires)


async def _one_of_each(
    tx: Transaction,
    names: Iterable[str],
    taken: dict[str, int],
    fits: Callable[[str, SignalInstance], bool],
) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for name in names:
        signal = await _first(tx, name, taken.get(name, 0), partial(fits, name))
        if signal is None:
            return None
        found[name] = signal.seq_id
    return found


def _fire(trigger: SignalTriggerRow, join_key: str, found: dict[str, int]) -> Letter:
    seqs = ",".join(f"{name}={seq}" for name, seq in sorted(found.items()))
    body = Fire(trigger_id=trigger.trigger_id, workflow_id=trigger.workflow_id, join_key=join_key, seqs=found)
    home = group_of_workflow(trigger.workflow_id)
    return Letter(ref=f"{trigger.trigger_id}:{join_key}:{seqs}", to_group=home, body=body)
