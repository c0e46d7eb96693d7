"""A batch of steps inside a step: those of a template, or those that its work added.

A batch is one iteration of an inline workflow whose steps are given when it begins.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from stretto.definition.graph import Graph
from stretto.engine.earlier import NO_EARLIER, earlier_key
from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.loops import (
    Body,
    ancestors_of,
    inline_id,
    loop_result,
    open_iteration,
    refuse,
    too_deep,
)
from stretto.engine.kinds.reruns import Rerun, is_redirect, last_loop_run, opened, restart_below
from stretto.engine.plan import Kind, Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import DefaultArtifact
from stretto.model.errors import StrettoError
from stretto.model.initiator import TemplateInitiator, UpstreamFields
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, TemplateStep, TypedStep
from stretto.model.workflow import Workflow
from stretto.params import MissingKeys

S = StepStatus
SUBSTEPS: Final = "maestro_substeps"  # the artifact that says how the steps ended
MOST_ERRORS: Final = 3  # of sub-steps, in the error of the step that added them
_GOOD: Final = frozenset({S.SUCCEEDED, S.SKIPPED, S.UNSATISFIED, S.DISABLED})


def launch_template(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """The steps of another workflow, run as if they stood here. Its definition is fetched first."""
    step = plan.step
    assert isinstance(step, TemplateStep)  # noqa: S101 - the kind says so
    key = ("workflow", step.sub_type, step.sub_type_version or "default")
    if key not in flow.fetched:
        turn.fetch(flow, attempt, MissingKeys((key,)))
        return False
    turn.move(flow, attempt, S.RUNNING)
    found: Workflow | None = flow.fetched[key]
    refused = too_deep(flow, plan)
    if found is None:
        absent = f"there is no workflow {step.sub_type} to be the template of step {plan.id}"
        refuse(turn, flow, plan, attempt, absent)
    elif refused is not None:
        refuse(turn, flow, plan, attempt, refused)
    else:
        _open(turn, flow, plan, attempt, found.steps, Loop.TEMPLATE)
    return False


def add_steps(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, steps: Sequence[AnyStep], tolerance: float
) -> None:
    """Steps that the work of a step asks for: all of them, or none and the step has failed."""
    refused = _refusal(flow, plan, steps)
    if refused is not None:
        refuse(turn, flow, plan, attempt, f"{refused}; none was added")
        return
    if attempt.status is S.STARTING:
        turn.move(flow, attempt, S.RUNNING)
    turn.note(flow, attempt, f"Added {len(steps)} sub-steps: {', '.join(step.id for step in steps)}")
    turn.release_permits(attempt)  # the step's own work is over, and its sub-steps may wait for what it holds
    _open(turn, flow, plan, attempt, steps, Loop.SUBSTEPS, tolerance)


def _refusal(flow: Flow, plan: StepPlan, steps: Sequence[AnyStep]) -> str | None:
    if _is_substep(flow):
        return "a sub-step can not add sub-steps"
    counts = Counter(each for step in steps for each in _ids(step))
    taken = sorted(each for each, count in counts.items() if count > 1 or each in flow.plan.numbers)
    if taken:
        return f"sub-step ids must be new in the run: {', '.join(taken)}"
    cycles = Graph.of(steps).cycles(1)
    if cycles:
        return f"the sub-steps form a cycle: {' -> '.join(cycles[0])}"
    return too_deep(flow, plan)


def _ids(step: AnyStep) -> tuple[str, ...]:
    """That of a step, and of the one that undoes it."""
    undo = step.compensation if isinstance(step, TypedStep) else None
    return (step.id,) if undo is None else (step.id, undo.id)


def _is_substep(flow: Flow) -> bool:
    """Whether a run stands, at whatever depth, among the sub-steps of a step."""
    initiator = flow.run.initiator
    above = (
        [each.workflow_id for each in initiator.ancestors] if isinstance(initiator, UpstreamFields) else ()
    )
    return any(each.startswith(Loop.SUBSTEPS.tag) for each in (flow.run.key.workflow_id, *above))


def _open(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    steps: Sequence[AnyStep],
    kind: Loop,
    tolerance: float = 0.0,
) -> None:
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline_id(flow, attempt, kind),
        run_id=0,  # given when it begins
        total=1,
        steps=tuple(steps),
        tolerance=tolerance,
    )
    turn.add_loop(flow, plan.index, loop)
    turn.look_at_loop(flow, plan.index)


def _begin(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """The one iteration of a batch. A template that is restarted goes on where it was."""
    last = last_loop_run(flow, plan, attempt)
    if isinstance(last, MissingKeys):
        turn.fetch(flow, attempt, last)
        return
    run_id = max((last or 0) + 1, flow.run.key.run_id)
    rerun: Rerun | None = None
    if last is not None and plan.kind is Kind.TEMPLATE and not is_redirect(attempt):
        key = earlier_key(loop.inline_id, 1)
        if key not in flow.fetched:
            turn.fetch(flow, attempt, MissingKeys((key,)))
            return
        restart = restart_below(flow, attempt, loop.inline_id, 1, Loop.TEMPLATE)
        rerun = opened(loop.inline_id, loop.steps, restart, flow.fetched.pop(key) or NO_EARLIER, run_id)
    turn.touch(attempt, flow)
    attempt.asked_at = None
    attempt.loop_run = run_id
    turn.touch(loop, flow)
    loop.run_id, loop.next_index = run_id, 1
    initiator = TemplateInitiator(ancestors=ancestors_of(flow, attempt))
    body = Body(Plan(loop.steps), initiator, dict(attempt.params or {}), rerun)
    open_iteration(turn, flow, plan.index, loop, 0, body)


def sum_up(turn: Turn, flow: Flow, attempt: AttemptRecord, child: Flow) -> None:
    """Keep with a step how the steps ended that its work added, before they leave memory."""
    results = [_result(child, plan) for plan in child.plan.steps]
    good = sum(S(each["status"]) in _GOOD for each in results)
    data = {"total": len(results), "succeeded": good, "failed": len(results) - good, "results": results}
    turn.touch(attempt, flow)
    attempt.artifacts = {**attempt.artifacts, SUBSTEPS: DefaultArtifact(data=data)}


def is_tolerated(flow: Flow) -> bool:
    """Whether a batch in which steps failed counts as done: whoever added it allows so many failures."""
    if flow.parent is None:
        return False
    around, index = flow.parent
    loop = around.loops.get(index)
    if loop is None or not loop.tolerance:
        return False
    good = sum(record is not None and record.status in _GOOD for record in flow.attempts)
    return len(flow.attempts) - good <= loop.tolerance * len(flow.attempts)


def _result(child: Flow, plan: StepPlan) -> dict[str, Any]:
    record = child.attempts[plan.index]
    params = (record.params if record is not None else None) or {}
    result = {
        "step_id": plan.id,
        "status": (S.NOT_CREATED if record is None else record.status).value,
        "params": {name: params[name].evaluated_result for name in plan.step.params or () if name in params},
    }
    if record is not None and record.reason is not None and record.status not in _GOOD:
        result["error"] = record.reason
    return result


def _errors(summary: DefaultArtifact, ended: str | None = None) -> str:
    """The errors of the sub-steps that failed, the first few of them; not of those that were `ended` so."""
    failed = [each for each in summary.data["results"] if each.get("error", ended) != ended]
    found = [f"{each['step_id']}: {each['error']}" for each in failed]
    more = f"; and {len(found) - MOST_ERRORS} more" if len(found) > MOST_ERRORS else ""
    return f": {'; '.join(found[:MOST_ERRORS])}{more}" if found else ""


def run_batch(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """When the batch has ended: how many of its steps failed, and is that too many?"""
    if not loop.next_index:
        try:
            _begin(turn, flow, plan, attempt, loop)
        except StrettoError as error:
            refuse(turn, flow, plan, attempt, str(error))
        return
    if flow.children.get(plan.index):
        return
    result, message = loop_result(loop), None
    summary = attempt.artifacts.get(SUBSTEPS)
    if attempt.ending is not None and isinstance(summary, DefaultArtifact):
        turn.touch(attempt, flow)
        attempt.reason = f"{attempt.reason}{_errors(summary, attempt.reason)}"
    stopped = loop.ended.get(RunStatus.STOPPED) or loop.ended.get(RunStatus.TIMED_OUT)
    if isinstance(summary, DefaultArtifact) and not isinstance(plan.step, TemplateStep) and not stopped:
        total, failed = summary.data["total"], summary.data["failed"]
        result = ResultState.DONE if failed <= loop.tolerance * total else ResultState.FATAL_ERROR
        if failed:
            message = f"{failed} of {total} sub-steps failed, {loop.tolerance:.0%} may{_errors(summary)}"
    turn.later(Task.CONCLUDE, flow, plan.index, result, message)
