"""The types of steps for people: where each comes from, whether it can be used, and its parameters."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from stretto.definition.misfits import in_words
from stretto.definition.rules.own_params import TYPES
from stretto.definition.step_types import BUILT_IN as ORIGIN
from stretto.definition.step_types import Described, Standing
from stretto.model.param import InternalParamMode, ParamDefinition, Params, ParamType
from stretto.model.step import LEAF_TYPES, TypedStep
from stretto.params import TYPE_DEFAULTS
from stretto.runtimes.plugin import Plugin, PluginRuntime
from stretto.runtimes.plugins import by_type, installed
from stretto.runtimes.types import BUILT_IN, OF_ENGINE, built_in_schema

NOBODY: Final = "no package that brings it is installed"
ITEMS: Final[Mapping[ParamType, str]] = {
    ParamType.STRING_ARRAY: "string",
    ParamType.LONG_ARRAY: "integer",
    ParamType.DOUBLE_ARRAY: "number",
    ParamType.BOOLEAN_ARRAY: "boolean",
}


class ParamRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A parameter of a type; that of a map inside of it has a dot in its name."""

    name: str
    type: str
    required: bool = False
    default: Any = None
    description: str = ""


class Listed(Standing, frozen=True, kw_only=True):
    """A type, with what it says of its parameters."""

    entry_point: str | None = None
    schema: Mapping[str, Any] = {}

    @property
    def params(self) -> list[ParamRow]:
        return list(param_rows(self.schema))


def listed() -> list[Listed]:
    """All of them. Everything that is installed is imported, to see whether it can be."""
    found = installed()
    runtimes = by_type(found=found)
    brought = [_brought(each, runtimes) for each in found]
    taken = {each.type.casefold() for each in found}
    ours = [Listed(type=name, origin=ORIGIN, schema=schema_of_params(_known(name))) for name in OF_ENGINE]
    ours += [Listed(type=name, origin=ORIGIN, schema=built_in_schema(name)) for name in BUILT_IN]
    here = {each.type for each in ours}
    absent = [
        Listed(type=name, origin="-", usable=False, problem=NOBODY, schema=schema_of_params(_known(name)))
        for name in LEAF_TYPES
        if name not in here and name.casefold() not in taken
    ]
    return sorted([*ours, *absent, *brought], key=lambda each: (each.type.casefold(), each.origin != ORIGIN))


def schemas() -> dict[str, Described]:
    """What can be used here, and says of its parameters."""
    found = built_in_schemas()
    for name, runtime in by_type().items():
        told = runtime.describe(TypedStep(id="any", type=name))
        if told.broken is None and told.schema is not None:
            found[name] = told
    return found


def built_in_schemas() -> dict[str, Described]:
    """What the types with a runtime of ours say of their parameters."""
    return {name: Described(schema=built_in_schema(name)) for name in BUILT_IN}


def _brought(plugin: Plugin, runtimes: Mapping[str, PluginRuntime]) -> Listed:
    origin = f"{plugin.package} {plugin.version}".rstrip()
    problem, schema = plugin.refused, dict[str, Any]()
    if problem is None:
        told = runtimes[plugin.type].describe(TypedStep(id="any", type=plugin.type))
        problem = told.broken
        schema = _joined(schema_of_params({**_known(plugin.type), **told.params}), told.schema or {})
    return Listed(
        type=plugin.type,
        origin=origin,
        entry_point=plugin.value,
        usable=problem is None,
        problem=problem,
        schema=schema,
    )


def _known(name: str) -> Params:
    """What the product itself knows of the parameters of a type."""
    return TYPE_DEFAULTS.get(name, {})


def _joined(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with the properties of both; what a plugin says of one counts."""
    properties = {**ours.get("properties", {}), **theirs.get("properties", {})}
    return {**ours, **theirs, **({"properties": properties} if properties else {})}


# ---------------------------------------------------------------------------------------------- parameters
def schema_of_params(params: Params) -> dict[str, Any]:
    """The schema of parameters that a type has by default; nothing of those that nobody may give."""
    shown = {
        name: each for name, each in params.items() if each.internal_mode is not InternalParamMode.RESERVED
    }
    if not shown:
        return {}
    properties = {name: _schema_of_param(each) for name, each in shown.items()}
    required = [name for name, each in shown.items() if each.internal_mode is InternalParamMode.REQUIRED]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _schema_of_param(param: ParamDefinition) -> dict[str, Any]:
    if param.type is ParamType.MAP:
        return schema_of_params(param.value or {}) or {"type": "object"}
    found: dict[str, Any] = {"type": TYPES[param.type]}
    if param.type.is_array:
        found["items"] = {"type": ITEMS[param.type]}
    if param.is_literal and param.value is not None:
        found["default"] = list(param.value) if param.type.is_array else param.value
    return found


def param_rows(schema: Mapping[str, Any], around: str = "") -> Iterator[ParamRow]:
    """The parameters that a schema names, each before those inside of it."""
    for name, each in schema.get("properties", {}).items():
        if each is False:  # it must not be there
            continue
        told = each if isinstance(each, Mapping) else {}
        yield ParamRow(
            name=around + name,
            type=in_words(each),
            required=name in schema.get("required", ()),
            default=told.get("default"),
            description=told.get("description", ""),
        )
        yield from param_rows(told, f"{around}{name}.")
