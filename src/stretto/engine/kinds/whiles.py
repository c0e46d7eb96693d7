"""While: its steps again and again, as long as the condition holds; values travel from one to the next."""

from collections.abc import Iterable, Mapping
from typing import Any

from stretto.engine.context import answer_key, condition_holds, round_of
from stretto.engine.earlier import NO_EARLIER, EarlierRun, earlier_key
from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.iterations import check_iteration
from stretto.engine.kinds.loops import (
    Iteration,
    inline_id,
    is_held,
    launch_iteration,
    loop_result,
    may_begin,
    refuse,
    too_deep,
    uncount_rerun,
)
from stretto.engine.kinds.reruns import Rerun, beginning_of, in_rows, rerun_of
from stretto.engine.live_rollup import begin_leaves
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.errors import StrettoError
from stretto.model.param import ParamDefinition, Parameter
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import WhileStep
from stretto.params import MissingKeys
from stretto.sel import SelError


def launch_while(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    inline = inline_id(flow, attempt, Loop.WHILE)
    begins = beginning_of(flow, plan, attempt, inline, Loop.WHILE)
    if isinstance(begins, MissingKeys):
        turn.fetch(flow, attempt, begins)
        return False
    carried = _first_values(attempt)
    if begins.first:
        key = earlier_key(inline, begins.first + 1)
        if key not in flow.fetched:
            turn.fetch(flow, attempt, MissingKeys((key,)))
            return False
        before: EarlierRun = flow.fetched[key] or NO_EARLIER
        carried = {name: before.params.get(name, first) for name, first in carried.items()}
    turn.move(flow, attempt, StepStatus.RUNNING)
    refused = too_deep(flow, plan)
    if refused is not None:
        refuse(turn, flow, plan, attempt, refused)
        return False
    attempt.loop_run = begins.run_id
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline,
        run_id=begins.run_id,
        again=begins.taken.again,
        next_index=begins.first,
        carried=carried,
    )
    if begins.leaves is not None:
        begin_leaves(loop, begins.leaves)
    turn.add_loop(flow, plan.index, loop)
    turn.look_at_loop(flow, plan.index)
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
    if is_held(flow, attempt) or not may_begin(turn, flow, plan, attempt):
        return
    try:
        _next(turn, flow, plan, attempt, loop)
    except (StrettoError, SelError) as error:
        refuse(turn, flow, plan, attempt, str(error))


def _next(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    step = plan.step
    assert isinstance(step, WhileStep)  # noqa: S101 - the kind says so
    name = round_of(loop.next_index)
    holds = condition_holds(flow, attempt, name, step.condition, turn.now, loop.carried)
    if isinstance(holds, MissingKeys):
        turn.fetch(flow, attempt, holds)
        return
    rerun = _rerun(flow, plan, attempt, loop) if holds else None
    if isinstance(rerun, MissingKeys):
        turn.fetch(flow, attempt, rerun)
        return
    turn.touch(attempt, flow)
    attempt.asked_at = None
    flow.fetched.pop(answer_key(attempt, name), None)
    if not holds:
        # What the last iteration left can be read from the step, by the names of the loop parameters.
        attempt.params = {**(attempt.params or {}), **loop.carried}
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.DONE, None)
        return
    index = loop.next_index
    check_iteration(index + 1, flow.tree.settings.iterations, step.max_iterations)
    turn.touch(loop, flow)
    loop.next_index = index + 1
    uncount_rerun(loop, index + 1, rerun)
    launch_iteration(turn, flow, plan, attempt, loop, Iteration(index, loop.carried, rerun))
    if rerun is not None and rerun.covers is not None:
        # What complete steps have left is not in memory when the iteration ends.
        done = [facts for name, facts in rerun.earlier.steps.items() if name not in rerun.covers]
        done.sort(key=lambda facts: facts.step_instance_id or 0)
        loop.carried = _carried(loop.carried, [facts.params for facts in done], turn.now)


def _rerun(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord
) -> Rerun | MissingKeys | None:
    """How the next iteration runs, if it has run before."""
    iteration = loop.next_index + 1
    if not in_rows(loop.again, iteration):
        return None
    found = rerun_of(flow, plan, attempt, loop, iteration)
    if isinstance(found, Rerun):
        flow.fetched.pop(earlier_key(loop.inline_id, iteration), None)
    return found


def carry_over(turn: Turn, flow: Flow, loop: LoopRecord, child: Flow) -> None:
    """After an iteration that succeeded, its steps' parameters of the same names are the next values."""
    if child.run.status is not RunStatus.SUCCEEDED or not loop.carried:
        return
    ended = [record for record in child.attempts if record is not None and record.params]
    ended.sort(key=lambda each: each.sequence)
    turn.touch(loop, flow)
    loop.carried = _carried(loop.carried, [record.params or {} for record in ended], turn.now)


def _carried(
    values: Mapping[str, Parameter], left: Iterable[Mapping[str, ParamDefinition]], now: int
) -> Mapping[str, Parameter]:
    """The loop parameters with what steps have left in parameters of the same names; the last one counts."""
    found = dict(values)
    for params in left:
        for name, before in values.items():
            param = params.get(name)
            if isinstance(param, Parameter):
                found[name] = _param(before.type, param.evaluated_result, now)
    return found
