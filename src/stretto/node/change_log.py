"""What a commit says to the change log, in the order in which people expect it; and what events say of a run
beside its ids: the name of its workflow, and its tags.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.runtime_workflow_view import runtime_tags_of
from stretto.engine.context import step_uuid
from stretto.engine.flow import Tree
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import AttemptKey, AttemptRecord, Record, RunKey, RunRecord
from stretto.engine.turn import TIME_FIELDS
from stretto.model.event import BEFORE_END, ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.initiator import UpstreamFields
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.status_change import StepStatusChange
from stretto.model.tag import Tag, merge_tags
from stretto.model.workflow import Workflow

MOST_LABELS: Final = 100  # loops of a tree whose labels are kept


class Label(NamedTuple):
    """A workflow's name, or what stands for it, and the tags of a run; None: it has none."""

    workflow_name: str | None = None
    tags: tuple[Tag, ...] | None = None


NO_LABEL: Final = Label()
Before = StepStatus | RunStatus | None
RunOf = Callable[[AttemptKey], RunRecord | None]
LabelOf = Callable[[RunRecord, Mapping[RunKey, RunRecord]], Label]


class _Move(NamedTuple):
    record: AttemptRecord | RunRecord
    before: Before
    after: StepStatus | RunStatus


_NEW: Final = StepStatus.NOT_CREATED
# Of each status: how many of `BEFORE_END` an attempt in it has behind it. A status after the end has all.
_PLACES: Final = {_NEW: 0, **{status: place + 1 for place, status in enumerate(BEFORE_END)}}
_NOT_STARTED: Final = frozenset({None, RunStatus.CREATED})
_TIMES: Final = tuple(TIME_FIELDS[status] for status in BEFORE_END)


def changes_of(
    records: Iterable[tuple[Record, Before]], now: int, run_of: RunOf, label_of: LabelOf
) -> list[ChangeEvent]:
    """One event for each record that has another status than before, in the order in which they were touched.

    A run that begins and ends has two: one before those of its steps, and one after them. The step of a loop
    ends after its iterations. `run_of` finds runs that are not among the records.
    """
    changed = [
        move
        for record, before in records
        if isinstance(record, AttemptRecord | RunRecord) and before is not record.status
        for move in _moves(record, before)
    ]
    runs = {move.record.key: move.record for move in changed if isinstance(move.record, RunRecord)}
    if any(run.status.is_terminal for run in runs.values()):
        changed = _ends_last(changed)
    return [
        _step_changed(move.record, move.before, now, runs.get(move.record.key.run) or run_of(move.record.key))
        if isinstance(move.record, AttemptRecord)
        else _run_changed(move.record, move.before, move.after, now, label_of(move.record, runs))
        for move in changed
    ]


def _moves(record: AttemptRecord | RunRecord, before: Before) -> tuple[_Move, ...]:
    """A run that was started and has ended was in progress between."""
    after = record.status
    was_started = isinstance(record, RunRecord) and record.start_time is not None
    if before in _NOT_STARTED and was_started and after.is_terminal:
        middle = RunStatus.IN_PROGRESS
        return (_Move(record, before, middle), _Move(record, middle, after))
    return (_Move(record, before, after),)


def _ends_last(changed: list[_Move]) -> list[_Move]:
    places = [(number, 0) for number in range(len(changed))]
    steps: dict[tuple[RunKey, str], int] = {}
    last: dict[RunKey, int] = {}  # where the last step of a run is
    ended: list[tuple[int, int, RunRecord]] = []
    for number, (record, _before, after) in enumerate(changed):
        if isinstance(record, AttemptRecord):
            steps[record.key.run, record.key.step_id] = number
            last[record.key.run] = number
        elif after.is_terminal:
            ended.append((record.initiator.depth, number, record))
    ended.sort(key=lambda each: (-each[0], each[1]))
    for rank, (_depth, number, run) in enumerate(ended):
        at = max(number, last.get(run.key, 0))
        places[number] = (at, 2 * rank + 1)
        if not isinstance(run.initiator, UpstreamFields):
            continue
        above = run.initiator.parent
        parent = RunKey(above.workflow_id, above.instance_id, above.run_id)
        step = steps.get((parent, above.step_id))
        if step is not None and changed[step].after.is_terminal:
            places[step] = (max(at, places[step][0]), 2 * rank + 2)
            last[parent] = max(at, last[parent])
    return [changed[number] for number in sorted(range(len(changed)), key=places.__getitem__)]


def _step_changed(record: AttemptRecord, before: Before, now: int, run: RunRecord | None) -> ChangeEvent:
    key = record.key.run
    old = before if isinstance(before, StepStatus) else _NEW
    at = getattr(record, TIME_FIELDS[record.status]) or now
    return StepStatusChanged(
        workflow_id=key.workflow_id,
        workflow_instance_id=key.instance_id,
        workflow_run_id=key.run_id,
        step_id=record.key.step_id,
        step_attempt_id=record.key.number,
        workflow_uuid=None if run is None else run.uuid,
        correlation_id=None if run is None else run.correlation_id,
        step_instance_id=record.sequence,
        asks=True if record.asks is not None else None,
        sync_time=now,
        status_change_records=(StepStatusChange(old_status=old, new_status=record.status, event_time=at),),
        passed=_passed(record, old, at),
    )


def _passed(record: AttemptRecord, old: StepStatus, at: int) -> tuple[int | None, ...] | None:
    """When the attempt entered the statuses between the old one and its own; None: there are none between."""
    whole = len(_TIMES)
    first, end = _PLACES.get(old, whole), _PLACES.get(record.status, whole + 1) - 1
    times = [getattr(record, name) for name in _TIMES[first:end]]
    if all(time is None for time in times):
        return None
    return (*([None] * first), *(None if time is None else at - time for time in times))


def _run_changed(
    record: RunRecord, before: Before, after: StepStatus | RunStatus, now: int, label: Label
) -> ChangeEvent:
    old = before if before is not None else RunStatus.CREATED
    began = None if after is record.status else record.start_time
    return InstanceStatusChanged(
        workflow_id=record.key.workflow_id,
        workflow_instance_id=record.key.instance_id,
        workflow_run_id=record.key.run_id,
        workflow_uuid=record.uuid,
        correlation_id=record.correlation_id,
        depth=record.initiator.depth,
        workflow_name=label.workflow_name,
        tags=label.tags,
        sync_time=now,
        old_status=InstanceStatus(old.value),
        new_status=InstanceStatus(after.value),
        event_time=now if began is None else began,
    )


# -------------------------------------------------------------------------------------------------- labels
def label_of_root(record: RunRecord, workflow: Workflow | None) -> Label:
    """That of a run that is no iteration. A workflow without a name is named by its id."""
    name = record.key.workflow_id if workflow is None else workflow.name or workflow.id
    return Label(name, merge_tags(record.tags, runtime_tags_of(record)) or None)


class Labels:
    """Those of a tree of runs. The iterations of a loop have the same, made once for all of them: the loop's
    attempt is the name, and the tags are those of the step.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._loops: dict[AttemptKey, Label] = {}

    def of(self, record: RunRecord, changed: Mapping[RunKey, RunRecord]) -> Label:
        """That of a run in the tree. `changed`: runs that the tree may have no more."""
        initiator = record.initiator
        if not is_inline(record.key.workflow_id) or not isinstance(initiator, UpstreamFields):
            return label_of_root(record, self._tree.workflow)
        above = initiator.parent
        run = RunKey(above.workflow_id, above.instance_id, above.run_id)
        attempt = AttemptKey(run, above.step_id, above.step_attempt_id)
        found = self._loops.get(attempt)
        if found is None:
            if len(self._loops) >= MOST_LABELS:
                self._loops.clear()
            found = self._loops[attempt] = self._of_loop(record, attempt, changed)
        return found

    def _of_loop(self, record: RunRecord, attempt: AttemptKey, changed: Mapping[RunKey, RunRecord]) -> Label:
        live = self._tree.live.get(attempt.run)
        around = changed.get(attempt.run) if live is None else live.run
        uuid = "" if around is None else step_uuid(around.uuid, attempt)
        step = step_in(self._tree.workflow.steps, attempt.step_id)
        tags = merge_tags(None if step is None else step.tags, runtime_tags_of(record))
        return Label(f"{attempt}[{uuid}]", tags)
