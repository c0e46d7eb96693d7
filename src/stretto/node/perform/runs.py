"""Groups and runs as their owner needs them: read, and made what was committed. And the definitions that runs
follow: parsed once, and shared.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from stretto.actions.parts.finding import find_workflow
from stretto.engine.compensation import undo_plan
from stretto.engine.earlier import EarlierRun
from stretto.engine.flow import Flow, Tree
from stretto.engine.loading import load_flow
from stretto.engine.opening import plan_of_run
from stretto.engine.permits import limited_by_tree
from stretto.engine.plan import Plan
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.errors import NotFound
from stretto.model.run_config import RunPolicy
from stretto.model.workflow import Workflow
from stretto.node.answers import LoadedGroup, LoadedRun
from stretto.node.perform.breakpoints import Breakpoints, Steps
from stretto.node.perform.earlier import Earlier
from stretto.ports.groups import GroupRow
from stretto.ports.loading import FlowRows
from stretto.ports.rows import Lease, Phase
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow

OWNED: Final = frozenset({Phase.ADMITTED, Phase.LIVE})
MOST_DEFINITIONS: Final = (
    1_000  # versions of workflows that are kept; the one that was not used for the longest goes
)


class Known(NamedTuple):
    """A version, and the plan of all its steps."""

    workflow: Workflow
    plan: Plan


class Definitions:
    """Versions never change, so what is known of one stays true. A workflow that was deleted and published
    again under the same id is another one: its internal id tells.
    """

    def __init__(self, store: Store, most: int = MOST_DEFINITIONS) -> None:
        self._store = store
        self._most = most
        self._known: dict[tuple[str, int, int], Known] = {}

    async def find(self, workflow_id: str, version_id: int) -> Known:
        """A version of a workflow that there is."""
        return await self.of(await find_workflow(self._store, workflow_id), version_id)

    async def of(self, row: WorkflowRow, version_id: int) -> Known:
        key = (row.workflow_id, row.internal_id, version_id)
        known = self._known.pop(key, None)
        if known is None:
            version = await self._store.version(row.workflow_id, version_id)
            if version is None:
                raise NotFound(f"Cannot find workflow version [{row.workflow_id}][{version_id}]")
            # Somebody else may have been faster meanwhile: there is to be one of each.
            known = self._known.pop(key, None) or Known(version.workflow, Plan(version.workflow.steps))
        self._known[key] = known
        while len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known


class GroupLoader:
    """Reads groups after their claim."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[int, GroupRow] = {}

    async def load(self, leases: Sequence[Lease]) -> list[LoadedGroup]:
        """What is in each of them."""
        found = await self._store.load_groups([lease.group for lease in leases])
        groups = [await self._row(lease) for lease in leases]
        return [
            LoadedGroup(
                admitted=tuple(each.key for each in rows.runs if each.phase is Phase.ADMITTED),
                live=tuple((each.key, each.due_at) for each in rows.runs if each.phase is Phase.LIVE),
                seq=rows.seq,
                falls=group.falls,
                suspicion=group.suspicion,
            )
            for group, rows in zip(groups, found, strict=True)
        ]

    async def _row(self, lease: Lease) -> GroupRow:
        """How often owners of the group died, and of what. While a generation lasts, only its owner changes
        that, after it has read it: so all groups are read at once, and again only after a claim.
        """
        row = self._rows.get(lease.group)
        if row is None or row.generation != lease.generation:
            self._rows = {each.group: each for each in await self._store.groups()}
        return self._rows[lease.group]


class RunLoader:
    """Makes runs in memory of their rows."""

    def __init__(
        self,
        store: Store,
        definitions: Definitions,
        earlier: Earlier,
        breakpoints: Breakpoints,
        settings: EngineSettings,
    ) -> None:
        self._store = store
        self._definitions = definitions
        self._earlier = earlier
        self._breakpoints = breakpoints
        self._settings = settings

    async def load(self, leases: Sequence[Lease], runs: Sequence[RunKey]) -> tuple[LoadedRun, ...]:
        """Those that are under way; of each group that they are in, there is a lease."""
        generations = {lease.group: lease.generation for lease in leases}
        found = [rows for rows in await self._store.load_flows(runs) if rows.run.phase in OWNED]
        # A workflow without a row was deleted: then its runs have ended since, and are not ours.
        workflows = await self._store.workflow_rows(
            list(dict.fromkeys(rows.run.key.workflow_id for rows in found))
        )
        steps = await self._breakpoints.of(workflows.values())
        return tuple(
            [
                await self._loaded(
                    generations[rows.run.group], rows, workflows[workflow_id], steps[workflow_id]
                )
                for rows in found
                if (workflow_id := rows.run.key.workflow_id) in workflows
            ]
        )

    async def _loaded(
        self, generation: int, rows: FlowRows, workflow: WorkflowRow, steps: Steps
    ) -> LoadedRun:
        run = rows.run.record
        known = await self._definitions.of(workflow, run.version_id)
        limit = workflow.properties.step_concurrency
        settings = msgspec.structs.replace(self._settings, step_concurrency=limit)
        limited = limited_by_tree(known.workflow, run.tree_limit)
        tree = Tree(limited, settings, generation, workflow.internal_id)
        tree.breakpoints = steps
        plan, earlier = await self._opened(known, run)
        for loop in rows.loops:
            loop.ended = dict(rows.ended[loop.key])
        flow = load_flow(
            Flow(run, plan, tree, earlier=earlier),
            (each.record for each in rows.iterations),
            (each.record for each in rows.attempts),
            rows.loops,
        )
        launched = [each for each in rows.attempts if each.record.launch is not None]
        return LoadedRun(
            flow=flow,
            row=rows.run,
            runs_on={each.key: each.runs_on for each in launched if each.runs_on is not None},
            granted=rows.granted,
        )

    async def _opened(self, known: Known, run: RunRecord) -> tuple[Plan, EarlierRun | None]:
        """The steps that a run covers: all of them, or what the runs before it left."""
        if run.policy is RunPolicy.UNDO:
            return undo_plan(known.workflow.steps, run.covers or ()), None
        if run.policy.is_fresh:
            return known.plan, None
        earlier = await self._earlier.run(known.workflow, *run.key)
        if run.policy is RunPolicy.RESTART_FROM_BEGINNING:
            return known.plan, earlier
        statuses = {} if earlier is None else earlier.statuses
        return plan_of_run(known.workflow, run.policy, statuses, run.restart), earlier
