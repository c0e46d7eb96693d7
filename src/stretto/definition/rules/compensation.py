"""Steps that undo others: that the undo can be carried out, and that its end is known."""

from collections.abc import Iterator

from stretto.definition.rules.visits import Scene
from stretto.model.problem import Code
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, TypedStep, WhileStep


def check_compensation(scene: Scene) -> None:
    for visit in scene.visits:
        step = visit.step
        if not isinstance(step, TypedStep) or step.compensation is None:
            continue
        place = (visit.at, "compensation")
        for inner in _all(step.compensation):
            if isinstance(inner, TypedStep) and inner.compensation is not None:
                message = f"`{inner.id}` undoes `{step.id}`, and nothing undoes an undo"
                scene.report(place, Code.CONFLICT, message, f"remove the compensation of `{inner.id}`")
            elif isinstance(inner, SubworkflowStep) and not inner.sync:
                message = f"`{inner.id}` undoes `{step.id}`, and nobody would know whether it succeeds"
                scene.report(place, Code.CONFLICT, message, "remove `sync: false`: wait for the workflow")


def _all(step: AnyStep) -> Iterator[AnyStep]:
    yield step
    if isinstance(step, ForeachStep | WhileStep):
        for inner in step.steps:
            yield from _all(inner)
