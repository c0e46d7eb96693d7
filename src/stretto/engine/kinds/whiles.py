"""While: its steps again and again, as long as the condition holds; values travel from one to the next."""

from collections.abc import Mapping
from typing import Any

from stretto.engine.context import condition_holds
from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.iterations import TooManyIterations, check_iteration
from stretto.engine.kinds.loops import (
    earlier_loop,
    inline_id,
    launch_iteration,
    loop_result,
    next_loop_run,
    too_deep,
)
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.param import Parameter
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import WhileStep
from stretto.params import MissingKeys, ParamError
from stretto.sel import SelError


def launch_while(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    earlier = earlier_loop(flow, plan, attempt)
    if isinstance(earlier, MissingKeys):
        turn.fetch(flow, attempt, earlier)
        return False
    turn.move(flow, attempt, StepStatus.RUNNING)
    refused = too_deep(flow, plan)
    if refused is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, refused)
        return False
    attempt.loop_run = next_loop_run(flow, attempt, earlier)
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline_id(flow, attempt, Loop.WHILE),
        run_id=attempt.loop_run,
        next_index=earlier.first if earlier is not None else 0,
        carried=earlier.carried if earlier is not None else _first_values(attempt),
    )
    turn.add_loop(flow, plan.index, loop)
    turn.later(Task.LOOP, flow, plan.index)
    return False


def _first_values(attempt: AttemptRecord) -> Mapping[str, Parameter]:
    """The loop parameters as they are before the first iteration."""
    given = (attempt.params or {})["loop_params"]
    values: Mapping[str, Any] = given.evaluated_result or {}
    types = {name: each.type for name, each in (given.value or {}).items()}
    return {name: _param(types[name], value, given.evaluated_time) for name, value in values.items()}


def _param(kind: Any, value: Any, time: int | None) -> Parameter:
    return Parameter(type=kind, value=value, evaluated_result=value, evaluated_time=time)


def run_while(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """Begin the next iteration if the last one is over and the condition holds."""
    step = plan.step
    assert isinstance(step, WhileStep)  # noqa: S101 - the kind says so
    if flow.children.get(plan.index):
        return
    bad_end = any(count for status, count in loop.ended.items() if status is not RunStatus.SUCCEEDED)
    if bad_end or attempt.ending is not None or flow.run.ending is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, loop_result(loop), None)
        return
    if flow.run.paused:
        return
    if turn.created >= flow.tree.settings.records_per_decision:
        turn.resume_later(attempt)
        return
    try:
        _next(turn, flow, plan, attempt, loop)
    except (ParamError, SelError, TooManyIterations) as error:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, str(error))


def _next(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    step = plan.step
    assert isinstance(step, WhileStep)  # noqa: S101 - the kind says so
    holds = condition_holds(flow, attempt, "condition", step.condition, turn.now, loop.carried)
    if isinstance(holds, MissingKeys):
        turn.fetch(flow, attempt, holds)
        return
    turn.touch(attempt, flow)
    attempt.asked_at = None
    if not holds:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.DONE, None)
    else:
        check_iteration(loop.next_index + 1, flow.tree.settings.iterations, step.max_iterations)
        launch_iteration(turn, flow, plan, attempt, loop, loop.carried)


def carry_over(turn: Turn, flow: Flow, loop: LoopRecord, child: Flow) -> None:
    """After an iteration that succeeded, its steps' parameters of the same names are the next values."""
    if child.run.status is not RunStatus.SUCCEEDED or not loop.carried:
        return
    found = dict(loop.carried)
    ended = [record for record in child.attempts if record is not None and record.params]
    for record in sorted(ended, key=lambda each: each.sequence):
        for name, before in loop.carried.items():
            param = (record.params or {}).get(name)
            if param is not None:
                found[name] = _param(before.type, param.evaluated_result, turn.now)
    turn.touch(loop, flow)
    loop.carried = found
