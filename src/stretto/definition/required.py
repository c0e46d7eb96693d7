"""Parameters that each start must bring: arguments of a workflow function without a default."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.model.param import ParamDefinition, ParamType
from stretto.model.workflow import WorkflowVersion

REQUIRES: Final = "requires"  # the key of a definition beside `workflow` that lists them


def required_of(extra: Mapping[str, Any]) -> Mapping[str, ParamDefinition]:
    """The required parameters with their types, from the metadata of a definition. An entry without a known
    type says nothing.
    """
    said = extra.get(REQUIRES)
    if not isinstance(said, Mapping):
        return {}
    return {name: found for name, each in said.items() if (found := _declared(each)) is not None}


def required_by(version: WorkflowVersion) -> Mapping[str, ParamDefinition]:
    """The same for a stored version."""
    return {} if version.metadata is None else required_of(version.metadata.extra)


def _declared(said: Any) -> ParamDefinition | None:
    if not isinstance(said, Mapping) or said.get("type") not in set(ParamType):
        return None
    form = said.get("format")
    return ParamDefinition(type=ParamType(said["type"]), meta={} if form is None else {"format": form})
