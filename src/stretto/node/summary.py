"""What lists show of a run, kept beside it."""

from typing import Final

from stretto.engine.live_rollup import rollup_of
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.why import Cause
from stretto.model.status import StepStatus
from stretto.node.entry import Entry
from stretto.ports.rows import NO_SUMMARY, FirstError, RunSummary, Wait

S = StepStatus
_CAUSES: Final = {
    S.PAUSED: Cause.BREAKPOINT,
    S.WAITING_FOR_SIGNALS: Cause.SIGNAL,
    S.EVALUATING_PARAMS: Cause.VALUE,
    S.WAITING_FOR_PERMITS: Cause.PERMIT,
}


def summary_of(entry: Entry) -> RunSummary:
    """Counts are kept by the flow; only what is alive is looked at."""
    flow = entry.flow
    if flow is None:
        return NO_SUMMARY
    return RunSummary(
        counts={status: number for status, number in flow.counts.items() if number},
        first_error=_first_error(entry),
        wait=_wait(entry),
        rollup=rollup_of(flow),
    )


def _first_error(entry: Entry) -> FirstError | None:
    """Of the steps that failed and were not tried again, the first. An iteration that has ended is not in
    memory: what was stored of it stays.
    """
    record = next(iter(entry.errors.values()), None)
    if record is not None:
        return FirstError(step_id=record.key.step_id, status=record.status, text=record.reason)
    stored = None if entry.row is None else entry.row.summary.first_error
    is_inside = stored is not None and entry.flow is not None and entry.flow.step(stored.step_id) is None
    return stored if is_inside else None


def _wait(entry: Entry) -> Wait | None:
    """The oldest wait. An attempt that only passes through a status is gone before anybody looks."""
    for record in entry.waits.values():
        if record.function_wait is not None:
            return Wait(kind=Cause.FUNCTION.value, ref=record.key.step_id, since=record.function_wait.since)
        cause = _CAUSES.get(record.status)
        if cause is None and record.status is S.RUNNING:
            cause = _cause_of_running(record)
        if cause is not None:
            return Wait(kind=cause.value, ref=record.key.step_id, since=_since(record))
    return None


def _cause_of_running(record: AttemptRecord) -> Cause | None:
    """A step without work of its own: it sleeps, its child runs, or a person is asked. Loops go on."""
    if record.wake_reason is WakeReason.SLEEP:
        return Cause.TIME
    if record.child is not None:
        return Cause.CHILD
    return None if record.loop_run is not None else Cause.PERSON


def _since(record: AttemptRecord) -> int:
    times = (
        record.execute_time,
        record.wait_permit_time,
        record.evaluate_param_time,
        record.wait_signal_time,
        record.pause_time,
        record.create_time,
    )
    return next((time for time in times if time is not None), 0)
