"""What a step that starts runs leaves behind: where its iterations or its child are, and how far they are.

Nobody writes it down while they go on: it is told from their rows, when somebody looks.
"""

from collections.abc import Collection
from typing import Any, Final

from stretto.actions.reading.aggregation import KnownInstances, RunInInstance, aggregate
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
from stretto.ports.history import InstancesIn
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, Phase, RunRow
from stretto.ports.run_snapshot import InstancePage, RunSnapshot, read_run
from stretto.ports.store import Store

STARTING_RUNS: Final = (SubworkflowStep, ForeachStep, WhileStep)
BADLY: Final = tuple(status for status in RUN_ENDS if status is not RunStatus.SUCCEEDED)
BATCH: Final = 200
MOST_NAMED: Final = 2_000  # iterations; who wants to see more of them lists them


class Below:
    """What is below the steps of one answer. Runs, loops and what is alive come with a snapshot; which
    iterations ended how is read in pages, if somebody must be told.
    """

    def __init__(self, store: Store, snapshot: RunSnapshot) -> None:
        self._store = store
        self._snapshot = snapshot
        self._trees: dict[RunKey, LiveRows] = {}
        self._loops: dict[RunKey, dict[AttemptKey, LoopRecord]] = {}
        self._known = KnownInstances()

    async def artifacts_of(self, row: AttemptRow, step: AnyStep | None, loaded: LoadedRun) -> Artifacts:
        """The artifacts of an attempt, with that of its loop or child."""
        own = row.record.artifacts
        if isinstance(step, SubworkflowStep):
            child = None if row.record.child is None else await read_run(self._snapshot, row.record.child)
            made = None if child is None else await self._subworkflow(child)
            return own if made is None else {**own, ArtifactKey.SUBWORKFLOW.value: made}
        if not isinstance(step, ForeachStep | WhileStep):
            return own
        loop, flow = await self._loop_of(row.key), loaded.flow
        if loop is None:
            return own
        rows = None if row.record.status.is_terminal else self._alive_in(loaded.state.row)
        loop = loop if rows is None else rows.loop(row.key) or loop
        runs = [] if rows is None else rows.iterations_of(loop)
        if isinstance(step, WhileStep):
            newest = RunKey(loop.inline_id, loop.next_index, loop.run_id)
            at = await read_run(self._snapshot, runs[-1].key if runs else newest)
            last = None if at is None else await self._last_round(at, rows)
            artifact = while_artifact(flow, row.record, loop, last)
            artifact.loop_param_values = await _values(self._store, loop)
            return {**own, ArtifactKey.WHILE.value: artifact}
        rounds = [_round(each, rows.leaves_of(each)) for each in runs] if rows is not None else []
        ended = await _ended(self._store, loop, rounds)
        return {**own, ArtifactKey.FOREACH.value: foreach_artifact(flow, row.record, loop, rounds, ended)}

    async def _loop_of(self, attempt: AttemptKey) -> LoopRecord | None:
        if attempt.run not in self._loops:
            loops = await self._snapshot.loops(attempt.run)
            self._loops[attempt.run] = {loop.key: loop for loop in loops}
        return self._loops[attempt.run].get(attempt)

    def _alive_in(self, row: RunRow) -> LiveRows | None:
        """What is alive in the tree of a run; None: it has ended."""
        if row.phase is not Phase.LIVE:
            return None
        if row.root not in self._trees:
            flow = self._snapshot.flows[row.root]
            self._trees[row.root] = LiveRows(
                (each.record for each in flow.iterations), (each.record for each in flow.attempts), flow.loops
            )
        return self._trees[row.root]

    async def _subworkflow(self, child: RunRow) -> SubworkflowArtifact:
        return SubworkflowArtifact(
            subworkflow_id=child.key.workflow_id,
            subworkflow_version_id=child.record.version_id,
            subworkflow_instance_id=child.key.instance_id,
            subworkflow_run_id=child.key.run_id,
            subworkflow_uuid=child.record.uuid,
            subworkflow_overview=overview_of(await self._state_of(child)),
        )

    async def _last_round(self, row: RunRow, rows: LiveRows | None) -> Round:
        """The last iteration of a while, whether it is alive or has ended."""
        state = await self._state_of(row)
        if rows is None or row.record.status.is_terminal:
            own = with_base(rollup_of_rows(each.record for each in state.attempts), row.record)
        else:
            own = rows.leaves_of(row.record)
        overview = overview_of(state)
        if overview is not None:
            overview.rollup_overview = own.record()
        return _round(row.record, own)._replace(overview=overview)

    async def _state_of(self, row: RunRow) -> RunInInstance:
        workflow = await definition_of(self._snapshot, row)
        return await aggregate(self._snapshot, workflow, row, self._known)


async def _iterations(store: Store, loop: LoopRecord, statuses: Collection[RunStatus]) -> list[RunRow]:
    """The newest run of each iteration in one of these statuses, in their order; at most so many."""
    found: list[RunRow] = []
    above = 0
    while len(found) < MOST_NAMED:
        page = await store.runs(InstancesIn(loop.inline_id, tuple(statuses), Cut(most=BATCH, above=above)))
        found += page.elements[::-1]
        if not page.before:
            break
        above = found[-1].key.instance_id
    return found


def _round(run: RunRecord, leaves: Rollup) -> Round:
    return Round(run.key.instance_id, run.key.run_id, run.status, leaves)


async def _values(store: Store, loop: LoopRecord) -> dict[str, list[Any]] | None:
    """What each iteration of a while began with, and what came of the last one, if that ended well; None: it
    has no loop parameters, or too many iterations to name.
    """
    if not loop.carried or loop.next_index > BATCH:
        return None
    page = await store.runs(InstancePage(loop.inline_id, Cut(most=BATCH, above=0)))
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
