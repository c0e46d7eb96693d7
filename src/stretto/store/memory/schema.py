"""The tables of one database and their indexes. A bucket of an index is what somebody asks for at once."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from stretto.engine.permits import Pace
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.job_template import JobTemplate
from stretto.model.permit import TagPermit
from stretto.model.properties import PropertiesSnapshot
from stretto.model.signal_instance import SignalInstance
from stretto.model.status import FailureMark, RunStatus, StepStatus
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import WorkflowVersion
from stretto.ports.bulk import BulkItem, BulkJob
from stretto.ports.events import LogRow
from stretto.ports.functions import FunctionRecord
from stretto.ports.groups import GroupRow, NodeRow
from stretto.ports.messages import Message
from stretto.ports.permits import PermitRow
from stretto.ports.places import GROUPS, group_of_workflow
from stretto.ports.rows import AttemptRow, NodeId, Phase, RunRow
from stretto.ports.signals import SignalWait
from stretto.ports.triggers import SignalTriggerRow, TimeTriggerRow
from stretto.ports.work import Work
from stretto.ports.workflows import WorkflowRow
from stretto.store.memory.table import Index, Journal, Table

ALL: Final = "all"  # the bucket of an index that has one only
BreakpointKey = tuple[str, str, int, int, int, int]  # workflow, step, version, instance, run, attempt


class WorkflowEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow id that was ever used: alive, being deleted, or gone (no row; the ids go on)."""

    row: WorkflowRow | None
    deleted: bool = False
    next_instance_id: int = 1


class KeptResult(NamedTuple):
    """What a function returned, and until when that counts."""

    value: str
    until: int


class Question(NamedTuple):
    """Somebody is asked, or was."""

    assignee: str  # nobody: a question is for everybody, too
    home: str
    is_open: bool
    asked_at: int


class Schema:
    """All tables; each index stands before the table that it is of."""

    def __init__(self) -> None:
        self._journal: Journal = []
        self._make_node_tables()
        self._make_workflow_tables()
        self._make_run_tables()
        self._make_message_tables()
        self._make_signal_tables()

    def _table(self, *indexes: Index[Any, Any]) -> Table[Any, Any]:
        return Table(self._journal, *indexes)

    def _make_node_tables(self) -> None:
        self.nodes: Table[NodeId, NodeRow] = self._table()
        self.groups: Table[int, GroupRow] = self._table()
        for group in range(GROUPS):
            self.groups.put(group, GroupRow(group=group))
        self.log_by_group: Index[tuple[int, int], LogRow] = Index(lambda row: row.group)
        self.log: Table[tuple[int, int], LogRow] = self._table(self.log_by_group)
        self.sinks: Table[tuple[str, int], int] = self._table()
        self._journal.clear()

    def _make_workflow_tables(self) -> None:
        self.workflow_ids: Index[str, WorkflowEntry] = Index(_alive)
        self.workflows: Table[str, WorkflowEntry] = self._table(self.workflow_ids)
        self.versions_of: Index[tuple[str, int], WorkflowVersion] = Index(lambda row: row.workflow.id)
        self.versions: Table[tuple[str, int], WorkflowVersion] = self._table(self.versions_of)
        self.snapshots_of: Index[tuple[str, int], PropertiesSnapshot] = Index(lambda row: row.workflow_id)
        self.snapshots: Table[tuple[str, int], PropertiesSnapshot] = self._table(self.snapshots_of)
        self.timelines: Table[str, tuple[WorkflowChange, ...]] = self._table()
        self.outcomes: Table[tuple[str, int], Mapping[RunStatus, int]] = self._table()
        self.all_breakpoints: Index[BreakpointKey, StepBreakpoint] = Index(_everywhere)
        self.breakpoints: Table[BreakpointKey, StepBreakpoint] = self._table(self.all_breakpoints)
        self.templates_of: Index[tuple[str, str], JobTemplate] = Index(lambda row: row.definition.version)
        self.templates: Table[tuple[str, str], JobTemplate] = self._table(self.templates_of)
        self.functions: Table[str, FunctionRecord] = self._table()
        self.advertised: Table[NodeId, frozenset[str]] = self._table()
        self.results: Table[str, KeptResult] = self._table()
        self.bulk_jobs: Table[str, BulkJob] = self._table()
        self.bulk_items: Table[str, tuple[BulkItem, ...]] = self._table()  # by number
        self.bulk_held: Table[str, int] = self._table()  # until when

    def _make_run_tables(self) -> None:
        self.runs_of: Index[RunKey, RunRow] = Index(lambda row: row.key.workflow_id)
        self.runs_by_phase: Index[RunKey, RunRow] = Index(_by_phase)
        self.queues: Index[RunKey, RunRow] = Index(_by_queue)
        self.runs_of_group: Index[RunKey, RunRow] = Index(_by_group)
        self.standing_failures: Index[RunKey, RunRow] = Index(_by_failure)
        self.iterations: Index[RunKey, RunRow] = Index(_by_root)
        self.ended_iterations: Index[RunKey, RunRow] = Index(_by_loop)
        self.runs_by_time: Index[RunKey, RunRow] = Index(
            lambda row: _everywhere(row) if row.root == row.key else None,
            lambda key, row: (row.record.create_time, key),
        )
        self.children_of: Index[RunKey, RunRow] = Index(lambda row: row.parent and row.parent.attempt)
        self.quarantine: Index[RunKey, RunRow] = Index(
            lambda row: _everywhere(row) if row.quarantined else None
        )
        self.runs: Table[RunKey, RunRow] = self._table(
            self.runs_of,
            self.runs_by_phase,
            self.queues,
            self.runs_of_group,
            self.standing_failures,
            self.iterations,
            self.ended_iterations,
            self.runs_by_time,
            self.children_of,
            self.quarantine,
        )
        self.requests: Table[tuple[str, str], RunKey] = self._table()
        self.instances_of: Index[tuple[str, int], RunKey] = Index(lambda key: key.workflow_id)
        self.instances: Table[tuple[str, int], RunKey] = self._table(self.instances_of)
        self.attempts_of: Index[AttemptKey, AttemptRow] = Index(lambda row: row.key.run)
        self.paused: Index[AttemptKey, AttemptRow] = Index(_by_pause, lambda key, _row: _pause_entry(key))
        self.attempts: Table[AttemptKey, AttemptRow] = self._table(self.attempts_of, self.paused)
        self.asked_of: Index[tuple[AttemptKey, str], Question] = Index(
            lambda row: (row.assignee, row.is_open), _when_asked
        )
        self.asked_in: Index[tuple[AttemptKey, str], Question] = Index(
            lambda row: (row.home, row.assignee, row.is_open), _when_asked
        )
        self.questions: Table[tuple[AttemptKey, str], Question] = self._table(self.asked_of, self.asked_in)
        self.loops_of: Index[AttemptKey, LoopRecord] = Index(lambda row: row.key.run)
        self.loops: Table[AttemptKey, LoopRecord] = self._table(self.loops_of)

    def _make_message_tables(self) -> None:
        self.messages_to: Index[int, Message] = Index(
            lambda row: row.to_node if row.to_group is None else row.to_group
        )
        self.messages_about: Index[int, Message] = Index(lambda row: (row.body.kind, row.ref))
        self.parked: Index[int, Message] = Index(lambda row: _everywhere(row) if row.parked else None)
        self.messages: Table[int, Message] = self._table(self.messages_to, self.messages_about, self.parked)
        self.work_of_pool: Index[AttemptKey, Work] = Index(lambda row: row.pool)
        self.free_work: Index[AttemptKey, Work] = Index(
            lambda row: None if row.taken_by else row.pool, lambda key, row: (row.since, key)
        )
        self.work_of_group: Index[AttemptKey, Work] = Index(lambda row: row.group)
        self.work: Table[AttemptKey, Work] = self._table(
            self.work_of_pool, self.free_work, self.work_of_group
        )
        self.holders: Index[tuple[AttemptKey, str], PermitRow] = Index(
            lambda row: row.tag if row.granted else None
        )
        self.waiters: Index[tuple[AttemptKey, str], PermitRow] = Index(
            lambda row: None if row.granted else row.tag
        )
        self.permits_of: Index[tuple[AttemptKey, str], PermitRow] = Index(lambda row: row.attempt)
        self.permits: Table[tuple[AttemptKey, str], PermitRow] = self._table(
            self.holders, self.waiters, self.permits_of
        )
        self.tags: Table[str, TagPermit] = self._table()
        self.paces: Table[str, Pace] = self._table()

    def _make_signal_tables(self) -> None:
        self.last_seqs: Table[str, int] = self._table()
        self.signals_of: Index[tuple[str, int], SignalInstance] = Index(lambda row: row.name)
        self.signals: Table[tuple[str, int], SignalInstance] = self._table(self.signals_of)
        self.announced: Table[tuple[str, str | None], int] = self._table()
        self.waits_for: Index[tuple[str, AttemptKey, int], SignalWait] = Index(lambda row: row.name)
        self.waits_of: Index[tuple[str, AttemptKey, int], SignalWait] = Index(lambda row: row.attempt)
        self.waits: Table[tuple[str, AttemptKey, int], SignalWait] = self._table(
            self.waits_for, self.waits_of
        )
        self.signal_triggers_of: Index[str, SignalTriggerRow] = Index(lambda row: row.workflow_id)
        self.signal_triggers: Table[str, SignalTriggerRow] = self._table(self.signal_triggers_of)
        self.listening: Index[tuple[str, str], str] = Index(lambda name: name)
        self.listeners: Table[tuple[str, str], str] = self._table(self.listening)
        self.joins: Table[tuple[str, str], Mapping[str, int]] = self._table()
        self.time_triggers_of: Index[str, TimeTriggerRow] = Index(lambda row: row.workflow_id)
        self.all_time_triggers: Index[str, TimeTriggerRow] = Index(_everywhere)
        self.timers: Index[str, TimeTriggerRow] = Index(
            lambda row: None if row.next_fire_at is None else group_of_workflow(row.workflow_id),
            lambda key, row: (row.next_fire_at, key),
        )
        self.time_triggers: Table[str, TimeTriggerRow] = self._table(
            self.time_triggers_of, self.all_time_triggers, self.timers
        )


# --------------------------------------------------------------------------------------------------- buckets
def _everywhere(_row: object) -> str:
    return ALL


def _alive(entry: WorkflowEntry) -> str | None:
    return ALL if entry.row is not None and not entry.deleted else None


def _by_group(row: RunRow) -> tuple[int, Phase] | None:
    at_work = row.phase in {Phase.ADMITTED, Phase.LIVE}
    return (row.group, row.phase) if at_work and row.root == row.key and not row.quarantined else None


def _by_phase(row: RunRow) -> tuple[str, Phase] | None:
    return (row.key.workflow_id, row.phase) if row.root == row.key else None  # iterations are never queued


def _by_queue(row: RunRow) -> tuple[str, bool] | None:
    """The workflow, and whether the run is paused: then it is passed over."""
    return (row.key.workflow_id, row.record.is_paused) if row.phase is Phase.QUEUED else None


def _by_failure(row: RunRow) -> str | None:
    return row.key.workflow_id if row.failure is FailureMark.STANDING else None


def _by_root(row: RunRow) -> tuple[RunKey, Phase] | None:
    return (row.root, row.phase) if row.root != row.key else None


def _by_loop(row: RunRow) -> tuple[str, int, RunStatus] | None:
    if row.phase is not Phase.ENDED or row.root == row.key:
        return None
    return row.key.workflow_id, row.key.run_id, row.record.status


def _by_pause(row: AttemptRow) -> str | None:
    return row.key.step_id if row.record.status is StepStatus.PAUSED else None


def _pause_entry(key: AttemptKey) -> tuple[str, int, int, int]:
    return (*key.run, key.number)


def _when_asked(key: tuple[AttemptKey, str], row: Question) -> tuple[int, AttemptKey]:
    return row.asked_at, key[0]
