"""The end of a merge: what nobody filled is dropped or refused, and the system's marks are taken off."""

import msgspec

from stretto.model.param import InternalParamMode, ParamDefinition, Params, ParamType
from stretto.params.errors import Fault, ParamError
from stretto.params.merge import Layer, is_literal_map


def settle(merged: Layer) -> Params:
    """The parameters that go into evaluation: each has a value or an expression, none an internal mode."""
    return _settled(merged, "")


def _settled(merged: Layer, path: str) -> Params:
    settled: Params = {}
    for name, param in merged.items():
        if param.type is ParamType.MAP and is_literal_map(param):
            param = _settled_map(param, f"{path}{name}.")  # noqa: PLW2901 - the same, settled
        if param.internal_mode is None and (param.value is not None or param.expression is not None):
            settled[name] = param
        elif not _is_dropped(param, path + name):
            settled[name] = msgspec.structs.replace(param, internal_mode=None)
    return settled


def _settled_map(param: ParamDefinition, path: str) -> ParamDefinition:
    return msgspec.structs.replace(param, value=_settled(param.value, path))


def _is_dropped(param: ParamDefinition, path: str) -> bool:
    """An optional parameter goes if it is empty; any other one must not be."""
    has_value = param.value is not None or param.expression is not None
    if param.internal_mode is InternalParamMode.OPTIONAL:
        return not has_value or (is_literal_map(param) and not param.value)
    if not has_value:
        message = f"Param [{path}] is a required parameter (type=[{param.type}]), and nobody gave it a value"
        raise ParamError(Fault.REQUIRED, path, message)
    return False
