"""A run with everything that is alive in it, made from its rows again."""

from collections.abc import Iterable

from stretto.engine.flow import UNDO, Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.reruns import plan_of_rerun
from stretto.engine.machine.undo import undo_facts, undo_order
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.model.step import ForeachStep, WhileStep


def load_flow(
    root: Flow,
    iterations: Iterable[RunRecord],
    attempts: Iterable[AttemptRecord],
    loops: Iterable[LoopRecord],
) -> Flow:
    """Fill the flow of a run: the newest attempts, the loops that go on, and the iterations alive in them."""
    attempts_of: dict[RunKey, list[AttemptRecord]] = {}
    loops_of: dict[RunKey, list[LoopRecord]] = {}
    for attempt in attempts:
        attempts_of.setdefault(attempt.key.run, []).append(attempt)
    for loop in loops:
        loops_of.setdefault(loop.key.run, []).append(loop)

    def fill(flow: Flow) -> None:
        flow.load(attempts_of.get(flow.run.key, ()), loops_of.get(flow.run.key, ()))

    fill(root)
    for run in sorted(iterations, key=_level):
        child = _iteration(root, run)
        child.enter()
        fill(child)
    return root


def _level(run: RunRecord) -> tuple[int, bool, int]:
    """From the outside in; the undo of a run comes before the undo of the iterations in it."""
    is_undo = run.key.workflow_id.startswith(Loop.COMPENSATION.tag)
    return run.initiator.depth, not is_undo, run.key.instance_id


def _iteration(root: Flow, run: RunRecord) -> Flow:
    """The flow of an iteration, under the step that its initiator names: that one is loaded already."""
    assert isinstance(run.initiator, UpstreamFields)  # noqa: S101 - an iteration stands under a step
    above = run.initiator.parent
    parent = root.tree.live[RunKey(above.workflow_id, above.instance_id, above.run_id)]
    if run.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        if run.covers is None:  # begun by a release that did not store which steps undo the run
            run.policy, run.covers = RunPolicy.UNDO, undo_order(parent)
        plan = plan_of_rerun(parent.plan, run.policy, run.covers)
        return Flow(run, plan, root.tree, (parent, UNDO), undo_facts(parent))
    if run.policy is RunPolicy.UNDO and parent.run.policy is not RunPolicy.UNDO:
        (parent,) = parent.children[UNDO].values()  # it stands where the iteration stood that it undoes
    step = parent.plan.steps[parent.plan.numbers[above.step_id]]
    in_loop = isinstance(step.step, ForeachStep | WhileStep)
    plan = step.body if in_loop else Plan(parent.loops[step.index].steps)
    return Flow(run, plan_of_rerun(plan, run.policy, run.covers), root.tree, (parent, step.index))
