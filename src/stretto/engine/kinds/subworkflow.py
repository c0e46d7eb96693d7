"""Subworkflow: another workflow's run does the work. It goes through that workflow's own run strategy."""

from typing import Final

from stretto.engine.effects import StartChild, StopChild
from stretto.engine.events import ChildEnded, ChildRefused, ChildStarted, ResultState
from stretto.engine.flow import Flow
from stretto.engine.kinds.loops import too_deep
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import ArtifactKey, SubworkflowArtifact
from stretto.model.param import Params
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import SubworkflowStep

OWN_PARAMS: Final = frozenset({"subworkflow_id", "subworkflow_version"})
RESULTS: Final = {
    RunStatus.SUCCEEDED: ResultState.DONE,
    RunStatus.FAILED: ResultState.FATAL_ERROR,
    RunStatus.STOPPED: ResultState.STOPPED,
    RunStatus.TIMED_OUT: ResultState.TIMED_OUT,
}


def launch_subworkflow(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    turn.move(flow, attempt, StepStatus.RUNNING)
    step = plan.step
    assert isinstance(step, SubworkflowStep)  # noqa: S101 - the kind says so
    refused = too_deep(flow, plan)
    if refused is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, refused)
        return False
    params = attempt.params or {}
    turn.act(
        StartChild(
            attempt=attempt.key,
            workflow_id=str(params["subworkflow_id"].evaluated_result),
            version=str(params["subworkflow_version"].evaluated_result),
            sync=step.sync,
            params=passed_down(flow, step, attempt),
        )
    )
    return False


def passed_down(flow: Flow, step: SubworkflowStep, attempt: AttemptRecord) -> Params:
    """The parameters of the child's run: the step's own, and the run's unless only the step's are wanted."""
    params: Params = {}
    if not step.explicit_params:
        params.update(flow.run.params)
    own = attempt.params or {}
    defined = step.params or {}
    params.update({name: own[name] for name in defined if name not in OWN_PARAMS and name in own})
    return params


def child_started(turn: Turn, flow: Flow, event: ChildStarted) -> None:
    attempt = _waiting(flow, event.attempt)
    if attempt is None or attempt.child is not None:
        return
    turn.touch(attempt, flow)
    attempt.child = event.child
    artifact = SubworkflowArtifact(
        subworkflow_id=event.child.workflow_id,
        subworkflow_version_id=event.version_id,
        subworkflow_instance_id=event.child.instance_id,
        subworkflow_run_id=event.child.run_id,
        subworkflow_uuid=event.uuid,
    )
    attempt.artifacts = {**attempt.artifacts, ArtifactKey.SUBWORKFLOW.value: artifact}
    turn.note(flow, attempt, f"Started a subworkflow with uuid: {event.uuid}")
    index = flow.plan.numbers[event.attempt.step_id]
    step = flow.plan.steps[index].step
    if isinstance(step, SubworkflowStep) and not step.sync:
        turn.later(Task.CONCLUDE, flow, index, ResultState.DONE, None)
    elif attempt.ending is not None:
        # Asked to end before the child was known: now there is something to stop.
        turn.act(StopChild(attempt=attempt.key, child=event.child, user=attempt.reason or ""))


def child_refused(turn: Turn, flow: Flow, event: ChildRefused) -> None:
    if _waiting(flow, event.attempt) is not None:
        index = flow.plan.numbers[event.attempt.step_id]
        turn.later(Task.CONCLUDE, flow, index, ResultState.FATAL_ERROR, event.message)


def child_ended(turn: Turn, flow: Flow, event: ChildEnded) -> None:
    """Accepted also before the child is known: the message may be faster than the answer to the start."""
    attempt = _waiting(flow, event.attempt)
    if attempt is None or (attempt.child is not None and attempt.child != event.child):
        return
    turn.touch(attempt, flow)
    attempt.child = event.child
    index = flow.plan.numbers[event.attempt.step_id]
    message = f"the subworkflow run {event.child} ended {event.status}"
    turn.later(Task.CONCLUDE, flow, index, RESULTS[event.status], message)


def _waiting(flow: Flow, key: AttemptKey) -> AttemptRecord | None:
    attempt = flow.attempt(key)
    return attempt if attempt is not None and attempt.status is StepStatus.RUNNING else None
