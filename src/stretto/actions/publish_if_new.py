"""Versions of what a program or a person runs: made where something is new, found where it is not."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.actions.activate import activate
from stretto.actions.caller import Caller
from stretto.actions.parts.property_rules import pushed
from stretto.actions.publish import Outdated, publish
from stretto.definition import Limits
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.workflow import Definition
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow

DEFAULT_LIMITS: Final = Limits()


async def publish_if_new(
    store: Store,
    caller: Caller,
    definition: Definition,
    *,
    triggers: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    hints: Hints = SILENT,
) -> int:
    """The number of the version that has this content: the newest one, or a new one. Of several that do this
    at the same time one makes it, and the others find it.

    A version with triggers is switched on only if `triggers` says so: whoever runs a workflow once did not
    ask for more runs later. A workflow that nobody owns yet becomes the caller's.
    """
    given, workflow = definition, definition.workflow
    row = await store.workflow(workflow.id)
    if row is not None and await _is_there(store, row, definition):
        if triggers and row.active_version != row.latest_version:
            await activate(store, caller, workflow.id, str(row.latest_version), hints=hints)
        return row.latest_version
    if row is None and (definition.properties is None or definition.properties.owner is None):
        owned = msgspec.structs.replace(definition.properties or Properties(), owner=caller.user)
        definition = msgspec.structs.replace(definition, properties=owned)
    if not triggers and (workflow.time_triggers or workflow.signal_triggers):
        definition = msgspec.structs.replace(definition, is_active=False)
    latest = 0 if row is None else row.latest_version
    try:
        made = await publish(store, caller, definition, limits=limits, hints=hints, if_latest=latest)
    except Outdated:
        return await publish_if_new(store, caller, given, triggers=triggers, limits=limits, hints=hints)
    metadata = made.workflow_definition.metadata
    assert metadata is not None  # noqa: S101 - what was published has some
    assert metadata.workflow_version_id is not None  # noqa: S101 - and a number
    return metadata.workflow_version_id


async def _is_there(store: Store, row: WorkflowRow, definition: Definition) -> bool:
    """Whether the newest version is what the definition says, and its properties stand."""
    found = await store.version(row.workflow_id, row.latest_version)
    if found is None or found.workflow != definition.workflow:
        return False
    given = definition.properties
    return given is None or _values(pushed(row.properties, given)) == _values(row.properties)


def _values(properties: Properties | PropertiesSnapshot) -> Mapping[str, object]:
    return {name: getattr(properties, name) for name in Properties.__struct_fields__}
