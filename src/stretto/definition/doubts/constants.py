"""Conditions that never change their mind, and steps that no run can come to."""

from collections.abc import Collection, Iterator
from typing import Final

from stretto.definition.graph import Graph
from stretto.definition.rules.visits import Level, Scene, Visit
from stretto.model.problem import Code
from stretto.model.step import WhileStep
from stretto.sel import Budget, Environment, SelError, Value, compile_expression, sanitize

ALWAYS: Final = "true"  # what an edge says that has no condition
VISITS: Final = 100_000  # of all conditions of a definition together: a few milliseconds
MEMORY: Final = 8_000_000


def doubt_constants(scene: Scene, _given: Collection[str]) -> None:
    constants = _Constants()
    for level in scene.levels:
        closed = set(_edges(scene, level, constants))
        for visit in level.visits:
            if isinstance(visit.step, WhileStep):
                _loop(scene, visit, visit.step, constants)
        if closed:
            _unreached(scene, level, closed)


def _edges(scene: Scene, level: Level, constants: "_Constants") -> Iterator[tuple[str, str]]:
    """The edges that are never taken."""
    for visit in level.visits:
        place = ((visit.at, "transition"), "successors")
        for target, condition in visit.step.transition.successors.items():
            if condition == ALWAYS:
                continue
            found = constants.value_of(condition)
            if found is True:
                message = f"the condition `{condition}` is always true"
                scene.report((place, target), Code.CONSTANT_CONDITION, message, f"write `{ALWAYS}`")
            elif found is False:
                message = f"the condition `{condition}` is never true, so this edge is never taken"
                scene.report((place, target), Code.CONSTANT_CONDITION, message, "leave the edge out")
                yield visit.step.id, target


def _loop(scene: Scene, visit: Visit, step: WhileStep, constants: "_Constants") -> None:
    found, at = constants.value_of(step.condition), (visit.at, "condition")
    if found is True and step.max_iterations is None:
        message = f"the condition `{step.condition}` is always true: the loop ends only when a step fails"
        scene.report(at, Code.CONSTANT_CONDITION, message, "read a param in it, or give `max_iterations`")
    elif found is False:
        message = f"the condition `{step.condition}` is never true: the loop does nothing"
        scene.report(at, Code.CONSTANT_CONDITION, message, "read a param in it")


class _Constants:
    """Evaluates the conditions of a definition, all within one small budget."""

    def __init__(self) -> None:
        self._environment = Environment(budget=Budget(visits=VISITS, memory=MEMORY))

    def value_of(self, condition: str) -> Value | None:
        """What a condition gives whoever asks; None if it reads a name, makes an object, takes long or can
        not be evaluated without a run.
        """
        if "new" in condition:
            return None
        try:
            expression = compile_expression(sanitize(condition))
            return None if expression.names.symbols else expression.evaluate(environment=self._environment)
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
