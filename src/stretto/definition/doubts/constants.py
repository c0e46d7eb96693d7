"""Conditions that never change their mind, and steps that no run can come to."""

from collections.abc import Collection, Iterator

from stretto.definition.graph import Graph
from stretto.definition.rules.visits import Level, Scene, Visit
from stretto.model.problem import Code
from stretto.model.step import WhileStep
from stretto.sel import SelError, Value, compile_expression, sanitize

ALWAYS = "true"  # what an edge says that has no condition


def doubt_constants(scene: Scene, _given: Collection[str]) -> None:
    for level in scene.levels:
        closed = set(_edges(scene, level))
        for visit in level.visits:
            if isinstance(visit.step, WhileStep):
                _loop(scene, visit, visit.step)
        if closed:
            _unreached(scene, level, closed)


def _edges(scene: Scene, level: Level) -> Iterator[tuple[str, str]]:
    """The edges that are never taken."""
    for visit in level.visits:
        place = ((visit.at, "transition"), "successors")
        for target, condition in visit.step.transition.successors.items():
            if condition == ALWAYS:
                continue
            found = _constant(condition)
            if found is True:
                message = f"the condition `{condition}` is always true"
                scene.report((place, target), Code.CONSTANT_CONDITION, message, f"write `{ALWAYS}`")
            elif found is False:
                message = f"the condition `{condition}` is never true, so this edge is never taken"
                scene.report((place, target), Code.CONSTANT_CONDITION, message, "leave the edge out")
                yield visit.step.id, target


def _loop(scene: Scene, visit: Visit, step: WhileStep) -> None:
    found, at = _constant(step.condition), (visit.at, "condition")
    if found is True and step.max_iterations is None:
        message = f"the condition `{step.condition}` is always true: the loop ends only when a step fails"
        scene.report(at, Code.CONSTANT_CONDITION, message, "read a param in it, or give `max_iterations`")
    elif found is False:
        message = f"the condition `{step.condition}` is never true: the loop does nothing"
        scene.report(at, Code.CONSTANT_CONDITION, message, "read a param in it")


def _constant(condition: str) -> Value | None:
    """What a condition gives whoever asks; None if it reads a name, makes an object or can not be evaluated
    without a run.
    """
    if "new" in condition:
        return None
    try:
        expression = compile_expression(sanitize(condition))
        return None if expression.names.symbols else expression.evaluate()
    except SelError:
        return None


def _unreached(scene: Scene, level: Level, closed: Collection[tuple[str, str]]) -> None:
    """Sources are reached; behind them, what an open edge leads to."""
    edges = {
        step.id: [target for target in step.transition.successors if (step.id, target) not in closed]
        for step in level.steps
    }
    reached = Graph(edges).reachable(Graph.of(level.steps).sources)
    for visit in level.visits:
        if visit.step.id not in reached:
            message = f"the step `{visit.step.id}` is never reached: no edge to it can be taken"
            scene.report((visit.at, "id"), Code.NEVER_REACHED, message)
