"""The leaf steps of a run and of everything in it, counted when somebody wants to know.

    rollup_of(flow)               -> RollupOverview    a run in memory
    instance_rollup(flow)         -> RollupOverview    with what its instance keeps of earlier runs
    rollup_of_rows(attempts)      -> Rollup            any run, as far as its rows tell
    LiveRows(...).leaves_of(run)  -> Rollup            an iteration that goes on, from the rows of its tree

Nothing is kept up to date for it while a run goes on: the steps of each live run are counted by status
anyway, a loop counts an iteration when it ends, a step keeps what ran in its loop, and a child tells its
totals. So the answer costs as much as what is in memory, whatever ran before.

A loop, a batch or a subworkflow stands for what is under it, and for itself as long as that is nothing. The
steps that undo a run are no part of it.
"""

from collections.abc import Container, Iterable
from itertools import islice
from typing import Final

from stretto.engine.earlier import EarlierRun
from stretto.engine.flow import Flow
from stretto.engine.plan import Kind
from stretto.engine.records import (
    AttemptKey,
    AttemptRecord,
    LoopRecord,
    NamedLeaf,
    RunKey,
    RunRecord,
)
from stretto.engine.rollup import NAMED, Leaf, Rollup, rollup_of_children
from stretto.model.rollup import RollupOverview
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus

MOST_NAMED: Final = 100
"""Leaves of ended iterations that a loop names. All are counted."""


def rollup_of(flow: Flow) -> RollupOverview:
    """The leaf steps of a run and of everything in it."""
    return live_leaves(flow).record()


def instance_rollup(flow: Flow) -> RollupOverview:
    """The same with the steps of earlier runs that this run does not cover: what its parent counts."""
    found = live_leaves(flow)
    if flow.earlier is not None and flow.run.policy is not RunPolicy.UNDO:
        found.merge(kept_leaves(flow.earlier, flow.plan.numbers))
    return found.record()


def kept_leaves(earlier: EarlierRun, covered: Container[str]) -> Rollup:
    """What earlier runs of an instance leave to one that covers only some of its steps."""
    found = Rollup()
    for step_id, rollup in earlier.rollups.items():
        if step_id not in covered:
            found.merge(Rollup.of(rollup))
    return found


def live_leaves(flow: Flow) -> Rollup:
    """The leaf steps of a run, or of an iteration with those that it keeps of its earlier runs."""
    found = Rollup.counted(flow.counts)
    named = [status for status in found.counts if status in NAMED]
    flat = flow.plan.flat and not flow.loops
    for attempt in flow.attempts:
        # Most steps have ended well and have nothing under them: they are counted, and that is all.
        if attempt is None or (flat and attempt.leaves is None and attempt.status not in named):
            continue
        under = _under(flow, attempt)
        if under is not None and under.total:
            found.put_below(attempt.status, under)
        elif attempt.status in named:
            found.name(_leaf(attempt), attempt.status)
    return with_base(found, flow.run)


def _under(flow: Flow, attempt: AttemptRecord) -> Rollup | None:
    plan = flow.plan.steps[flow.plan.numbers[attempt.key.step_id]]
    loop = flow.loops.get(plan.index)
    if loop is None:
        return left_under(attempt, subworkflow=plan.kind is Kind.SUBWORKFLOW)
    found = ended_leaves(loop)
    for child in flow.children.get(plan.index, {}).values():
        found.merge(live_leaves(child))
    return found


def left_under(attempt: AttemptRecord, *, subworkflow: bool) -> Rollup | None:
    """What ran in a loop that has ended, or in a child; None: the step counts as itself."""
    if attempt.leaves is not None:
        return Rollup.of(attempt.leaves)
    return rollup_of_children(attempt.artifacts) if subworkflow else None


def _leaf(attempt: AttemptRecord) -> Leaf:
    (workflow_id, instance_id, run_id), step_id, number = attempt.key
    return Leaf.of(workflow_id, instance_id, run_id, step_id, number)


# --------------------------------------------------------------------------------------------------- loops
def ended_leaves(loop: LoopRecord) -> Rollup:
    """What ran in the iterations of a loop that have ended."""
    found = Rollup.counted(loop.leaves)
    for each in loop.named:
        found.name(Leaf(each.run, each.step), each.status)
    return found


def add_leaves(loop: LoopRecord, child: Flow) -> None:
    """Count what is under an iteration that has ended."""
    plain = child.run.status is RunStatus.SUCCEEDED and _has_nothing_below(child)  # as most of them are
    found = None if plain else live_leaves(child)
    leaves = dict(loop.leaves)
    for status, count in (child.counts if found is None else found.counts).items():
        if count:
            leaves[status] = leaves.get(status, 0) + count
    loop.leaves = leaves
    if found is not None and found.names and len(loop.named) < MOST_NAMED:
        iteration = child.run.key.instance_id
        news = (NamedLeaf(iteration, status, *leaf) for status, leaf in found.named())
        loop.named = (*loop.named, *islice(news, MOST_NAMED - len(loop.named)))


def _has_nothing_below(flow: Flow) -> bool:
    """Whether each step of a run that has ended well counts as itself, and nothing else does."""
    return (
        flow.run.base is None
        and flow.plan.flat
        and all(each is None or each.leaves is None for each in flow.attempts)
    )


def begin_leaves(loop: LoopRecord, before: RollupOverview) -> None:
    """Count what ran in a loop before it was restarted; what runs again is taken away when it begins."""
    found = Rollup.of(before)
    loop.keeps_leaves = True
    loop.leaves = dict(found.counts)
    news = (NamedLeaf(_iteration_in(loop, leaf), status, *leaf) for status, leaf in found.named())
    loop.named = tuple(islice(news, MOST_NAMED))


def _iteration_in(loop: LoopRecord, leaf: Leaf) -> int:
    """The iteration of a leaf; 0 if it is of something below one."""
    workflow_id, _, _run_id = leaf.run.rpartition(":")
    return int(leaf.step.partition(":")[0]) if workflow_id == loop.inline_id else 0


def take_leaves(loop: LoopRecord, iteration: int, earlier: EarlierRun) -> None:
    """Count what was under an iteration no more: it runs again."""
    gone = kept_leaves(earlier, ())
    left = {status: count - gone.counts.get(status, 0) for status, count in loop.leaves.items()}
    loop.leaves = {status: count for status, count in left.items() if count > 0}
    names = {(status, *leaf) for status, leaf in gone.named()}
    loop.named = tuple(
        each
        for each in loop.named
        if each.iteration != iteration and (each.status, each.run, each.step) not in names
    )


def rollup_of_rows(attempts: Iterable[AttemptRecord]) -> Rollup:
    """The leaf steps of a run from the rows of its newest attempts; a loop that goes on counts as itself."""
    found = Rollup()
    for attempt in attempts:
        under = left_under(attempt, subworkflow=attempt.child is not None)
        if under is not None and under.total:
            found.merge(under)
        else:
            found.add(_leaf(attempt), attempt.status)
    return found


class LiveRows:
    """What is alive in the tree of a run, from its rows: iterations, newest attempts and loops."""

    def __init__(
        self,
        iterations: Iterable[RunRecord],
        attempts: Iterable[AttemptRecord],
        loops: Iterable[LoopRecord],
    ) -> None:
        self._attempts: dict[RunKey, list[AttemptRecord]] = {}
        for attempt in attempts:
            self._attempts.setdefault(attempt.key.run, []).append(attempt)
        self._iterations: dict[str, list[RunRecord]] = {}
        for run in iterations:
            self._iterations.setdefault(run.key.workflow_id, []).append(run)
        self._loops: dict[AttemptKey, LoopRecord] = {loop.key: loop for loop in loops}

    def loop(self, attempt: AttemptKey) -> LoopRecord | None:
        """The loop of an attempt that has not ended."""
        return self._loops.get(attempt)

    def iterations_of(self, loop: LoopRecord) -> list[RunRecord]:
        """Those that are alive, in their order."""
        return sorted(self._iterations.get(loop.inline_id, ()), key=lambda run: run.key.instance_id)

    def leaves_of(self, run: RunRecord) -> Rollup:
        """The leaf steps of an iteration, with those that it keeps of its earlier runs."""
        found = Rollup()
        for attempt in self._attempts.get(run.key, ()):
            under = self._under(attempt)
            if under is not None and under.total:
                found.merge(under)
            else:
                found.add(_leaf(attempt), attempt.status)
        return with_base(found, run)

    def _under(self, attempt: AttemptRecord) -> Rollup | None:
        loop = self.loop(attempt.key)
        if loop is None:
            return left_under(attempt, subworkflow=attempt.child is not None)
        found = ended_leaves(loop)
        for run in self.iterations_of(loop):
            found.merge(self.leaves_of(run))
        return found


def with_base(rollup: Rollup, run: RunRecord) -> Rollup:
    """The same with the steps that an iteration keeps of its earlier runs."""
    return rollup if run.base is None else rollup.merge(Rollup.of(run.base))
