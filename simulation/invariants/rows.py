"""I4 to I6: phases, statuses and launches of runs and attempts. Nothing goes back; what ended stays."""

from collections.abc import Mapping
from typing import Final

import msgspec

from simulation.flows import RUN_REACH, STEP_REACH
from simulation.watch import Change, Complain, Touched
from stretto.engine.records import AttemptKey
from stretto.model.status import FailureMark, RunStatus, StepStatus
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.store.memory.run_rows import runs_of_instance

PHASES: Final[Mapping[Phase | None, frozenset[Phase]]] = {
    None: frozenset(Phase),
    Phase.QUEUED: frozenset({Phase.QUEUED, Phase.ADMITTED, Phase.ENDED}),
    Phase.ADMITTED: frozenset({Phase.ADMITTED, Phase.LIVE, Phase.ENDED}),
    Phase.LIVE: frozenset({Phase.LIVE, Phase.ENDED}),
    Phase.ENDED: frozenset({Phase.ENDED}),
}
OWNED: Final = frozenset({Phase.ADMITTED, Phase.LIVE})
MARKS: Final = frozenset({FailureMark.UNBLOCKED, FailureMark.SUPERSEDED})
FIXED: Final = ("group", "root", "parent")


def runs(touched: Touched, complain: Complain) -> None:
    """Every run that was made or changed."""
    for change in touched.of("runs"):
        if change.after is None:
            continue  # see `forgetting`
        _phase(touched, change, complain)
        _status(change, complain)
        if change.after.root == change.key:
            _alone(touched, change.after, complain)


def _phase(touched: Touched, change: Change, complain: Complain) -> None:
    key, before, after = change
    start = None if before is None else before.phase
    if after.phase not in PHASES[start]:
        complain(f"I6: {key} went from {start} to {after.phase}")
    if after.phase is Phase.ENDED and not after.record.status.is_terminal:
        complain(f"I6: {key} is ENDED, and {after.record.status}")
    if after.phase is not Phase.ENDED and after.record.status.is_terminal:
        complain(f"I6: {key} is {after.phase}, and {after.record.status}")
    in_commit = touched.call.name == "commit"
    if in_commit and before is None and after.root == key:
        complain(f"G2: a group commit made the run {key}")
    if in_commit and start in {Phase.QUEUED, Phase.ENDED}:
        complain(f"G2: a group commit wrote {key}, which was {start}")
    if touched.call.name == "transact" and (start in OWNED or after.root != key):
        complain(f"G2: a workflow transaction wrote {key}, which was {start}")
    if before is not None:
        for name in FIXED:
            if getattr(before, name) != getattr(after, name):
                complain(f"the {name} of {key} changed")


def _is_kept(before: RunRow, after: RunRow) -> bool:
    """Whether the record of an ended run stays as it is. Only an unblock adds a line to its timeline."""
    if before.record == after.record:
        return True
    is_unblocked = before.failure is FailureMark.STANDING and after.failure is FailureMark.UNBLOCKED
    lines = len(before.record.timeline)
    kept = msgspec.structs.replace(after.record, timeline=after.record.timeline[:lines])
    return is_unblocked and kept == before.record


def _status(change: Change, complain: Complain) -> None:
    key, before, after = change
    start = before.record.status if before is not None else RunStatus.CREATED
    end = after.record.status
    if before is not None and before.phase is Phase.ENDED:
        if not _is_kept(before, after):
            complain(f"I4: {key} has ended, and its record changed")
        if before.failure is not after.failure and (
            before.failure is not FailureMark.STANDING or after.failure not in MARKS
        ):
            complain(f"I7: the failure of {key} went from {before.failure} to {after.failure}")
    elif before is not None and end not in RUN_REACH.get(start, {start}):
        complain(f"I4: {key} went from {start} to {end}")
    if end.is_terminal and after.record.end_time is None:
        complain(f"{key} is {end}, and has no end time")


def _alone(touched: Touched, row: RunRow, complain: Complain) -> None:
    """I7: of an instance only the newest run may go on."""
    *older, newest = runs_of_instance(touched.db, row.key.workflow_id, row.key.instance_id)
    for key in older:
        if touched.db.runs[key].phase is not Phase.ENDED:
            complain(f"I7: {key} has not ended, and there is {newest}")


# ------------------------------------------------------------------------------------------------- attempts
def attempts(touched: Touched, complain: Complain) -> None:
    """Every attempt that was made or changed."""
    for key, before, after in touched.of("attempts"):
        if after is not None:  # else see `forgetting`
            _attempt_status(key, before, after, complain)
            _launch(key, before, after, complain)
            _attempt_end(touched, key, before, after, complain)
            if before is None:
                _number(touched, key, complain)


def _attempt_status(
    key: AttemptKey, before: AttemptRow | None, after: AttemptRow, complain: Complain
) -> None:
    start = before.record.status if before is not None else StepStatus.CREATED
    end = after.record.status
    if end not in STEP_REACH.get(start, {start}):
        complain(f"I4: {key} went from {start} to {end}")
    ended = before is not None and start.is_terminal and not start.is_retryable
    if before is not None and ended and before.record.end_time != after.record.end_time:
        complain(f"I4: {key} ended twice")


def _launch(key: AttemptKey, before: AttemptRow | None, after: AttemptRow, complain: Complain) -> None:
    """I5: a launch stays on its node. Work that begins on another is a new launch with a higher number."""
    if before is None or before.record.launch is None or after.record.launch is None:
        return
    old, new = before.record.launch, after.record.launch
    if new < old:
        complain(f"I5: launch {new} of {key} follows launch {old}")
    elif new == old and before.runs_on not in {None, after.runs_on}:
        complain(f"I5: launch {new} of {key} went from {before.runs_on} to {after.runs_on}")


def _attempt_end(
    touched: Touched, key: AttemptKey, before: AttemptRow | None, after: AttemptRow, complain: Complain
) -> None:
    """What has ended holds nothing, and nothing below it goes on."""
    record, db = after.record, touched.db
    if not record.status.is_terminal:
        return
    if record.launch is not None or record.ending is not None or record.permits:
        complain(f"I4: {key} is {record.status}, and still waits for something")
    if db.permits_of[key] or db.waits_of[key] or key in db.work:
        complain(f"I10: {key} is {record.status}, and still has permits, waits or work")
    if before is not None and before.record.status.is_terminal:
        return
    for child in db.children_of[key]:
        if db.runs[child].phase is not Phase.ENDED:
            complain(f"I9: {key} is {record.status}, and its child {child} has not ended")
    loop = db.loops.get(key)
    for inner in () if loop is None else db.runs_of[loop.inline_id]:
        if inner.run_id == loop.run_id and db.runs[inner].phase is not Phase.ENDED:  # type: ignore[union-attr]
            complain(f"I9: {key} is {record.status}, and its iteration {inner} has not ended")


def _number(touched: Touched, key: AttemptKey, complain: Complain) -> None:
    """Attempts of a step follow each other."""
    if key.number > 1:
        earlier = touched.db.attempts.get(key._replace(number=key.number - 1))
        if earlier is None or not earlier.record.status.is_terminal:
            complain(f"I4: {key} was made before the attempt in front of it had ended")


def children(touched: Touched, complain: Complain) -> None:
    """I9: a child is made only for an attempt that waits for it."""
    for key, before, after in touched.of("runs"):
        if before is None and after is not None and after.parent is not None:
            row = touched.db.attempts.get(after.parent.attempt)
            if row is None or row.record.status is not StepStatus.RUNNING:
                status = "unknown" if row is None else row.record.status
                complain(f"I9: the child {key} was made, and {after.parent.attempt} is {status}")
    for key, before, after in touched.of("runs"):
        ended = after is not None and after.phase is Phase.ENDED and after.root == key
        if ended and (before is None or before.phase is not Phase.ENDED):
            for phase in (Phase.LIVE, Phase.ADMITTED):
                for inner in touched.db.iterations[key, phase]:
                    complain(f"I9: {key} has ended, and {inner} inside it has not")
