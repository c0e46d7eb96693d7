"""Our records in the words of the task engine."""

from collections.abc import Sequence
from typing import Any, Final

from stretto.actions.reading.lines import RunLine, WorkflowLine
from stretto.api.v1.shapes import (
    V1Instance,
    V1InstanceLine,
    V1Progress,
    V1Step,
    V1Subtask,
    V1Task,
    V1Workflow,
    V1WorkflowLine,
)
from stretto.api.v1.words import (
    FAILED,
    PAUSED,
    PENDING,
    RETRY,
    RUNNING,
    duration,
    instance_id,
    instance_word,
    moment,
    task_word,
)
from stretto.definition.forms.task_engine import FUNCTION_TYPE
from stretto.definition.graph import Graph
from stretto.engine.kinds.batch import SUBSTEPS
from stretto.model.artifact import PYTHON, DefaultArtifact
from stretto.model.instance import WorkflowInstance
from stretto.model.param import RESULT, ParamSource
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, TypedStep
from stretto.model.step_instance import StepInstance
from stretto.model.timeline import LogEvent, LogLevel
from stretto.model.workflow import WorkflowVersion
from stretto.params.plain import plain_of

MOST_NAMED: Final = 500  # tasks that progress names
FUNCTIONS: Final = ("function", "entrypoint")


def workflow_line(line: WorkflowLine) -> V1WorkflowLine:
    return V1WorkflowLine(
        id=line.workflow_id,
        name=line.workflow_id,
        description=line.description,
        status=_switch(is_active=line.active_version_id is not None),
        version=line.latest_version_id,
        updated_at=moment(line.modify_time) or "",
    )


def workflow_view(version: WorkflowVersion, number: int) -> V1Workflow:
    workflow, metadata = version.workflow, version.metadata
    before = Graph.of(workflow.steps).predecessors
    return V1Workflow(
        id=workflow.id,
        name=workflow.name or workflow.id,
        description=workflow.description,
        status=_switch(is_active=bool(version.is_active)),
        version=number,
        created_at=None if metadata is None else moment(metadata.create_time),
        task_count=len(workflow.steps),
        tasks=tuple(_step(step, before[step.id]) for step in workflow.steps),
    )


def _switch(*, is_active: bool) -> str:
    return "ENABLED" if is_active else "DISABLED"


def _step(step: AnyStep, before: tuple[str, ...]) -> V1Step:
    params = step.params or {}
    function = next((params[name].value for name in FUNCTIONS if name in params), None)
    seconds = step.timeout
    return V1Step(
        id=step.id,
        name=step.name or step.id,
        description=step.description,
        type=step.type if isinstance(step, TypedStep) else str(type(step).__struct_config__.tag),
        function=None if function is None else str(function),
        dependencies=before,
        timeout=duration(0, seconds * 1_000) if isinstance(seconds, int) else seconds,
    )


# ------------------------------------------------------------------------------------------------- instances
def instance_key(line: RunLine) -> tuple[str, int]:
    """Which instance a run is of; the newest run stands for it."""
    return line.workflow_id, line.workflow_instance_id


def instance_line(line: RunLine) -> V1InstanceLine:
    error = line.first_error
    return V1InstanceLine(
        id=instance_id(line.workflow_id, line.workflow_instance_id),
        workflow_id=line.workflow_id,
        version=line.workflow_version_id,
        status=instance_word(line.status),
        created_at=moment(line.create_time) or "",
        started_at=moment(line.start_time),
        finished_at=moment(line.end_time),
        duration=duration(line.start_time, line.end_time),
        error=None if error is None or line.status is RunStatus.SUCCEEDED else error.text or error.status,
        quarantined=line.quarantined,
    )


def instance_view(run: WorkflowInstance, steps: Sequence[StepInstance]) -> V1Instance:
    tasks = tasks_of(run, steps)
    declared = {} if run.runtime_workflow is None else run.runtime_workflow.params or {}
    return V1Instance(
        id=instance_id(run.workflow_id, run.workflow_instance_id),
        workflow_id=run.workflow_id,
        version=run.workflow_version_id or 0,
        status=instance_word(run.run_status),
        created_at=moment(run.create_time),
        started_at=moment(run.start_time),
        finished_at=moment(run.end_time),
        duration=duration(run.start_time, run.end_time),
        params={
            name: plain_of(param, declared.get(name, param))
            for name, param in (run.params or {}).items()
            if name in (run.run_params or {})
        },
        result={each.id: each.result[RESULT] for each in tasks if RESULT in each.result},
        progress=_progress(tasks),
        quarantined=run.quarantined,
    )


def tasks_of(run: WorkflowInstance, steps: Sequence[StepInstance]) -> list[V1Task]:
    """Every task of the workflow, in its order, also those that have not begun."""
    made = {each.step_id: each for each in steps}
    is_over = run.run_status.is_terminal
    defined = () if run.runtime_workflow is None else run.runtime_workflow.steps
    return [_task(step, made.get(step.id), is_over=is_over) for step in defined]


def _task(step: AnyStep, made: StepInstance | None, *, is_over: bool) -> V1Task:
    name = step.name or step.id
    if made is None:
        return V1Task(id=step.id, name=name, status=task_word(StepStatus.NOT_CREATED, is_over=is_over))
    state = made.runtime_state
    return V1Task(
        id=step.id,
        name=name,
        status=task_word(state.status, is_over=is_over),
        attempt=made.step_attempt_id,
        started_at=moment(state.start_time),
        finished_at=moment(state.end_time),
        duration=duration(state.start_time, state.end_time),
        error=_error(made),
        result=_result(step, made),
        subtasks=_subtasks(made, is_over=is_over),
    )


def _error(made: StepInstance) -> str | None:
    """The last error that it told of, unless it has ended well."""
    told = [
        each.message for each in made.timeline if isinstance(each, LogEvent) and each.level is LogLevel.ERROR
    ]
    return told[-1] if told and not made.runtime_state.status.is_complete else None


def _result(step: AnyStep, made: StepInstance) -> dict[str, Any]:
    """The outputs of a task. What a function returned is the output `result`; a task that does not declare
    that output keeps the value in an artifact, unless the value is null.
    """
    declared = step.params or {}
    found = {
        name: plain_of(param, declared.get(name, param))
        for name, param in made.params.items()
        if param.source is ParamSource.OUTPUT_PARAMETER
    }
    is_function = isinstance(step, TypedStep) and step.type == FUNCTION_TYPE
    if RESULT in found or not is_function or made.runtime_state.status is not StepStatus.SUCCEEDED:
        return found
    kept = made.artifacts.get(PYTHON)
    return {**found, RESULT: kept.data.get(RESULT) if isinstance(kept, DefaultArtifact) else None}


def _subtasks(made: StepInstance, *, is_over: bool) -> tuple[V1Subtask, ...] | None:
    """How the tasks ended that the function of a task added."""
    summary = made.artifacts.get(SUBSTEPS)
    if not isinstance(summary, DefaultArtifact):
        return None
    return tuple(
        V1Subtask(
            id=each["step_id"],
            status=task_word(StepStatus(each["status"]), is_over=is_over),
            error=each.get("error"),
        )
        for each in summary.data["results"]
    )


def _progress(tasks: Sequence[V1Task]) -> V1Progress:
    """The counts add up to the total: what will never run counts as completed."""
    pending = [each.id for each in tasks if each.status in {PENDING, RETRY, PAUSED}]
    running = [each.id for each in tasks if each.status == RUNNING]
    failed = [each.id for each in tasks if each.status in FAILED]
    return V1Progress(
        total=len(tasks),
        completed=len(tasks) - len(pending) - len(running) - len(failed),
        running=len(running),
        failed=len(failed),
        pending=len(pending),
        running_task_ids=tuple(running[:MOST_NAMED]),
        pending_task_ids=tuple(pending[:MOST_NAMED]),
    )
