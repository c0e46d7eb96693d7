"""What evaluations are missing: each key says what it is."""

from typing import Any

from stretto.actions.parts.evaluation import unique_number
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.effects import Fetch
from stretto.engine.events import Fetched
from stretto.engine.inline_ids import Loop
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.errors import Internal, InvalidRequest, NotFound
from stretto.model.initiator import UpstreamFields
from stretto.model.workflow import Workflow
from stretto.node.perform.collected import collected, newest_param
from stretto.node.perform.definitions import Definitions
from stretto.node.perform.earlier import Earlier
from stretto.ports.history import NewestInInstance
from stretto.ports.run_snapshot import read_attempt
from stretto.ports.signals import read_signal
from stretto.ports.store import Store
from stretto.ports.templates import read_template


def undone_run(run: RunRecord) -> RunKey:
    """The run whose steps are meant by those of this one: its own, or the run around it that it undoes."""
    if not run.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        return run.key
    assert isinstance(run.initiator, UpstreamFields)  # noqa: S101 - it stands under a step
    above = run.initiator.parent
    return RunKey(above.workflow_id, above.instance_id, above.run_id)


class Fetching:
    """Reads what is asked for. None as a value says that there is no such thing."""

    def __init__(self, store: Store, definitions: Definitions, earlier: Earlier) -> None:
        self._store = store
        self._definitions = definitions
        self._earlier = earlier

    async def fetch(self, effect: Fetch, run: RunRecord, root: RunKey) -> Fetched:
        """All keys of an effect. `run` is that of the attempt, `root` the one in whose flow it is."""
        values = {key: await self._value(key, effect.attempt, run, root) for key in effect.keys}
        return Fetched(attempt=effect.attempt, values=values)

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
