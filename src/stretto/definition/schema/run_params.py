"""JSON Schema of the parameters that a run may be started with: what a form asks for, and what it sends.

Each property is a parameter as `run_params` of a start has it: `{"type": ..., "value": ...}`, or an
expression in place of the value. `default` is what counts if nobody says anything; `x-mode` and `x-source`
say who may change it and where it comes from. What can not be changed at the start is `readOnly`.
"""

from typing import Any, Final

from stretto.definition.schema.records import Schema, SchemaMaker, any_case
from stretto.model.param import (
    VALUE_TYPES,
    InternalParamMode,
    ParamDefinition,
    ParamMode,
    Params,
    ParamSource,
)
from stretto.model.wire import encode
from stretto.params import RESERVED_NAMES, WORKFLOW_DEFAULTS, ParamLimits, Stage, merge
from stretto.params.merge import effective_mode, is_literal_map
from stretto.params.modes import AT_START

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DEFINED: Final = Stage(ParamSource.DEFINITION)
NEVER: Final[Schema] = {"readOnly": True, "not": {}}
ONE_OF: Final[Schema] = {"oneOf": [{"required": ["value"]}, {"required": ["expression"]}]}


def run_params_schema(own: Params, limits: ParamLimits) -> Schema:
    """The parameters of a workflow and, behind them, those that every run has; others may be added."""
    merged = merge(WORKFLOW_DEFAULTS, own, DEFINED)
    maker = SchemaMaker()
    others = maker.of(ParamDefinition)
    names = [*own, *(name for name in merged if name not in own)]
    return {
        "$schema": DIALECT,
        **_members(maker, {name: merged[name] for name in names}, own),
        "additionalProperties": others,
        "propertyNames": {"not": {"enum": sorted(RESERVED_NAMES)}},
        "maxProperties": limits.entries,
        "$defs": maker.definitions(),
    }


def _members(maker: SchemaMaker, params: Params, own: Params) -> Schema:
    """Parameters by name; those that somebody must give are required."""
    made: Schema = {
        "type": "object",
        "properties": {name: _param(maker, param, own.get(name)) for name, param in params.items()},
    }
    required = [
        name
        for name, param in params.items()
        if param.internal_mode is InternalParamMode.REQUIRED and _is_open(param)
    ]
    return {**made, "required": required} if required else made


def _is_open(param: ParamDefinition) -> bool:
    return param.value is None and param.expression is None


def _param(maker: SchemaMaker, param: ParamDefinition, own: ParamDefinition | None) -> Schema:
    notes = _notes(param, {} if own is None else own.meta)
    if effective_mode(param) not in AT_START:
        return {**notes, **NEVER}
    fields = {
        "type": any_case(param.type.value),
        "value": _value(maker, param, own),
        "expression": {"type": "string"},
        "validator": {"type": "string"},
        "tags": {"type": "array"},
        "mode": maker.of(ParamMode),
    }
    return {**notes, "type": "object", "properties": fields, "required": ["type"], **ONE_OF}


def _notes(param: ParamDefinition, meta: dict[str, Any]) -> Schema:
    """What a form shows beside a field. Descriptions are notes of the author, which are kept as they are."""
    notes: Schema = {
        "x-type": param.type.value,
        "x-mode": effective_mode(param).value,
        "x-source": str(param.source),
    }
    if not _is_open(param):
        notes["default"] = encode(_as_written(param))
    if param.validator is not None:
        notes["x-validator"] = param.validator
    if isinstance(meta.get("description"), str):
        notes["description"] = meta["description"]
    return notes


def _as_written(param: ParamDefinition) -> ParamDefinition:
    """What it holds, without the marks of the merge."""
    value = param.value
    if is_literal_map(param):
        value = {name: _as_written(each) for name, each in param.value.items() if not _is_open(each)}
    return ParamDefinition(type=param.type, value=value, expression=param.expression)


def _value(maker: SchemaMaker, param: ParamDefinition, own: ParamDefinition | None) -> Schema:
    """The literal: of a map with known members each of them, and others beside."""
    if is_literal_map(param):
        inner = own.value if own is not None and is_literal_map(own) else {}
        return {**_members(maker, param.value, inner), "additionalProperties": maker.of(ParamDefinition)}
    found = maker.of(VALUE_TYPES[param.type])
    choices = {} if own is None else own.meta
    return {**found, "examples": choices["choices"]} if isinstance(choices.get("choices"), list) else found
