"""Subworkflow: another workflow's run does the work. It goes through that workflow's own run strategy."""

from typing import Final

import msgspec

from stretto.engine.attempt_params import own_names
from stretto.engine.effects import ChildRestart, HoldChild, StartChild, StopChild
from stretto.engine.events import ChildCounted, ChildEnded, ChildRefused, ChildStarted, ResultState
from stretto.engine.flow import Flow
from stretto.engine.kinds.loops import refuse, too_deep
from stretto.engine.kinds.reruns import is_redirect, restart_below
from stretto.engine.permits import inherited_limit
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import ArtifactKey, SubworkflowArtifact
from stretto.model.param import Params
from stretto.model.rollup import RollupOverview, RuntimeOverview
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import SubworkflowStep
from stretto.params import MissingKeys

OWN_PARAMS: Final = frozenset({"subworkflow_id", "subworkflow_version"})
RESULTS: Final = {
    RunStatus.SUCCEEDED: ResultState.DONE,
    RunStatus.FAILED: ResultState.FATAL_ERROR,
    RunStatus.STOPPED: ResultState.STOPPED,
    RunStatus.TIMED_OUT: ResultState.TIMED_OUT,
}


def launch_subworkflow(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    if flow.earlier is None:
        turn.fetch(flow, attempt, MissingKeys((flow.earlier_key,)))
        return False
    turn.move(flow, attempt, StepStatus.RUNNING)
    if attempt.earlier_child is None and not is_redirect(attempt):
        attempt.earlier_child = flow.earlier.children.get(plan.id)
    step = plan.step
    assert isinstance(step, SubworkflowStep)  # noqa: S101 - the kind says so
    refused = too_deep(flow, plan)
    if refused is not None:
        refuse(turn, flow, plan, attempt, refused)
        return False
    turn.act(start_child(flow, step, attempt))
    return False


def start_child(flow: Flow, step: SubworkflowStep, attempt: AttemptRecord) -> StartChild:
    params = attempt.params or {}
    workflow_id = str(params["subworkflow_id"].evaluated_result)
    return StartChild(
        attempt=attempt.key,
        workflow_id=workflow_id,
        version=str(params["subworkflow_version"].evaluated_result),
        sync=step.sync,
        params=passed_down(flow, step, attempt),
        tree_limit=inherited_limit(flow.tree.workflow),
        criticality=flow.criticality,
        held=flow.run.is_paused,
        again=_again(flow, attempt, workflow_id),
    )


def _again(flow: Flow, attempt: AttemptRecord, workflow_id: str) -> ChildRestart | None:
    """A step that had a child goes on with it, unless it names another workflow now."""
    child = attempt.earlier_child
    if child is None or child.workflow_id != workflow_id:
        return None
    policy, config = restart_below(flow, attempt, workflow_id, child.instance_id)
    return ChildRestart(child=child, policy=policy, config=config)


def stop_child(attempt: AttemptRecord) -> StopChild:
    return StopChild(attempt=attempt.key, child=attempt.child, user=attempt.reason or "")


def hold_children(turn: Turn, flow: Flow) -> None:
    """Tell the children that steps wait for that the run is paused, or goes on. One that is not known yet
    is told when it is.
    """
    for plan, attempt in zip(flow.plan.steps, flow.attempts, strict=True):
        if attempt is None or attempt.child is None or attempt.ending is not None:
            continue
        waits = plan.kind is Kind.UNDO or (isinstance(plan.step, SubworkflowStep) and plan.step.sync)
        if waits and attempt.status is StepStatus.RUNNING:
            turn.act(HoldChild(attempt=attempt.key, child=attempt.child, held=flow.run.is_paused))


def passed_down(flow: Flow, step: SubworkflowStep, attempt: AttemptRecord) -> Params:
    """The parameters of the child's run: the step's own, and the run's unless only the step's are wanted."""
    params: Params = {}
    if not step.explicit_params:
        params.update(flow.run.params)
    own = attempt.params or {}
    names = own_names(flow, step, attempt)
    params.update({name: own[name] for name in names if name not in OWN_PARAMS and name in own})
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
        turn.act(stop_child(attempt))
    elif event.held is not flow.run.is_paused:
        # The run was paused, or resumed, while the child was on its way.
        turn.act(HoldChild(attempt=attempt.key, child=event.child, held=flow.run.is_paused))


def child_refused(turn: Turn, flow: Flow, event: ChildRefused) -> None:
    attempt = _waiting(flow, event.attempt)
    if attempt is not None and attempt.child is None:  # else an earlier asking was heard after all
        plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
        refuse(turn, flow, plan, attempt, event.message)


def child_ended(turn: Turn, flow: Flow, event: ChildEnded) -> None:
    """Accepted also before the child is known: the message may be faster than the answer to the start."""
    attempt = _waiting(flow, event.attempt)
    if attempt is None or (attempt.child is not None and attempt.child != event.child):
        return
    turn.touch(attempt, flow)
    attempt.child = event.child
    attempt.undoable = attempt.undoable or event.undoable
    if event.rollup is not None:
        _keep_totals(attempt, event.child, event.rollup)
    index = flow.plan.numbers[event.attempt.step_id]
    message = f"the subworkflow run {event.child} ended {event.status}"
    turn.later(Task.CONCLUDE, flow, index, RESULTS[event.status], message)


def child_counted(turn: Turn, flow: Flow, event: ChildCounted) -> None:
    """Totals, not changes: what came late, or comes twice, does no harm."""
    attempt = _waiting(flow, event.attempt)
    if attempt is not None and attempt.child == event.child and event.version > (attempt.counted or 0):
        turn.touch(attempt, flow)
        attempt.counted = event.version
        _keep_totals(attempt, event.child, event.rollup)


def _keep_totals(attempt: AttemptRecord, child: RunKey, rollup: RollupOverview) -> None:
    known = attempt.artifacts.get(ArtifactKey.SUBWORKFLOW.value)
    if not isinstance(known, SubworkflowArtifact):  # the answer to the start is still to come
        known = SubworkflowArtifact(
            subworkflow_id=child.workflow_id,
            subworkflow_instance_id=child.instance_id,
            subworkflow_run_id=child.run_id,
        )
    overview = known.subworkflow_overview or RuntimeOverview()
    overview = msgspec.structs.replace(overview, rollup_overview=rollup)
    artifact = msgspec.structs.replace(known, subworkflow_overview=overview)
    attempt.artifacts = {**attempt.artifacts, ArtifactKey.SUBWORKFLOW.value: artifact}


def _waiting(flow: Flow, key: AttemptKey) -> AttemptRecord | None:
    attempt = flow.attempt(key)
    return attempt if attempt is not None and attempt.status is StepStatus.RUNNING else None
