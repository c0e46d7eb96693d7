"""What a test looks at in a run, and what a run fetches: both from the records that were committed."""

from typing import TYPE_CHECKING, Any

from stretto.engine.earlier import EarlierLoop, EarlierRun
from stretto.engine.flow import Flow, Tree
from stretto.engine.live_rollup import leaves_of
from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.engine.why import Why, why
from stretto.model.foreach import ranges_of
from stretto.model.param import Parameter
from stretto.params import Collected, StepFacts

if TYPE_CHECKING:
    from tests.engine.world import World

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
            case ("iterations", inline, _):
                return self.earlier_loop(inline)
            case ("earlier", workflow, instance, below):
                return self.earlier_run(workflow, instance, below)
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
        found = {
            record.key.run.instance_id: record.params[name]
            for record in mine
            if name in (record.params or {})
        }
        if not found:
            return None
        kind = next(iter(found.values())).type
        return Collected(kind, {index: param.evaluated_result for index, param in found.items()})

    # -------------------------------------------------------------------------------------- earlier runs
    def rows(self, kind: type) -> list[Any]:
        """Everything that was ever committed, by key."""
        found = {**self.past, **self.records}
        return [found[key] for key in sorted((key for key in found if key[0] is kind), key=_by_key)]

    def earlier_loop(self, inline: str) -> EarlierLoop:
        """How the newest run of each iteration has ended."""
        newest = {run.key.instance_id: run for run in self.rows(RunRecord) if run.key.workflow_id == inline}
        statuses = {run.status for run in newest.values()}
        return EarlierLoop(
            rows={
                status: tuple(ranges_of(each for each, run in newest.items() if run.status is status))
                for status in statuses
            }
        )

    def earlier_run(self, workflow: str, instance: int, below: int | None) -> EarlierRun | None:
        runs = [
            run
            for run in self.rows(RunRecord)
            if run.key[:2] == (workflow, instance) and run.key.run_id < (below or 10**9)
        ]
        newest: dict[str, AttemptRecord] = {}
        mine: dict[str, AttemptRecord] = {}
        for run in runs:
            mine = self._newest_attempts(run.key)
            gone = newest.keys() if run.covers is None else run.covers
            newest = {**{step: each for step, each in newest.items() if step not in set(gone)}, **mine}
        if not runs:
            return None
        return EarlierRun(
            statuses={step: each.status for step, each in newest.items()},
            steps={step: _facts(each) for step, each in newest.items() if each.status.is_complete},
            loop_runs={step: each.loop_run for step, each in newest.items() if each.loop_run},
            children={
                step: child for step, each in newest.items() if (child := each.child or each.earlier_child)
            },
            run_id=runs[-1].key.run_id,
            status=runs[-1].status,
            params=runs[-1].params,
            leaves=leaves_of(mine.values()),
        )

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
