"""What a test looks at in a run, and what a run fetches: both from the records that were committed."""

from typing import TYPE_CHECKING, Any

from stretto.engine.flow import EarlierLoop, Flow, Tree
from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunRecord
from stretto.engine.why import Why, why
from stretto.model.param import Parameter
from stretto.model.status import RunStatus
from stretto.params import Collected

if TYPE_CHECKING:
    from tests.engine.world import World

    from stretto.model.workflow import Workflow


GOOD = frozenset({RunStatus.SUCCEEDED})


class Reading:
    """The reading side of a driver."""

    flow: Flow
    tree: Tree
    world: "World"
    records: dict[tuple[type, Any], Any]
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
            case ("iterations", step, _):
                return self.earlier_loop(step)
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

    def earlier_loop(self, step_id: str, keep: frozenset[RunStatus] = GOOD) -> EarlierLoop:
        """What a restart takes over, computed from rows: the iterations that need not run again."""
        newest: dict[int, RunRecord] = {run.key.instance_id: run for run in self.iterations(step_id)}
        kept = sorted(index for index, run in newest.items() if run.status in keep)
        ended: dict[RunStatus, int] = {}
        for index in kept:
            ended[newest[index].status] = ended.get(newest[index].status, 0) + 1
        return EarlierLoop(
            run_id=max(run.key.run_id for run in newest.values()),
            kept=tuple((index, index) for index in kept),
            ended=ended,
        )
