"""Signals: announcements, waits and joins."""

from collections.abc import Callable, Iterable
from functools import partial

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
from stretto.store.memory.database import Database, Part
from stretto.store.memory.paging import select, slice_of, under
from stretto.store.memory.post import post


class MemorySignals(Part):
    """See `ports.signals`."""

    async def announce(self, signal: NewSignal) -> Announced:
        db, name = self._db, signal.name
        with db.transaction() as now:
            known = db.announced.get((name, signal.instance_id))
            if known is not None:
                return Announced(signal=db.signals[name, known], duplicate=True)
            seq = (db.last_seqs.get(name) or 0) + 1
            made = signal.numbered(seq, now)
            db.last_seqs.put(name, seq)
            db.signals.put((name, seq), made)
            db.announced.put((name, signal.instance_id), seq)
            body = FanOut(name=name, seq=seq)
            post(db, Letter(ref=f"{name}:{seq}", to_group=group_of_signal(name), body=body), now)
            return Announced(signal=made)

    async def signals(self, selection: SignalSelection) -> Slice[SignalInstance]:
        db = self._db
        with db.transaction():
            match selection:
                case NumberedSignal(name, seq):
                    kept = db.signals_of[name][-1:] if seq is None else [(name, seq)]
                    return Slice(elements=tuple(db.signals[at] for at in kept if at in db.signals))
                case SignalPage(name, cut):
                    page = select(db.signals_of[name], under(cut, name), newest_first=True)
                    return slice_of(page, db.signals.__getitem__)

    async def first_signal(self, name: str, fits: Fits, *, above: int = 0) -> SignalInstance | None:
        with self._db.transaction():
            return _first(self._db, name, above, fits)

    async def signal_waits(
        self, name: str, *, after: tuple[AttemptKey, int] | None, most: int
    ) -> list[SignalWait]:
        with self._db.transaction():
            place = None if after is None else (name, *after)
            page = select(self._db.waits_for[name], Cut(most=most, above=place))
            return [self._db.waits[at] for at in page.keys]

    async def match_trigger(
        self, trigger_id: str, join_key: str, fits: Callable[[str, SignalInstance], bool]
    ) -> int:
        with self._db.transaction() as now:
            trigger = self._db.signal_triggers.get(trigger_id)
            return 0 if trigger is None else self._match(trigger, join_key, fits, now)

    async def signal_names(self, cut: Cut) -> Slice[SignalName]:
        db = self._db
        with db.transaction():
            names = sorted({*db.last_seqs, *map(str, db.waits_for.buckets())})
            return slice_of(
                select(names, cut),
                lambda name: SignalName(
                    name=name, last_seq=db.last_seqs.get(name) or 0, waits=len(db.waits_for[name])
                ),
            )

    def _match(
        self,
        trigger: SignalTriggerRow,
        join_key: str,
        fits: Callable[[str, SignalInstance], bool],
        now: int,
    ) -> int:
        """Take one of each as long as there is one of each."""
        db, fired = self._db, 0
        names = list(trigger.trigger.definitions)
        taken = dict(db.joins.get((trigger.trigger_id, join_key)) or trigger.since)
        while (found := _one_of_each(db, names, taken, fits)) is not None:
            taken.update(found)
            fired += 1
            seqs = ",".join(f"{name}={seq}" for name, seq in sorted(found.items()))
            body = Fire(
                trigger_id=trigger.trigger_id, workflow_id=trigger.workflow_id, join_key=join_key, seqs=found
            )
            home = group_of_workflow(trigger.workflow_id)
            post(db, Letter(ref=f"{trigger.trigger_id}:{join_key}:{seqs}", to_group=home, body=body), now)
        db.joins.put((trigger.trigger_id, join_key), taken)
        return fired


def _first(db: Database, name: str, above: int, fits: Fits) -> SignalInstance | None:
    """The lowest number above one that fits."""
    later = select(
        db.signals_of[name],
        Cut(most=1, above=(name, above)),
        lambda at: fits(db.signals[at]),
    )
    return db.signals[later.keys[0]] if later.keys else None


def _one_of_each(
    db: Database,
    names: Iterable[str],
    taken: dict[str, int],
    fits: Callable[[str, SignalInstance], bool],
) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for name in names:
        signal = _first(db, name, taken.get(name, 0), partial(fits, name))
        if signal is None:
            return None
        found[name] = signal.seq_id
    return found
