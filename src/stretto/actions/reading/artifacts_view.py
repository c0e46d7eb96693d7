"""What a step that starts runs leaves behind: where its iterations or its child are, and how far they are.

Nobody writes it down while they go on: it is told from their rows, when somebody looks.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.flows import LoadedRun
from stretto.actions.reading.instance_view import overview_of
from stretto.engine.earlier import Rows
from stretto.engine.intervals import Intervals
from stretto.engine.live_rollup import LiveRows, rollup_of_rows, with_base
from stretto.engine.loop_overview import (
    Round,
    ended_iterations,
    foreach_artifact,
    stats_of,
    while_artifact,
)
from stretto.engine.records import AttemptKey, LoopRecord, RunKey, RunRecord
from stretto.engine.rollup import Rollup
from stretto.model.artifact import ArtifactKey, Artifacts, SubworkflowArtifact
from stretto.model.status import RUN_ENDS, InstanceStatus, RunStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, WhileStep
from stretto.model.step_instance import StepInstance
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.ports.store import Store

STARTING_RUNS: Final = (SubworkflowStep, ForeachStep, WhileStep)
BADLY: Final = tuple(status for status in RUN_ENDS if status is not RunStatus.SUCCEEDED)
BATCH: Final = 200
MOST_NAMED: Final = 2_000  # iterations; who wants to see more of them lists them


async def loops_of(
    store: Store, views: Iterable[StepInstance], runs: Collection[RunKey]
) -> dict[AttemptKey, LoopRecord]:
    """The loops of these runs, if one of the steps is a loop: read once per run."""
    if not any(isinstance(view.definition, ForeachStep | WhileStep) for view in views):
        return {}
    return {loop.key: loop for run in runs for loop in await store.loops(run)}


class Alive:
    """What is alive in the trees of runs: each is read once for all steps of an answer that ask for it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trees: dict[RunKey, LiveRows] = {}

    async def of(self, row: RunRow) -> LiveRows | None:
        """The rows of a run's tree, as of one moment; None: it has ended."""
        if row.phase is not Phase.LIVE:
            return None
        if row.root not in self._trees:
            found = await self._store.load_flows([row.root])  # none: it was deleted just now
            self._trees[row.root] = LiveRows(
                (each.record for rows in found for each in rows.iterations),
                (each.record for rows in found for each in rows.attempts),
                (loop for rows in found for loop in rows.loops),
            )
        return self._trees[row.root]


async def artifacts_of(
    store: Store,
    row: AttemptRow,
    step: AnyStep | None,
    loaded: LoadedRun,
    loops: Mapping[AttemptKey, LoopRecord],
    alive: Alive,
) -> Artifacts:
    """The artifacts of an attempt, with that of its loop or child."""
    own = row.record.artifacts
    if isinstance(step, SubworkflowStep):
        child = None if row.record.child is None else await store.run(row.record.child)
        return (
            own if child is None else {**own, ArtifactKey.SUBWORKFLOW.value: await _subworkflow(store, child)}
        )
    if not isinstance(step, ForeachStep | WhileStep):
        return own
    loop, flow = loops.get(row.key), loaded.flow
    if loop is None:
        return own
    rows = None if row.record.status.is_terminal else await alive.of(loaded.state.row)
    loop = loop if rows is None else rows.loop(row.key) or loop
    runs = [] if rows is None else rows.iterations_of(loop)
    if isinstance(step, WhileStep):
        newest = RunKey(loop.inline_id, loop.next_index, loop.run_id)
        at = await store.run(runs[-1].key if runs else newest)
        last = None if at is None else await _last_round(store, at, rows)
        made = while_artifact(flow, row.record, loop, last)
        made.loop_param_values = await _values(store, loop)
        return {**own, ArtifactKey.WHILE.value: made}
    rounds = [_round(each, rows.leaves_of(each)) for each in runs] if rows is not None else []
    ended = await _ended(store, loop, rounds)
    return {**own, ArtifactKey.FOREACH.value: foreach_artifact(flow, row.record, loop, rounds, ended)}


async def _subworkflow(store: Store, child: RunRow) -> SubworkflowArtifact:
    state = await aggregate(store, await definition_of(store, child), child)
    return SubworkflowArtifact(
        subworkflow_id=child.key.workflow_id,
        subworkflow_version_id=child.record.version_id,
        subworkflow_instance_id=child.key.instance_id,
        subworkflow_run_id=child.key.run_id,
        subworkflow_uuid=child.record.uuid,
        subworkflow_overview=overview_of(state),
    )


async def _iterations(store: Store, loop: LoopRecord, statuses: Collection[RunStatus]) -> list[RunRow]:
    """The newest run of each iteration in one of these statuses, in their order; at most so many."""
    found: list[RunRow] = []
    above = 0
    while len(found) < MOST_NAMED:
        page = await store.instances(loop.inline_id, Cut(most=BATCH, above=above), tuple(statuses))
        found += page.elements[::-1]
        if not page.before:
            break
        above = found[-1].key.instance_id
    return found


def _round(run: RunRecord, leaves: Rollup) -> Round:
    return Round(run.key.instance_id, run.key.run_id, run.status, leaves)


async def _last_round(store: Store, row: RunRow, rows: LiveRows | None) -> Round:
    """The last iteration of a while, whether it is alive or has ended."""
    state = await aggregate(store, await definition_of(store, row), row)
    if rows is None or row.record.status.is_terminal:
        own = with_base(rollup_of_rows(each.record for each in state.attempts), row.record)
    else:
        own = rows.leaves_of(row.record)
    overview = overview_of(state)
    if overview is not None:
        overview.rollup_overview = own.record()
    return _round(row.record, own)._replace(overview=overview)


async def _values(store: Store, loop: LoopRecord) -> dict[str, list[Any]] | None:
    """What each iteration of a while began with, and what came of the last one, if that ended well; None: it
    has no loop parameters, or too many iterations to name.
    """
    if not loop.carried or loop.next_index > BATCH:
        return None
    page = await store.instances(loop.inline_id, Cut(most=BATCH, above=0))
    rows = [each.record for each in page.elements[::-1] if each.key.instance_id <= loop.next_index]
    went_on = not rows or rows[-1].status is RunStatus.SUCCEEDED
    found = [*(each.params for each in rows), *([loop.carried] if went_on else ())]
    return {name: [each[name].evaluated_result for each in found] for name in loop.carried}


async def _ended(store: Store, loop: LoopRecord, rounds: list[Round]) -> dict[RunStatus, Rows] | None:
    """Which iterations ended how; None: it follows from their number, or there are too many to name, or later
    runs have run some of them again.
    """
    stats = stats_of(loop)
    if len(stats) < 2:
        return None
    bad = await _iterations(store, loop, BADLY)
    if len(bad) >= MOST_NAMED:
        return None
    named: dict[RunStatus, Intervals] = {}
    well = ended_iterations(loop, rounds)
    for row in bad:
        well.remove(row.key.instance_id)
        named.setdefault(row.record.status, Intervals()).add(row.key.instance_id)
    if well:
        named[RunStatus.SUCCEEDED] = well
    if {InstanceStatus(status): len(rows) for status, rows in named.items()} != stats:
        return None
    return {status: tuple(rows.rows()) for status, rows in named.items()}
