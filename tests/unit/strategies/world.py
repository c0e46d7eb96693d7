"""One workflow in memory: asks the strategy as a store does, writes what it says, and checks each write.

There is no engine and no store in it: properties run thousands of stories of it in a second.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from stretto.model.properties import RunStrategy
from stretto.model.runs import RunKey
from stretto.model.status import FailureMark, RunStatus
from stretto.strategies import (
    Accepted,
    Admission,
    Batch,
    LatestRun,
    Mark,
    Request,
    admit,
    check_change,
    queue_needed,
    unblock,
)


class Phase(Enum):
    QUEUED = auto()
    RUNNING = auto()  # admitted or live
    ENDED = auto()


@dataclass(slots=True)
class Row:
    request_id: str
    phase: Phase
    raw: str
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class World:
    """`stops` are the running runs that were told to stop and have not ended yet."""

    strategy: RunStrategy
    workflow_id: str = "etl"
    rows: dict[RunKey, Row] = field(default_factory=dict)
    next_instance_id: int = 1
    stops: set[RunKey] = field(default_factory=set)
    queued: int = 0  # kept by the changes alone, as the workflow's row is

    def put(self, run: RunKey, phase: Phase, raw: str, request_id: str) -> None:
        """A run that was there before the story begins."""
        self._insert(run, Row(request_id, phase, raw))
        self.queued += phase is Phase.QUEUED
        self.next_instance_id = max(self.next_instance_id, run.instance_id + 1)

    def in_phase(self, phase: Phase) -> list[RunKey]:
        return sorted(run for run, row in self.rows.items() if row.phase is phase)

    @property
    def queue(self) -> list[RunKey]:
        return self.in_phase(Phase.QUEUED)

    @property
    def running(self) -> list[RunKey]:
        return self.in_phase(Phase.RUNNING)

    @property
    def failed(self) -> list[RunKey]:
        return sorted(run for run, row in self.rows.items() if row.raw == FailureMark.STANDING)

    def statuses(self) -> Mapping[RunKey, str]:
        return {run: row.raw for run, row in self.rows.items()}

    def ask(self, *requests: Request) -> Admission:
        """One transaction: with requests, or a dequeue."""
        known = {row.request_id: run for run, row in self.rows.items()}
        batch = Batch(self.workflow_id, requests, self.next_instance_id, known, self._latest())
        queue = self.queue[: queue_needed(self.strategy)]
        admission = admit(self.strategy, queue, len(self.running), len(self.failed), batch)
        self._write(admission)
        return admission

    def end(self, run: RunKey, raw: str) -> None:
        """A queued run is stopped or killed under the lock; a running one ends by itself."""
        row = self.rows[run]
        assert row.phase is not Phase.ENDED
        self.queued -= row.phase is Phase.QUEUED
        row.phase, row.raw = Phase.ENDED, raw
        self.stops.discard(run)

    def unblock(self, run: RunKey | None = None) -> Admission:
        done = unblock(self.strategy, self.queue, len(self.running), self.failed, run)
        self._mark(done.marks)
        self._write(done.admission)
        return done.admission

    def change(self, strategy: RunStrategy) -> Admission:
        check_change(self.strategy, strategy, self.queued, len(self.running), len(self.failed))
        self.strategy = strategy
        return self.ask()

    def _latest(self) -> dict[int, LatestRun]:
        latest: dict[int, LatestRun] = {}
        for run, row in sorted(self.rows.items()):
            failed = row.raw == FailureMark.STANDING
            latest[run.instance_id] = LatestRun(run.run_id, row.phase is Phase.ENDED, failed)
        return latest

    def _write(self, admission: Admission) -> None:
        running = self.running
        for answer in admission.answers:
            if isinstance(answer, Accepted):
                phase = Phase.QUEUED if answer.status is RunStatus.CREATED else Phase.ENDED
                notes = [answer.note] if answer.note else []
                self._insert(answer.run, Row(answer.request_id, phase, answer.status, notes))
        self._mark(admission.marks)
        for replaced in admission.replaced:
            row = self.rows[replaced.run]
            assert row.phase is Phase.QUEUED
            row.phase, row.raw = Phase.ENDED, RunStatus.STOPPED
            row.notes.append(replaced.note)
        if admission.stop_running:
            self.stops.update(running)
        for run in admission.admitted:
            assert self.rows[run].phase is Phase.QUEUED
            self.rows[run].phase = Phase.RUNNING
        self.next_instance_id += admission.spent
        self.queued += admission.queue_change
        assert self.queued == len(self.queue)

    def _insert(self, run: RunKey, row: Row) -> None:
        assert run not in self.rows
        assert all(row.request_id != other.request_id for other in self.rows.values())
        self.rows[run] = row

    def _mark(self, marks: tuple[Mark, ...]) -> None:
        for mark in marks:
            assert self.rows[mark.run].raw == FailureMark.STANDING
            self.rows[mark.run].raw = mark.raw
