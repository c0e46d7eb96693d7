"""The parameters of steps against the schema of their type: what certainly does not fit is reported.

What an expression gives, and a text with `${name}` in it, is known when the step runs: its type is checked,
its value is not. Parameters that the schema does not name are the author's own, unless it is closed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from stretto.definition.fitting import CLOSED, Schema, Unknown
from stretto.definition.misfits import Misfit, Path, alternatives, in_words, misfits, param_types
from stretto.definition.rules.visits import Scene, Visit
from stretto.definition.step_types import Described, described
from stretto.model.param import ParamDefinition, Params, ParamType
from stretto.model.problem import Code, Place
from stretto.model.step import TypedStep
from stretto.model.suggest import did_you_mean
from stretto.sel.template import compile_template

TYPES: Final[Mapping[ParamType, str]] = {
    ParamType.STRING: "string",
    ParamType.LONG: "integer",
    ParamType.DOUBLE: "number",
    ParamType.BOOLEAN: "boolean",
    ParamType.STRING_MAP: "object",
    ParamType.MAP: "object",
    **{kind: "array" for kind in ParamType if kind.is_array},
}
NUMBERS: Final = frozenset({"oneOf", "anyOf", "minProperties"})  # which ask for more parameters


def check_own_params(scene: Scene) -> None:
    """Only steps whose type is known, and describes its parameters."""
    for visit in scene.visits:
        step = visit.step
        if isinstance(step, TypedStep) and step.type in scene.limits.step_types:
            found = described(scene.limits.step_types, step)
            if found.broken is not None:
                message = f"step `{step.id}` can not be run: {found.broken}"
                scene.report((visit.at, "type"), Code.UNKNOWN_VALUE, message)
            elif found.schema is not None:
                _check(scene, visit, step, found)


def _check(scene: Scene, visit: Visit, step: TypedStep, found: Described) -> None:
    given = {**found.params, **(step.params or {})}
    values = {name: value_of(param) for name, param in given.items()}
    for misfit in misfits(values, found.schema or {}):
        if step.sub_type and _is_absence(misfit):
            continue  # the job template may bring it
        _report(scene, visit, step, misfit)


def _is_absence(misfit: Misfit) -> bool:
    return misfit.keyword == "required" or (not misfit.path and misfit.keyword in NUMBERS)


def _report(scene: Scene, visit: Visit, step: TypedStep, misfit: Misfit) -> None:
    own: Params = step.params or {}
    place = (visit.at, "params")
    if not misfit.path:
        _report_whole(scene, place, step, misfit)
        return
    last = str(misfit.path[-1])
    text = f"the parameter `{_dotted(misfit.path)}` of step `{step.id}`, of type {step.type}, {misfit.text}"
    if misfit.keyword == "required":
        guess = _closest(own, [last]) if len(misfit.path) == 1 else None
        at = _place(place, own, misfit.path[:-1])
        scene.report(at, Code.MISSING_PARAM, text, guess or _example(last, misfit.schema))
    elif misfit.keyword == CLOSED:
        names = _names(misfit.schema)
        hint = did_you_mean(last, names) or f"it may be one of {', '.join(names)}"
        scene.report(_place(place, own, misfit.path), Code.UNKNOWN_FIELD, text, hint if names else None)
    else:
        scene.report(_place(place, own, misfit.path), Code.BAD_PARAM, text, _way_out(misfit))


def _report_whole(scene: Scene, place: Place, step: TypedStep, misfit: Misfit) -> None:
    """What is wrong with the parameters together: none of some is there, or too many."""
    text = f"step `{step.id}` of type {step.type} {misfit.text}"
    own: Params = step.params or {}
    sets = alternatives(misfit.schema)
    if not sets:
        scene.report(place, Code.BAD_PARAM, text)
    elif sum(all(name in own for name in each) for each in sets) > 1:
        scene.report(place, Code.CONFLICT, text, "leave all but one of them out")
    else:
        names = [name for each in sets for name in each if name not in own]
        hint = _closest(own, names) or _example(names[0], _properties(misfit.schema).get(names[0], True))
        scene.report(place, Code.MISSING_PARAM, text, hint)


def _place(at: Place, params: Params, path: Path) -> Place:
    """Where a part of a parameter stands: the members of a map are parameters, too."""
    place, inner = at, params
    for depth, key in enumerate(path):
        place = ((place, "value"), key) if depth else (place, key)
        param = inner.get(str(key))
        if param is None or param.type is not ParamType.MAP or not isinstance(param.value, dict):
            rest = path[depth + 1 :]
            return _deep((place, "value"), rest) if rest and param is not None and param.is_literal else place
        inner = param.value
    return place


def _deep(at: Place, rest: Path) -> Place:
    for key in rest:
        at = (at, key)
    return at


def _properties(schema: Schema) -> Mapping[str, Schema]:
    return {} if isinstance(schema, bool) else schema.get("properties", {})


def _names(schema: Schema) -> list[str]:
    """The members that there may be."""
    return [name for name, inner in _properties(schema).items() if inner is not False]


def _closest(own: Params, names: Iterable[str]) -> str | None:
    """A parameter of the author's own that may be meant as one of these."""
    known = set(names)
    for name in own:
        guess = None if name in known else did_you_mean(name, known)
        if guess is not None:
            return f"it has `{name}`: {guess}"
    return None


def _way_out(misfit: Misfit) -> str | None:
    if len(misfit.path) > 1:
        return None
    kinds = param_types(misfit.schema) if misfit.keyword in {"type", "oneOf", "anyOf"} else None
    return None if not kinds else f"write it with `type: {' or '.join(kinds)}`"


def _example(name: str, schema: Schema) -> str:
    kind, *_ = param_types(schema) or [ParamType.STRING]
    return f"write `{name}: {{type: {kind}, value: ...}}`; it is {in_words(schema)}"


def _dotted(path: Path) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).removeprefix(".")


# -------------------------------------------------------------------------------------------------- values
def value_of(param: ParamDefinition) -> Any:
    """A parameter as JSON, as far as it is known before it is evaluated."""
    unknown = Unknown(TYPES[param.type])
    value = param.value
    if not param.is_literal or value is None:
        return unknown
    match param.type:
        case ParamType.MAP:
            return {name: value_of(member) for name, member in value.items()}
        case ParamType.STRING:
            return unknown if _is_open(value) else value
        case ParamType.STRING_ARRAY:
            return [Unknown("string") if _is_open(each) else each for each in value]
        case ParamType.STRING_MAP:
            if any(map(_is_open, value)):
                return unknown
            return {name: Unknown("string") if _is_open(each) else each for name, each in value.items()}
        case _:
            return list(value) if param.type.is_array else value


def _is_open(text: str) -> bool:
    """Whether a text refers to something, or is written otherwise than it will be read."""
    return "$" in text and compile_template(text).render(lambda _: "") != text
