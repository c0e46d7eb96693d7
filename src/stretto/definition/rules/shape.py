"""The shape of the graph at every level: ids, edges, cycles, and how many steps there are."""

from collections.abc import Collection
from typing import Final

from stretto.definition.graph import Graph
from stretto.definition.rules.visits import WORKFLOW, Level, Scene, Visit
from stretto.model.problem import Code
from stretto.model.step import ForeachStep, WhileStep
from stretto.model.suggest import did_you_mean

MOST_HINTS: Final = 50


def check_shape(scene: Scene) -> None:
    _count(scene)
    _unique_ids(scene)
    for level in scene.levels:
        known = dict.fromkeys(step.id for step in level.steps)
        for visit in level.visits:
            _successors(scene, visit, known)
        graph = Graph.of(level.steps)
        _predecessors(scene, level, graph)
        _cycles(scene, level, graph)


def _count(scene: Scene) -> None:
    total = len(scene.visits)
    if total > scene.limits.steps:
        message = f"{total:,} steps, the limit is {scene.limits.steps:,}"
        scene.report((WORKFLOW, "steps"), Code.TOO_MANY_STEPS, message, "move some into a subworkflow")
    if not total and not scene.limits.empty_workflow:
        scene.report((WORKFLOW, "steps"), Code.EMPTY, "the workflow has no steps")
    for visit in scene.visits:
        if isinstance(visit.step, ForeachStep | WhileStep) and not visit.step.steps:
            scene.report((visit.at, "steps"), Code.EMPTY, "the loop has no steps")


def _unique_ids(scene: Scene) -> None:
    """Over all levels: a reference names a step without saying which loop it is in."""
    for visit in scene.visits:
        step_id = visit.step.id
        if step_id and step_id in scene.ids:
            scene.report((visit.at, "id"), Code.DUPLICATE_ID, f"the step id `{step_id}` is used twice")
        scene.ids.add(step_id)


def _successors(scene: Scene, visit: Visit, known: dict[str, None]) -> None:
    place = ((visit.at, "transition"), "successors")
    for target in visit.step.transition.successors:
        if target in known:
            continue
        if "" in known:
            return  # a step whose id is missing has a problem of its own; this edge may mean that one
        message = f"the successor `{target}` of step `{visit.step.id}` does not exist in steps"
        scene.report((place, target), Code.UNKNOWN_STEP, message, _hint(scene, target, known))


def _hint(scene: Scene, target: str, known: Collection[str]) -> str | None:
    if target in scene.ids:
        return "it is on another level; an edge can not leave its loop"
    if len(scene.problems) > MOST_HINTS:
        return None  # a guess looks at every name: fine for a few typing errors, not for thousands
    return did_you_mean(target, known)


def _predecessors(scene: Scene, level: Level, graph: Graph) -> None:
    for visit in level.visits:
        given = visit.step.transition.predecessors
        if not given:
            continue
        place = ((visit.at, "transition"), "predecessors")
        if len(set(given)) != len(given):
            scene.report(place, Code.PREDECESSOR_MISMATCH, "a predecessor is given twice")
        computed = graph.predecessors[visit.step.id]
        if set(given) != set(computed):
            said = ", ".join(given)
            message = f"predecessors [{said}] differ from those that the successors say"
            scene.report(
                place, Code.PREDECESSOR_MISMATCH, message, f"[{', '.join(computed)}], or leave them out"
            )


def _cycles(scene: Scene, level: Level, graph: Graph) -> None:
    for cycle in graph.cycles():
        named = name_cycle(cycle)
        message = f"Invalid workflow definition [{scene.workflow.id}], where DAG contains cycle: {named}"
        first = next(visit for visit in level.visits if visit.step.id == cycle[0])
        place = (((first.at, "transition"), "successors"), cycle[1])
        scene.report(place, Code.CYCLE, message, "remove one of these edges, or use a while step")


def name_cycle(cycle: list[str], most: int = 12) -> str:
    """`a -> b -> a`; the middle of a long one is only counted."""
    if len(cycle) > most:
        left_out = len(cycle) - most
        cycle = [*cycle[: most - 3], f"... {left_out} more ...", *cycle[-3:]]
    return " -> ".join(cycle)
