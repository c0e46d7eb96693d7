"""What a run takes over from the runs before it, told from their rows.

The runs before one have ended, and an ended run never changes: whoever reads them again finds the same, so a
run that is loaded again has the plan that it began with.
"""

from collections.abc import Mapping
from typing import Final

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.aggregation import RunInInstance, folded
from stretto.actions.reading.definitions import definition_of
from stretto.engine.context import step_facts
from stretto.engine.earlier import EarlierLoop, EarlierRun
from stretto.engine.flow import Flow, Tree
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.intervals import Intervals
from stretto.engine.live_rollup import leaves_of
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord, RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.initiator import UpstreamFields
from stretto.model.status import RunStatus
from stretto.model.step import ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.params import StepFacts
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store

PAGE: Final = 200


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
            told.add(row, await self._store.newest_attempts(row.key))
        return told.sum_up()

    async def loop(self, inline_id: str) -> EarlierLoop | None:
        """The iterations that a loop has had, by how the newest run of each ended."""
        sets: dict[RunStatus, Intervals] = {}
        newest, last = 0, 0  # the highest run id, and the last iteration that has it
        cut = Cut(most=self._page)
        while True:
            page = await self._store.instances(inline_id, cut)
            for row in page.elements:
                sets.setdefault(row.record.status, Intervals()).add(row.key.instance_id)
                if row.key.run_id > newest:
                    newest, last = row.key.run_id, row.key.instance_id
            if not page.after:
                break
            cut = Cut(most=self._page, below=page.elements[-1].key.instance_id)
        if inline_id.startswith(Loop.WHILE.tag):
            # A while that began again makes what an older run of it did after that meaningless.
            sets = {status: _up_to(numbers, last) for status, numbers in sets.items()}
        rows = {status: tuple(numbers.rows()) for status, numbers in sets.items() if numbers}
        return EarlierLoop(rows=rows) if rows else None

    async def _runs(self, workflow_id: str, instance_id: int, below: int | None) -> list[RunRow]:
        """The runs of an instance below one, the oldest first."""
        found: list[RunRow] = []
        cut = Cut(most=self._page, below=below)
        while True:
            page = await self._store.runs_of(workflow_id, instance_id, cut)
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
        return await definition_of(self._store, row)  # steps that were added while it ran


class _Told:
    """An instance, one run after the other."""

    def __init__(self, around: Workflow, workflow: Workflow) -> None:
        self._around = around
        self._workflow = workflow
        self._plan = Plan(workflow.steps)
        self._state: RunInInstance | None = None
        self._newest: dict[str, tuple[RunRow, AttemptRecord]] = {}
        self._loop_runs: dict[str, int] = {}
        self._children: dict[str, RunKey] = {}

    def add(self, row: RunRow, attempts: list[AttemptRow]) -> None:
        self._state = folded(self._workflow, row, attempts, self._state)
        for attempt in attempts:
            record, step_id = attempt.record, attempt.key.step_id
            self._newest[step_id] = (row, record)
            if record.loop_run is not None:
                self._loop_runs[step_id] = max(record.loop_run, self._loop_runs.get(step_id, 0))
            child = record.child or record.earlier_child
            if child is not None:
                self._children[step_id] = child

    def sum_up(self) -> EarlierRun:
        assert self._state is not None  # noqa: S101 - there is at least one run
        record = self._state.row.record
        return EarlierRun(
            statuses=self._state.statuses,
            steps=self._facts(),
            loop_runs=self._loop_runs,
            children=self._children,
            run_id=record.key.run_id,
            status=record.status,
            params=record.params,
            leaves=leaves_of(each.record for each in self._state.attempts),
        )

    def _facts(self) -> Mapping[str, StepFacts]:
        """What can be read of steps that are complete. Each is seen in the run that it was complete in."""
        assert self._state is not None  # noqa: S101 - see above
        flows: dict[RunKey, Flow] = {}
        facts: dict[str, StepFacts] = {}
        for step_id, status in self._state.statuses.items():
            if status.is_complete:
                row, record = self._newest[step_id]
                if row.key not in flows:
                    flows[row.key] = Flow(row.record, self._plan, Tree(self._around, EngineSettings()))
                facts[step_id] = step_facts(flows[row.key], record)
        return facts


def _up_to(numbers: Intervals, last: int) -> Intervals:
    return Intervals((first, min(end, last)) for first, end in numbers.rows() if first <= last)
