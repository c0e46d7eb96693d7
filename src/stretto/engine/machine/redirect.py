"""Redirect: a step goes back to an earlier one, and everything from there to itself runs again."""

from stretto.engine.flow import Flow
from stretto.engine.machine.finish import end_attempt, fail
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.status import StepStatus


def redirect(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, target_id: str) -> None:
    """Make the target, this step and what lies between run again; a bounded number of times."""
    target = flow.step(target_id)
    region = set() if target is None else between(flow, target.index, plan.index)
    limit = flow.tree.settings.redirects
    if target is None or plan.index not in region:
        fail(turn, flow, plan, attempt, f"step {plan.id} can not go back to {target_id}: it is not before it")
        return
    before = flow.attempts[target.index]
    if before is not None and before.key.number >= limit:
        fail(turn, flow, plan, attempt, f"step {target_id} has run {limit} times, which is the limit")
        return
    turn.note(flow, attempt, f"Redirected to step {target_id}")
    if attempt.status is StepStatus.STARTING:
        turn.move(flow, attempt, StepStatus.RUNNING)
    turn.move(flow, attempt, StepStatus.FINISHING)
    end_attempt(turn, flow, plan, attempt, StepStatus.SUCCEEDED)
    _rewind(turn, flow, region)
    turn.schedule(flow, target.index)
    turn.later(Task.LOOK, flow)


def between(flow: Flow, start: int, end: int) -> set[int]:
    """The steps on some path from start to end, both included; empty if there is none."""
    steps = flow.plan.steps
    reached, todo = {start}, [start]
    while todo:
        for edge in steps[todo.pop()].edges:
            if edge.target not in reached:
                reached.add(edge.target)
                todo.append(edge.target)
    if end not in reached:
        return set()
    back, todo = {end}, [end]
    before: dict[int, list[int]] = {}
    for step in steps:
        for edge in step.edges:
            before.setdefault(edge.target, []).append(step.index)
    while todo:
        for index in before.get(todo.pop(), ()):
            if index in reached and index not in back:
                back.add(index)
                todo.append(index)
    return back


def _rewind(turn: Turn, flow: Flow, region: set[int]) -> None:
    """What ran in the region counts no longer: its steps wait for their predecessors there once more."""
    for index in region:
        record = flow.attempts[index]
        assert record is not None  # noqa: S101 - what is before a step that runs has run
        turn.touch(record, flow)
        record.superseded = True
    flow.derive_edges()
