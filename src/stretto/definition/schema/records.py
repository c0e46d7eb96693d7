"""Annotations -> JSON Schema."""

from decimal import Decimal
from enum import Enum
from typing import Any, Final, get_args, get_type_hints

import msgspec

from stretto.model.condition import Condition
from stretto.model.param import VALUE_TYPES, ParamDefinition, ParamType
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.shapes import (
    EnumShape,
    ListShape,
    MapShape,
    MarkedShape,
    RecordShape,
    UnionShape,
    fields_of,
    shape_of,
    without_none,
)
from stretto.model.step import LEAF_TYPES, ForeachStep, StepFields, StepTypeName, SubworkflowStep, WhileStep
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.wire.codec import PLAIN, Shape
from stretto.model.wire.scalars import Real, Whole
from stretto.model.workflow import Workflow

Schema = dict[str, Any]

SCALARS: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    Decimal: {"type": ["number", "string"]},
    Whole: {"type": "integer"},
    Real: {"type": ["number", "string"]},
    Any: {},
}
STEP_IDS: Final[Schema] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


class SchemaMaker:
    """Collects one definition per record; `of` gives a reference to it."""

    def __init__(self) -> None:
        self._made: dict[str, Schema] = {}

    def definitions(self) -> dict[str, Schema]:
        return dict(sorted(self._made.items()))

    def of(self, tp: Any) -> Schema:
        if tp in SCALARS:
            return SCALARS[tp]
        if tp == Condition:
            return self._named("Condition", self._condition)
        if tp == StepTypeName:
            return {"type": "string", "examples": list(LEAF_TYPES)}
        if tp is ParamDefinition:
            return self._named("Param", self._param)
        match shape_of(tp):
            case EnumShape(type=words):
                return self._named(words.__name__, lambda: _words(words))
            case RecordShape(type=record):
                return self._named(record.__name__, lambda: self._record(record))
            case MarkedShape(type=union):  # steps; the codecs of other marked types are handled above
                return {"oneOf": [self._wrapped(member) for member in get_args(union)]}
            case ListShape(item=item):
                return {"type": "array", "items": self.of(item)}
            case MapShape(value=value):
                return {"type": "object", "additionalProperties": self.of(value)}
            case UnionShape(members=members):
                return {"anyOf": [self.of(member) for member in members]}
            case _:
                message = f"no schema for {tp!r}"
                raise TypeError(message)

    def _named(self, name: str, make: Any) -> Schema:
        if name not in self._made:
            self._made[name] = {}  # a record that holds itself finds this entry
            self._made[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def _wrapped(self, tp: Any) -> Schema:
        return wrapper(str(tp.__struct_config__.tag), self.of(tp))

    def _record(self, tp: type[msgspec.Struct]) -> Schema:
        shape: Shape = getattr(tp, "wire", PLAIN)
        fields = [field for field in fields_of(RecordShape(tp)) if field.name != shape.rest]
        properties = {
            field.key: _nullable(self.of(without_none(field.type)), required=field.required)
            for field in fields
        }
        config = tp.__struct_config__
        required = [field.key for field in fields if field.required]
        if config.tag_field and not issubclass(tp, StepFields):
            properties = {config.tag_field: any_case(str(config.tag)), **properties}
            required = [config.tag_field, *required]
        properties.update(self._sugar(tp))
        schema: Schema = {"type": "object", "properties": properties}
        if tp.__doc__:
            schema["description"] = " ".join(tp.__doc__.split())
        if required:
            schema["required"] = required
        if shape.rest is None:
            schema["additionalProperties"] = False
        return _with_short_forms(tp, schema)

    def _sugar(self, tp: type[msgspec.Struct]) -> dict[str, Schema]:
        """Keys that are compiled away before a definition is decoded."""
        sugar: dict[str, Schema] = {}
        if issubclass(tp, StepFields):
            sugar |= {"on_success": STEP_IDS, "on_failure": STEP_IDS}
        if issubclass(tp, ForeachStep | WhileStep):
            sugar["loop_params"] = {"type": "object", "additionalProperties": self.of(ParamDefinition)}
        if issubclass(tp, ForeachStep | WhileStep | Workflow):
            sugar["stages"] = self._stages(get_type_hints(tp, include_extras=True)["steps"])
        if issubclass(tp, SubworkflowStep):
            name: Schema = {"type": ["string", "integer"]}
            sugar |= dict.fromkeys(("workflow_id", "subworkflow_id", "version", "subworkflow_version"), name)
        return {key: _nullable(schema, required=False) for key, schema in sugar.items()}

    def _stages(self, steps: Any) -> Schema:
        text = SCALARS[str]
        return {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{key: _nullable(text, required=False) for key in ("id", "name", "description")},
                    "steps": _nullable(self.of(steps), required=False),
                },
                "additionalProperties": False,
            },
        }

    def _condition(self) -> Schema:
        parts = {"expression": {"type": ["string", "boolean"]}, "type": SCALARS[Any]}
        as_object = {
            "type": "object",
            "properties": parts,
            "required": ["expression"],
            "additionalProperties": False,
        }
        return {"anyOf": [SCALARS[str], SCALARS[bool], as_object]}

    def _param(self) -> Schema:
        """One branch per type, because the shape of `value` hangs on it; free keys are kept as meta data."""
        hints = get_type_hints(ParamDefinition, include_extras=True)
        common = {
            name: _nullable(self.of(without_none(hints[name])), required=False)
            for name in ("expression", "validator", "tags", "mode")
        }
        literal = [
            {
                "properties": {
                    "type": any_case(kind.value),
                    "value": _nullable(self.of(VALUE_TYPES[kind]), required=False),
                }
            }
            for kind in ParamType
        ]
        return {
            "description": " ".join(str(ParamDefinition.__doc__).split()),
            "type": "object",
            "properties": {"type": _words(ParamType), **common},
            "required": ["type"],
            "anyOf": literal,
        }


def _nullable(schema: Schema, *, required: bool) -> Schema:
    """Null means that the field is not there."""
    return schema if required or not schema else {"anyOf": [schema, {"type": "null"}]}


def spellings(*words: str) -> str:
    """A pattern for words in any case; the `@` of a schedule may be left out."""
    made = (
        "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else ("@?" if c == "@" else c) for c in word)
        for word in words
    )
    return f"^({'|'.join(made)})$"


def any_case(*words: str) -> Schema:
    """The words as they are written, for completion; and a pattern for other spellings that are read."""
    return {"anyOf": [{"enum": list(words)}, {"type": "string", "pattern": spellings(*words)}]}


def wrapper(kind: str, body: Schema) -> Schema:
    """`{kind: body}`, the kind in any case."""
    return {
        "type": "object",
        "properties": {kind: body},
        "patternProperties": {spellings(kind): body},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _words(tp: type[Enum]) -> Schema:
    words = [str(member.value) for member in tp]
    return any_case(*words) if any(char.isalpha() for char in words[0]) else {"enum": words}


def _with_short_forms(tp: type[msgspec.Struct], schema: Schema) -> Schema:
    short: dict[Any, list[Schema]] = {
        Tag: [SCALARS[str]],
        User: [SCALARS[str]],
        RunStrategy: [_words(RunStrategyRule), SCALARS[int]],
    }
    return {"anyOf": [schema, *short[tp]]} if tp in short else schema
