"""I18: nothing begins in a paused run, and what belongs to it is paused with it, or about to hear of it."""

from collections.abc import Iterator

from simulation.watch import Complain, Touched
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import UpstreamFields
from stretto.model.status import StepStatus
from stretto.ports.messages import Hold
from stretto.ports.rows import Phase, RunRow
from stretto.store.memory.database import Database


def pauses(touched: Touched, complain: Complain) -> None:
    """Every attempt whose work began, and every run that was written, with those that belong to it."""
    for key, before, after in touched.of("attempts"):
        began = after is not None and after.record.start_time is not None
        if began and (before is None or before.record.start_time is None) and _was_held(touched, key):
            complain(f"I18: {key} began, and its run is paused")
    for child in dict.fromkeys(_children(touched)):
        _told(touched.db, child, complain)
    for key, _before, after in touched.of("runs"):
        if after is not None and after.root != key:
            _iteration(touched.db, after, complain)


def _was_held(touched: Touched, attempt: AttemptKey) -> bool:
    """Whether a step could not begin, before this transaction and after it. One in which somebody acted on
    the run says nothing: the step may have begun in between.
    """
    changed = {change.key: change for change in touched.of("runs")}
    after = touched.db.runs[attempt.run]
    before = changed[attempt.run].before if attempt.run in changed else after
    root = changed.get(after.root)
    if before is None or (root is not None and _was_acted_on(root.before, root.after)):
        return False
    return all(
        row.record.is_paused or attempt.step_id in row.record.suspended for row in (before, after)
    ) and not _was_acted_on(before, after)


def _was_acted_on(before: RunRow | None, after: RunRow) -> bool:
    return before is None or before.record.timeline != after.record.timeline


# ------------------------------------------------------------------------------------------------- children
def _children(touched: Touched) -> Iterator[RunKey]:
    """Children that were written, whose parents were, or to whom a message went."""
    db = touched.db
    for key, _before, after in touched.of("runs"):
        if after is not None and after.parent is not None:
            yield key
        for attempt in db.attempts_of[key]:
            yield from db.children_of[attempt]
    for attempt, _before, _after in touched.of("attempts"):
        yield from db.children_of[attempt]
    for _number, before, _after in touched.of("messages"):
        if before is not None and isinstance(before.body, Hold) and before.body.event.run in db.runs:
            yield before.body.event.run


def _told(db: Database, child: RunKey, complain: Complain) -> None:
    """A child is held if the run whose step waits for it is paused, once it has read its messages."""
    row = db.runs[child]
    if not _goes_on(row) or row.parent is None:
        return
    waiting = db.attempts.get(row.parent.attempt)
    around = db.runs.get(row.parent.attempt.run)
    if waiting is None or around is None or not _goes_on(around):
        return
    record = waiting.record
    if record.status is not StepStatus.RUNNING or record.ending is not None or record.child != child:
        return  # it is not known yet, or its end is near
    bodies = [db.messages[number].body for number in db.messages_to[row.group]]
    to_come = [each.event.held for each in bodies if isinstance(each, Hold) and each.event.run == child]
    held = to_come[-1] if to_come else row.record.held
    if held is not around.record.is_paused:
        complain(f"I18: {around.key} is {around.record.status}, and its child {child} does not hear of it")


def _iteration(db: Database, row: RunRow, complain: Complain) -> None:
    initiator = row.record.initiator
    if not _goes_on(row) or not isinstance(initiator, UpstreamFields):
        return
    above = initiator.parent
    around = db.runs.get(RunKey(above.workflow_id, above.instance_id, above.run_id))
    if around is not None and _goes_on(around) and row.record.held is not around.record.is_paused:
        complain(f"I18: {around.key} is {around.record.status}, and its iteration {row.key} is not held so")


def _goes_on(row: RunRow) -> bool:
    return row.phase is not Phase.ENDED and row.record.ending is None
