"""JSON Schema of what an answer to a Wait step may bring along: what a form asks for, and what it sends.

Each property is a parameter as `outputs` of an answer has it: `{"type": ..., "value": ...}`. `default` is
what counts if the answer does not say otherwise.
"""

from collections.abc import Collection, Mapping

from stretto.definition.schema.records import Schema, SchemaMaker, any_case
from stretto.definition.schema.run_params import DIALECT
from stretto.model.param import VALUE_TYPES, ParamDefinition, Parameter
from stretto.model.wire import encode
from stretto.params.literals import bare_value, literal_of


def answer_schema(params: Mapping[str, Parameter], names: Collection[str]) -> Schema:
    """Of the parameters of an attempt, those with these names."""
    maker = SchemaMaker()
    made: Schema = {
        "$schema": DIALECT,
        "type": "object",
        "properties": {name: _param(maker, params[name]) for name in names},
        "additionalProperties": False,
    }
    defined = maker.definitions()
    return {**made, "$defs": defined} if defined else made


def _param(maker: SchemaMaker, param: Parameter) -> Schema:
    fields = {"type": any_case(param.type.value), "value": maker.of(VALUE_TYPES[param.type])}
    default = ParamDefinition(type=param.type, value=bare_value(literal_of(param)))
    return {
        "x-type": param.type.value,
        "default": encode(default),
        "type": "object",
        "properties": fields,
        "required": ["type", "value"],
    }
