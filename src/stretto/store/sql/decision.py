"""A decision on its way into the tables."""

from collections.abc import Sequence
from typing import Any, Final

from stretto.engine.records import RunKey, RunRecord, appended
from stretto.model.errors import Conflict
from stretto.model.status import FailureMark, RunStatus
from stretto.model.timeline import TimelineEvent
from stretto.ports.admission import NewRun, QueuedEnd, QueuedPause, WorkflowDecision, WorkflowSnapshot
from stretto.ports.failures import Stale
from stretto.ports.messages import Letter
from stretto.ports.places import group_of_run
from stretto.ports.rows import Parent, Phase, RunRow
from stretto.store.sql.codec import PARAMS, RUN
from stretto.store.sql.database import Taken, Transaction
from stretto.store.sql.large import PUT_LARGE, Large, filled_runs
from stretto.store.sql.posting import end_letters, log_letter, post
from stretto.store.sql.publishing import add_to_timeline
from stretto.store.sql.rows.keys import of_run
from stretto.store.sql.rows.runs import (
    INSERT_RUN,
    INSERT_RUN_TAG,
    ROW,
    lane_of,
    new_run,
    run_row,
    state_of,
    tag_rows,
)
from stretto.store.sql.rows.workflows import ADD_OUTCOME, outcome_rows
from stretto.store.sql.statement import RUN_KEY, Row, Statement, given

ADMIT: Final = Statement(
    f"UPDATE run SET phase = 'ADMITTED', lane = 'ADMITTED', modify_time = :now WHERE {given(RUN_KEY)} "
    "AND phase = 'QUEUED'"
)
READ_QUEUED: Final = Statement(
    lambda d: f"SELECT {ROW} FROM run WHERE {given(RUN_KEY)} AND phase = 'QUEUED' {d.exclusive}"
)
READ_RUN: Final = Statement(lambda d: f"SELECT {ROW} FROM run WHERE {given(RUN_KEY)} {d.exclusive}")
WRITE_DOC: Final = Statement(f"UPDATE run SET doc = :doc WHERE {given(RUN_KEY)}")
WRITE_QUEUED: Final = Statement(
    "UPDATE run SET phase = :phase, lane = :lane, status = :status, failure = :failure, paused = :paused, "
    "start_time = :start_time, end_time = :end_time, ended_at = :ended_at, doc = :doc, modify_time = :now "
    f"WHERE {given(RUN_KEY)}"
)
MARK: Final = Statement(
    f"UPDATE run SET failure = :mark, lane = :lane, modify_time = :now WHERE {given(RUN_KEY)} "
    "AND failure = 'FAILED'"
)
SPEND: Final = Statement(
    "UPDATE workflow SET next_instance_id = next_instance_id + :spent, queued = :queued "
    "WHERE workflow_id = :workflow_id"
)


class Written:
    """What a decision leaves to be done."""

    def __init__(self, queued: int, blob_from: int) -> None:
        self.letters: list[Letter] = []
        self.hints: set[int] = set()
        self.ends: dict[RunStatus, int] = {}
        self.sent: tuple[int, ...] = ()
        self.queued = queued
        self.large = Large(blob_from)

    def ended(
        self,
        run: RunKey,
        status: RunStatus,
        parent: Parent | None,
        now: int,
        old: RunStatus = RunStatus.CREATED,
    ) -> None:
        """A run ended here: who is to be told, and how it counts."""
        group = group_of_run(run)
        self.letters += end_letters(run, status, group, parent, now, old)
        self.hints |= {group} if parent is None else {group, parent.group}
        self.ends[status] = self.ends.get(status, 0) + 1


async def write(
    tx: Transaction, snapshot: WorkflowSnapshot, decision: WorkflowDecision[Any], blob_from: int
) -> Written:
    """Everything that a decision says."""
    written, now = Written(snapshot.counts.queued, blob_from), snapshot.now
    await _create(tx, decision, written, now)
    created = {new.record.key for new in decision.created}
    for key in sorted(set(decision.admitted) - created):
        if not await tx.run(ADMIT, now=now, **of_run(key)):
            raise Stale(f"{key} is not queued")
        written.queued -= 1
        written.hints.add(group_of_run(key))
    for end in decision.ended:
        await _end(tx, end, written, now)
    for pause in decision.paused:
        await _pause(tx, pause, written, now)
    for key, mark in sorted(decision.marks.items()):
        await _mark(tx, key, mark, decision.mark_event, written, now)
    await tx.bulk(PUT_LARGE, written.large.sorted_rows())
    await _post(tx, decision.sent, written, now)
    if written.ends:
        await tx.bulk(ADD_OUTCOME, outcome_rows({snapshot.workflow_id: written.ends}, now, 0))
    if decision.spent or written.queued != snapshot.counts.queued:
        await tx.run(SPEND, workflow_id=snapshot.workflow_id, spent=decision.spent, queued=written.queued)
    await add_to_timeline(tx, snapshot.workflow_id, decision.timeline)
    return written


async def _post(tx: Transaction, sent: Sequence[Letter], written: Written, now: int) -> None:
    ids = await post(tx, [*written.letters, *sent], now)
    written.sent = tuple(ids[len(written.letters) :])
    written.hints |= {letter.to_group for letter in sent if letter.to_group is not None}


# ----------------------------------------------------------------------------------------------------- new
async def _create(tx: Transaction, decision: WorkflowDecision[Any], written: Written, now: int) -> None:
    """New runs: ended at birth, admitted, or queued."""
    if not decision.created:
        return
    admitted = set(decision.admitted)
    rows: list[Row] = []
    for new in decision.created:
        phase = _phase_of(new, admitted)
        rows.append(new_run(new.record, phase, new.parent, _docs(new.record, written)))
        _note(new, phase, written, now)
    try:
        await tx.bulk(INSERT_RUN, sorted(rows, key=lambda row: row[:3]), modify_time=now)
    except Taken as taken:
        runs = ", ".join(str(new.record.key) for new in decision.created[:5])
        raise Conflict(f"a run, or its request id, is there already: {runs}") from taken
    await tx.bulk(INSERT_RUN_TAG, sorted(row for new in decision.created for row in tag_rows(new.record)))


def _phase_of(new: NewRun, admitted: set[RunKey]) -> Phase:
    if new.record.status.is_terminal:
        return Phase.ENDED
    return Phase.ADMITTED if new.record.key in admitted else Phase.QUEUED


def _note(new: NewRun, phase: Phase, written: Written, now: int) -> None:
    """Who is to be told of a new run."""
    record = new.record
    group = group_of_run(record.key)
    written.hints.add(group)
    if phase is Phase.ENDED:
        written.ended(record.key, record.status, new.parent, now)
    elif phase is Phase.QUEUED:
        written.queued += not record.is_paused
        written.letters.append(log_letter(record.key, record.status, group, now))


# -------------------------------------------------------------------------------------------------- queued
async def _end(tx: Transaction, end: QueuedEnd, written: Written, now: int) -> None:
    row = await _queued(tx, end.run)
    record = row.record
    old = record.status
    written.queued -= not record.is_paused
    record.status, record.paused, record.held = end.status, False, False
    record.end_time = now
    record.timeline = appended(record.timeline, (end.event,))
    await _rewrite(tx, record, Phase.ENDED, written, now)
    written.ended(end.run, end.status, row.parent, now, old)


async def _pause(tx: Transaction, pause: QueuedPause, written: Written, now: int) -> None:
    row = await _queued(tx, pause.run)
    record, old = row.record, row.record.status
    written.queued += record.is_paused
    record.paused, record.held, record.status = pause.paused, pause.held, pause.status
    written.queued -= record.is_paused
    record.timeline = appended(record.timeline, (pause.event,))
    await _rewrite(tx, record, Phase.QUEUED, written, now)
    if record.status is not old:
        written.letters.append(log_letter(pause.run, record.status, row.group, now, old))
        written.hints.add(row.group)


async def _mark(
    tx: Transaction,
    key: RunKey,
    mark: FailureMark,
    event: TimelineEvent | None,
    written: Written,
    now: int,
) -> None:
    lane = lane_of(Phase.ENDED, mark)
    if not await tx.run(MARK, mark=mark, lane=lane, now=now, **of_run(key)):
        raise Stale(f"the failure of {key} does not stand")
    row = None if event is None else await tx.one(READ_RUN, **of_run(key))
    if row is not None and event is not None:
        record = run_row((await filled_runs(tx, [row]))[0]).record
        record.timeline = appended(record.timeline, (event,))
        doc = written.large.kept("run", key, RUN.write(record))
        await tx.run(WRITE_DOC, **of_run(key), doc=doc)


async def _queued(tx: Transaction, key: RunKey) -> RunRow:
    row = await tx.one(READ_QUEUED, **of_run(key))
    if row is None:
        raise Stale(f"{key} is not queued")
    return run_row((await filled_runs(tx, [row]))[0])


def _docs(record: RunRecord, written: Written) -> tuple[str | None, str]:
    """Parameters and the rest of a record, as they are written into its row."""
    params = written.large.kept_params(record.key, PARAMS.write(record.params) if record.params else None)
    return params, written.large.kept("run", record.key, RUN.write(record))


async def _rewrite(tx: Transaction, record: RunRecord, phase: Phase, written: Written, now: int) -> None:
    """A queued run whose parameters did not change."""
    doc = written.large.kept("run", record.key, RUN.write(record))
    await tx.run(WRITE_QUEUED, **of_run(record.key), **state_of(record, phase)._asdict(), doc=doc, now=now)
