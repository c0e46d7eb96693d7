"""The newest attempt of a step over all runs, also of one that has none yet."""

from stretto.actions.parts.finding import find_newest_run, step_in
from stretto.actions.reading.definitions import definition_of
from stretto.engine.records import AttemptKey
from stretto.model.errors import NotFound
from stretto.model.status import StepStatus
from stretto.ports.history import NewestInInstance
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store


async def newest_attempt_of(store: Store, row: RunRow, step_id: str) -> AttemptRow | None:
    """None: no run has created the step yet. `NotFound`, if the definition does not have it either."""
    key = row.key
    found = await store.attempts(NewestInInstance(key.workflow_id, key.instance_id, step_id))
    if found:
        return found[0]
    workflow = await definition_of(store, row)
    if step_in(workflow.steps, step_id) is None:
        raise NotFound(f"Cannot find step [{key.workflow_id}][{key.instance_id}][{step_id}]")
    return None


async def attempt_to_answer(store: Store, workflow_id: str, instance_id: int, step_id: str) -> AttemptKey:
    """The attempt of a step that asks in the newest run of an instance, or will: the next one, where the
    newest has ended and another follows.
    """
    run = await find_newest_run(store, workflow_id, instance_id)
    rows = await store.attempts(NewestInInstance(workflow_id, instance_id, step_id))
    if not rows or (rows[0].key.run != run.key and not run.record.status.is_terminal):
        return AttemptKey(run.key, step_id, 1)
    record = rows[0].record
    if record.status.is_terminal and record.wake_at is not None:
        return record.key._replace(number=record.key.number + 1)
    return record.key


def status_of(attempt: AttemptRow | None) -> StepStatus:
    return StepStatus.NOT_CREATED if attempt is None else attempt.record.status
