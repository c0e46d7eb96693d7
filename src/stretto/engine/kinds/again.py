"""Iterations that run again: because their foreach was restarted, or alone, while the others go on.

What an iteration came to is not in memory: it is fetched before it begins once more. What is asked for and
what is to run again stand in the loop's record, so that a crash in between loses nothing.
"""

from collections.abc import Iterable
from typing import Any

from stretto.engine.earlier import EarlierRun, earlier_key
from stretto.engine.events import StepActed
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.loops import Iteration, launch_iteration
from stretto.engine.kinds.reruns import Rerun, in_rows, opened, rerun_of, steps_of
from stretto.engine.live_rollup import take_leaves
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.restart_path import Restart, descend, next_node, policy_of
from stretto.engine.turn import Turn
from stretto.model.errors import Conflict, NotFound, StrettoError, WrongState
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogLevel
from stretto.params import MissingKeys, iteration_values


# ------------------------------------------------------------------------------------------ a restarted loop
def next_rerun(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord, room: int
) -> Rerun | MissingKeys | None:
    """How the next iteration runs, if it has run before. What is missing for it is fetched, and for those
    that come after it as far as there is room.
    """
    if not in_rows(loop.again, loop.next_index + 1):
        return None
    rerun = rerun_of(flow, plan, attempt, loop, loop.next_index + 1)
    if isinstance(rerun, MissingKeys):
        ahead = range(loop.next_index + 1, loop.next_index + 1 + room)
        _fetch(turn, flow, attempt, loop, (each for each in ahead if in_rows(loop.again, each)))
    else:
        _take(turn, flow, attempt, earlier_key(loop.inline_id, loop.next_index + 1))
    return rerun


def _fetch(
    turn: Turn, flow: Flow, attempt: AttemptRecord, loop: LoopRecord, iterations: Iterable[int]
) -> None:
    """Ask for what iterations came to, once: a loop is looked at whenever one of them ends."""
    keys = (earlier_key(loop.inline_id, each) for each in iterations)
    new = tuple(key for key in keys if key not in flow.fetched and key not in flow.pending)
    if new:
        flow.pending.update(new)
        turn.fetch(flow, attempt, MissingKeys(new))


def _take(turn: Turn, flow: Flow, attempt: AttemptRecord, key: object) -> Any:
    """What was fetched is used once, so that a long loop does not keep it all."""
    if attempt.asked_at is not None and not flow.pending:
        turn.touch(attempt, flow)
        attempt.asked_at = None
    return flow.fetched.pop(key, None)


# --------------------------------------------------------------------------------------- a single iteration
def restart_iteration(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed
) -> None:
    """A user restarts an iteration that has ended, or a step in it, while the loop goes on."""
    config, node = event.restart, next_node(event.restart)
    assert config is not None and node is not None  # noqa: S101, PT018 - the path leads below the step
    loop = flow.loops.get(plan.index)
    if plan.kind is not Kind.FOREACH or loop is None:
        message = f"Cannot restart below step {attempt.key} now, as it is {attempt.status}"
        raise Conflict(message, hint="try again once it has ended")
    restart = descend(config, plan.id, loop.inline_id, node.instance_id, Loop.FOREACH)
    assert restart.config is not None  # noqa: S101 - it is the node on the path
    _check(flow, plan, attempt, loop, node.instance_id)
    turn.note(flow, attempt, f"User [{event.user}] restarted iteration {node.instance_id}")
    turn.touch(loop, flow)
    loop.asked = {**loop.asked, node.instance_id: restart.config}
    turn.look_at_loop(flow, plan.index)


def _check(flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord, iteration: int) -> None:
    """Refuse what has not ended, or will run again anyway."""
    where = f"iteration {iteration} of step {attempt.key}"
    if not 1 <= iteration <= (loop.total or 0):
        message = f"there is no {where}: it has {loop.total}"
        raise NotFound(message)
    if plan.step.failure_mode is FailureMode.FAIL_IMMEDIATELY:
        message = f"{where} can not be restarted: the failure mode is {plan.step.failure_mode}"
        raise WrongState(message, hint="restart it once the step has ended")
    if attempt.ending is not None or flow.run.ending is not None:
        message = f"{where} can not be restarted: the step is being ended"
        raise WrongState(message, hint="restart it once the step has ended")
    if iteration in loop.asked or iteration in flow.children.get(plan.index, {}):
        message = f"{where} has not ended"
        raise Conflict(message, hint="try again once it has")
    if iteration > loop.next_index and not in_rows(loop.kept, iteration):
        message = f"{where} has not begun in this attempt"
        raise Conflict(message, hint="try again once it has ended")


def restart_asked(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord, limit: int
) -> None:
    """Begin what users have asked for, as far as there is room."""
    room = max(limit - len(flow.children.get(plan.index, {})), 0)
    for iteration in sorted(loop.asked)[:room]:
        key = earlier_key(loop.inline_id, iteration)
        if key in flow.fetched:
            _begin_once_more(turn, flow, plan, attempt, loop, iteration)
        else:
            _fetch(turn, flow, attempt, loop, (iteration,))


def _begin_once_more(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord, iteration: int
) -> None:
    """The next run of an iteration; what the last one came to counts no more."""
    config = loop.asked[iteration]
    earlier: EarlierRun | None = _take(turn, flow, attempt, earlier_key(loop.inline_id, iteration))
    turn.touch(loop, flow)
    loop.asked = {each: other for each, other in loop.asked.items() if each != iteration}
    try:
        if earlier is None:
            message = f"iteration {iteration} has no run"
            raise NotFound(message)
        run_id = max(loop.run_id, earlier.run_id, *earlier.loop_runs.values()) + 1
        restart = Restart(policy_of(config), config)
        rerun = opened(loop.inline_id, steps_of(plan, loop), restart, earlier, run_id)
    except StrettoError as error:
        turn.note(flow, attempt, f"Iteration {iteration} is not restarted: {error}", LogLevel.WARN)
        return
    _uncount(loop, iteration, earlier)
    values = iteration_values((attempt.params or {})["loop_params"], iteration - 1)
    launch_iteration(turn, flow, plan, attempt, loop, Iteration(iteration - 1, values, rerun))
    children = flow.children[plan.index]
    in_order = sorted(children.items())
    children.clear()
    children.update(in_order)


def _uncount(loop: LoopRecord, iteration: int, earlier: EarlierRun) -> None:
    status = earlier.status
    loop.apart = {**loop.apart, status: loop.apart.get(status, 0) - 1}
    kept = earlier.run_id < loop.run_id
    if status is RunStatus.FAILED and not kept:
        loop.failed -= 1
    if loop.keeps_leaves or not kept:
        take_leaves(loop, iteration, earlier)


def is_below(attempt: AttemptRecord, event: StepActed) -> bool:
    """Whether a restart is meant for something below a step that runs, and not for the step."""
    return attempt.status is StepStatus.RUNNING and next_node(event.restart) is not None
