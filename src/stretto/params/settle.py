"""The end of a merge: what nobody filled is dropped or refused, and the system's marks are taken off."""

import msgspec

from stretto.model.param import InternalParamMode, ParamDefinition, Params
from stretto.params.errors import Fault, ParamError
from stretto.params.merge import Layer, is_literal_map


def settle(merged: Layer) -> Params:
    """The parameters that go into evaluation: each has a value or an expression, none an internal mode."""
    return _settled(merged, "")


def _settled(merged: Layer, path: str) -> Params:
    settled: Params = {}
    for name, param in merged.items():
        if is_literal_map(param):
            members = _settled(param.value, f"{path}{name}.")
            if members != param.value:
                param = msgspec.structs.replace(param, value=members)  # noqa: PLW2901 - the same, settled
        if not _is_dropped(param, path + name):
            settled[name] = _unmarked(param)
    return settled


def _is_dropped(param: ParamDefinition, path: str) -> bool:
    """An optional parameter goes if it is empty; any other one must not be."""
    if param.internal_mode is InternalParamMode.OPTIONAL:
        return not param.value and param.expression is None and (param.value is None or is_literal_map(param))
    if param.value is None and param.expression is None:
        message = f"Param [{path}] is a required parameter (type=[{param.type}]), and nobody gave it a value"
        raise ParamError(Fault.REQUIRED, path, message)
    return False


def _unmarked(param: ParamDefinition) -> ParamDefinition:
    if param.internal_mode is None:
        return param
    return msgspec.structs.replace(param, internal_mode=None)
