"""How far a loop is, as its artifact tells: made from the loop's record when somebody looks.

    foreach_artifact(flow, attempt, loop, ...)   -> ForeachArtifact
    while_artifact(flow, attempt, loop, ...)     -> WhileArtifact

A loop that goes on writes no artifact: its record has the counters, and the rest is alive. Who has only the
rows makes the flow of them (`loading.load_flow`). The record of a loop stays when the loop has ended; then
there are no rounds. Iterations that a restarted loop has kept are in its stats and in its rollup.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from stretto.engine.context import step_uuid
from stretto.engine.earlier import Rows
from stretto.engine.flow import Flow
from stretto.engine.intervals import Intervals
from stretto.engine.kinds.reruns import policy_of_loop
from stretto.engine.live_rollup import ended_leaves
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.rollup import Leaf, Rollup
from stretto.model.artifact import ForeachArtifact, WhileArtifact
from stretto.model.foreach import ForeachOverview
from stretto.model.rollup import RuntimeOverview
from stretto.model.status import RUN_ENDS, InstanceStatus, RunStatus


class Round(NamedTuple):
    """An iteration: one that has not ended, or the last of a while."""

    iteration: int
    run_id: int
    status: RunStatus
    rollup: Rollup
    overview: RuntimeOverview | None = None


def stats_of(loop: LoopRecord) -> dict[InstanceStatus, int]:
    """How many iterations have ended in which status: those that were kept, and those restarted, too."""
    counts = {status: loop.ended.get(status, 0) + loop.apart.get(status, 0) for status in RUN_ENDS}
    return {InstanceStatus(status): count for status, count in counts.items() if count}


def _merged(rounds: Iterable[Round]) -> Rollup:
    found = Rollup()
    for each in rounds:
        found.merge(each.rollup)
    return found


# -------------------------------------------------------------------------------------------------- foreach
def foreach_artifact(
    flow: Flow,
    attempt: AttemptRecord,
    loop: LoopRecord,
    rounds: Sequence[Round] = (),
    ended: Mapping[RunStatus, Rows] | None = None,
) -> ForeachArtifact:
    """How far a foreach is. `ended`: which iterations ended how; a loop's record only counts them."""
    return ForeachArtifact(
        foreach_workflow_id=loop.inline_id,
        foreach_identity=_identity(flow, attempt),
        foreach_run_id=loop.run_id,
        run_policy=policy_of_loop(flow, attempt),
        run_id=flow.run.key.run_id,
        ancestor_iteration_count=loop.ancestors,
        total_loop_count=loop.total or 0,
        next_loop_index=loop.next_index,
        foreach_overview=_foreach_overview(loop, rounds, ended),
    )


def _foreach_overview(
    loop: LoopRecord, rounds: Sequence[Round], ended: Mapping[RunStatus, Rows] | None
) -> ForeachOverview:
    running: dict[InstanceStatus, int] = {}
    details: dict[InstanceStatus, Intervals] = {}
    for each in rounds:
        status = InstanceStatus(each.status)
        running[status] = running.get(status, 0) + 1
        details.setdefault(status, Intervals()).add(each.iteration)
    over = ended_iterations(loop, rounds)
    stats = stats_of(loop)
    if ended is None and len(stats) == 1:
        details.update(dict.fromkeys(stats, over))
    for end, rows in (ended or {}).items():
        details[InstanceStatus(end)] = Intervals(rows)
    first = over.row_of(1)
    return ForeachOverview(
        checkpoint=0 if first is None else first[1],
        stats=stats,
        running_stats=running,
        rollup=ended_leaves(loop).record(),
        running_rollup=_merged(rounds).record() if rounds else None,
        details={status: rows.rows() for status, rows in details.items() if rows} or None,
        restart_info=sorted({*loop.asked, *(each.iteration for each in rounds if each.run_id > loop.run_id)}),
    )


def ended_iterations(loop: LoopRecord, rounds: Sequence[Round]) -> Intervals:
    """The iterations that have ended: all that were launched or kept, but for those alive."""
    found = Intervals(loop.kept)
    if loop.next_index:
        found.add_row(1, loop.next_index)
    for each in rounds:
        found.remove(each.iteration)
    return found


# ---------------------------------------------------------------------------------------------------- while
def while_artifact(
    flow: Flow, attempt: AttemptRecord, loop: LoopRecord, last: Round | None = None
) -> WhileArtifact:
    """How far a while is; `last` is the iteration that it launched last, whether that is alive or has ended.
    All before it are counted together.
    """
    first = loop.again[0][0] if loop.again else 1
    return WhileArtifact(
        loop_workflow_id=loop.inline_id,
        loop_identity=_identity(flow, attempt),
        loop_run_id=loop.run_id,
        run_policy=policy_of_loop(flow, attempt),
        run_id=flow.run.key.run_id,
        first_iteration=first,
        last_iteration=loop.next_index,
        last_status=_last_status(loop) if last is None else InstanceStatus(last.status),
        last_overview=None if last is None else last.overview,
        rollup=_before(loop, last).record(),
    )


def _before(loop: LoopRecord, last: Round | None) -> Rollup:
    """What ran in the iterations before the last one, which a loop counts as soon as it has ended."""
    found = ended_leaves(loop)
    if last is None or not last.status.is_terminal:
        return found
    left = {status: count - last.rollup.counts.get(status, 0) for status, count in found.counts.items()}
    before = Rollup.counted({status: count for status, count in left.items() if count > 0})
    for each in loop.named:
        if each.iteration != last.iteration:
            before.name(Leaf(each.run, each.step), each.status)
    return before


def _last_status(loop: LoopRecord) -> InstanceStatus | None:
    """How the last iteration ended: none follows one that ended badly."""
    stats = stats_of(loop)
    bad = [status for status in stats if status is not InstanceStatus.SUCCEEDED]
    return next(iter(bad or stats), None)


def _identity(flow: Flow, attempt: AttemptRecord) -> str:
    return f"{attempt.key}[{step_uuid(flow.run.uuid, attempt.key)}]"
