"""What a workflow function says of itself in the metadata of its definition: the parameters that each start
must bring, which are its arguments without a default, and where the value is that it returns.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from stretto.model.param import ParamDefinition, ParamType
from stretto.model.workflow import WorkflowVersion

REQUIRES: Final = "requires"  # keys of a definition beside `workflow`
RETURNS: Final = "returns"


class ResultPlace(NamedTuple):
    """The step whose parameter is the result of the workflow."""

    step: str
    param: str


def result_place_of(extra: Mapping[str, Any]) -> ResultPlace | None:
    """Where the result of the workflow is; None: it has none."""
    said = extra.get(RETURNS)
    if not isinstance(said, Mapping) or not {"step", "param"} <= said.keys():
        return None
    return ResultPlace(str(said["step"]), str(said["param"]))


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
