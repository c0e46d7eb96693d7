"""I9, I11, I13: messages. None is lost: it goes with its effect. None is missing: it comes with its cause."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from simulation.watch import Complain, Touched
from stretto.engine.records import AttemptRecord
from stretto.model.status import StepStatus
from stretto.ports.messages import OUTCOME_KINDS, Kind, Message
from stretto.ports.rows import Phase
from stretto.store.memory.database import Database
from stretto.store.memory.loading import newest_of_each_step

S = StepStatus
BY_CALLERS: Final = frozenset({"withdraw", "sweep_outbox"})
WITH_NODES: Final = frozenset({"bury", "leave", "sweep_outbox"})


def letters(touched: Touched, complain: Complain) -> None:
    """Every message that went, and what it was to bring about; every cause, and the message it must send."""
    for _, before, after in touched.of("messages"):
        if after is None and before is not None:
            _went(touched, before, complain)
    for key, before, after in touched.of("runs"):
        ended = after is not None and after.phase is Phase.ENDED
        if not ended or after.parent is None or (before is not None and before.phase is Phase.ENDED):
            continue
        if not touched.db.messages_about[Kind.CHILD_ENDED, str(key)]:
            complain(f"I9: {key} has ended, and its parent {after.parent.attempt} is not told")
    for (attempt, _), before, after in touched.of("permits"):
        granted = after is not None and after.granted and not (before is not None and before.granted)
        row = touched.db.attempts.get(attempt)
        knows = row is not None and row.record.granted  # the owner took them, and stored that it did
        if granted and not knows and not touched.db.messages_about[Kind.GRANTED, str(attempt)]:
            complain(f"I10: {attempt} was granted its permits, and its owner is not told")


def _went(touched: Touched, message: Message, complain: Complain) -> None:
    kind, name = message.body.kind, touched.call.name
    if message.to_node is not None:
        if name not in WITH_NODES | {"withdraw" if kind is Kind.START else "report", "report"}:
            complain(f"I13: {name} deleted a message to the node {message.to_node}: {message.ref}")
    elif kind in OUTCOME_KINDS:
        if name not in BY_CALLERS:
            complain(f"I13: {name} deleted the action {message.ref} before its outcome was read")
    elif name not in {"commit", "transact"}:
        complain(f"I13: {name} deleted the message {kind} {message.ref}")
    elif kind in _EFFECTS and name == "commit":
        missing = _EFFECTS[kind](touched.db, message.body)
        if missing:
            complain(f"I13: the message {kind} {message.ref} is gone, and {missing}")


# ------------------------------------------------------------------------------------------------- effects
def _newest(db: Database, attempt: Any) -> AttemptRecord | None:
    """The attempt that a message names, if it is the newest of its step and its run goes on."""
    run = db.runs.get(attempt.run)
    if run is None or run.phase is Phase.ENDED:
        return None
    for row in newest_of_each_step(db, attempt.run):
        if row.key == attempt:
            return row.record
    return None


def _child_ended(db: Database, body: Any) -> str | None:
    record = _newest(db, body.event.attempt)
    waits = record is not None and record.status is S.RUNNING and record.decided is None
    if record is not None and waits and record.child in {None, body.event.child}:
        return f"{record.key} still waits for its child"
    return None


def _granted(db: Database, body: Any) -> str | None:
    record = _newest(db, body.event.attempt)
    waits = record is not None and record.status is S.WAITING_FOR_PERMITS and not record.granted
    return f"{body.event.attempt} still waits for permits" if waits else None


def _result(db: Database, body: Any) -> str | None:
    record = _newest(db, body.event.attempt)
    if record is not None and record.ending is S.INTERNALLY_FAILED:
        return None  # what it said can not be stored: the work is asked to end, and its answer counts
    over = body.here and body.event.state.is_terminal  # work that is not there is launched anew
    waits = record is not None and over and record.launch == body.event.launch
    return f"{body.event.attempt} still waits for that launch" if waits else None


def _signal(db: Database, body: Any) -> str | None:
    record, event = _newest(db, body.event.attempt), body.event
    if record is None or record.status is not S.WAITING_FOR_SIGNALS or record.signals is None:
        return None
    done = record.signals.dependencies[event.index].status.is_done
    return None if done else f"{event.attempt} still waits for signal {event.index}"


def _stop(db: Database, body: Any) -> str | None:
    row = db.runs.get(body.event.run)
    goes_on = row is not None and row.phase is not Phase.ENDED and row.record.ending is None
    return f"{body.event.run} goes on" if goes_on and row and row.record.compensation is None else None


def _callback(db: Database, body: Any) -> str | None:
    record = _newest(db, body.event.attempt)
    waits = record is not None and record.status is S.RUNNING and record.decided is None
    return f"{body.event.attempt} still waits for an answer" if waits else None


_EFFECTS: Final[Mapping[Kind, Callable[[Database, Any], str | None]]] = {
    Kind.CHILD_ENDED: _child_ended,
    Kind.GRANTED: _granted,
    Kind.RESULT: _result,
    Kind.SIGNAL: _signal,
    Kind.STOP: _stop,
    Kind.CALLBACK: _callback,
}
