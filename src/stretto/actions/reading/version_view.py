"""A version as surfaces show it: what was published, and how it stands in its workflow now."""

import msgspec

from stretto.actions.parts.finding import find_version, find_workflow
from stretto.model.workflow import WorkflowVersion
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow


async def version_view(store: Store, workflow_id: str, version: int | str) -> WorkflowVersion:
    """One version; `NotFound` if there is none."""
    row = await find_workflow(store, workflow_id)
    number, found = await find_version(store, row, str(version))
    return shown(found, number, row)


def shown(version: WorkflowVersion, number: int, row: WorkflowRow) -> WorkflowVersion:
    """The fields that are not the version's own."""
    active = number == row.active_version
    return msgspec.structs.replace(
        version,
        properties_snapshot=row.properties,
        is_active=active,
        activate_time=row.activate_time if active else None,
        activated_by=row.activated_by if active else None,
        is_latest=number == row.latest_version,
        is_default=number == row.default_version,
        modify_time=row.modify_time,
        internal_id=row.internal_id,
    )
