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
from stretto.engine.live_rollup import rollup_of_rows
from stretto.engine.loop_overview import (
    Round,
    ended_iterations,
    foreach_artifact,
    stats_of,
    while_artifact,
)
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.engine.rollup import Rollup
from stretto.model.artifact import ArtifactKey, Artifacts, SubworkflowArtifact
from stretto.model.status import RUN_ENDS, InstanceStatus, RunStatus
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, WhileStep
from stretto.model.step_instance import StepInstance
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store

STARTING_RUNS: Final = (SubworkflowStep, ForeachStep, WhileStep)
UNFINISHED: Final = tuple(status for status in RunStatus if not status.is_terminal)
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


async def artifacts_of(
    store: Store,
    row: AttemptRow,
    step: AnyStep | None,
    loaded: LoadedRun,
    loops: Mapping[AttemptKey, LoopRecord],
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
    highest = max(loop.run_id, row.record.loop_run or 0)  # what is above runs for a later run
    alive = [each for each in await _iterations(store, loop, UNFINISHED) if each.key.run_id <= highest]
    if isinstance(step, WhileStep):
        newest = RunKey(loop.inline_id, loop.next_index, loop.run_id)
        at = alive[-1] if alive else await store.run(newest)
        last = None if at is None else await _last_round(store, at)
        made = while_artifact(flow, row.record, loop, last)
        made.loop_param_values = await _values(store, loop)
        return {**own, ArtifactKey.WHILE.value: made}
    rounds = [_round(each) for each in alive]
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


def _round(row: RunRow) -> Round:
    rollup = Rollup.of(row.summary.rollup)
    return Round(row.key.instance_id, row.key.run_id, row.record.status, rollup)


async def _last_round(store: Store, row: RunRow) -> Round:
    state = await aggregate(store, await definition_of(store, row), row)
    own = _round(row)
    if row.summary.rollup is None:  # of an iteration that has ended nobody keeps it
        own = own._replace(rollup=rollup_of_rows(each.record for each in state.attempts))
    return own._replace(overview=overview_of(state))


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
