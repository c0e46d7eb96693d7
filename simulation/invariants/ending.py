"""In the end: every run has ended, nothing is left over, and all counts are right."""

from collections import Counter

from simulation.watch import Complain
from stretto.engine.inline_ids import is_inline
from stretto.model.status import StepStatus
from stretto.ports.messages import OUTCOME_KINDS
from stretto.ports.rows import Phase
from stretto.store.memory.database import Database
from stretto.store.memory.loading import newest_of_each_step
from stretto.store.memory.run_rows import ALL_WORKFLOWS


def unfinished(db: Database) -> str | None:
    """Something that must still happen; None: everything is at its end."""
    for key in db.runs:
        if db.runs[key].phase is not Phase.ENDED:
            return f"{key} is {db.runs[key].phase}, {db.runs[key].record.status}"
    for number in db.messages:
        message = db.messages[number]
        answered = message.body.kind in OUTCOME_KINDS and message.outcome is not None
        if not answered:  # also one that was set aside by a late burial: a user lets it go on
            return f"the message {message.body.kind} {message.ref} waits"
    return None


def ending(db: Database, complain: Complain) -> None:
    """Everything has ended: what may be left are outcomes that nobody has read."""
    for number in db.messages:
        if db.messages[number].parked is not None:
            complain(f"I13: the message {db.messages[number]} was parked")
    for name in ("permits", "waits", "work"):
        for key in getattr(db, name):
            complain(f"I10: a row of {name} is left: {key}")
    for at in db.questions:
        if db.questions[at].is_open or at[0] not in db.attempts:
            complain(f"somebody is still asked by {at[0]}")
    for key in db.runs:
        _run(db, key, complain)
    for key in db.loops:
        loop = db.loops[key]
        ended = Counter(
            db.runs[each].record.status for each in db.runs_of[loop.inline_id] if each.run_id == loop.run_id
        )
        if {status: count for status, count in loop.ended.items() if count} != dict(ended):
            complain(f"the loop {key} counts {loop.ended}, and its iterations {dict(ended)}")
    _outcomes(db, complain)


def _run(db: Database, key: object, complain: Complain) -> None:
    row = db.runs[key]  # type: ignore[index]
    if row.quarantined is not None:
        complain(f"{key} is in quarantine: {row.quarantined}")
    for each in db.attempts_of[row.key]:
        record = db.attempts[each].record
        if not record.status.is_terminal or record.wake_at is not None:
            complain(f"{each} is {record.status}, and its run has ended")
    counted = Counter(each.record.status for each in newest_of_each_step(db, row.key))
    told = {status: count for status, count in row.summary.counts.items() if count}
    told.pop(StepStatus.NOT_CREATED, None)
    if row.root == row.key and row.record.start_time is not None and told and told != dict(counted):
        complain(f"the summary of {key} counts {told}, and its attempts {dict(counted)}")


def _outcomes(db: Database, complain: Complain) -> None:
    """The counters of ended runs are those of their rows."""
    told: Counter[tuple[str, object]] = Counter()
    together: Counter[object] = Counter()
    for workflow_id, hour in db.outcomes:
        for status, count in db.outcomes[workflow_id, hour].items():
            if workflow_id == ALL_WORKFLOWS:
                together[status] += count
            else:
                told[workflow_id, status] += count
    real = Counter(
        (key.workflow_id, db.runs[key].record.status) for key in db.runs if not is_inline(key.workflow_id)
    )
    if told != real:
        complain(f"the outcomes say {dict(told)}, and the rows {dict(real)}")
    over_all: Counter[object] = Counter()
    for (_workflow_id, status), count in real.items():
        over_all[status] += count
    if together != over_all:
        complain(f"the counters of all workflows say {dict(together)}, and the rows {dict(over_all)}")
