"""What a test looks at in a run, and what a run fetches: both from the records that were committed."""

from typing import TYPE_CHECKING, Any

from stretto.actions.parts.finding import step_in
from stretto.engine.compensation import undo_ids
from stretto.engine.earlier import EarlierLoop, EarlierRun, UndoPage
from stretto.engine.flow import Flow, Tree
from stretto.engine.intervals import Intervals
from stretto.engine.live_rollup import rollup_of_rows
from stretto.engine.outcome import is_undelivered
from stretto.engine.records import AttemptKey, AttemptRecord, Compensation, LoopRecord, RunKey, RunRecord
from stretto.engine.why import Why, why
from stretto.model.param import Parameter
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import ForeachStep, WhileStep
from stretto.params import Collected, StepFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.engine.world import World

    from stretto.model.step import AnyStep
    from stretto.model.workflow import Workflow


class Reading:
    """The reading side of a driver."""

    flow: Flow
    tree: Tree
    world: "World"
    records: dict[tuple[type, Any], Any]
    past: dict[tuple[type, Any], Any]  # of the runs before it
    fetched: dict[object, Any]
    templates: dict[object, Any]
    library: dict[str, Any]

    @property
    def now(self) -> int:
        return self.world.now

    @property
    def status(self) -> str:
        return self.flow.run.status.value

    def attempt(self, step_id: str, flow: Flow | None = None) -> AttemptRecord:
        flow = flow or self.flow
        record = flow.attempts[flow.plan.numbers[step_id]]
        assert record is not None, f"{step_id} has not begun"
        return record

    def statuses(self, flow: Flow | None = None) -> dict[str, str]:
        flow = flow or self.flow
        return {
            step.id: record.status.value if (record := flow.attempts[step.index]) else "NOT_CREATED"
            for step in flow.plan.steps
        }

    def value(self, step_id: str, name: str) -> Any:
        param: Parameter = (self.attempt(step_id).params or {})[name]
        return param.evaluated_result

    def lines(self, step_id: str | None = None) -> list[str]:
        record = self.flow.run if step_id is None else self.attempt(step_id)
        return [getattr(event, "message", "") for event in record.timeline]

    def why(self, step_id: str) -> Why:
        found = why(self.flow, step_id)
        assert found is not None
        return found

    def of(self, kind: type) -> list[Any]:
        return [record for (each, _), record in self.records.items() if each is kind]

    def iterations(self, step_id: str) -> list[RunRecord]:
        """The iterations of a step's loop, over all attempts of it, in the order of their ids."""
        inline = {loop.inline_id for loop in self.of(LoopRecord) if loop.key.step_id == step_id}
        runs = [run for run in self.of(RunRecord) if run.key.workflow_id in inline]
        return sorted(runs, key=lambda run: (run.key.workflow_id, run.key.instance_id, run.key.run_id))

    def child(self, step_id: str, instance: int = 1) -> Flow:
        return self.flow.children[self.flow.plan.numbers[step_id]][instance]

    def live(self, step_id: str) -> list[int]:
        return sorted(self.flow.children.get(self.flow.plan.numbers[step_id], {}))

    # ------------------------------------------------------------------------------------------- fetches
    def look_up(self, attempt: AttemptKey, key: Any) -> Any:
        if key in self.fetched:
            return self.fetched[key]
        match key:
            case ("foreach", step, _, inner, param):
                return self._collected(attempt, step, inner, param)
            case ("subworkflow", step, _, inner, param):
                child = self.world.children[self._step(attempt, step).child]  # type: ignore[index]
                return (child.attempt(inner).params or {}).get(param)
            case ("iterations" | "undone iterations", inline, _):
                return self.earlier_loop(inline)
            case ("earlier", workflow, instance, below):
                return self.earlier_run(workflow, instance, below)
            case ("undo", inline, below):
                return self.undo_page(inline, below)
            case ("template", name):
                return self.templates.get(name)
            case ("workflow", name, _):
                return self._workflow(name)
            case ("signal", _, number, param):
                return self.world.signals[number - 1].params.get(param)
            case ("unique", _):
                return 4711
            case _:
                raise AssertionError(f"nobody knows {key}")

    def _step(self, attempt: AttemptKey, step_id: str) -> AttemptRecord:
        return self.attempt(step_id, self.tree.live[attempt.run])

    def _workflow(self, name: str) -> "Workflow | None":
        from tests.engine.driver import definition_of  # noqa: PLC0415 - the two look at each other

        return definition_of(self.library[name]) if name in self.library else None

    def _collected(self, attempt: AttemptKey, step_id: str, inner: str, name: str) -> Collected | None:
        loops = [
            loop for loop in self.of(LoopRecord) if (loop.key.run, loop.key.step_id) == (attempt.run, step_id)
        ]
        mine = [
            record
            for record in self.of(AttemptRecord)
            if record.key.step_id == inner
            and any(loop.inline_id == record.key.run.workflow_id for loop in loops)
        ]
        mine.sort(key=lambda record: (record.key.run, record.key.number))
        found = {record.key.run.instance_id: record for record in mine}
        params = {
            index: record.params[name] for index, record in found.items() if name in (record.params or {})
        }
        if not params and all(record.params is not None for record in mine):
            return None
        return Collected(
            next((param.type for param in params.values()), None),
            {index: param.evaluated_result for index, param in params.items()},
            frozenset(index for index, record in found.items() if is_undelivered(record, name)),
        )

    # -------------------------------------------------------------------------------------- earlier runs
    def rows(self, kind: type) -> list[Any]:
        """Everything that was ever committed, by key."""
        found = {**self.past, **self.records}
        return [found[key] for key in sorted((key for key in found if key[0] is kind), key=_by_key)]

    def earlier_loop(self, inline: str) -> EarlierLoop:
        """How the newest run of each iteration has ended."""
        newest = {run.key.instance_id: run for run in self.rows(RunRecord) if run.key.workflow_id == inline}
        ends = {
            each: RunStatus.FAILED if run.policy is RunPolicy.UNDO else run.status
            for each, run in newest.items()
        }
        return EarlierLoop(
            rows={
                status: tuple(Intervals((each, each) for each, end in ends.items() if end is status).rows())
                for status in set(ends.values())
            }
        )

    def earlier_run(self, workflow: str, instance: int, below: int | None) -> EarlierRun | None:
        runs = [
            run
            for run in self.rows(RunRecord)
            if run.key[:2] == (workflow, instance) and run.key.run_id < (below or 10**9)
        ]
        newest: dict[str, AttemptRecord] = {}
        undone: dict[str, int] = {}
        ever = frozenset(step for run in runs for step in run.undone)
        steps = {each.id: each for each in self._steps_of(workflow)}
        last = runs[0] if runs else None
        for run in runs:
            undone |= run.undone
            if run.policy is RunPolicy.UNDO:
                continue
            mine, last = self._newest_attempts(run.key), run
            undone = {step: each for step, each in undone.items() if step not in mine} | run.undone
            gone = newest.keys() if run.covers is None else run.covers
            newest = {**{step: each for step, each in newest.items() if step not in set(gone)}, **mine}
        if last is None:
            return None
        standing = [each for step, each in newest.items() if step not in undone and step in steps]
        standing.sort(key=lambda each: (each.end_time or 0, each.sequence), reverse=True)
        tried = runs[-1].policy is RunPolicy.UNDO
        return EarlierRun(
            statuses={
                step: StepStatus.NOT_CREATED if step in undone else each.status
                for step, each in newest.items()
            },
            undo=tuple(each for record in standing for each in undo_ids(steps[record.key.step_id], record)),
            undone=ever,
            compensation=Compensation.COMPENSATED if tried else last.compensation,
            steps={step: _facts(each) for step, each in newest.items() if each.status.is_complete},
            loop_runs={
                step: max(each.loop_run, undone.get(step, 0))
                for step, each in newest.items()
                if each.loop_run
            },
            children={
                step: child for step, each in newest.items() if (child := each.child or each.earlier_child)
            },
            run_id=runs[-1].key.run_id,
            status=runs[-1].status,
            params=last.params,
            rollups={step: rollup_of_rows([each]).record() for step, each in newest.items()},
            loops={step: each.leaves for step, each in newest.items() if each.leaves is not None},
        )

    def undo_page(self, inline: str, below: int) -> UndoPage:
        """Two iterations at a time."""
        numbers = {run.key.instance_id for run in self.rows(RunRecord) if run.key.workflow_id == inline}
        page = sorted((each for each in numbers if each < (below or 10**9)), reverse=True)
        found = [(each, self.earlier_run(inline, each, None)) for each in page[:2]]
        good = [(each, run) for each, run in found if run and run.undo and run.compensation is None]
        lowest = page[1] if len(page) > 2 else 1
        return UndoPage(iterations=tuple(good), below=lowest, steps=tuple(self._steps_of(inline)))

    def _steps_of(self, workflow: str) -> "Sequence[AnyStep]":
        """The steps of an instance, or of an iteration."""
        loops = [each for each in self.rows(LoopRecord) if each.inline_id == workflow]
        if not loops:
            return self.tree.workflow.steps
        loop = max(loops, key=lambda each: len(each.steps))
        step = step_in(self.tree.workflow.steps, loop.key.step_id)
        return step.steps if isinstance(step, ForeachStep | WhileStep) else loop.steps

    def _newest_attempts(self, run: RunKey) -> dict[str, AttemptRecord]:
        return {each.key.step_id: each for each in self.rows(AttemptRecord) if each.key.run == run}


def _by_key(key: tuple[type, Any]) -> Any:
    return key[1]


def _facts(record: AttemptRecord) -> StepFacts:
    return StepFacts(
        step_id=record.key.step_id,
        type="",
        step_instance_id=record.sequence,
        step_attempt_id=record.key.number,
        status=record.status.value,
        params=record.params or {},
    )
