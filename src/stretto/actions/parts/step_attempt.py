"""The newest attempt of a step over all runs, also of one that has none yet."""

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.definitions import definition_of
from stretto.model.errors import NotFound
from stretto.model.status import StepStatus
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store


async def newest_attempt_of(store: Store, row: RunRow, step_id: str) -> AttemptRow | None:
    """None: no run has created the step yet. `NotFound`, if the definition does not have it either."""
    key = row.key
    found = await store.newest_in_instance(key.workflow_id, key.instance_id, step_id)
    if found:
        return found[0]
    workflow = await definition_of(store, row)
    if step_in(workflow.steps, step_id) is None:
        raise NotFound(f"Cannot find step [{key.workflow_id}][{key.instance_id}][{step_id}]")
    return None


def status_of(attempt: AttemptRow | None) -> StepStatus:
    return StepStatus.NOT_CREATED if attempt is None else attempt.record.status
