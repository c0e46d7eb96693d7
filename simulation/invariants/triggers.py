"""I12: each set of joined signals has started one run, and so has each moment of a schedule.
I17: steps announce a name with its parameters once, and each attempt knows which of its signals are its own.
"""

from collections import Counter
from collections.abc import Set
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from simulation.watch import Complain
from stretto.actions.parts.trigger_rows import EPOCH, schedule_of
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import SignalInitiator, TimeInitiator
from stretto.model.trigger import TimeTrigger
from stretto.ports.triggers import SignalTriggerRow
from stretto.store.memory.database import Database

LATE: Final = 2_000  # milliseconds after which a moment should have been fired, if any node lives


def triggers(db: Database, forgotten: Set[str], complain: Complain) -> None:
    """Compare what was started with what was announced, and with the clock. All triggers were there first.
    A signal that was forgotten (by name) may have started something, or not.
    """
    started: Counter[str] = Counter()
    moments: dict[str, list[int]] = {}
    for key in db.runs:
        initiator = db.runs[key].record.initiator
        if is_inline(key.workflow_id) or key.run_id > 1:
            continue
        if isinstance(initiator, SignalInitiator):
            started[str(initiator.trigger_uuid)] += 1
        elif isinstance(initiator, TimeInitiator):
            moments.setdefault(key.workflow_id, []).append(int(initiator.trigger_time or 0))
    for trigger_id in db.signal_triggers:
        row = db.signal_triggers[trigger_id]
        wanted = _sets(db, row)
        fewer = not forgotten.isdisjoint(row.trigger.definitions)
        if started[trigger_id] > wanted or (started[trigger_id] < wanted and not fewer):
            complain(f"I12: {wanted} sets of signals have started {started[trigger_id]} runs")
    for workflow_id, found in moments.items():
        version = db.versions[workflow_id, 1]
        for trigger in version.workflow.time_triggers or ():
            _schedule(trigger, sorted(found), complain)
    _announcements(db, forgotten, complain)


def overdue(db: Database, now: int, complain: Complain) -> None:
    """The trouble has been over for long: no moment of a schedule may still wait to be fired."""
    for trigger_id in db.time_triggers:
        row = db.time_triggers[trigger_id]
        if row.next_fire_at is not None and row.next_fire_at < now - LATE:
            complain(f"I12: {row.workflow_id} should have been started {now - row.next_fire_at} ms ago")


def _announcements(db: Database, forgotten: Set[str], complain: Complain) -> None:
    sources: dict[tuple[str, str], list[object]] = {}
    for name, seq in db.signals:
        signal = db.signals[name, seq]
        source = (signal.payload or {}).get("signal_source")
        if source is not None and name not in forgotten:  # what is forgotten may be announced again
            sources.setdefault((name, str(signal.params)), []).append(source)
    for at, found in sources.items():
        if len(found) > 1:
            complain(f"I17: steps have announced {at} {len(found)} times")
    for key in db.attempts:
        outputs = db.attempts[key].record.signal_outputs
        for output in () if outputs is None else outputs.outputs:
            (*_, source) = sources.get((output.name, str(output.params)), [None])
            if output.name in forgotten:
                continue
            if source is None:
                complain(f"I17: nobody has announced {output} of {key}")
            elif (output.announce_time is not None) is not _is_of(source, key):
                complain(f"I17: {key} says {output}, and the signal is from {source}")


def _is_of(source: Any, key: AttemptKey) -> bool:
    run = (source["workflow_id"], source["workflow_instance_id"], source["workflow_run_id"])
    return key == AttemptKey(RunKey(*run), source["step_id"], source["step_attempt_id"])


def _sets(db: Database, row: SignalTriggerRow) -> int:
    """How many sets the signals that were announced make."""
    names = list(row.trigger.definitions)
    joined = any(entry.join_keys for entry in row.trigger.definitions.values())
    counts: dict[object, Counter[str]] = {}
    for name, seq in db.signals:
        if name in names:
            params = db.signals[name, seq].params or {}
            counts.setdefault(params.get("day") if joined else None, Counter())[name] += 1
    return sum(min(count[name] for name in names) for count in counts.values())


def _schedule(trigger: TimeTrigger, found: list[int], complain: Complain) -> None:
    schedule = schedule_of(trigger)
    for before, after in pairwise(found):
        due = schedule.next_fire(EPOCH + timedelta(milliseconds=before))
        if due is None or (due - EPOCH) // timedelta(milliseconds=1) != after:
            complain(f"I12: after the fire of {before} came that of {after}, and {due} was due")
