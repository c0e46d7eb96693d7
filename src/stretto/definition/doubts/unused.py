"""What the workflow declares and nothing uses: parameters, and limits of its tags."""

from collections.abc import Collection
from typing import Final

from stretto.definition.doubts.texts import words_of
from stretto.definition.rules.visits import WORKFLOW, Scene
from stretto.model.problem import Code
from stretto.model.step import AnyStep, SubworkflowStep, TemplateStep
from stretto.params.defaults import WORKFLOW_DEFAULTS
from stretto.params.references import ALL_PARAMS

HINT: Final = "leave it out, unless somebody reads it from outside"
LIMIT_HINT: Final = "put the tag on the steps that need a permit, or set `instance_step_concurrency`"


def doubt_unused(scene: Scene, given: Collection[str]) -> None:
    """Those of steps are what their runtimes read. Somebody outside may want what a run ends with, so that
    only a name that is nowhere but in its own declaration is doubted, and only where steps read another one.
    """
    params = scene.workflow.params or {}
    words = words_of(scene.definition)
    if words_of(scene.workflow.steps).isdisjoint(params):
        return
    if ALL_PARAMS.name in words or any(passes_on(visit.step) for visit in scene.visits):
        return
    for name in params:
        if name not in words and name not in given and name not in WORKFLOW_DEFAULTS:
            message = f"the parameter `{name}` is never read"
            scene.report(((WORKFLOW, "params"), name), Code.UNUSED_PARAM, message, HINT)


def doubt_unused_limits(scene: Scene, _given: Collection[str]) -> None:
    """Steps take permits for their own tags only, so a limit on a tag of the workflow limits nothing."""
    for index, tag in enumerate(scene.workflow.tags or ()):
        if tag.permit is not None:
            message = f"the limit of the workflow's tag `{tag.name}` limits no step"
            scene.report((((WORKFLOW, "tags"), index), "permit"), Code.UNUSED_LIMIT, message, LIMIT_HINT)


def passes_on(step: AnyStep) -> bool:
    """A child gets every parameter, unless the step says which; and who knows what a template reads?"""
    if isinstance(step, SubworkflowStep):
        return not step.explicit_params
    return isinstance(step, TemplateStep) or bool(getattr(step, "sub_type", None))
