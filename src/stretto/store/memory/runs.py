"""Workflow transactions."""

from collections.abc import Callable, Collection
from copy import copy
from typing import Final, TypeVar

import msgspec

from stretto.engine.records import RunKey, appended
from stretto.model.errors import Conflict, NotFound
from stretto.model.properties import RunStrategy
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.model.timeline import TimelineEvent
from stretto.ports.admission import (
    NewRun,
    QueuedEnd,
    QueuedPause,
    TimerAdvance,
    TransactionResult,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.failures import Stale
from stretto.ports.places import group_of_run, group_of_workflow
from stretto.ports.rows import Phase, RunRow, RunState, mark_of
from stretto.ports.workflows import WorkflowRow
from stretto.store.memory.database import Database, Part
from stretto.store.memory.leases import is_current
from stretto.store.memory.post import consume, post, post_end, post_log
from stretto.store.memory.run_rows import count_outcome, insert_run
from stretto.store.memory.schema import ALL

A = TypeVar("A")

RUNNING: Final = (Phase.ADMITTED, Phase.LIVE)


def counts_of(db: Database, workflow_id: str) -> RunCounts:
    """The runs of a workflow."""
    return RunCounts(
        queued=len(db.queues[workflow_id, False]),
        running=sum(len(db.runs_by_phase[workflow_id, phase]) for phase in RUNNING),
        failed=len(db.standing_failures[workflow_id]),
        paused=len(db.queues[workflow_id, True]),
    )


def running_of(db: Database, workflow_id: str) -> list[RunKey]:
    """Those that were admitted and have not ended."""
    return sorted(key for phase in RUNNING for key in db.runs_by_phase[workflow_id, phase])


def workflow_row(db: Database, workflow_id: str) -> WorkflowRow | None:
    """A workflow that is there and not being deleted."""
    entry = db.workflows.get(workflow_id)
    return None if entry is None or entry.deleted else entry.row


class MemoryRuns(Part):
    """See `ports.runs`."""

    async def transact(
        self,
        workflow_id: str,
        scope: TransactionScope,
        decide: Callable[[WorkflowSnapshot], WorkflowDecision[A]],
    ) -> TransactionResult[A]:
        with self._db.transaction() as now:
            row = workflow_row(self._db, workflow_id)
            if row is None:
                raise NotFound(f"Cannot find workflow [{workflow_id}]")
            consume(self._db, scope.consumes)
            for timer in scope.timers:
                _advance(self._db, timer)
            decision = decide(_snapshot(self._db, row, scope, now))
            writing = _Writing(self._db, row, now)
            writing.write(decision)
            return TransactionResult(
                answer=decision.answer,
                sent=tuple(writing.sent),
                hints=frozenset(writing.hints),
                to_launch=decision.to_launch,
                queued=len(self._db.queues[workflow_id, False]),
            )

    async def look_at_queue(self, workflow_id: str) -> tuple[RunStrategy, RunCounts] | None:
        with self._db.transaction():
            row = workflow_row(self._db, workflow_id)
            return None if row is None else (row.strategy, counts_of(self._db, workflow_id))

    async def with_queue(self, workflow_ids: Collection[str]) -> list[str]:
        with self._db.transaction():
            return sorted(each for each in workflow_ids if self._db.queues[each, False])

    async def queues_at_home(self, groups: Collection[int]) -> list[str]:
        with self._db.transaction():
            return [
                each
                for each in self._db.workflow_ids[ALL]
                if group_of_workflow(each) in groups and self._db.queues[each, False]
            ]

    async def run_of_request(self, workflow_id: str, request_id: str) -> RunKey | None:
        with self._db.transaction():
            return self._db.requests.get((workflow_id, request_id))


# --------------------------------------------------------------------------------------------------- reading
def _advance(db: Database, timer: TimerAdvance) -> None:
    row = db.time_triggers.get(timer.trigger_id)
    if row is None or row.next_fire_at != timer.due:
        raise Stale(f"time trigger {timer.trigger_id} is not due at {timer.due}")
    db.time_triggers.put(timer.trigger_id, msgspec.structs.replace(row, next_fire_at=timer.then))


def _snapshot(db: Database, row: WorkflowRow, scope: TransactionScope, now: int) -> WorkflowSnapshot:
    workflow_id = row.workflow_id
    detail = scope.detail(row.strategy)
    queue, paused = db.queues[workflow_id, False], db.queues[workflow_id, True]
    ids = [asked.request_id for asked in scope.requests]
    latest = {each: db.instances.get((workflow_id, each)) for each in scope.instances}
    return WorkflowSnapshot(
        workflow_id=workflow_id,
        now=now,
        strategy=row.strategy,
        next_instance_id=row.next_instance_id,
        counts=counts_of(db, workflow_id),
        known={each: run for each in ids if (run := db.requests.get((workflow_id, each))) is not None},
        fenced=frozenset(
            asked for asked in scope.requests if asked.lease is not None and not is_current(db, asked.lease)
        ),
        latest={each: _state(db.runs[key]) for each, key in latest.items() if key is not None},
        runs={key: _state(known) for key in scope.runs if (known := db.runs.get(key)) is not None},
        queue=tuple(queue if detail.queue is None else queue[: detail.queue]),
        paused=tuple(paused if detail.paused is None else paused[: detail.paused]),
        running=tuple(running_of(db, workflow_id))[: detail.most] if detail.running else (),
        failed=tuple(db.standing_failures[workflow_id])[: detail.most] if detail.failed else (),
    )


def _state(row: RunRow) -> RunState:
    record = row.record
    return RunState(
        key=row.key,
        uuid=record.uuid,
        version_id=record.version_id,
        group=row.group,
        phase=row.phase,
        status=record.status,
        failure=row.failure,
        paused=record.paused,
        held=record.held,
        parent=row.parent,
    )


# --------------------------------------------------------------------------------------------------- writing
class _Writing:
    """A decision on its way into the tables."""

    def __init__(self, db: Database, row: WorkflowRow, now: int) -> None:
        self._db = db
        self._row = row
        self._now = now
        self.sent: list[int] = []
        self.hints: set[int] = set()

    def write(self, decision: WorkflowDecision[A]) -> None:
        for new in decision.created:
            self._create(new, admitted=new.record.key in decision.admitted)
        created = {new.record.key for new in decision.created}
        for key in decision.admitted:
            if key not in created:
                self._admit(key)
        for end in decision.ended:
            self._end(end)
        for pause in decision.paused:
            self._pause(pause)
        for key, mark in decision.marks.items():
            self._mark(key, mark, decision.mark_event)
        for letter in decision.sent:
            self.sent.append(post(self._db, letter, self._now).id)
            self.hints |= set() if letter.to_group is None else {letter.to_group}
        if decision.timeline:
            known = self._db.timelines.get(self._row.workflow_id) or ()
            self._db.timelines.put(self._row.workflow_id, (*known, *decision.timeline))
        self._spend(decision.spent)

    def _create(self, new: NewRun, *, admitted: bool) -> None:
        db, key, record = self._db, new.record.key, copy(new.record)
        if key in db.runs or (key.workflow_id, record.uuid) in db.requests:
            raise Conflict(f"the run {key} or its request id is there already")
        over = record.status.is_terminal
        waiting = Phase.ADMITTED if admitted else Phase.QUEUED
        row = RunRow(
            record=record,
            group=group_of_run(key),
            phase=Phase.ENDED if over else waiting,
            failure=mark_of(record.status),
            root=key,
            parent=new.parent,
            modify_time=self._now,
        )
        insert_run(db, row)
        self.hints.add(row.group)
        if over:
            self._tell_end(row)
        elif not admitted:
            post_log(db, row, self._now)

    def _admit(self, key: RunKey) -> None:
        row = self._queued(key)
        self._db.runs.put(key, msgspec.structs.replace(row, phase=Phase.ADMITTED, modify_time=self._now))
        self.hints.add(row.group)

    def _end(self, end: QueuedEnd) -> None:
        row = self._queued(end.run)
        record, old = copy(row.record), row.record.status
        record.status, record.paused, record.held = end.status, False, False
        record.end_time = self._now
        record.timeline = appended(record.timeline, (end.event,))
        ended = msgspec.structs.replace(
            row, record=record, phase=Phase.ENDED, failure=mark_of(end.status), modify_time=self._now
        )
        self._db.runs.put(end.run, ended)
        self._tell_end(ended, old)

    def _tell_end(self, row: RunRow, old: RunStatus = RunStatus.CREATED) -> None:
        self.hints |= {row.group} if row.parent is None else {row.group, row.parent.group}
        count_outcome(self._db, row, self._now)
        post_end(self._db, row, self._now, old)

    def _pause(self, pause: QueuedPause) -> None:
        row = self._queued(pause.run)
        record, old = copy(row.record), row.record.status
        record.paused, record.held, record.status = pause.paused, pause.held, pause.status
        record.timeline = appended(record.timeline, (pause.event,))
        changed = msgspec.structs.replace(row, record=record, modify_time=self._now)
        self._db.runs.put(pause.run, changed)
        if record.status is not old:
            post_log(self._db, changed, self._now, old)
            self.hints.add(row.group)

    def _mark(self, key: RunKey, mark: FailureMark, event: TimelineEvent | None) -> None:
        row = self._db.runs.get(key)
        if row is None or row.failure is not FailureMark.STANDING:
            raise Stale(f"the failure of {key} does not stand")
        record = copy(row.record)
        record.timeline = appended(record.timeline, () if event is None else (event,))
        marked = msgspec.structs.replace(row, record=record, failure=mark, modify_time=self._now)
        self._db.runs.put(key, marked)

    def _queued(self, key: RunKey) -> RunRow:
        row = self._db.runs.get(key)
        if row is None or row.phase is not Phase.QUEUED:
            raise Stale(f"{key} is not queued")
        return row

    def _spend(self, ids: int) -> None:
        if ids:
            entry = self._db.workflows[self._row.workflow_id]
            row = msgspec.structs.replace(self._row, next_instance_id=self._row.next_instance_id + ids)
            self._db.workflows.put(row.workflow_id, msgspec.structs.replace(entry, row=row))
