"""Versions of what a program or a person runs: made where something is new, found where it is not."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.actions.activate import activate
from stretto.actions.caller import Caller
from stretto.actions.parts.property_rules import RESET_BY_PUSH, pushed
from stretto.actions.publish import Outdated, publish
from stretto.definition import Limits
from stretto.model.properties import AT_ONCE, Properties, PropertiesSnapshot
from stretto.model.workflow import Definition, Workflow, WorkflowVersion
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow, read_workflow

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
    ask for more runs later. Nor is one that somebody has switched off since it was published, or in whose
    place somebody has chosen an older one. A workflow that nobody owns yet becomes the caller's. What an
    operator has set since the newest version came stays, unless the definition names something else (see
    `_with_operators`).
    """
    given, workflow = definition, definition.workflow
    row = await read_workflow(store, workflow.id)
    found = None if row is None else await store.version(workflow.id, row.latest_version)
    if row is not None and found is not None:
        definition = _with_operators(row, found, definition)
    if row is not None and found is not None and _is_there(row, found, definition):
        is_on = row.active_version == row.latest_version
        if triggers and not is_on and definition.is_active and not row.is_chosen(found):
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


def _with_operators(row: WorkflowRow, found: WorkflowVersion, definition: Definition) -> Definition:
    """The definition, with properties that were set after its newest version was published in the place of
    those that it leaves open: a program that starts again does not undo what an operator did meanwhile. That
    runs go on at once is what workflows in Python leave open; it yields to a strategy that somebody has set.
    """
    before, given = row.properties, definition.properties
    metadata = found.metadata
    if given is None or given.run_strategy != AT_ONCE or metadata is None:
        return definition
    if before.create_time == metadata.create_time:  # they came with that version
        return definition
    open_ones = {name: getattr(before, name) for name in RESET_BY_PUSH if getattr(before, name) is not None}
    given = msgspec.structs.replace(given, **open_ones)
    same = _values(pushed(before, given)) == _values(before)
    return msgspec.structs.replace(definition, properties=None if same else given)


def _is_there(row: WorkflowRow, found: WorkflowVersion, definition: Definition) -> bool:
    """Whether the newest version is what the definition says, and its properties stand."""
    return is_unchanged(found.workflow, row.properties, definition)


def is_unchanged(workflow: Workflow, properties: PropertiesSnapshot, definition: Definition) -> bool:
    """Whether a push of the definition would make the same workflow again, with the same properties."""
    given = definition.properties
    if workflow != definition.workflow:
        return False
    return given is None or _values(pushed(properties, given)) == _values(properties)


def _values(properties: Properties | PropertiesSnapshot) -> Mapping[str, object]:
    return {name: getattr(properties, name) for name in Properties.__struct_fields__}
