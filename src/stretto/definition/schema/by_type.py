"""What the schema of definitions says of the parameters of a step, by the step's type."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.definition.fitting import Schema
from stretto.definition.misfits import is_names, param_types
from stretto.definition.schema.records import any_case
from stretto.definition.step_types import Described
from stretto.model.param import ParamType

Made = dict[str, Any]

NOTES: Final = ("default", "examples")


def of_types(types: Mapping[str, Described]) -> list[Made]:
    """One condition for each type, and one more for what a step needs: a job template may bring that."""
    found: list[Made] = []
    for name, told in types.items():
        schema = told.schema or {}
        is_it = {"properties": {"type": any_case(name)}, "required": ["type"]}
        params = {each: _param(inner) for each, inner in schema.get("properties", {}).items()}
        found.append({"if": is_it, "then": {"properties": {"params": {"properties": params}}}})
        needs = _needs(schema, told)
        if needs:
            alone = {**is_it, "not": {"required": ["sub_type"]}}
            found.append({"if": alone, "then": {"properties": {"params": needs}, "required": ["params"]}})
    return found


def _needs(schema: Mapping[str, Any], told: Described) -> Made:
    """The names that must be there, as far as the type does not bring them along."""
    found: Made = {}
    required = [name for name in schema.get("required", ()) if name not in told.params]
    if required:
        found["required"] = required
    for keyword in ("oneOf", "anyOf"):
        sets = schema.get(keyword, ())
        if sets and not told.params and all(map(is_names, sets)):
            found[keyword] = list(sets)
    return found


def _param(schema: Schema) -> Made:
    """The parameter around a value. An expression may stand in its place, so little is said of the value."""
    notes = dict(schema) if isinstance(schema, Mapping) else {}
    value = {name: notes[name] for name in NOTES if name in notes}
    if "enum" in notes:
        value["examples"] = notes["enum"]
    inner: Made = {"value": value} if value else {}
    kinds = param_types(schema)
    if kinds:
        inner = {"type": any_case(*_read_as(kinds)), **inner}
    text = {"description": notes["description"]} if "description" in notes else {}
    return {**text, "properties": inner} if inner else text


def _read_as(kinds: list[ParamType]) -> list[ParamType]:
    """All types whose values may fit: 5.0 is a whole number, and an empty list is one of anything."""
    found = [*kinds]
    if ParamType.LONG in kinds:
        found.append(ParamType.DOUBLE)
    if any(each.is_array for each in kinds):
        found += [each for each in ParamType if each.is_array]
    return list(dict.fromkeys(found))
