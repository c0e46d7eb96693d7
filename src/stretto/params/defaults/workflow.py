"""Parameters that every run has without asking, already merged, so that a run starts with a copy."""

from typing import Final

from stretto.model.param import InternalParamMode, ParamDefinition, ParamMode, Params, ParamSource, ParamType
from stretto.params.defaults.native import NATIVE_DEFAULTS, NativeDefault
from stretto.params.merge import Layer, merge
from stretto.params.modes import Stage

DRY_RUN_DATE: Final = "20210101"
DRY_RUN_NAMES: Final = ("FROM_DATE", "TO_DATE")


def _definition(row: NativeDefault) -> ParamDefinition:
    if row.is_reserved:
        return ParamDefinition(
            type=row.type, expression=row.expression, internal_mode=InternalParamMode.RESERVED
        )
    return ParamDefinition(type=row.type, expression=row.expression, mode=ParamMode.MUTABLE_ON_START)


WORKFLOW_DEFAULTS: Final[Params] = merge(
    {},
    {
        **{row.name: _definition(row) for row in NATIVE_DEFAULTS},
        "job_template_version": ParamDefinition(
            type=ParamType.STRING, internal_mode=InternalParamMode.OPTIONAL
        ),
    },
    Stage(ParamSource.SYSTEM_DEFAULT),
)


def for_dry_run(definition: Layer) -> Params:
    """A definition's parameters for a validation without a run: a backfill's dates get a stand-in."""
    stand_in = ParamDefinition(type=ParamType.STRING, value=DRY_RUN_DATE)
    return {
        name: stand_in if name in DRY_RUN_NAMES and param.type is ParamType.STRING else param
        for name, param in definition.items()
    }
