"""What was decided for one run since its last commit: all of it goes into one `Decided`."""

from collections.abc import Iterable
from typing import Final

from stretto.engine.effects import Effect
from stretto.engine.records import AttemptKey, AttemptRecord, Record, RunRecord
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.status_change import StepStatusChange
from stretto.node.entry import Entry, Item
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.messages import AnyBody, Letter, Message, Outcome
from stretto.ports.rows import NodeId, RunSummary
from stretto.ports.signals import SignalWait

_NEW: Final = StepStatus.NOT_CREATED


class Draft:
    """One decision in the sense of the store: several events of one run, or one message about none."""

    __slots__ = (
        "_before",
        "answered",
        "continued",
        "effects",
        "entry",
        "events",
        "items",
        "launch",
        "letters",
        "matched",
        "messages",
        "permits",
        "records",
        "released",
        "results",
        "runs_on",
        "summary",
        "waits",
    )

    def __init__(self, entry: Entry | None = None) -> None:
        self.entry = entry
        self.launch = False
        self.records: dict[int, Record] = {}
        self._before: dict[int, StepStatus | RunStatus | None] = {}
        self.messages: list[Message] = []  # that it deals with
        self.answered: dict[int, Outcome] = {}
        self.continued: dict[int, AnyBody] = {}
        self.letters: list[Letter] = []
        self.permits: list[PermitAsk] = []
        self.waits: list[SignalWait] = []
        self.matched: list[tuple[AttemptKey, int]] = []
        self.released: dict[AttemptKey, None] = {}
        self.runs_on: dict[AttemptKey, NodeId | None] = {}
        self.effects: list[Effect] = []  # to be carried out after the commit
        self.results: list[tuple[AttemptKey, int]] = []  # launches whose result is in it
        self.events: list[ChangeEvent] = []
        self.summary: RunSummary | None = None
        self.items: list[Item] = []  # what was decided, in order

    @property
    def rows(self) -> int:
        """About how many rows it writes."""
        return (
            len(self.records)
            + len(self.messages)
            + len(self.letters)
            + len(self.permits)
            + len(self.waits)
            + len(self.released)
        )

    @property
    def is_empty(self) -> bool:
        """Nothing to write: the event changed nothing, and brought no message that must go."""
        return not (self.records or self.messages or self.letters or self.runs_on)

    def note(self, changes: Iterable[Record], before: Iterable[StepStatus | RunStatus | None]) -> None:
        for record, status in zip(changes, before, strict=True):
            self.records[id(record)] = record
            self._before.setdefault(id(record), status)

    # ------------------------------------------------------------------------------------------------ result
    def decided(self, now: int) -> Decided:
        """What the store is told."""
        entry = self.entry
        consumed = tuple(
            each.id
            for each in self.messages
            if each.id not in self.answered and each.id not in self.continued
        )
        if entry is None:
            return Decided(
                consumed=consumed,
                answered=self.answered,
                continued=self.continued,
                sent=tuple(self.letters),
                events=tuple(self.events),
            )
        # While something is to be carried out, the next owner must look at the run if this one dies.
        due = 0 if self.effects else entry.due
        keeps = not self.launch and due == entry.due_stored
        entry.due_stored = due
        return Decided(
            root=entry.key,
            launch=self.launch,
            records=tuple(self.records.values()),
            due_at=due,
            keeps_due=keeps,
            runs_on=self.runs_on,
            summaries={} if self.summary is None else {entry.key: self.summary},
            consumed=consumed,
            answered=self.answered,
            sent=tuple(self.letters),
            permits=tuple(self.permits),
            waits=tuple(self.waits),
            matched=tuple(self.matched),
            released=tuple(self.released),
            events=(*self.events, *self._changes(now)),
        )

    def _changes(self, now: int) -> Iterable[ChangeEvent]:
        """The change log's view: one event for each record that has another status than before."""
        for key, record in self.records.items():
            before = self._before[key]
            if isinstance(record, AttemptRecord):
                if before is not record.status:
                    yield _step_changed(record, before, now)
            elif isinstance(record, RunRecord) and before is not record.status:
                yield _run_changed(record, before, now)


def _step_changed(record: AttemptRecord, before: StepStatus | RunStatus | None, now: int) -> ChangeEvent:
    run = record.key.run
    old = before if isinstance(before, StepStatus) else _NEW
    return StepStatusChanged(
        workflow_id=run.workflow_id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        step_id=record.key.step_id,
        step_attempt_id=record.key.number,
        step_instance_id=record.sequence,
        sync_time=now,
        status_change_records=(StepStatusChange(old_status=old, new_status=record.status, event_time=now),),
    )


def _run_changed(record: RunRecord, before: StepStatus | RunStatus | None, now: int) -> ChangeEvent:
    old = before.value if before is not None else RunStatus.CREATED.value
    return InstanceStatusChanged(
        workflow_id=record.key.workflow_id,
        workflow_instance_id=record.key.instance_id,
        workflow_run_id=record.key.run_id,
        workflow_uuid=record.uuid,
        correlation_id=record.correlation_id,
        depth=record.initiator.depth,
        sync_time=now,
        old_status=InstanceStatus(old),
        new_status=InstanceStatus(record.status.value),
        event_time=now,
    )
