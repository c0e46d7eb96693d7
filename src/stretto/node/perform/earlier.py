"""What a run takes over from the runs before it, told from their rows.

The runs before one have ended, and an ended run never changes: whoever reads them again finds the same, so a
run that is loaded again has the plan that it began with.
"""

from collections.abc import Mapping
from typing import Final

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.aggregation import RunInInstance, folded
from stretto.actions.reading.definitions import instance_definition
from stretto.engine.compensation import undo_ids
from stretto.engine.context import step_facts
from stretto.engine.earlier import EarlierLoop, EarlierRun, UndoPage
from stretto.engine.flow import Flow, Tree
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.intervals import Intervals
from stretto.engine.live_rollup import rollup_of_rows
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord, Compensation, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import UpstreamFields
from stretto.model.rollup import RollupOverview
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.params import StepFacts
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import InstancePage, NewestAttempts, RunPage
from stretto.ports.store import Store
from stretto.ports.views import BucketCount

PAGE: Final = 200
UNDO_PAGE: Final = 50  # iterations that are undone: of each, all steps are read


class Earlier:
    """Reads runs and iterations that have ended. `around` is the definition that the root of them follows."""

    def __init__(self, store: Store, page: int = PAGE) -> None:
        self._store = store
        self._page = page

    async def run(
        self, around: Workflow, workflow_id: str, instance_id: int, below: int | None = None
    ) -> EarlierRun | None:
        """An instance, or an iteration, over its runs below one; None: it has none."""
        rows = await self._runs(workflow_id, instance_id, below)
        if not rows:
            return None
        workflow = await self._definition(around, rows[0])
        told = _Told(around, workflow)
        for row in rows:
            told.add(row, await self._store.attempts(NewestAttempts((row.key,))))
        return told.sum_up()

    async def loop(self, inline_id: str, *, undone: bool = False) -> EarlierLoop | None:
        """The iterations that a loop has had, by how the newest run of each ended. `undone`: some of these
        runs may have undone the one before, which no count tells.
        """
        in_order = inline_id.startswith(Loop.WHILE.tag)
        sets = await (self._one_by_one if in_order or undone else self._foreach)(inline_id)
        rows = {status: tuple(numbers.rows()) for status, numbers in sets.items() if numbers}
        return EarlierLoop(rows=rows) if rows else None

    async def _foreach(self, inline_id: str) -> dict[RunStatus, Intervals]:
        """Counted in buckets; only of a bucket with several statuses in it the iterations are read."""
        span = await self._store.instance_ids(inline_id)
        sets: dict[RunStatus, Intervals] = {}
        if span is None:
            return sets
        buckets: dict[int, list[BucketCount]] = {}
        for each in await self._store.iteration_counts(inline_id, self._page):
            buckets.setdefault(each.first, []).append(each)
        for first, counts in sorted(buckets.items()):
            last = min(first + self._page - 1, span.highest)
            if len(counts) == 1 and counts[0].number == last - first + 1:
                sets.setdefault(counts[0].status, Intervals()).add_row(first, last)
                continue
            page = await self._store.runs(InstancePage(inline_id, Cut(most=self._page, below=last + 1)))
            for row in page.elements:
                if row.key.instance_id >= first:
                    sets.setdefault(row.record.status, Intervals()).add(row.key.instance_id)
        return sets

    async def _one_by_one(self, inline_id: str) -> dict[RunStatus, Intervals]:
        """A while that began again makes what an older run of it did after that meaningless."""
        sets: dict[RunStatus, Intervals] = {}
        newest, last = 0, 0  # the highest run id, and the last iteration that has it
        cut = Cut(most=self._page)
        while True:
            page = await self._store.runs(InstancePage(inline_id, cut))
            for row in page.elements:
                sets.setdefault(await self._end_of(row), Intervals()).add(row.key.instance_id)
                if row.key.run_id > newest:
                    newest, last = row.key.run_id, row.key.instance_id
            if not page.after:
                break
            cut = Cut(most=self._page, below=page.elements[-1].key.instance_id)
        if not inline_id.startswith(Loop.WHILE.tag):
            return sets
        return {status: _up_to(numbers, last) for status, numbers in sets.items()}

    async def _end_of(self, row: RunRow) -> RunStatus:
        """How an iteration ended. One of which something is undone counts as failed: that must run again."""
        while row.record.policy is RunPolicy.UNDO:
            if row.record.undone:
                return RunStatus.FAILED
            page = await self._store.runs(RunPage(*row.key[:2], Cut(most=1, below=row.key.run_id)))
            (row,) = page.elements  # there is a run before it that it was to undo
        return row.record.status

    async def undo_page(self, around: Workflow, inline_id: str, below: int) -> UndoPage:
        """Iterations of a loop below one, the newest first, if they can be undone; 0: from the last."""
        cut = Cut(most=min(self._page, UNDO_PAGE), below=below or None)
        page = await self._store.runs(InstancePage(inline_id, cut))
        found: list[tuple[int, EarlierRun]] = []
        steps: tuple[AnyStep, ...] = ()
        for row in page.elements:
            number = row.key.instance_id
            earlier = await self.run(around, inline_id, number)
            if earlier is not None and earlier.undo and earlier.compensation is None:
                found.append((number, earlier))
                steps = steps or (await self._definition(around, row)).steps
        lowest = page.elements[-1].key.instance_id if page.after else 1
        return UndoPage(iterations=tuple(found), below=lowest, steps=steps)

    async def _runs(self, workflow_id: str, instance_id: int, below: int | None) -> list[RunRow]:
        """The runs of an instance below one, the oldest first."""
        found: list[RunRow] = []
        cut = Cut(most=self._page, below=below)
        while True:
            page = await self._store.runs(RunPage(workflow_id, instance_id, cut))
            found += page.elements
            if not page.after:
                return found[::-1]
            cut = Cut(most=self._page, below=page.elements[-1].key.run_id)

    async def _definition(self, around: Workflow, row: RunRow) -> Workflow:
        """The steps of an instance: those of its version, or of the loop that it is an iteration of."""
        initiator = row.record.initiator
        if not is_inline(row.key.workflow_id) or not isinstance(initiator, UpstreamFields):
            return around
        step = step_in(around.steps, initiator.parent.step_id)
        if isinstance(step, ForeachStep | WhileStep):
            return Workflow(id=row.key.workflow_id, steps=step.steps)
        return await instance_definition(self._store, row)  # steps that were added while it ran


class _Told:
    """An instance, one run after the other."""

    def __init__(self, around: Workflow, workflow: Workflow) -> None:
        self._around = around
        self._workflow = workflow
        self._plan = Plan(workflow.steps)
        self._state: RunInInstance | None = None
        self._newest: dict[str, tuple[RunRow, AttemptRecord]] = {}
        self._loop_runs: dict[str, int] = {}
        self._loops: dict[str, RollupOverview] = {}
        self._children: dict[str, RunKey] = {}
        self._undone: set[str] = set()
        self._last: RunRecord | None = None  # of the runs that did not undo others

    def add(self, row: RunRow, attempts: list[AttemptRow]) -> None:
        self._state = folded(self._workflow, row, attempts, self._state)
        self._undone |= row.record.undone.keys()
        for step_id, run_id in row.record.undone.items():
            self._loop_runs[step_id] = max(run_id, self._loop_runs.get(step_id, 0))
        if row.record.policy is RunPolicy.UNDO:
            return  # its steps are not those of the instance
        self._last = row.record
        for attempt in attempts:
            record, step_id = attempt.record, attempt.key.step_id
            self._newest[step_id] = (row, record)
            if record.loop_run is not None:
                self._loop_runs[step_id] = max(record.loop_run, self._loop_runs.get(step_id, 0))
            if record.leaves is not None:
                self._loops[step_id] = record.leaves
            child = record.child or record.earlier_child
            if child is not None:
                self._children[step_id] = child

    def sum_up(self) -> EarlierRun:
        assert self._state is not None  # noqa: S101 - there is at least one run
        record, last = self._state.row.record, self._last or self._state.row.record
        compensation = last.compensation
        if record.policy is RunPolicy.UNDO:
            good = record.status is RunStatus.SUCCEEDED
            compensation = Compensation.COMPENSATED if good else Compensation.FAILED
        return EarlierRun(
            statuses=self._state.statuses,
            steps=self._facts(),
            loop_runs=self._loop_runs,
            children=self._children,
            run_id=record.key.run_id,
            status=record.status,
            params=last.params,
            undo=self._undo(),
            undone=frozenset(self._undone),
            compensation=compensation,
            rollups=self._rollups(),
            loops=self._loops,
        )

    def _rollups(self) -> dict[str, RollupOverview]:
        """What each step counts in the newest run that created it, unless a later run began it anew."""
        assert self._state is not None  # noqa: S101 - see above
        views = self._state.info.step_aggregated_views
        return {
            step_id: rollup_of_rows([record]).record()
            for step_id, (_, record) in self._newest.items()
            if step_id in views and views[step_id].workflow_run_id is not None
        }

    def _undo(self) -> tuple[str, ...]:
        """What would undo the steps whose success stands, the last to end first."""
        assert self._state is not None  # noqa: S101 - see above
        undone, steps = self._state.undone, {step.id: step for step in self._workflow.steps}
        ended = [
            (record.end_time or 0, record.sequence, undo_ids(steps[step_id], record))
            for step_id, (_, record) in self._newest.items()
            if step_id not in undone and step_id in steps
        ]
        return tuple(each for _, _, ids in sorted(ended, reverse=True) for each in ids)

    def _facts(self) -> Mapping[str, StepFacts]:
        """What can be read of steps that are complete, and of those whose undo may read what they left. Each
        is seen in the run that it ended in.
        """
        assert self._state is not None  # noqa: S101 - see above
        flows: dict[RunKey, Flow] = {}
        facts: dict[str, StepFacts] = {}
        undoable = {self._plan.steps[index].id for index in self._plan.compensated}
        for step_id, status in self._state.statuses.items():
            done = step_id in undoable and step_id in self._newest and self._newest[step_id][1].has_delivered
            if status.is_complete or done:
                row, record = self._newest[step_id]
                if row.key not in flows:
                    flows[row.key] = Flow(row.record, self._plan, Tree(self._around, EngineSettings()))
                facts[step_id] = step_facts(flows[row.key], record)
        return facts


def _up_to(numbers: Intervals, last: int) -> Intervals:
    return Intervals((first, min(end, last)) for first, end in numbers.rows() if first <= last)
