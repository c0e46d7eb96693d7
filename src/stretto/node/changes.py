"""What a commit says to the change log, in the order in which people expect it."""

from collections.abc import Callable, Iterable
from typing import Final

from stretto.engine.records import AttemptKey, AttemptRecord, Record, RunKey, RunRecord
from stretto.engine.turn import TIME_FIELDS
from stretto.model.event import BEFORE_END, ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.initiator import UpstreamFields
from stretto.model.status import InstanceStatus, RunStatus, StepStatus
from stretto.model.status_change import StepStatusChange

Before = StepStatus | RunStatus | None
RunOf = Callable[[AttemptKey], RunRecord | None]
_NEW: Final = StepStatus.NOT_CREATED
# Of each status: how many of `BEFORE_END` an attempt in it has behind it. A status after the end has all.
_PLACES: Final = {_NEW: 0, **{status: place + 1 for place, status in enumerate(BEFORE_END)}}
_TIMES: Final = tuple(TIME_FIELDS[status] for status in BEFORE_END)


def changes_of(records: Iterable[tuple[Record, Before]], now: int, run_of: RunOf) -> list[ChangeEvent]:
    """One event for each record that has another status than before, in the order in which they were touched.

    A run ends after its steps, though, and the step of a loop after its iterations. `run_of` finds runs that
    are not among the records.
    """
    changed = [
        (record, before)
        for record, before in records
        if isinstance(record, AttemptRecord | RunRecord) and before is not record.status
    ]
    runs = {record.key: record for record, _ in changed if isinstance(record, RunRecord)}
    if any(run.status.is_terminal for run in runs.values()):
        changed = _ends_last(changed)
    return [
        _step_changed(record, before, now, runs.get(record.key.run) or run_of(record.key))
        if isinstance(record, AttemptRecord)
        else _run_changed(record, before, now)
        for record, before in changed
    ]


def _ends_last(
    changed: list[tuple[AttemptRecord | RunRecord, Before]],
) -> list[tuple[AttemptRecord | RunRecord, Before]]:
    places = [(number, 0) for number in range(len(changed))]
    steps: dict[tuple[RunKey, str], int] = {}
    last: dict[RunKey, int] = {}  # where the last step of a run is
    ended: list[tuple[int, int, RunRecord]] = []
    for number, (record, _before) in enumerate(changed):
        if isinstance(record, AttemptRecord):
            steps[record.key.run, record.key.step_id] = number
            last[record.key.run] = number
        elif record.status.is_terminal:
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
        if step is not None and changed[step][0].status.is_terminal:
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


def _run_changed(record: RunRecord, before: Before, now: int) -> ChangeEvent:
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
