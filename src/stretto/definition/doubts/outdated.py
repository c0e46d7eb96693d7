"""Forms that still work, and that something better has taken the place of."""

from collections.abc import Collection, Mapping
from typing import Final

from stretto.definition.rules.visits import Scene, Visit
from stretto.definition.step_types import described
from stretto.model.param import ParamType
from stretto.model.problem import Code
from stretto.model.step import TypedStep

# Maestro's own: a member of a map parameter -> what to write instead.
MEMBERS: Final[Mapping[tuple[str, str], str]] = {
    ("kubernetes", "entrypoint"): "write `command` and `args`, which no shell takes apart",
}


def doubt_outdated(scene: Scene, _given: Collection[str]) -> None:
    for visit in scene.visits:
        if isinstance(visit.step, TypedStep):
            _members(scene, visit)
            _described(scene, visit, visit.step)


def _members(scene: Scene, visit: Visit) -> None:
    for (name, member), hint in MEMBERS.items():
        param = (visit.step.params or {}).get(name)
        if param is None or param.type is not ParamType.MAP or not isinstance(param.value, dict):
            continue
        if member in param.value:
            at = ((((visit.at, "params"), name), "value"), member)
            scene.report(at, Code.DEPRECATED, f"`{name}.{member}` is deprecated", hint)


def _described(scene: Scene, visit: Visit, step: TypedStep) -> None:
    """What the schema of a type says of its own parameters."""
    if step.type not in scene.limits.step_types:
        return
    known = (described(scene.limits.step_types, step).schema or {}).get("properties", {})
    for name in step.params or {}:
        schema = known.get(name)
        if isinstance(schema, Mapping) and schema.get("deprecated") is True:
            message = f"the parameter `{name}` of type {step.type} is deprecated"
            scene.report(((visit.at, "params"), name), Code.DEPRECATED, message, schema.get("description"))
