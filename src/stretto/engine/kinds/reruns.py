"""What a restart makes of what is below a step: which iterations run again, and which steps of each.

The ids of runs below a run are never above its own while it is the newest of its instance and nobody restarts
a part of it. Where somebody does, the higher id travels up with `AttemptRecord.loop_run`. So the next run
of anything has an id that nothing below it has had, and nobody needs to ask for it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from stretto.definition.functions import all_steps
from stretto.definition.graph import Graph, runtime_dag
from stretto.definition.restart import incomplete_steps
from stretto.engine.compensation import undo_plan
from stretto.engine.earlier import (
    NO_EARLIER,
    EarlierLoop,
    EarlierRun,
    Rows,
    Taken,
    earlier_key,
    iterations_key,
)
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop, is_inline, nearest_workflow
from stretto.engine.opening import plan_of_run
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.restart_path import DEFAULT_POLICY, Restart, descend, iteration_on_path
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import UpstreamFields
from stretto.model.rollup import RollupOverview
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import RUN_ENDS, RunStatus
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.params import MissingKeys

P = RunPolicy
NOTHING_TAKEN: Final = Taken((), {}, ())
FROM_BEGINNING: Final = Restart(P.RESTART_FROM_BEGINNING, None)
FRESH: Final = Restart(P.START_FRESH_NEW_RUN, None)


# ---------------------------------------------------------------------------------------------- how, and what
def is_redirect(attempt: AttemptRecord) -> bool:
    """Whether an attempt of a step that is never retried was made by a redirect: everything once more."""
    return attempt.key.number > 1 and not attempt.manual


def restart_below(
    flow: Flow, attempt: AttemptRecord, workflow_id: str, instance_id: int, loop: Loop | None = None
) -> Restart:
    """How an attempt restarts an instance that an attempt before it has started."""
    config = attempt.restart or flow.run.restart
    if loop is Loop.FOREACH and _is_inline_root(flow, attempt, config):
        return Restart(flow.run.policy, config)
    if config is not None and config.restart_path:
        return descend(config, attempt.key.step_id, workflow_id, instance_id, loop)
    return Restart(DEFAULT_POLICY if flow.run.policy.is_fresh else flow.run.policy, None)


def policy_of_loop(flow: Flow, attempt: AttemptRecord) -> RunPolicy:
    """How a loop runs: as the restart of its step says, else as its run does."""
    restarted = None if attempt.restart is None else attempt.restart.restart_policy
    return restarted or flow.run.policy


def first_run_below(flow: Flow, attempt: AttemptRecord) -> Restart:
    """The policy of an iteration that has not run before. In a loop that runs again it is a restart from the
    beginning. It has the config of the restart only if that has parameters for steps in the loop.
    """
    if policy_of_loop(flow, attempt).is_fresh:
        return FRESH
    config = attempt.restart or flow.run.restart
    return (
        Restart(P.RESTART_FROM_BEGINNING, config)
        if _is_inline_root(flow, attempt, config)
        else FROM_BEGINNING
    )


def _is_inline_root(flow: Flow, attempt: AttemptRecord, config: RestartConfig | None) -> bool:
    """Whether the workflow around all loops is restarted with parameters for steps inside this foreach."""
    if config is None or not config.step_restart_params or len(config.restart_path) != 1:
        return False
    node, run = config.restart_path[0], flow.run
    root: tuple[str, int] = run.key[:2]
    if is_inline(run.key.workflow_id) and isinstance(run.initiator, UpstreamFields):
        outer = nearest_workflow(run.initiator.ancestors)
        root = (outer.workflow_id, outer.instance_id)
    if node.step_id is not None or (node.workflow_id, node.instance_id) != root:
        return False
    step = flow.plan.steps[flow.plan.numbers[attempt.key.step_id]].step
    inside = step.steps if isinstance(step, ForeachStep) else ()
    return any(each.id in config.step_restart_params for each in all_steps(inside))


class Beginning(NamedTuple):
    """How a loop begins: the run id of its iterations, and what becomes of those that it has had."""

    run_id: int
    taken: Taken = NOTHING_TAKEN
    first: int = 0  # of a while: the iteration to begin with, counted from 0
    ancestors: int | None = None  # iterations that it has had, if some of them stay
    leaves: RollupOverview | None = None  # what these count


def beginning_of(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, inline_id: str, loop: Loop
) -> Beginning | MissingKeys:
    """What a loop takes over: from an earlier run, or, restarted by hand, from this one."""
    last = last_loop_run(flow, plan, attempt)
    if isinstance(last, MissingKeys):
        return last
    run_id = max((last or 0) + 1, flow.run.key.run_id)
    if last is None or is_redirect(attempt):
        return Beginning(run_id)
    chosen = iteration_on_path(attempt.restart or flow.run.restart, inline_id)
    policy = restart_below(flow, attempt, inline_id, 0, loop).policy
    if chosen is None and policy is P.RESTART_FROM_BEGINNING and not plan.body.starts_runs:
        return Beginning(run_id)
    key = iterations_key(inline_id, attempt.key, undone=plan.id in (flow.earlier or NO_EARLIER).undone)
    if key not in flow.fetched:
        return MissingKeys((key,))
    earlier: EarlierLoop = flow.fetched[key] or EarlierLoop()
    before = _leaves_before(flow, plan, attempt)
    if loop is Loop.WHILE:
        taken, first = _while_beginning(earlier, chosen, policy)
        return Beginning(run_id, taken, first, leaves=before if first else None)
    keep = frozenset({RunStatus.SUCCEEDED}) if chosen is None else RUN_ENDS
    if chosen is None and policy is P.RESTART_FROM_BEGINNING:
        return Beginning(run_id, earlier.taken(frozenset()))
    return Beginning(run_id, earlier.taken(keep, but=chosen), 0, earlier.highest, before)


def _leaves_before(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> RollupOverview | None:
    """What the iterations of a step count so far; None: nobody knows."""
    if attempt.earlier_leaves is not None:
        return attempt.earlier_leaves
    return (flow.earlier or NO_EARLIER).loops.get(plan.id)


def _while_beginning(earlier: EarlierLoop, chosen: int | None, policy: RunPolicy) -> tuple[Taken, int]:
    """A while goes on with the last iteration, or the one that is meant; those after it depend on it."""
    last = earlier.highest
    if chosen is not None and chosen > last:
        message = f"Cannot restart a while loop from iteration [{chosen}]: the last one was [{last}]"
        raise InvalidRequest(message)
    first = chosen or (1 if policy is P.RESTART_FROM_BEGINNING else earlier.first_bad or last)
    return Taken((), {}, ((first, last),) if last else ()), max(first - 1, 0)


def last_loop_run(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> int | MissingKeys | None:
    """The highest run id that an iteration of a step has had, in this run or an earlier one."""
    if attempt.loop_run is not None:
        return attempt.loop_run
    if flow.earlier is None:
        return MissingKeys((flow.earlier_key,))
    return flow.earlier.loop_runs.get(plan.id)


# ----------------------------------------------------------------------------------------------- an iteration
class Rerun(NamedTuple):
    """An iteration that has run before: the id of its next run, what that covers, and what it can read."""

    run_id: int
    policy: RunPolicy
    config: RestartConfig | None
    covers: tuple[str, ...] | None  # None: all steps
    earlier: EarlierRun


def in_rows(rows: Rows, number: int) -> bool:
    """Whether a number is in one of the rows."""
    at = bisect_right(rows, number, key=first_of) - 1
    return at >= 0 and number <= rows[at][1]


def first_of(row: tuple[int, int]) -> int:
    """The first number of a row."""
    return row[0]


def rerun_of(
    flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord, iteration: int
) -> Rerun | MissingKeys:
    """How an iteration runs again because its loop was restarted, or what must be fetched to know it."""
    kind = Loop.WHILE if isinstance(plan.step, WhileStep) else Loop.FOREACH
    restart = restart_below(flow, attempt, loop.inline_id, iteration, kind)
    run_id = loop.run_id
    if kind is Loop.WHILE:
        if iteration > loop.again[0][0]:
            restart = FROM_BEGINNING  # its values come from the one before it
    elif iteration == iteration_on_path(attempt.restart or flow.run.restart, loop.inline_id):
        run_id += 1  # a foreach restarts the iteration on the path as if a user restarted it alone
    key = earlier_key(loop.inline_id, iteration)
    if key not in flow.fetched:
        return MissingKeys((key,))
    earlier: EarlierRun = flow.fetched[key] or NO_EARLIER
    return opened(loop.inline_id, steps_of(plan, loop), restart, earlier, run_id)


def opened(
    inline_id: str, steps: Sequence[AnyStep], restart: Restart, earlier: EarlierRun, run_id: int
) -> Rerun:
    """What the next run of an iteration covers. If nothing is incomplete, it is everything."""
    policy, config = restart
    if policy is P.RESTART_FROM_INCOMPLETE and not incomplete_steps(Graph.of(steps), earlier.statuses):
        policy = P.RESTART_FROM_BEGINNING
    plan = plan_of_run(Workflow(id=inline_id, steps=tuple(steps)), policy, earlier.statuses, config)
    covers = tuple(plan.numbers) if len(plan.steps) < len(steps) else None
    return Rerun(run_id, policy, config, covers, earlier)


def plan_of_rerun(body: Plan, policy: RunPolicy, covers: tuple[str, ...] | None) -> Plan:
    """The plan of an iteration: all of its loop's steps, those that its run covers, or what undoes them."""
    if covers is None:
        return body
    if policy is P.UNDO:
        return undo_plan(body.given, covers)
    steps = [each.step for each in body.steps]
    return Plan(steps, runtime_dag(steps, covers))


def steps_of(plan: StepPlan, loop: LoopRecord) -> Sequence[AnyStep]:
    """The steps inside a loop, or those of a batch."""
    return plan.step.steps if isinstance(plan.step, ForeachStep | WhileStep) else loop.steps
