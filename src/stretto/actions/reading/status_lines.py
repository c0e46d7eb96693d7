"""The times of statuses as lines of a timeline: what `enriched` adds."""

from collections.abc import Iterable
from typing import Final

from stretto.engine.records import AttemptRecord, RunRecord, appended
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogEvent, LogLevel, StatusEvent, Timeline, TimelineEvent

S = StepStatus

STEP_TIMES: Final = (
    (S.CREATED, "create_time"),
    (S.INITIALIZED, "initialize_time"),
    (S.PAUSED, "pause_time"),
    (S.WAITING_FOR_SIGNALS, "wait_signal_time"),
    (S.EVALUATING_PARAMS, "evaluate_param_time"),
    (S.WAITING_FOR_PERMITS, "wait_permit_time"),
    (S.STARTING, "start_time"),
    (S.RUNNING, "execute_time"),
    (S.FINISHING, "finish_time"),
)


def with_run_statuses(record: RunRecord) -> Timeline:
    """The timeline of a run with its statuses, in the order of time. What asked for the run comes before it
    is there, and everything else after, also within a millisecond; why a run can not begin is known before.
    """
    times = [(RunStatus.IN_PROGRESS, record.start_time), (record.status, record.end_time)]
    lines = _merged(record.timeline, times)
    created = StatusEvent(timestamp=record.create_time, status=str(RunStatus.CREATED))
    before = record.timeline[: 1 if record.start_time is not None else None]
    asked = sum(1 for line in before if line.timestamp <= record.create_time)
    return [*lines[:asked], created, *lines[asked:]]


def with_step_statuses(record: AttemptRecord) -> Timeline:
    """The timeline of an attempt with its statuses, in the order of time."""
    times = [(status, getattr(record, field)) for status, field in STEP_TIMES]
    return _merged(step_lines(record), [*times, (record.status, record.end_time)])


def step_lines(record: AttemptRecord) -> Timeline:
    """The timeline of an attempt; the reason of its end is the last line, which may be there already."""
    if record.reason is None or record.end_time is None:
        return list(record.timeline)
    level = LogLevel.INFO if record.status.is_complete else LogLevel.ERROR
    line = LogEvent(timestamp=record.end_time, level=level, message=record.reason)
    return list(appended(record.timeline, (line,)))


def _merged(timeline: Iterable[TimelineEvent], times: Iterable[tuple[str, int | None]]) -> Timeline:
    lines = [StatusEvent(timestamp=at, status=str(status)) for status, at in times if at is not None]
    return sorted((*timeline, *lines), key=lambda line: line.timestamp)
