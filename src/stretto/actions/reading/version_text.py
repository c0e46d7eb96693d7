"""A version as a text to read, to edit and to push again, and as a form to start it with."""

from typing import Any

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.offload import offload, size_of
from stretto.actions.reading.workflows import get_version
from stretto.definition import to_json, to_yaml
from stretto.definition.reading.read import Format
from stretto.definition.schema.run_params import run_params_schema
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.workflow import Definition, Metadata, WorkflowVersion
from stretto.params import ParamLimits
from stretto.ports.store import Store


async def get_source(
    store: Store, caller: Caller, workflow_id: str, version: str, form: Format, *, properties: bool = False
) -> str:
    """The definition of a version, printed: the text that was pushed is not kept. The properties belong to
    the workflow and not to a version, so that they are there only if asked for, as they stand now.
    """
    found = await get_version(store, caller, workflow_id, version)
    definition = definition_in(found)
    if properties and found.properties_snapshot is not None:
        definition = msgspec.structs.replace(definition, properties=plain(found.properties_snapshot))
    return await offload(size_of(definition), text_of, definition, form)


async def get_form(
    store: Store, caller: Caller, workflow_id: str, version: str, limits: ParamLimits
) -> dict[str, Any]:
    """JSON Schema of the `run_params` of a start."""
    found = await get_version(store, caller, workflow_id, version)
    schema = run_params_schema(found.workflow.params or {}, limits)
    metadata = found.metadata or Metadata()
    return {"title": f"Parameters of [{workflow_id}][{metadata.workflow_version_id}]", **schema}


def definition_in(version: WorkflowVersion) -> Definition:
    """What a push of the version would say, without properties."""
    metadata = version.metadata or Metadata()
    return Definition(workflow=version.workflow, git_info=metadata.git_info, extra=metadata.extra)


def plain(snapshot: PropertiesSnapshot) -> Properties:
    """The properties alone, without who set them and when."""
    return Properties(**{name: getattr(snapshot, name) for name in Properties.__struct_fields__})


def text_of(definition: Definition, form: Format) -> str:
    return to_yaml(definition) if form is Format.YAML else to_json(definition)
