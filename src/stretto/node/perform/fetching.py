"""What evaluations are missing: each key says what it is."""

from typing import Any

from stretto.actions.parts.evaluation import unique_number
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.effects import Fetch
from stretto.engine.events import Fetched
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.errors import Internal, InvalidRequest, NotFound
from stretto.model.workflow import Workflow
from stretto.node.perform.collected import collected, newest_param
from stretto.node.perform.definitions import Definitions
from stretto.node.perform.earlier import Earlier
from stretto.ports.store import Store


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
        store = self._store
        match key:
            case ("foreach", str(step), int(number), str(inner), str(name)):
                return await collected(store, attempt.run, step, number, (inner, name))
            case ("subworkflow", str(step), int(number), str(inner), str(name)):
                child = await self._child(attempt.run, step, number)
                return child and await newest_param(store, child.workflow_id, child.instance_id, inner, name)
            case ("earlier", str(workflow_id), int(instance_id), below):
                known = await self._definitions.find(root.workflow_id, run.version_id)
                return await self._earlier.run(known.workflow, workflow_id, instance_id, below)
            case ("iterations", str(inline_id), int()):
                return await self._earlier.loop(inline_id)
            case ("signal", str(name), int(seq), str(param)):
                signal = await store.signal(name, seq)
                return None if signal is None else (signal.params or {}).get(param)
            case ("template", (str(job_type), str(version))):
                template = await store.template(job_type, version)
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
            row = await self._store.attempt(AttemptKey(run, step_id, number))
            return None if row is None else row.record.child
        found = await self._store.newest_in_instance(run.workflow_id, run.instance_id, step_id)
        return found[0].record.child if found else None

    async def _workflow(self, workflow_id: str | None, version: str) -> Workflow | None:
        """The version of a workflow that a template step names."""
        try:
            row = await find_workflow(self._store, workflow_id or "")
            _number, found = await find_version(self._store, row, version)
        except (NotFound, InvalidRequest):
            return None
        return found.workflow
