"""Foreach: its steps once for every combination of its loop parameters, some at a time."""

from bisect import bisect_right
from itertools import islice

from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.iterations import check_iterations
from stretto.engine.kinds.again import next_rerun, restart_asked
from stretto.engine.kinds.loops import (
    Iteration,
    inline_id,
    is_held,
    launch_iteration,
    look_at_waiting,
    loop_result,
    may_begin,
    refuse,
    too_deep,
    uncount_rerun,
)
from stretto.engine.kinds.reruns import beginning_of, first_of
from stretto.engine.live_rollup import begin_leaves
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.errors import StrettoError
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode, ForeachStep
from stretto.params import MissingKeys, iteration_count, iteration_values


def launch_foreach(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Count the iterations and begin; without any the step is done."""
    inline = inline_id(flow, attempt, Loop.FOREACH)
    begins = beginning_of(flow, plan, attempt, inline, Loop.FOREACH)
    if isinstance(begins, MissingKeys):
        turn.fetch(flow, attempt, begins)
        return False
    turn.move(flow, attempt, StepStatus.RUNNING)
    refused, total = too_deep(flow, plan), 0
    try:
        total = iteration_count((attempt.params or {})["loop_params"])
        check_iterations(total, flow.tree.settings.iterations)
    except StrettoError as error:
        refused = str(error)
    if refused is not None:
        refuse(turn, flow, plan, attempt, refused)
        return False
    attempt.loop_run = begins.run_id
    attempt.loop_total = total
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline,
        run_id=begins.run_id,
        total=total,
        kept=begins.taken.kept,
        again=begins.taken.again,
        apart=begins.taken.ended,
        ancestors=begins.ancestors,
    )
    if begins.leaves is not None:
        begin_leaves(loop, begins.leaves)
    turn.add_loop(flow, plan.index, loop)
    turn.look_at_loop(flow, plan.index)
    return False


def run_foreach(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """Launch what may be launched; conclude when all is over."""
    step = plan.step
    assert isinstance(step, ForeachStep)  # noqa: S101 - the kind says so
    children = flow.children.setdefault(plan.index, {})
    total, limit = loop.total or 0, concurrency_of(flow, step)
    held = is_held(flow, attempt)
    if loop.asked and not held:
        restart_asked(turn, flow, plan, attempt, loop, limit)
    _pass_kept(turn, flow, loop)
    failed = loop.failed > 0 and not step.continue_on_failure
    if not (held or failed) and loop.next_index < total and _running(step, loop, children) < limit:
        if not may_begin(turn, flow, plan, attempt):
            return
        rerun = next_rerun(turn, flow, plan, attempt, loop, limit - len(children)) if loop.again else None
        if isinstance(rerun, MissingKeys):
            return
        index = loop.next_index
        values = iteration_values((attempt.params or {})["loop_params"], index)
        turn.touch(loop, flow)
        loop.next_index = index + 1
        uncount_rerun(loop, index + 1, rerun)
        launch_iteration(turn, flow, plan, attempt, loop, Iteration(index, values, rerun))
        turn.look_at_loop(flow, plan.index)  # once it is known what this one costs
        return
    look_at_waiting(turn)  # what this loop does not need
    over = not loop.asked and (loop.next_index >= total or failed)
    if not children and (over or attempt.ending is not None):
        turn.later(Task.CONCLUDE, flow, plan.index, loop_result(loop), None)


def _pass_kept(turn: Turn, flow: Flow, loop: LoopRecord) -> None:
    """Go past iterations that an earlier run has done."""
    at = max(bisect_right(loop.kept, loop.next_index + 1, key=first_of) - 1, 0)
    while at < len(loop.kept) and loop.kept[at][0] <= loop.next_index + 1 <= loop.kept[at][1]:
        turn.touch(loop, flow)
        loop.next_index = loop.kept[at][1]
        at += 1


def concurrency_of(flow: Flow, step: ForeachStep) -> int:
    """How many iterations may run at once: the least of what anybody says; the default, if nobody does."""
    settings, workflow = flow.tree.settings, flow.tree.workflow
    said = (step.concurrency, settings.step_concurrency, workflow.instance_step_concurrency)
    return min((each for each in said if each is not None), default=settings.loop_concurrency)


def _running(step: ForeachStep, loop: LoopRecord, children: dict[int, Flow]) -> int:
    """Iterations that count as running: in strict order, all since the oldest that is not over.

    Those that a user restarts come first: their places are kept for them.
    """
    if step.strict_ordering and (children or loop.asked):
        oldest = min((*islice(children, 1), *loop.asked))  # those that run are in the order of their numbers
        return loop.next_index - oldest + 1
    return len(children) + len(loop.asked)


def iteration_failed(turn: Turn, flow: Flow, plan: StepPlan, loop: LoopRecord) -> None:
    """The other iterations may end, but none begins unless the step says so; or all are stopped, if that is
    the mode.

    Failures that an earlier run left behind do not count: they may be what this run is to put right.
    """
    turn.touch(loop, flow)
    loop.failed += 1
    if plan.step.failure_mode is FailureMode.FAIL_IMMEDIATELY:
        turn.later(Task.END_STEP, flow, plan.index, StepStatus.FATALLY_FAILED, "an iteration failed")
