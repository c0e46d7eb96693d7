"""Step kinds and types: that they exist, and that what they can not do without is there."""

from typing import Final

from stretto.definition.rules.visits import WORKFLOW, Scene, Visit
from stretto.definition.step_types import described
from stretto.model.param import Params, ParamType
from stretto.model.problem import Code
from stretto.model.step import LEAF_TYPES, NESTING_TYPES, SubworkflowStep, TypedStep
from stretto.model.suggest import did_you_mean

# What each type needs: a parameter, or a member of a map parameter.
REQUIRED: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "Http": (("http", "url"),),
    "Kubernetes": (("kubernetes", "image"),),
    "Notebook": (("kubernetes", "image"), ("notebook", "input_path")),
}


def check_kinds(scene: Scene) -> None:
    for visit in scene.visits:
        step = visit.step
        if isinstance(step, TypedStep):
            _type(scene, visit, step)
        elif isinstance(step, SubworkflowStep) and "subworkflow_id" not in (step.params or {}):
            message = f"the subworkflow step `{step.id}` does not say which workflow to run"
            scene.report(visit.at, Code.MISSING_PARAM, message, "give it the param `subworkflow_id`")


def _type(scene: Scene, visit: Visit, step: TypedStep) -> None:
    place = (visit.at, "type")
    if step.type in NESTING_TYPES:
        message = f"`{step.type}` is a kind of step of its own, not a type"
        scene.report(
            place, Code.UNKNOWN_VALUE, message, f'write {{"{step.type}": {{...}}}} instead of `step`'
        )
    elif step.type not in scene.limits.step_types:
        known = sorted(set(scene.limits.step_types) - set(NESTING_TYPES))
        hint = did_you_mean(step.type, known) or f"such as {', '.join(LEAF_TYPES)}"
        scene.report(place, Code.UNKNOWN_VALUE, f"`{step.type}` is not a step type", hint)
    elif (
        step.type in REQUIRED
        and not visit.loops
        and not scene.knows_template(step)
        and described(scene.limits.step_types, step).schema is None  # which says it better: `own_params`
    ):
        _required(scene, visit, step)


def _required(scene: Scene, visit: Visit, step: TypedStep) -> None:
    """Only steps of the workflow itself, as Maestro's dry run does; a known job template brings the rest."""
    hint = (
        f"or is it in the job template `{step.sub_type}`? That one is not known here"
        if step.sub_type
        else None
    )
    for path in REQUIRED[step.type]:
        if not _has(step.params, path):
            message = f"a step of type {step.type} needs the parameter `{'.'.join(path)}`"
            scene.report((visit.at, "params"), Code.MISSING_PARAM, message, hint)


def _has(params: Params | None, path: tuple[str, ...]) -> bool:
    name, *rest = path
    param = (params or {}).get(name)
    if param is None:
        return False
    if not rest or param.type is not ParamType.MAP or not isinstance(param.value, dict):
        return True  # an expression is only known at run time
    return _has(param.value, tuple(rest))


def check_owner(scene: Scene) -> None:
    """The first version of a workflow says whose it is; later ones keep that."""
    properties = scene.definition.properties
    if properties is None or properties.owner is None or not properties.owner.name:
        message = (
            "workflow properties and also owner must be set when creating the first version of a workflow"
        )
        at = (None, "properties") if properties is not None else WORKFLOW
        scene.report(at, Code.MISSING_OWNER, message, "add `properties.owner`")
