"""The parameters of a step attempt as surfaces show them: also those that every step has.

The engine stores none of these. They follow from the attempt, and are made when somebody reads it.
"""

from typing import Final

import msgspec

from stretto.engine.context import default_params, is_missing
from stretto.engine.flow import Flow
from stretto.engine.records import AttemptRecord, RunRecord
from stretto.model.initiator import UpstreamFields
from stretto.model.param import RESULT, Parameter, ParamSource, ParamType
from stretto.model.status import StepStatus
from stretto.params.modes import OVERRIDES

SATISFIED: Final = "maestro_step_satisfied"  # whether an edge into the step was taken

# How an attempt ends without INITIALIZED although its incoming edges were looked at.
_LOOKED_AT: Final = (StepStatus.UNSATISFIED, StepStatus.SKIPPED, StepStatus.INTERNALLY_FAILED)


def shown_step_params(flow: Flow, record: AttemptRecord) -> dict[str, Parameter]:
    """As far as the attempt has come: whether the step may run, then the evaluated parameters."""
    params = {name: sourced(param, flow.run) for name, param in (record.params or {}).items()}
    if is_missing(flow, record):
        params[RESULT] = msgspec.structs.replace(params[RESULT], evaluated_result=None)
    if record.params is None and record.wait_permit_time is not None:  # evaluated: nothing but defaults
        params = dict(default_params(flow, record))
    if record.initialize_time is not None or record.status in _LOOKED_AT:
        params[SATISFIED] = _satisfied(record)
    return params


def sourced(param: Parameter, run: RunRecord) -> Parameter:
    """What a request gives to a step has the source that such a request has for the run of the step."""
    if param.source not in OVERRIDES:
        return param
    source = ParamSource.LAUNCH if run.policy.is_fresh else ParamSource.RESTART
    if isinstance(run.initiator, UpstreamFields):
        source = ParamSource(str(type(run.initiator).__struct_config__.tag))
    return msgspec.structs.replace(param, source=source)


def _satisfied(record: AttemptRecord) -> Parameter:
    holds = record.status is not StepStatus.UNSATISFIED
    looked = record.create_time if record.initialize_time is None else record.initialize_time
    return Parameter(type=ParamType.BOOLEAN, value=holds, evaluated_result=holds, evaluated_time=looked)
