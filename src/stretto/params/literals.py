"""Results turned back into literals, so that a later run, a child or a merge can build on them.

A literal made here keeps its result: `value` and `evaluated_result` agree, and nothing is interpolated twice.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from stretto.model.param import ParamDefinition, Parameter, Params, ParamType
from stretto.params.values import is_evaluated, kind_of


def literal_of(param: Parameter) -> Parameter:
    """The parameter with its result as its literal value; the expression that made it is forgotten."""
    value = param.evaluated_result
    if param.type is ParamType.MAP:
        value = _members(value, param.value if param.is_literal else None)
    return msgspec.structs.replace(param, value=value, expression=None, meta={})


def definition_of(param: ParamDefinition) -> ParamDefinition:
    """The parameter as it was before it was evaluated."""
    fields = {name: getattr(param, name) for name in ParamDefinition.__struct_fields__}
    return ParamDefinition(**{**fields, "value": bare_value(param), "meta": {}})


def bare_value(param: ParamDefinition) -> Any:
    """The value as it is stored: the result of a MAP stands beside it, not again in each member."""
    if param.type is not ParamType.MAP or param.value is None:
        return param.value
    return {name: definition_of(member) for name, member in param.value.items()}


def results_of(members: Mapping[str, ParamDefinition]) -> dict[str, Any]:
    """The plain result of a MAP whose members all have theirs."""
    return {
        name: results_of(member.value) if member.type is ParamType.MAP else _result(member)
        for name, member in members.items()
    }


def literal_texts(param: ParamDefinition) -> dict[str, str]:
    """The entries of a literal STRING_MAP as they must be written to be interpolated (again)."""
    texts: dict[str, str] = param.value or {}
    if not is_evaluated(param):
        return texts
    return {key.replace("$", "$$"): text.replace("$", "$$") for key, text in texts.items()}


def _members(result: Mapping[str, Any], declared: Mapping[str, ParamDefinition] | None) -> Params:
    """Members of the declared types where there are some, of the values' own types elsewhere."""
    members: Params = {}
    for name, value in result.items():
        known = declared.get(name) if declared else None
        kind = kind_of(value)
        literal = tuple(value) if kind.is_array else value
        if kind is ParamType.MAP:
            inner = known.value if known is not None and known.type is kind else None
            literal = _members(value, inner)
        members[name] = Parameter(
            type=kind, value=literal, evaluated_result=value, mode=known.mode if known else None
        )
    return members


def _result(member: ParamDefinition) -> Any:
    return member.evaluated_result if isinstance(member, Parameter) else member.value
