"""Match signals with the triggers that listen to them (T11). What fires is a message to the workflow's home.

    announcement committed --> match_signal         for each trigger that listens: does its set stand?
    triggers committed     --> match_new_triggers   what was announced meanwhile, and found nobody listening

Each side writes first and looks afterwards, so one of the two finds the other.
"""

from typing import Final

from stretto.actions.parts.repeat import repeated
from stretto.model.signal_instance import SignalInstance
from stretto.ports.hints import SILENT, Hints
from stretto.ports.paging import Cut
from stretto.ports.places import group_of_workflow
from stretto.ports.signals import SignalPage
from stretto.ports.store import Store
from stretto.ports.triggers import SignalTriggerRow, TriggersOn
from stretto.triggers import join_key_of, joined_by

MEANWHILE: Final = 60_000  # milliseconds: no change takes longer, so no older signal can have missed it


async def match_signal(store: Store, signal: SignalInstance, *, hints: Hints = SILENT) -> int:
    """Complete the sets that a signal may belong to; returns how many fired. Call it after the announcement
    was committed, as often as needed: what was taken is not taken again.
    """
    fired = 0
    for row in await store.signal_triggers(TriggersOn(signal.name)):
        key = join_key_of(row.trigger, signal)
        if key is not None:
            fired += await _match(store, row, key, hints)
    return fired


async def match_new_triggers(
    store: Store, workflow_id: str, changed_at: int, *, hints: Hints = SILENT
) -> int:
    """Complete the sets whose signals came while the triggers of a workflow were being committed; returns how
    many fired. `changed_at` is the database's clock, from before the change.
    """
    _timers, rows = await store.triggers_of(workflow_id)
    fired = 0
    for row in rows:
        for key in await _keys_since(store, row, changed_at - MEANWHILE):
            fired += await _match(store, row, key, hints)
    return fired


async def _keys_since(store: Store, row: SignalTriggerRow, since: int) -> list[str]:
    """The join keys of signals that a trigger may have missed. One of its names is enough: a set has one of
    each.
    """
    name = next(iter(row.trigger.definitions))
    keys: dict[str, None] = {}
    cut = Cut()
    while True:
        page = await store.signals(SignalPage(name, cut))
        for signal in page.elements:
            if signal.seq_id <= row.since.get(name, 0) or (signal.create_time or 0) < since:
                return list(keys)
            key = join_key_of(row.trigger, signal)
            if key is not None:
                keys[key] = None
        if not page.after:
            return list(keys)
        cut = Cut(below=page.elements[-1].seq_id)


async def _match(store: Store, row: SignalTriggerRow, key: str, hints: Hints) -> int:
    fired = await repeated(lambda: store.match_trigger(row.trigger_id, key, joined_by(row.trigger, key)))
    if fired:
        hints.hint([group_of_workflow(row.workflow_id)])
    return fired
