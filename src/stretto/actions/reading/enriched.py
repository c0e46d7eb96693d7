"""A version with what it does not say itself: defaults, templates, and when it fires next."""

import msgspec

from stretto.actions.parts.dry_run import merged_steps
from stretto.actions.parts.trigger_rows import trigger_id
from stretto.model.workflow import EnrichedExtras, WorkflowVersion
from stretto.params import workflow_params
from stretto.ports.store import Store


async def enriched(store: Store, version: WorkflowVersion) -> WorkflowVersion:
    """The version with merged parameters; its triggers have a next fire only while they are in force."""
    workflow = version.workflow
    rows, _signals = await store.triggers_of(workflow.id)
    due = {row.trigger_id: row.next_fire_at for row in rows}
    fires = tuple(due.get(trigger_id(workflow.id, each)) for each in workflow.time_triggers or ())
    extras = EnrichedExtras(
        workflow_params=workflow_params(workflow.params or {}),
        step_params=await merged_steps(store, workflow, {}),
        next_execution_time=min((each for each in fires if each is not None), default=None),
        next_execution_times=fires or None,
    )
    return msgspec.structs.replace(version, enriched_extras=extras)
