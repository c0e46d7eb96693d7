"""What evaluations need: values that are read for them, each by a key that says what it is."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stretto.actions.parts.evaluation import unique_number
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.effects import Fetch
from stretto.engine.elsewhere import Question
from stretto.engine.events import Evaluated, Fetched
from stretto.engine.inline_ids import Loop
from stretto.engine.outcome import is_undelivered
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.model.errors import Internal, InvalidRequest, NotFound
from stretto.model.initiator import UpstreamFields
from stretto.model.param import Parameter
from stretto.model.workflow import Workflow
from stretto.node.perform.earlier import Earlier
from stretto.node.perform.runs import Definitions
from stretto.params import Collected, Undelivered
from stretto.ports.evaluator import answered
from stretto.ports.history import NewestInInstance
from stretto.ports.paging import Cut
from stretto.ports.rows import RunGlance
from stretto.ports.run_snapshot import InstancePage, NewestAttempts, read_attempt
from stretto.ports.signals import read_signal
from stretto.ports.store import Store
from stretto.ports.templates import read_template

PAGE: Final = 500


def undone_run(run: RunRecord) -> RunKey:
    """The run whose steps are meant by those of this one: its own, or the run around it that it undoes."""
    if not run.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        return run.key
    assert isinstance(run.initiator, UpstreamFields)  # noqa: S101 - it stands under a step
    above = run.initiator.parent
    return RunKey(above.workflow_id, above.instance_id, above.run_id)


class Values:
    """Reads what is asked for. None as a value says that there is no such thing."""

    def __init__(self, store: Store, definitions: Definitions, earlier: Earlier) -> None:
        self._store = store
        self._definitions = definitions
        self._earlier = earlier

    async def fetch(self, effect: Fetch, run: RunRecord, root: RunKey) -> tuple[Fetched]:
        """All keys of an effect. `run` is that of the attempt, `root` the one in whose flow it is."""
        values = {key: await self._value(key, effect.attempt, run, root) for key in effect.keys}
        return (Fetched(attempt=effect.attempt, values=values),)

    async def _value(self, key: Any, attempt: AttemptKey, run: RunRecord, root: RunKey) -> Any:
        store, place = self._store, undone_run(run)
        match key:
            case ("foreach", str(step), int(number), str(inner), str(name)):
                return await collected(store, place, step, number, (inner, name))
            case ("subworkflow", str(step), int(number), str(inner), str(name)):
                child = await self._child(place, step, number)
                return child and await newest_param(store, child.workflow_id, child.instance_id, inner, name)
            case ("earlier", str(workflow_id), int(instance_id), below):
                known = await self._definitions.find(root.workflow_id, run.version_id)
                return await self._earlier.run(known.workflow, workflow_id, instance_id, below)
            case ("iterations" | "undone iterations" as kind, str(inline_id), int()):
                return await self._earlier.loop(inline_id, undone=kind != "iterations")
            case ("undo", str(inline_id), int(below)):
                known = await self._definitions.find(root.workflow_id, run.version_id)
                return await self._earlier.undo_page(known.workflow, inline_id, below)
            case ("signal", str(name), int(seq), str(param)):
                signal = await read_signal(store, name, seq)
                return None if signal is None else (signal.params or {}).get(param)
            case ("template", (str(job_type), str(version))):
                template = await read_template(store, job_type, version)
                return None if template is None else template.definition
            case ("workflow", workflow_id, str(version)):
                return await self._workflow(workflow_id, version)
            case ("unique", asked):
                return unique_number(f"{run.uuid}{asked}")
            case _:
                raise Internal(f"nobody knows how to fetch {key}, which {attempt} asks for")

    async def _child(self, run: RunKey, step_id: str, number: int) -> RunKey | None:
        """The run that a subworkflow step started: in this run, or, without a number, in an earlier one."""
        if number:
            row = await read_attempt(self._store, AttemptKey(run, step_id, number))
            return None if row is None else row.record.child
        found = await self._store.attempts(NewestInInstance(run.workflow_id, run.instance_id, step_id))
        return found[0].record.child if found else None

    async def _workflow(self, workflow_id: str | None, version: str) -> Workflow | None:
        """The version of a workflow that a template step names."""
        try:
            row = await find_workflow(self._store, workflow_id or "")
            _number, found = await find_version(self._store, row, version)
        except (NotFound, InvalidRequest):
            return None
        return found.workflow


async def collected(
    store: Store, run: RunKey, foreach_step: str, number: int, inner: tuple[str, str], page: int = PAGE
) -> Collected | None:
    """What a step inside a foreach left in a parameter (`inner`), by iteration: that of the newest attempt in
    the newest run that has one. `number`: of the foreach's attempt in this run; 0: it was in an earlier one.
    A loop may have more iterations than fit into memory, but hardly more values.
    """
    inline_id = await _inline_id(store, run, foreach_step, number)
    if inline_id is None:
        return None
    found: dict[int, Parameter | Undelivered | None] = {}
    cut = Cut(most=page)
    while True:
        part = await store.glances(InstancePage(inline_id, cut))
        found |= await _of_page(store, part.elements, *inner)
        if not part.after:
            break
        cut = Cut(most=page, below=part.elements[-1].key.instance_id)
    return _by_iteration(found)


def _by_iteration(found: Mapping[int, Parameter | Undelivered | None]) -> Collected | None:
    """By iteration. Those of steps that ended before their parameters had values leave none."""
    if not found:
        return None
    declared = {
        iteration: each.declared if isinstance(each, Undelivered) else each
        for iteration, each in found.items()
        if each is not None
    }
    return Collected(
        next((param.type for param in declared.values()), None),
        {iteration: param.evaluated_result for iteration, param in declared.items()},
        frozenset(iteration for iteration, each in found.items() if isinstance(each, Undelivered)),
    )


async def _of_page(
    store: Store, iterations: Sequence[RunGlance], step_id: str, name: str
) -> dict[int, Parameter | Undelivered | None]:
    newest = NewestAttempts(tuple(each.key for each in iterations), step_id)
    rows = {row.key.run: row for row in await store.attempts(newest)}
    found: dict[int, Parameter | Undelivered | None] = {}
    for each in iterations:
        param: Parameter | Undelivered | None = None
        if each.key in rows:
            record = rows[each.key].record
            param = _left_in(record, name)
            if record.params is None:
                found[each.key.instance_id] = None
        elif each.key.run_id > 1:  # the step may have been complete before this run of the iteration
            param = await newest_param(store, each.key.workflow_id, each.key.instance_id, step_id, name)
        if param is not None:
            found[each.key.instance_id] = param
    return found


async def newest_param(
    store: Store, workflow_id: str, instance_id: int, step_id: str, name: str
) -> Parameter | Undelivered | None:
    """A parameter of the newest attempt of a step, in the newest run that has one."""
    found = await store.attempts(NewestInInstance(workflow_id, instance_id, step_id))
    return _left_in(found[0].record, name) if found else None


def _left_in(record: AttemptRecord, name: str) -> Parameter | Undelivered | None:
    param = (record.params or {}).get(name)
    return Undelivered(param) if param is not None and is_undelivered(record, name) else param


async def _inline_id(store: Store, run: RunKey, step_id: str, number: int) -> str | None:
    """The id under which the iterations of a step are kept: the same in all runs of an instance."""
    oldest = run.run_id if number else 1
    for run_id in range(run.run_id, oldest - 1, -1):
        for loop in await store.loops(run._replace(run_id=run_id)):
            if loop.key.step_id == step_id:
                return loop.inline_id
    return None


class InProcess:
    """An evaluator without a process of its own. Nothing stops an expression but its own limits, and
    everything else waits meanwhile: for tests, simulations, and programs that know their expressions.
    """

    async def evaluate(self, question: Question) -> Evaluated:
        return answered(question)
