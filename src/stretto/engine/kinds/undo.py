"""Undo what ran below a step: the iterations of a loop, the steps of a batch, or a child.

What has ended never changes. So an ended instance is undone by a new run of it, with the policy UNDO, whose
steps undo those of the runs before it. The run of an iteration is opened here, the run of a child by whoever
carries out `StartChild.undo`.

Iterations are undone from the newest to the oldest, as many at once as the loop may run. They are fetched in
pages. `LoopRecord.next_index` is the lowest iteration that was looked at; 0: none was.
"""

from collections.abc import Mapping
from typing import Final

from stretto.engine.earlier import EarlierRun, UndoPage, undo_key
from stretto.engine.effects import StartChild
from stretto.engine.events import ResultState
from stretto.engine.flow import UNDO, Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.foreach import concurrency_of
from stretto.engine.kinds.loops import (
    Body,
    ancestors_of,
    inline_id,
    is_held,
    look_at_waiting,
    loop_result,
    may_begin,
    open_iteration,
)
from stretto.engine.kinds.reruns import Rerun
from stretto.engine.permits import inherited_limit
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.initiator import ForeachInitiator, Initiator, TemplateInitiator, WhileInitiator
from stretto.model.param import Parameter, ParamType
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TemplateStep, WhileStep
from stretto.params import MissingKeys

LAST: Final = 1  # below the first iteration there is none


def undone_flow(flow: Flow) -> Flow:
    """The run whose steps are undone: a run undoes itself from inside; what has ended is undone by itself."""
    return flow.parent[0] if flow.parent is not None and flow.parent[1] == UNDO else flow


def launch_undo(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Begin to undo what is below a step, once it is known what that is."""
    if flow.earlier is None:
        turn.fetch(flow, attempt, MissingKeys((flow.earlier_key,)))
        return False
    turn.move(flow, attempt, StepStatus.RUNNING)
    if isinstance(plan.step, SubworkflowStep):
        attempt.earlier_child = flow.earlier.children[plan.id]
        turn.act(undo_child(flow, attempt))
        return False
    last = flow.earlier.loop_runs.get(plan.id, 0)
    attempt.loop_run = max(last + 1, flow.run.key.run_id)
    inline = inline_id(undone_flow(flow), attempt, _loop_of(plan.step))
    loop = LoopRecord(key=attempt.key, inline_id=inline, run_id=attempt.loop_run)
    turn.add_loop(flow, plan.index, loop)
    turn.look_at_loop(flow, plan.index)
    return False


def undo_child(flow: Flow, attempt: AttemptRecord) -> StartChild:
    """Ask for the run that undoes a child, which has ended."""
    child = attempt.earlier_child
    assert child is not None  # noqa: S101 - noted before it was asked for
    return StartChild(
        attempt=attempt.key,
        workflow_id=child.workflow_id,
        version="",
        sync=True,
        params={},
        tree_limit=inherited_limit(flow.tree.workflow),
        criticality=flow.criticality,
        held=flow.run.is_paused,
        undo=child,
    )


def _loop_of(step: AnyStep) -> Loop:
    if isinstance(step, ForeachStep):
        return Loop.FOREACH
    if isinstance(step, WhileStep):
        return Loop.WHILE
    return Loop.TEMPLATE if isinstance(step, TemplateStep) else Loop.SUBSTEPS


# ------------------------------------------------------------------------------------------------ iterations
def run_undo(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """Undo what may be undone now; conclude when all iterations were looked at and their undo has ended."""
    children = flow.children.setdefault(plan.index, {})
    while not is_held(flow, attempt):
        if loop.next_index == LAST or len(children) >= _at_once(flow, plan.step):
            break
        if not may_begin(turn, flow, plan, attempt):
            return
        page: UndoPage | None = flow.fetched.pop(undo_key(loop.inline_id, loop.next_index), None)
        if page is None:
            _fetch(turn, flow, attempt, loop)
            return
        turn.touch(loop, flow)
        turn.touch(attempt, flow)
        attempt.asked_at = None
        loop.steps = loop.steps or (() if isinstance(plan.step, ForeachStep | WhileStep) else page.steps)
        if not page.iterations:
            loop.next_index = page.below
            continue
        (number, earlier), *others = page.iterations
        loop.next_index = number
        rest = UndoPage(iterations=tuple(others), below=page.below, steps=page.steps)
        flow.fetched[undo_key(loop.inline_id, number)] = rest
        _open(turn, flow, plan, attempt, loop, number, earlier)
    look_at_waiting(turn)
    if not children and (loop.next_index == LAST or attempt.ending is not None):
        failed = sum(count for status, count in loop.ended.items() if status is not RunStatus.SUCCEEDED)
        message = f"{failed} of {sum(loop.ended.values())} iterations could not be undone" if failed else None
        state = ResultState.FATAL_ERROR if failed else loop_result(loop)
        turn.later(Task.CONCLUDE, flow, plan.index, state, message)


def undo_ended(turn: Turn, flow: Flow, loop: LoopRecord, child: Flow) -> None:
    """The undo of an iteration has ended: count it, and let go of it. Its steps are no leaves of the run."""
    turn.touch(loop, flow)
    end = child.run.status
    loop.ended = {**loop.ended, end: loop.ended.get(end, 0) + 1}
    child.drop()
    look_at_waiting(turn)


def _at_once(flow: Flow, step: AnyStep) -> int:
    """As many as may run at once; those that ran one after the other are undone so."""
    if not isinstance(step, ForeachStep) or step.strict_ordering:
        return 1
    return concurrency_of(flow, step)


def _fetch(turn: Turn, flow: Flow, attempt: AttemptRecord, loop: LoopRecord) -> None:
    key = undo_key(loop.inline_id, loop.next_index)
    if key not in flow.pending:
        flow.pending.add(key)
        turn.fetch(flow, attempt, MissingKeys((key,)))


def _open(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    loop: LoopRecord,
    number: int,
    earlier: EarlierRun,
) -> None:
    own = _own_params(plan.step, earlier.params, flow.run.params)
    rerun = Rerun(loop.run_id, RunPolicy.UNDO, None, earlier.undo, earlier)
    body = Body(body_of(plan, loop), _initiator(flow, plan.step, attempt), own, rerun)
    open_iteration(turn, flow, plan.index, loop, number - 1, body)


def body_of(plan: StepPlan, loop: LoopRecord) -> Plan:
    """The steps of the iterations that are undone."""
    return plan.body if isinstance(plan.step, ForeachStep | WhileStep) else Plan(loop.steps)


def _initiator(flow: Flow, step: AnyStep, attempt: AttemptRecord) -> Initiator:
    """That of the iterations themselves: the undo of one stands where it stood."""
    ancestors = ancestors_of(undone_flow(flow), attempt)
    if isinstance(step, ForeachStep):
        return ForeachInitiator(ancestors=ancestors)
    return (
        WhileInitiator(ancestors=ancestors)
        if isinstance(step, WhileStep)
        else TemplateInitiator(ancestors=ancestors)
    )


def _own_params(
    step: AnyStep, params: Mapping[str, Parameter], around: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """What an iteration has of its own: the rest is that of the run around it, and not stored again."""
    given = (step.params or {}).get("loop_params")
    if given is None or given.type is not ParamType.MAP or not isinstance(given.value, dict):
        return {name: each for name, each in params.items() if around.get(name) != each}
    names = {"loop_index", "condition", *(step.params or {}), *given.value}
    return {name: each for name, each in params.items() if name in names or name not in around}
