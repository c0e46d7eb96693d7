"""Rows of a run as a `RunResult`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from stretto.definition.functions import steps_by_id
from stretto.engine.outcome import is_undelivered
from stretto.engine.records import AttemptRecord
from stretto.engine.run_text import run_text
from stretto.flow.engine.causes import cause_of
from stretto.flow.engine.host import Host
from stretto.flow.engine.library import Returned
from stretto.flow.engine.result import Line, RunResult, StepOutcome, UnreadableValue
from stretto.model.artifact import DefaultArtifact
from stretto.model.error_text import text_of_error
from stretto.model.errors import StrettoError
from stretto.model.param import RESULT, ParamDefinition, Parameter, ParamSource
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.model.timeline import StatusEvent, TimelineEvent
from stretto.model.wire import encode
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import NewestAttempts
from stretto.runtimes.python.values import decode, decode_returned, kind_of_param

NO_PARAMS: Final[Mapping[str, ParamDefinition]] = {}


async def read_result(host: Host, row: RunRow, returned: Returned | None) -> RunResult[Any]:
    """Everything about a run."""
    chosen = await host.version(row)
    workflow = await host.workflow(row)
    attempts = {each.key.step_id: each for each in await host.store.attempts(NewestAttempts((row.key,)))}
    defined = steps_by_id(workflow.steps)
    steps = {step_id: outcome_of(each, defined.get(step_id)) for step_id, each in attempts.items()}
    value = None
    if row.record.status is RunStatus.SUCCEEDED and returned is not None:
        value = _value(attempts.get(returned.step), returned)
    record = row.record
    return RunResult(
        id=run_text(row.key),
        key=row.key,
        version=record.version_id,
        status=record.status,
        value=value,
        outputs={step: each.value for step, each in steps.items() if each.value is not None},
        steps=steps,
        params=_values(record.params, {**(workflow.params or {}), **chosen.required}),
        error=_error(row),
        failed_step=None if row.summary.first_error is None else row.summary.first_error.step_id,
        cause=await cause_of(host.store, row) if record.status is RunStatus.FAILED else None,
        compensation=record.compensation,
        quarantined=row.quarantined,
        create_time=record.create_time,
        start_time=record.start_time,
        end_time=record.end_time,
        timeline=_lines(record.timeline),
    )


def _value(row: AttemptRow | None, returned: Returned) -> Any:
    """What a workflow returns, for whoever looks at all of a run."""
    try:
        return value_of(row, returned)
    except Exception as error:  # noqa: BLE001 - a codec is anybody's code
        params = {} if row is None else row.record.params or {}
        return _unreadable(error, params[returned.param])


def _unreadable(error: Exception, param: Parameter) -> UnreadableValue:
    """So that one value hides neither the others nor how the run ended."""
    reason = str(error) if isinstance(error, StrettoError) else text_of_error(error)
    return UnreadableValue(reason, param.evaluated_result)


def value_of(row: AttemptRow | None, returned: Returned) -> Any:
    """What a workflow returns: a parameter of one of its steps. None, if that step was never needed."""
    if row is None or row.record.status is not StepStatus.SUCCEEDED:
        return None
    param = (row.record.params or {}).get(returned.param)
    if param is None or param.evaluated_result is None or is_undelivered(row.record, returned.param):
        return None
    return decode_returned(
        param.evaluated_result, returned.kind, returned.annotation, "the value of the workflow"
    )


def outcome_of(row: AttemptRow, step: AnyStep | None) -> StepOutcome:
    """A step as it stands."""
    record = row.record
    declared = NO_PARAMS if step is None else step.params or NO_PARAMS
    params = record.params or {}
    outputs = {name: param for name, param in params.items() if param.source is ParamSource.OUTPUT_PARAMETER}
    return StepOutcome(
        id=row.key.step_id,
        status=record.status,
        attempt=row.key.number,
        value=_returned(record, declared),
        outputs=_values(outputs, declared),
        params=_values(params, declared),
        error=record.reason if record.status.is_terminal and not record.status.is_complete else None,
        start_time=record.start_time,
        end_time=record.end_time,
        artifacts={
            name: each.data if isinstance(each, DefaultArtifact) else encode(each)
            for name, each in record.artifacts.items()
        },
        timeline=_lines(record.timeline),
    )


def _returned(record: AttemptRecord, declared: Mapping[str, ParamDefinition]) -> Any:
    param = (record.params or {}).get(RESULT)
    if param is None or RESULT not in declared or not record.status.is_complete:
        return None
    if is_undelivered(record, RESULT):
        return None
    return _decoded(RESULT, param, declared[RESULT])


def _values(params: Mapping[str, Parameter], declared: Mapping[str, ParamDefinition]) -> Mapping[str, Any]:
    """Those that somebody has declared; what every run and step has is left out."""
    return {name: _decoded(name, params[name], each) for name, each in declared.items() if name in params}


def _decoded(name: str, param: Parameter, declared: ParamDefinition) -> Any:
    """The kind is that of the definition: an evaluated parameter does not say what its text means."""
    kind = kind_of_param(declared)
    if param.evaluated_result is None:
        return None  # declared, and nothing came
    try:
        return decode(param.evaluated_result, kind, Any, name)
    except Exception as error:  # noqa: BLE001 - as above
        return _unreadable(error, param)


def _error(row: RunRow) -> str | None:
    record, first = row.record, row.summary.first_error
    if record.status is RunStatus.SUCCEEDED or not record.status.is_terminal:
        return None
    if first is not None:
        text = f": {first.text}" if first.text else ""
        return f"step `{first.step_id}` {first.status}{text}"
    return record.ended_by


def _lines(timeline: Iterable[TimelineEvent]) -> tuple[Line, ...]:
    return tuple(Line(each.timestamp, _text(each)) for each in timeline)


def _text(event: TimelineEvent) -> str:
    if isinstance(event, StatusEvent):
        return event.status
    return getattr(event, "message", None) or getattr(event, "action", None) or str(event)
