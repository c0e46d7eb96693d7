"""Loops: what they loop over, and that no name is used twice along a path."""

from typing import Final

from stretto.definition.rules.visits import Scene, Visit, loop_params
from stretto.model.param import ParamType
from stretto.model.problem import Code
from stretto.model.step import FailureMode, ForeachStep, WhileStep

SCALARS: Final = frozenset({ParamType.STRING, ParamType.LONG, ParamType.DOUBLE, ParamType.BOOLEAN})


def check_loops(scene: Scene) -> None:
    for visit in scene.visits:
        if isinstance(visit.step, ForeachStep | WhileStep):
            _loop(scene, visit, visit.step)


def _loop(scene: Scene, visit: Visit, step: ForeachStep | WhileStep) -> None:
    if isinstance(step, ForeachStep) and step.continue_on_failure:
        _continues(scene, visit, step)
    place = ((visit.at, "params"), "loop_params")
    given = (step.params or {}).get("loop_params")
    if given is None:
        # A while loop may live on its condition alone; a foreach without values would do nothing.
        if isinstance(step, ForeachStep):
            message = f"the foreach `{step.id}` has nothing to loop over"
            scene.report(visit.at, Code.MISSING_PARAM, message, "give it the param `loop_params`")
        return
    param = loop_params(step)
    if param is None:
        scene.report(place, Code.BAD_PARAM, "`loop_params` must be a literal MAP of parameters")
        return
    if isinstance(step, ForeachStep) and not param.value:
        scene.report(place, Code.EMPTY, f"the foreach `{step.id}` has nothing to loop over")
    outer = {name for loop in visit.loops if (found := loop_params(loop)) for name in found.value}
    for name, each in param.value.items():
        at = ((place, "value"), name)
        if name in outer:
            message = f"the loop parameter `{name}` is used by a loop around this one too"
            scene.report(at, Code.DUPLICATE_LOOP_PARAM, message, "choose another name")
        if isinstance(step, ForeachStep) and not each.type.is_array:
            scene.report(at, Code.BAD_PARAM, f"a foreach loops over arrays, `{name}` is {each.type}")
        if isinstance(step, WhileStep) and each.type not in SCALARS:
            scene.report(at, Code.BAD_PARAM, f"a while loop carries single values, `{name}` is {each.type}")


def _continues(scene: Scene, visit: Visit, step: ForeachStep) -> None:
    if step.failure_mode is FailureMode.FAIL_IMMEDIATELY:
        message = "`continue_on_failure` runs all iterations, and FAIL_IMMEDIATELY stops them"
        scene.report((visit.at, "continue_on_failure"), Code.CONFLICT, message, "keep one of the two")
