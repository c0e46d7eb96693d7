"""Parameters of other steps that are asked for by name: is there such a step, and such a parameter?"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from stretto.definition.doubts.texts import Read
from stretto.definition.rules.visits import Scene
from stretto.definition.step_types import described
from stretto.model.problem import Code
from stretto.model.step import STEP_TYPES, AnyStep, ForeachStep, SubworkflowStep, TypedStep
from stretto.model.suggest import did_you_mean
from stretto.params import STEP_DEFAULTS, TYPE_DEFAULTS
from stretto.params.functions import END_TIME, ERROR, METHODS, STATUS
from stretto.params.references import StepReference, unknown_hint

Steps = Mapping[str, AnyStep]
GET: Final = "get"
OWN: Final = (GET, "containsKey")  # functions of the language itself
OF_A_STEP: Final = frozenset({STATUS, END_TIME, ERROR})  # that it has without parameters


class Function(NamedTuple):
    """A function of `params` whose first argument is a step: how many arguments, and which kind of step."""

    arguments: int
    kind: type[AnyStep] | None = None


FUNCTIONS: Final[Mapping[str, Function]] = {
    "getFromStep": Function(2),
    "getFromForeach": Function(3, ForeachStep),
    "getFromSubworkflow": Function(3, SubworkflowStep),
}


def doubt_call(scene: Scene, read: Read, known: Collection[str], steps: Steps) -> None:
    """A call of `params` with literal names that nothing here has."""
    call = read.call
    assert call is not None  # noqa: S101 - or nobody would ask here
    first = call.arguments[0] if call.arguments else None
    function = FUNCTIONS.get(call.method)
    if call.method not in OWN and (call.method, len(call.arguments)) not in METHODS:
        message = (
            f"`{call}` is called, and `params` has no such function with {len(call.arguments)} arguments"
        )
        hint = did_you_mean(call.method, [*OWN, *(name for name, _ in METHODS if name != call.method)])
        scene.report(read.at, Code.UNKNOWN_PARAM, message, hint)
    elif first is None:
        return
    elif call.method == GET:
        if first not in known:
            message = f"`{call}` is read, and nothing here gives it a value"
            hint = did_you_mean(first, known) or unknown_hint(first, in_text=False)
            scene.report(read.at, Code.UNKNOWN_PARAM, message, hint)
    elif function is not None and function.arguments == len(call.arguments):
        _doubt_step(scene, read, first, function, steps)


def _doubt_step(scene: Scene, read: Read, step_id: str, function: Function, steps: Steps) -> None:
    """The step that a call names first, and what it asks of it."""
    call = read.call
    assert call is not None  # noqa: S101 - or nobody would ask here
    step = steps.get(step_id)
    if step is None:
        message = f"`{call}` is read, and there is no step `{step_id}`"
        scene.report(read.at, Code.UNKNOWN_PARAM, message, did_you_mean(step_id, steps))
    elif function.kind is not None and not isinstance(step, function.kind):
        wanted = str(function.kind.__struct_config__.tag)
        message = f"`{call}` is read, and step `{step_id}` is no {wanted} step"
        scene.report(read.at, Code.UNKNOWN_PARAM, message)
    elif function.kind is None:
        if (param := call.arguments[1]) is not None and param not in OF_A_STEP:
            doubt_param(scene, read, str(call), StepReference(step_id, param), steps)
    elif isinstance(step, ForeachStep) and (inner := call.arguments[1]) is not None:
        inside = {each.id: each for each in step.steps}
        if inner not in inside:
            message = f"`{call}` is read, and there is no step `{inner}` in `{step_id}`"
            scene.report(read.at, Code.UNKNOWN_PARAM, message, did_you_mean(inner, inside))
        elif (param := call.arguments[2]) is not None:
            doubt_param(scene, read, str(call), StepReference(inner, param), inside)


def doubt_param(scene: Scene, read: Read, written: str, reference: StepReference, steps: Steps) -> None:
    """A parameter that a step does not have, where all that it has are known: what the work of a step brings
    back must be declared, too.
    """
    step = steps.get(reference.step_id)
    if not isinstance(step, TypedStep) or step.sub_type:
        return
    known = _params_of(scene, step)
    if known is not None and reference.param not in known:
        message = f"`{written}` is read, and step `{step.id}` has no parameter `{reference.param}`"
        hint = did_you_mean(reference.param, [*(step.params or {})]) or (
            f"declare `{reference.param}` among the parameters of step `{step.id}`"
        )
        scene.report(read.at, Code.UNKNOWN_PARAM, message, hint)


def _params_of(scene: Scene, step: TypedStep) -> Collection[str] | None:
    """All parameters that a step may have; None if its type is not known here."""
    if step.type not in scene.limits.step_types:
        return None
    found = described(scene.limits.step_types, step)
    if found.schema is None and step.type not in STEP_TYPES:
        return None
    return frozenset(
        (
            *STEP_DEFAULTS,
            *TYPE_DEFAULTS.get(step.type, {}),
            *(step.params or {}),
            *found.params,
            *(found.schema or {}).get("properties", {}),
        )
    )
